"""Stress variants: copies of a dataset whose page images are simulated captures.

May import all features below it. `captures` does not import Django.
"""
