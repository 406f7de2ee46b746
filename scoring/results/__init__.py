"""Results: the items of a graded submission, individual items, and comparisons of entries.

May import `grading` and the features below it.
"""
