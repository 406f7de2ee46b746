"""Stress variants: copies of a dataset whose page images are simulated captures.

May import `releases`, `documents`, `imports` and `imaging`. `captures` does not import Django.
"""
