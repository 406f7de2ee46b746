"""Scores the OCR text of one document, and sums up the documents of a submission."""

import math
from array import array
from collections.abc import Iterable
from typing import cast

from scoring.benchmarks.base import ItemResult, Options, Payload, Scores
from scoring.benchmarks.excerpts import excerpt
from scoring.metrics.document_accuracy import (
    Containment,
    DocumentMatch,
    Matching,
    match_document,
)

from .columns import FINAL, PARTS
from .options import phrases_of

# What a result shows of the things not found: the rest is in the counts.
MOST_MISSED = 50

_KEYS = (*PARTS, FINAL)
_COUNTED = ("numbers", "line_items", "sections", "disclosures")


def score_item(gold: Payload, prediction: Payload | None, options: Options) -> ItemResult:
    """The scores of one document, as plain JSON.

    The four accuracies and `final_score`, in [0, 1]; null with `missing: skip` if there is no
    prediction, else 0. `parts` has for `numbers`, `line_items`, `sections` and `disclosures` what
    was looked for (`total`), how much was `found`, and the first MOST_MISSED that were `missed`.
    """
    match = match_document(
        gold["gold"],
        "" if prediction is None else prediction["text"],
        matching=cast("Matching", options["matching"]),
        sections=phrases_of(options, "sections"),
        disclosures=phrases_of(options, "disclosures"),
    )
    is_skipped = prediction is None and options["missing"] == "skip"
    return {
        "id": gold["id"],
        "missing": prediction is None,
        **(dict.fromkeys(_KEYS) if is_skipped else match.report()),
        "parts": {name: _part(part) for name, part in _parts(match).items()},
    }


def aggregate(
    results: Iterable[ItemResult],
    options: Options,  # noqa: ARG001 - what they change has been done to each result
) -> Scores:
    """Means over the documents, whatever their order; `results` may be a stream."""
    values: dict[str, array[float]] = {key: array("d") for key in _KEYS}
    counts = dict.fromkeys((f"{name}{end}" for name in _COUNTED for end in ("", "_found")), 0)
    items = missing = 0
    for result in results:
        items += 1
        missing += result["missing"]
        if result[FINAL] is None:
            continue
        for key in _KEYS:
            values[key].append(result[key])
        for name in _COUNTED:
            counts[name] += result["parts"][name]["total"]
            counts[f"{name}_found"] += result["parts"][name]["found"]
    return Scores(
        items=items,
        missing=missing,
        # fsum is exact, so the order of the documents cannot show in the last digit.
        scores={key: math.fsum(part) / len(part) if part else None for key, part in values.items()},
        counts=counts,
    )


def _parts(match: DocumentMatch) -> dict[str, Containment]:
    return {name: getattr(match, name) for name in _COUNTED}


def _part(part: Containment) -> ItemResult:
    missed = [excerpt(text) for text in part.missed[:MOST_MISSED]]
    return {"total": part.total, "found": part.found, "missed": missed}
