"""A release as files: written, read back, compared, cited and checked. Pure functions; no Django.

`releases.exports` turns database rows into the plain values of `rows`. An item with hidden gold
carries no gold, so no writer can leak it.
"""
