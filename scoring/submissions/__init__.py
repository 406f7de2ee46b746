"""Submissions: upload, result, publication, withdrawal, and management by organisers.

May import `reliability` and the features below it.
"""
