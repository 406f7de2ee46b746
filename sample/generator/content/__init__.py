"""Texts, labels, names and ranges of the sample pages: one TOML file per document family."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def content(family: str) -> dict[str, Any]:
    """The tables of a family's file, by page."""
    return tomllib.loads(files(__name__).joinpath(f"{family}.toml").read_text(encoding="utf-8"))
