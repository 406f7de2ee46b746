"""Qualification: pages with known gold that annotators must pass first, and annotators' quality.

May import `annotation.assignments`, because annotators who qualify get documents.
"""
