"""Import and export of labels and of whole campaigns as files.

May import every other feature; none imports it.
"""
