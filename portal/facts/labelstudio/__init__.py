"""Label Studio tasks: reading, writing, and placing regions whose offsets no longer match.

May import all of `portal.facts`; imported only by `portal.facts`, which exports its names.
"""
