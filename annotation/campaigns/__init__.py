"""A campaign: its settings, guidelines, people, what it waits for, and its releases.

May import `annotation.assignments`, `annotation.qualification` and `annotation.review`.
"""
