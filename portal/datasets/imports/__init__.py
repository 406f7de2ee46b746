"""Imports: reading files of every layout, checking and storing documents, and the report.

May import `imaging`. Readers never write to the database; only `storing` and `services` do.
"""
