"""Teams: people who submit together.

It may import what `accounts.invitations` may, and that.
"""
