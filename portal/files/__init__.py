"""Files that come in and go out: archives, limits of uploads, tables as CSV and LaTeX.

It may import `portal.facts` and nothing else of ours.
"""
