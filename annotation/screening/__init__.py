"""Screening: a check whether a page is intact, before annotation.

May import `annotation.assignments`, to assign pages that pass, and `annotation.review`.
"""
