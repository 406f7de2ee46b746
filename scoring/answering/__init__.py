"""Asking a model about the items of a benchmark: what the site and the command `factboard` share.

Knows no Django, and neither the site's database nor the command's folders: `kits` reads items,
`prompts` makes their requests, `endpoint` sends them, `core` asks about every item once,
`rendering` makes the submission, `manifest` describes the run.
"""
