"""Releases: freezing gold, files and downloads, licences, change notes, and restoring.

May import `documents`, `imports`, `imaging` and `curation`.
"""
