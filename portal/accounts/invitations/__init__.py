"""Invitations: sent by email, shown to their receiver, accepted, withdrawn.

What comes with one (a role, a place in a team) is said by the app that registers an offer
(`selectors.register_offers`). It may import the models, access and emails of accounts.
"""
