"""Scores one image."""

from collections.abc import Callable
from heapq import nsmallest
from typing import Any

from scoring.benchmarks.base import ItemResult, Options, Payload
from scoring.benchmarks.excerpts import excerpt
from scoring.metrics.documents import document_score, formula_score, molecule_score
from scoring.metrics.grounding import Matches, Word, grounding_f1, match_words, word_of
from scoring.metrics.limits import TooLargeError
from scoring.metrics.reading import Overlap, overlap_f1, reading_units, unit_overlap
from scoring.metrics.repetition import is_repetitive
from scoring.metrics.structured import (
    FieldCounts,
    Fields,
    Record,
    UnparseableError,
    field_counts,
    field_f1,
    fields_of,
    normalise_record,
    parse_record,
    tree_accuracy,
)
from scoring.metrics.tables import table_scores

from .options import unit_rule

UNPARSEABLE, TOO_LARGE = "unparseable", "too large"

# Wrong fields that an item lists.
_MOST_LISTED = 50

Figures = dict[str, Any]


def score_item(gold: Payload, prediction: Payload | None, options: Options) -> ItemResult:
    """The scores of one image, as plain JSON.

    `score` is the image's own figure in [0, 1] (TEDS can be negative), beside it stands what its
    subset sums up: `gold_units`, `prediction_units`, `right_units` and `f1` in reading; `teds` and
    `teds_s` of a table; `tp`, `fp`, `fn`, `acc`, and the `missed` and `extra` fields of a record;
    `tp`, `fp`, `fn` in grounding. `fault` says why a response could not be used, if it could not.
    """
    response = None if prediction is None else prediction["response"]
    return {
        "id": gold["id"],
        "subset": gold["subset"],
        "track": gold["track"],
        "op": gold["op"],
        "orientation": gold.get("orientation"),
        "missing": response is None,
        "repetitive": None if response is None else is_repetitive(response),
        "fault": None,
        "reason": None,
        **_SCORERS[gold["op"]](gold, response, options),
    }


def _reading(gold: Payload, response: str | None, options: Options) -> Figures:
    rule = unit_rule(gold["track"], gold["subset"], options)
    overlap = unit_overlap(reading_units(gold["answer"], rule), reading_units(response or "", rule))
    f1 = overlap_f1(overlap)
    return {"score": f1, "f1": f1, **_units(overlap)}


def _units(overlap: Overlap) -> Figures:
    return {f"{name}_units": count for name, count in overlap._asdict().items()}


def _similar(compare: Callable[[str, str], float]) -> Callable[..., Figures]:
    """The scorer of texts that are compared as a whole."""

    def score(gold: Payload, response: str | None, _: Options) -> Figures:
        if response is None:
            return {"score": 0.0}
        try:
            return {"score": compare(gold["answer"], response)}
        except TooLargeError as error:
            return {"score": 0.0, **_fault(TOO_LARGE, error)}

    return score


def _table(gold: Payload, response: str | None, _: Options) -> Figures:
    nothing = {"score": 0.0, "teds": 0.0, "teds_s": 0.0}
    if response is None:
        return nothing
    try:
        scores = table_scores(gold["answer"], response)
    except TooLargeError as error:
        return {**nothing, **_fault(TOO_LARGE, error)}
    return {"score": scores.teds, "teds": scores.teds, "teds_s": scores.teds_s}


def _record(gold: Payload, response: str | None, _: Options) -> Figures:
    """An answer that cannot be read counts as an empty object."""
    answer = normalise_record(gold["answer"])
    fields = fields_of(answer)
    found: Record = {}
    found_fields = Fields()
    fault: Figures = {}
    try:
        if response is not None:
            found = normalise_record(parse_record(response))
            found_fields = fields_of(found)
    except UnparseableError as error:
        fault = _fault(UNPARSEABLE, error)
    except TooLargeError as error:
        found, fault = {}, _fault(TOO_LARGE, error)
    try:
        accuracy = tree_accuracy(answer, found)
    except TooLargeError as error:
        accuracy, fault = 0.0, _fault(TOO_LARGE, error)
    counts = field_counts(fields, found_fields)
    return {
        "score": field_f1([counts]),
        "acc": accuracy,
        **_counts(counts),
        "missed": _shown(fields - found_fields),
        "extra": _shown(found_fields - fields),
        **fault,
    }


def _grounding(gold: Payload, response: str | None, options: Options) -> Figures:
    """An entry that is no word is one that matches nothing."""
    words = [word for word in map(word_of, gold["answer"]) if word is not None]
    fault: Figures = {}
    entries: list[Word | None] = []
    try:
        if response is not None:
            entries = _words(parse_record(response))
    except UnparseableError as error:
        fault = _fault(UNPARSEABLE, error)
    usable = [word for word in entries if word is not None]
    try:
        matches = match_words(words, usable, unit_rule(gold["track"], gold["subset"], options))
    except TooLargeError as error:
        matches, fault = Matches(0, len(usable), len(words)), _fault(TOO_LARGE, error)
    counts = FieldCounts(matches.tp, matches.fp + len(entries) - len(usable), matches.fn)
    return {"score": grounding_f1(counts.tp, counts.fp, counts.fn), **_counts(counts), **fault}


def _words(entries: Record) -> list[Word | None]:
    if not isinstance(entries, list):
        raise UnparseableError("not a list of words")
    return [word_of(entry) for entry in entries]


def _counts(counts: FieldCounts) -> Figures:
    return {"tp": counts.tp, "fp": counts.fp, "fn": counts.fn}


def _shown(fields: Fields) -> list[list[str]]:
    """The first of these fields, by path and value, each cut short."""
    listed = nsmallest(_MOST_LISTED, fields.elements())
    return [[excerpt(path), excerpt(value)] for path, value in listed]


def _fault(kind: str, error: Exception) -> Figures:
    return {"fault": kind, "reason": str(error)}


_SCORERS: dict[str, Callable[[Payload, str | None, Options], Figures]] = {
    "ocr": _reading,
    "doc": _similar(document_score),
    "formula": _similar(formula_score),
    "molecular": _similar(molecule_score),
    "table": _table,
    "kie": _record,
    "grounding": _grounding,
}
