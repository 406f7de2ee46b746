"""Campaigns: settings, guidelines, people, open tasks and releases.

May import `annotation.assignments`, `annotation.qualification` and `annotation.review`.
"""
