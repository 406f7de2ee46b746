"""Quality acceptance: batches of records, each with a random sample that people inspect.

May import `documents` and `curation`. `records` and `audits` do not import Django. The
rules are in docs/acceptance.md.
"""
