"""Results: the items of a graded submission, one item, and entries side by side.

May import `grading` and the features below it.
"""
