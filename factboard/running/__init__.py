"""Runs a model over the items of a benchmark and keeps every answer as it arrives."""
