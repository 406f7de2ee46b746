"""One document in short, and its text beside what was looked for in it."""

from collections.abc import Mapping
from typing import Any

from scoring.benchmarks.items import ItemSummary

from .columns import FINAL


def summarise(
    result: Mapping[str, Any],
    options: Mapping[str, str],  # noqa: ARG001 - what they change has been done to the result
) -> ItemSummary:
    """Its final score, and of what kind the things are that were not found."""
    parts: Mapping[str, Any] = result["parts"]
    short = sorted(name for name, part in parts.items() if part["found"] < part["total"])
    errors = tuple(f"{name.replace('_', ' ')} not found" for name in short)
    return ItemSummary(result[FINAL], errors=errors)
