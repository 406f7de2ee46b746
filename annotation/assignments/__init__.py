"""Assignments: assigning documents, the annotators of a page, handing over and returning work.

May import `annotation.adjudication`, to settle pages that have no open work left.
"""
