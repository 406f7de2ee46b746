"""Curation: personal data, near duplicates, required content and random selections.

May import `documents`. `pii`, `near_duplicates` and `draws` do not import Django.
"""
