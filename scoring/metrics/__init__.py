"""Metrics: pure functions over plain values. No Django, no input or output, no rounding."""
