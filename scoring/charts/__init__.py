"""Charts of a leaderboard: from rows to Vega-Lite specifications, and from these to pictures.

Independent of the site. `shapes` holds the data of a chart, `specs` writes it as Vega-Lite, and
`drawing` draws it in a separate process.
"""
