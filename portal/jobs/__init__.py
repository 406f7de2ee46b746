"""The job queue: one row per job, and workers that run them.

Apps register handlers in their `tasks.py` (`handlers`), queue jobs (`services`) and show them
(`selectors`). Of the site it imports only `portal.audit`, `portal.web` and `portal.celery`.
"""
