"""The LLM judge of a board: its endpoint, its monthly budget, and its runs over submissions.

The lowest feature, beside `leaderboard`. Of scoring it imports models, access, benchmarks and
judge. Whether the judge can be believed is a question for `reliability`.
"""
