"""People: their accounts, tokens and data; `invitations` and `teams` are features of their own.

An order, lowest first: models, then access, tokens and emails, then invitations, teams, own data,
and the pages.
"""
