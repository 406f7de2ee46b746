"""Invitations: sent by email, then accepted or withdrawn.

Apps register what an invitation offers (a role, team membership) with `selectors.register_offers`.
This package may import the models, access and emails of `portal.accounts`.
"""
