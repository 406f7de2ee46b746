"""Grading a submission, telling its owner, and grading a whole board again.

May import `boards` and the features below it.
"""
