"""The domain review: seeded draws of gold facts, and a reviewer's verdict on each.

May import what stands at the top of the app, and no other feature.
"""
