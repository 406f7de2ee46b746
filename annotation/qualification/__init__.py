"""The qualification round that annotators pass first, and how well each annotator works.

May import `annotation.assignments`: who qualifies gets documents.
"""
