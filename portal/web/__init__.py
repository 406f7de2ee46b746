"""Code shared by the pages and the API of all apps: requests, responses, model fields, charts.

May import only `portal.facts`.
"""
