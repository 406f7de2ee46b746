"""The LLM judge of a board: its endpoint, its monthly budget, and its runs over submissions.

The lowest feature, next to `leaderboard`: it imports no other. See `reliability` for how reliable a
judge is.
"""
