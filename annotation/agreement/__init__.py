"""How far annotators agree: the page, its files and its API, from first submissions alone.

May import `annotation.assignments` and what stands at the top of the app.
"""
