"""One page in short, and laid beside its gold."""

from collections.abc import Mapping
from typing import Any

from portal.facts import visible_text
from scoring.benchmarks.base import Payload
from scoring.benchmarks.items import ItemSummary, Sides, own_score

from .contributions import contributions
from .labels import labels_of
from .views import DOCUMENT_TYPES


def summarise(result: Mapping[str, Any], options: Mapping[str, str]) -> ItemSummary:
    """Its share of correct facts, its document type and the error types of its facts."""
    kind = DOCUMENT_TYPES.get(result.get("doc_type", ""), "")
    score = own_score(contributions(result, options), "ffa")
    return ItemSummary(score, kind, tuple(sorted(result["errors"])))


def sides(gold: Payload, prediction: Payload | None, options: Mapping[str, str]) -> Sides:
    labels = labels_of(dict(options))
    read = None if prediction is None else visible_text(prediction["html"], labels)
    return Sides(visible_text(gold["html"], labels), read)
