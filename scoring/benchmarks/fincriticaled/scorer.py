"""Scores one page, and sums up the pages of a submission."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import asdict
from functools import lru_cache

from portal.facts.markup import Kind, tokens
from scoring.benchmarks.base import ItemResult, Options, Payload, Scores
from scoring.metrics.facts import (
    ERROR_TYPES,
    MATCHERS,
    MISSING,
    Fact,
    Page,
    Verdict,
    read_page,
    read_prediction,
)
from scoring.metrics.text import NO_PREDICTION, TextScores, general_score, text_scores

from .labels import accuracy_of, labels_of

_TEXT = ("r1", "rl", "edit_distance")
_COUNTS = ("facts", "found", "correct")


def score_item(gold: Payload, prediction: Payload | None, options: Options) -> ItemResult:
    """The scores of one page, as plain JSON.

    `facts` has one entry per gold fact in document order: `n`, `type`, `value`, `correct`,
    `found`, `matched_text`, `start` and `end` (in the prediction's visible text), `error`. `text`
    has R1, RL and the edit distance, `types` the counts per fact type, `errors` those per error
    type. Raises FactTagError for gold with unusable tags.
    """
    labels = labels_of(options)
    page = _gold_page(gold["html"], labels)
    if prediction is None:
        verdicts, text = [MISSING] * len(page.facts), NO_PREDICTION
    else:
        other = read_prediction(prediction["html"], labels)
        verdicts = MATCHERS[options["matcher"]](page, other)
        text = _text_scores(gold["html"], prediction["html"], page, other, options)
    errors = Counter(verdict.error for verdict in verdicts if verdict.error)
    return {
        "id": gold["id"],
        "missing": prediction is None,
        "text": asdict(text),
        "types": _type_counts(page.facts, verdicts, labels),
        "errors": {error: errors[error] for error in ERROR_TYPES if errors[error]},
        "facts": [
            {"n": fact.n, "type": fact.type, "value": fact.value, **asdict(verdict)}
            for fact, verdict in zip(page.facts, verdicts, strict=True)
        ],
    }


def aggregate(results: Iterable[ItemResult], options: Options) -> Scores:
    """The figures of all pages, whatever their order; `results` may be a stream.

    Text metrics are means over pages, fact metrics are ratios of sums over pages. Pages without a
    prediction count as read wholly wrong, or not at all with `missing: skip`.
    """
    texts: dict[str, list[float]] = {key: [] for key in _TEXT}
    types: defaultdict[str, Counter[str]] = defaultdict(Counter)
    errors: Counter[str] = Counter()
    items = missing = 0
    for result in results:
        items += 1
        missing += result["missing"]
        if result["missing"] and options["missing"] == "skip":
            continue
        for key in _TEXT:
            texts[key].append(result["text"][key])
        for label, counts in result["types"].items():
            types[label].update(counts)
        errors.update(result["errors"])
    labels = labels_of(options)
    total = {key: sum(types[label][key] for label in labels) for key in _COUNTS}
    return Scores(
        items=items,
        missing=missing,
        scores={
            **_general(texts),
            **{accuracy_of(label)[0]: _rate(types[label], "correct") for label in labels},
            "ffa": _rate(total, "correct"),
            **_recovery(total),
            **{f"err_{error}": _ratio(errors[error], total["facts"]) for error in ERROR_TYPES},
        },
        counts={**total, **{f"err_{error}": errors[error] for error in ERROR_TYPES}},
        subsets={label: _subset(types[label]) for label in labels},
    )


@lru_cache(maxsize=64)
def _gold_page(html: str, labels: tuple[str, ...]) -> Page:
    """The gold page; remembered, since the entries of a board are often graded one after the
    other."""
    return read_page(html, labels)


def _text_scores(
    gold: str, prediction: str, page: Page, other: Page, options: Options
) -> TextScores:
    if options["text"] == "visible":
        return text_scores(page.text, other.text)
    labels = frozenset(label.lower() for label in labels_of(options))
    return text_scores(_without_tags(gold, labels), _without_tags(prediction, labels))


def _without_tags(html: str, labels: frozenset[str]) -> str:
    """The markup as it is, but for the fact tags, which no model is asked to write."""
    return "".join(
        html[token.start : token.end]
        for token in tokens(html)
        if not (token.name in labels and token.kind in {Kind.START, Kind.END})
    )


def _type_counts(
    facts: Iterable[Fact], verdicts: Iterable[Verdict], labels: tuple[str, ...]
) -> dict[str, dict[str, int]]:
    counts = {label: dict.fromkeys(_COUNTS, 0) for label in labels}
    for fact, verdict in zip(facts, verdicts, strict=True):
        counts[fact.type]["facts"] += 1
        counts[fact.type]["found"] += verdict.found
        counts[fact.type]["correct"] += verdict.correct
    return counts


def _general(texts: dict[str, list[float]]) -> dict[str, float | None]:
    # fsum is exact, so the order of the pages cannot show in the last digit.
    means = {key: math.fsum(texts[key]) / len(texts[key]) if texts[key] else None for key in _TEXT}
    known = {key: mean for key, mean in means.items() if mean is not None}
    general = general_score(**known) if len(known) == len(_TEXT) else None
    return {**means, "general": general}


def _recovery(counts: dict[str, int] | Counter[str]) -> dict[str, float | None]:
    return {
        "found": _rate(counts, "found"),
        "missing_rate": _ratio(counts["facts"] - counts["found"], counts["facts"]),
        "precision": _ratio(counts["correct"], counts["found"]),
    }


def _subset(counts: Counter[str]) -> dict[str, float | int | None]:
    return {"facts": counts["facts"], "ffa": _rate(counts, "correct"), **_recovery(counts)}


def _rate(counts: dict[str, int] | Counter[str], key: str) -> float | None:
    return _ratio(counts[key], counts["facts"])


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None
