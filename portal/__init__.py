"""The site: `settings`, `urls` and `home`, and the packages that all apps share.

From the lowest up: `facts` (pure), `web` and `files`, `audit`, `jobs`, `accounts`, `datasets`. Each
may import those below it. `annotation` and `scoring` are between `datasets` and `home`; nothing
imports `home` and `urls`.
"""
