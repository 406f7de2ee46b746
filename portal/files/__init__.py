"""Archives, upload limits, and tables as CSV and LaTeX.

May import only `portal.facts`.
"""
