"""Aggregates the pages of a submission: over all of them, by fact type and by document type."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from scoring.benchmarks.base import ItemResult, Options, Scores
from scoring.metrics.facts import ERROR_TYPES
from scoring.metrics.text import general_score

from .columns import DOCUMENT_TYPES, OTHER, SEVERITY, found_key, type_key
from .options import (
    FIRST_FFA,
    PAGE_SCORES,
    accuracy_of,
    first_labels,
    judge_model,
    labels_of,
    matcher_key,
    other_matchers,
)
from .scorer import COUNTS, page_scores

_TEXT = ("r1", "rl", "edit_distance")
_EXTRA = ("tokens", "count")

Figures = dict[str, float | int | None]


@dataclass
class _Facts:
    """The facts of some pages: the number of pages, and counts per fact type."""

    pages: int = 0
    types: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    def add(self, types: Mapping[str, Mapping[str, int]]) -> None:
        self.pages += 1
        for label, counts in types.items():
            self.types[label].update(counts)

    def total(self, labels: Iterable[str]) -> dict[str, int]:
        listed = tuple(labels)
        return {key: sum(self.types[label][key] for label in listed) for key in COUNTS}


@dataclass
class _Sums:
    """The sums behind all figures of a submission."""

    items: int = 0
    missing: int = 0
    texts: dict[str, list[float]] = field(default_factory=lambda: {key: [] for key in _TEXT})
    all: _Facts = field(default_factory=_Facts)
    documents: dict[str, _Facts] = field(
        default_factory=lambda: {key: _Facts() for key in DOCUMENT_TYPES}
    )
    errors: Counter[str] = field(default_factory=Counter)
    extra: Counter[str] = field(default_factory=Counter)
    beside: Counter[str] = field(default_factory=Counter)
    judged: dict[str, list[float]] = field(default_factory=lambda: {key: [] for key in PAGE_SCORES})

    def add(self, result: ItemResult) -> None:
        for key in _TEXT:
            self.texts[key].append(result["text"][key])
        self.all.add(result["types"])
        # Results that were stored before these were counted lack them.
        self.documents[result.get("doc_type", OTHER)].add(result["types"])
        extra = result.get("hallucinated", {})
        self.extra.update({key: extra.get(key, 0) for key in _EXTRA})
        self.errors.update(result["errors"])
        correct = result.get("beside", {})
        self.beside.update({matcher: len(facts) for matcher, facts in correct.items()})
        for key, value in page_scores(result).items():
            self.judged[key].append(value)

    def by_matchers(self, options: Options, facts: int) -> dict[str, float | None]:
        """Return the accuracy by each of the other matchers."""
        beside = {
            matcher_key(matcher): _ratio(self.beside[matcher], facts)
            for matcher in other_matchers(options)
        }
        if not judge_model(options):
            return beside
        return beside | {key: _mean(values) for key, values in self.judged.items()}


def aggregate(results: Iterable[ItemResult], options: Options) -> Scores:
    """Compute the figures of all pages, in any order; `results` may be a stream.

    Text metrics are means over pages, fact metrics are ratios of sums over pages. Pages without a
    prediction count as completely wrong, or not at all with `missing: skip`.
    """
    sums = _Sums()
    for result in results:
        sums.items += 1
        sums.missing += result["missing"]
        if not (result["missing"] and options["missing"] == "skip"):
            sums.add(result)
    labels = labels_of(options)
    total = sums.all.total(labels)
    return Scores(
        items=sums.items,
        missing=sums.missing,
        scores={
            **_scores(sums, labels, total),
            **_first(sums.all, first_labels(options)),
            **sums.by_matchers(options, total["facts"]),
        },
        counts={
            **total,
            **{f"err_{error}": sums.errors[error] for error in ERROR_TYPES},
            "hallucinated": sums.extra["count"],
            "number_and_date_tokens": sums.extra["tokens"],
        },
        subsets={
            **{label: _by_type(sums.all.types[label]) for label in labels},
            **_documents(sums.documents, labels),
        },
    )


def _scores(sums: _Sums, labels: tuple[str, ...], total: dict[str, int]) -> dict[str, float | None]:
    documents = {key: sums.documents[key].total(labels) for key in DOCUMENT_TYPES}
    return {
        **_general(sums.texts),
        **_accuracies(sums.all, labels),
        **_of_found(sums.all, labels),
        "ffa": _rate(total, "correct"),
        "weighted_ffa": SEVERITY.weighted_accuracy(sums.errors, total["facts"]),
        **_recovery(total),
        "hallucinated": _ratio(sums.extra["count"], sums.extra["tokens"]),
        **{f"err_{error}": _ratio(sums.errors[error], total["facts"]) for error in ERROR_TYPES},
        **{type_key(key): _rate(counts, "correct") for key, counts in documents.items()},
    }


def _first(facts: _Facts, labels: tuple[str, ...]) -> dict[str, float | None]:
    return {FIRST_FFA: _rate(facts.total(labels), "correct")} if labels else {}


def _general(texts: dict[str, list[float]]) -> dict[str, float | None]:
    means = {key: _mean(texts[key]) for key in _TEXT}
    known = {key: mean for key, mean in means.items() if mean is not None}
    general = general_score(**known) if len(known) == len(_TEXT) else None
    return {**means, "general": general}


def _accuracies(facts: _Facts, labels: tuple[str, ...]) -> dict[str, float | None]:
    return {accuracy_of(label)[0]: _rate(facts.types[label], "correct") for label in labels}


def _of_found(facts: _Facts, labels: tuple[str, ...]) -> dict[str, float | None]:
    types = {label: facts.types[label] for label in labels}
    return {
        found_key(label): _ratio(counts["correct"], counts["found"])
        for label, counts in types.items()
    }


def _recovery(counts: Mapping[str, int]) -> dict[str, float | None]:
    return {
        "found": _rate(counts, "found"),
        "missing_rate": _ratio(counts["facts"] - counts["found"], counts["facts"]),
        "precision": _ratio(counts["correct"], counts["found"]),
    }


def _by_type(counts: Mapping[str, int]) -> Figures:
    return {"facts": counts["facts"], "ffa": _rate(counts, "correct"), **_recovery(counts)}


def _documents(documents: Mapping[str, _Facts], labels: tuple[str, ...]) -> dict[str, Figures]:
    """Return the figures of the document types in the data, in the order of DOCUMENT_TYPES."""
    return {
        title: {
            "pages": documents[key].pages,
            **_by_type(documents[key].total(labels)),
            **_accuracies(documents[key], labels),
        }
        for key, title in DOCUMENT_TYPES.items()
        if documents[key].pages
    }


def _rate(counts: Mapping[str, int], key: str) -> float | None:
    return _ratio(counts[key], counts["facts"])


def _mean(values: Sequence[float]) -> float | None:
    # fsum is exact, so the order of the pages cannot change the last digit.
    return math.fsum(values) / len(values) if values else None


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None
