"""Agreement between annotators, computed from first submissions: page, files and API.

May import `annotation.assignments` and the top-level modules of the app.
"""
