"""Leaderboards: columns, rows, ranks, filters, disclosure rules, files and charts.

This is the lowest feature of scoring, together with `judging`. It imports no other
feature.
"""
