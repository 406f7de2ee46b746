"""Grading files without a database: what `factboard grade`, `manage.py grade` and `judge` share.

Knows no Django. Everything that a command prints, and how it ends early, is here too.
"""
