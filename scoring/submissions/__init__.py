"""Submissions: upload, result, publication, withdrawal, and management by organisers.

May import all other features.
"""
