"""The LLM judge of a board: its endpoint, its monthly budget, and its runs over submissions.

The lowest feature, next to `leaderboard`. From scoring it imports only models, access, benchmarks
and judge. See `reliability` for how reliable a judge is.
"""
