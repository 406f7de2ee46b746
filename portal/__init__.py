"""The site: `settings`, `urls` and `home` on top, and below them what all apps share.

From the lowest up: `facts` (pure), `web` and `files`, `audit`, `jobs`, `accounts`, `datasets`. Each
may import those below it. `annotation` and `scoring` stand between `datasets` and `home`: `home`
and `urls` know all apps, and nothing imports them.
"""
