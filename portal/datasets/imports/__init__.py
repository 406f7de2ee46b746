"""Imports: reading files of every layout, judging each document, storing it, and the report.

May import `imaging`. No reader writes to the database; only `storing` and `services` do.
"""
