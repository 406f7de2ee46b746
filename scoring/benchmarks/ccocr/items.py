"""One image in short, and the answer beside the gold."""

from collections.abc import Mapping
from typing import Any

from scoring.benchmarks.base import Payload
from scoring.benchmarks.items import ItemSummary, Sides, named_errors
from scoring.metrics.structured import UnparseableError, normalise_record, parse_record

_ERRORS = {"extra": "extra fields", "missed": "missed fields", "repetitive": "repetitive"}


def summarise(
    result: Mapping[str, Any],
    options: Mapping[str, str],  # noqa: ARG001 - what they change has been done to the result
) -> ItemSummary:
    """Its score, its track and subset, and what is wrong with its record or with its text."""
    errors = named_errors(result, _ERRORS)
    if result["fault"]:
        errors.append(result["fault"])
    part = f"{result['track']} {result['subset']}"
    return ItemSummary(result["score"], part, tuple(sorted(errors)))


def sides(
    gold: Payload,
    prediction: Payload | None,
    options: Mapping[str, str],  # noqa: ARG001 - answers are read alike under all of them
) -> Sides | None:
    """Texts, or the records of key information; None for what is neither, such as boxes."""
    answer, response = gold["answer"], None if prediction is None else prediction["response"]
    if gold["op"] == "kie":
        return Sides(
            _object(normalise_record(answer)), None if response is None else _record(response)
        )
    return Sides(answer, response) if isinstance(answer, str) else None


def _record(response: str) -> dict[str, Any] | None:
    try:
        return _object(normalise_record(parse_record(response)))
    except UnparseableError:
        return None


def _object(record: Any) -> dict[str, Any]:
    return record if isinstance(record, dict) else {"answer": record}
