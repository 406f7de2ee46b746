"""Charts of a leaderboard: from rows to Vega-Lite specifications, and from these to pictures.

Pure: nothing here knows the site. `shapes` is what a chart is made of, `specs` writes it down as
Vega-Lite, `drawing` has it drawn by a process of its own.
"""
