"""A release as files: written, read back, compared, cited and checked. Pure functions; no Django.

The rows of `rows` come in as plain values; `releases.exports` makes them from the database. A
row whose gold is hidden has none, so that no writer can let it out.
"""
