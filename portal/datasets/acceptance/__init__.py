"""Quality acceptance: batches of records, of which a random sample is inspected field by field.

May import `documents` and `curation`. `records` and `audits` are pure: they know no Django. The
rules are in docs/acceptance.md.
"""
