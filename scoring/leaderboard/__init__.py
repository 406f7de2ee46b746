"""The leaderboard: columns, rows, ranks, filters, what a reader may see of a score, files and
charts.

The lowest feature, beside `judging`. Of scoring it imports models, access, benchmarks, metrics and
charts.
"""
