"""What curation and quality acceptance compute, as pure functions over plain values. No Django.

The modules are imported one by one, where they are needed: `duplicates` loads numpy.
"""
