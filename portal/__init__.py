"""The site. This package is both the roof and the ground of the project.

The roof, `urls` and `home` (with `wsgi` as its entrance), knows all apps, and no other package
imports it. The apps `annotation` and `scoring` are below it. Everything else here is the ground,
which knows no app above it. From the top down: `datasets`, `accounts`, `jobs`, `audit`, `web` and
`files`, `facts`. Each may import those after it. A contract in `pyproject.toml` checks this.
"""
