"""Metrics: pure functions over plain values. No Django, no input or output, no rounding."""

# The code for unmarked text. No label may have this name.
OUTSIDE = "O"
