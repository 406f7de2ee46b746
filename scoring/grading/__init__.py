"""Grades submissions, notifies their owners, and re-grades boards.

May import `boards` and the features below it.
"""
