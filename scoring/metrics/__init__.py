"""Metrics: pure functions over plain values. No Django, no input or output, no rounding."""

# The code of what is not marked, which no label may be called.
OUTSIDE = "O"
