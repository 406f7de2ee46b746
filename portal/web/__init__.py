"""Code shared by the pages and the API of all apps: requests, refusals, queries, fields, charts.

May import only `portal.facts`.
"""
