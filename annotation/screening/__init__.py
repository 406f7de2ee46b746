"""Screening: is a page fit for annotation at all?

May import `annotation.assignments`, for a page that passes, and `annotation.review`.
"""
