"""Accounts, API tokens and personal data; `invitations` and `teams` are features of their own.

Import order, lowest first: models; access, emails; invitations; teams; account data; pages.
"""
