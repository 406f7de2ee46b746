"""A release as files: written, read back, compared, cited and checked. Pure functions; no Django.

What is to be written comes in as the plain rows of `rows`; `portal.datasets.exports` makes them of
the database's. A row whose gold is hidden has none, so that no writer can let it out.
"""
