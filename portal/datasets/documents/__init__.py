"""Datasets and their documents: pages, tables, editing, statistics and tasks.

May import `imaging` and `imports`.
"""
