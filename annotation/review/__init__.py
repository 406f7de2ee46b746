"""The domain review: seeded draws of gold facts, and a reviewer's verdict on each.

May import the top-level modules of the app, and no other feature.
"""
