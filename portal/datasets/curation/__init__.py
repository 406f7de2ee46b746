"""Curation: personal data, near duplicates, required content, and selections drawn by lot.

May import `documents`. `pii`, `near_duplicates` and `draws` are pure: they know no Django.
"""
