"""One receipt in short, and its fields beside those of the gold."""

from collections.abc import Mapping
from typing import Any

from scoring.benchmarks.base import Payload
from scoring.benchmarks.items import ItemSummary, Sides, own_score

from .contributions import contributions
from .responses import UnparseableError, read_fields
from .scorer import UNPARSEABLE
from .views import OVERALL


def summarise(result: Mapping[str, Any], options: Mapping[str, str]) -> ItemSummary:
    """Its F1 over all fields, its category, and the error types of its fields."""
    found = {error for field in result["fields"].values() for error in field.get("errors", ())}
    if result["outcome"] == UNPARSEABLE:
        found.add(UNPARSEABLE)
    score = own_score(contributions(result, options), OVERALL)
    return ItemSummary(score, result["category"], tuple(sorted(found)))


def sides(
    gold: Payload,
    prediction: Payload | None,
    options: Mapping[str, str],  # noqa: ARG001 - fields are read alike under all of them
) -> Sides:
    return Sides(gold["fields"], None if prediction is None else _fields(prediction))


def _fields(prediction: Payload) -> dict[str, Any] | None:
    if "fields" in prediction:
        fields: dict[str, Any] = prediction["fields"]
        return fields
    try:
        return read_fields(prediction["response"])
    except UnparseableError:
        return None
