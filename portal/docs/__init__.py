"""The pages of `docs/` on the site, with search and the help link of every other page."""
