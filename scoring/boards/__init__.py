"""Boards and their phases: list, board page, settings, limits, and the protection of hidden gold.

May import `leaderboard` and `judging`.
"""
