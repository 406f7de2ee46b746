"""Forms of scoring, one module per noun."""
