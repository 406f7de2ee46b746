"""Documents and the datasets that hold them: table, page, editing, statistics, tasks.

May import `imaging` and `imports`.
"""
