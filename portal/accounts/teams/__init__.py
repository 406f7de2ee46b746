"""Teams: users who submit together.

May import `accounts.invitations` and everything that package may import.
"""
