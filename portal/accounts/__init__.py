"""Accounts, API tokens and personal data; `invitations` and `teams` are features of their own.

Import order, lowest first: models; access, tokens, emails; invitations; teams; own data; pages.
"""
