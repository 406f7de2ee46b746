"""Pages of scoring, one module per noun."""
