"""The queue of long work: a row for each job, and workers that take it.

Apps register handlers in their `tasks.py` (`handlers`), queue jobs (`services`) and show them
(`selectors`). It may import `portal.audit`.
"""
