"""Adjudication: validate submitted work, compare it, and decide the open cases.

May import `annotation.review`, because a page that becomes gold can start a review round.
"""
