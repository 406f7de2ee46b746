"""The figures of FinCriticalED: its columns, further tables, and their values over all pages.

figures.toml has the columns that are not listed here, and the charts. Severity-weighted accuracy
takes into account that some errors are graver than others; severity.toml has the weights.
"""

import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from portal.facts.spans import LABEL_SETS
from scoring.benchmarks.base import (
    Column,
    Headline,
    ReportedRow,
    RuleTable,
    Scores,
    View,
    load_figures,
    load_reported,
)
from scoring.benchmarks.items import ItemResult, Options, mean, share
from scoring.benchmarks.options import NAMES, TITLES
from scoring.metrics.facts import ERROR_TYPES
from scoring.metrics.text import general_score

from .options import (
    FIRST_FFA,
    PAGE_SCORES,
    accuracy_of,
    first_labels,
    judge_model,
    labels_of,
    main_matcher,
    matcher_key,
    other_matchers,
)
from .scorer import COUNTS, DOCUMENT_TYPES, OTHER, TEXT_FIGURES, page_scores

_FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Severity:
    """The weights of the error types, each in [0, 1], with the reason for each."""

    version: str
    weights: Mapping[str, float]
    reasons: Mapping[str, str]

    def weighted_accuracy(self, errors: Mapping[str, int], facts: int) -> float | None:
        """1 - sum of weight(error) over the facts that are wrong / number of facts.

        In [0, 1], higher is better. A correct fact loses nothing; a missing fact and the gravest
        errors lose the whole fact, so the figure is at least FFA, and equal to it if every error
        weighs 1. None without facts.

        >>> SEVERITY.weighted_accuracy({"sign": 1, "separator": 1}, 4)
        0.7
        """
        if not facts:
            return None
        lost = sum(self.weights[error] * count for error, count in sorted(errors.items()))
        return 1 - lost / facts

    def table(self) -> RuleTable:
        """The weights, gravest first, as a table for the rules."""
        return RuleTable(
            title="Severity of errors",
            help=f"Version {self.version}. Weighted FFA = 1 − sum of the weights of all errors / "
            "number of facts. A missing fact weighs as much as a wrong one.",
            heads=("Error type", "Weight", "Description"),
            rows=tuple(
                (error.capitalize(), f"{weight:g}", self.reasons[error])
                for error, weight in sorted(
                    self.weights.items(), key=lambda pair: (-pair[1], pair[0])
                )
            ),
        )


def _load(path: Path) -> Severity:
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    rows = content["weight"]
    return Severity(
        version=content["version"],
        weights={row["error"]: row["weight"] for row in rows},
        reasons={row["error"]: row["reason"] for row in rows},
    )


SEVERITY = _load(_FOLDER / "severity.toml")


FIGURES = load_figures(_FOLDER / "figures.toml")
_GENERAL = FIGURES.columns["general"]
_FACT_LEVEL = "Fact-level"

_WEIGHTED_COLUMN = Column(
    "weighted_ffa",
    "Weighted FFA",
    _FACT_LEVEL,
    "FFA with part of a fact for small errors, such as other separators. A missing fact counts as "
    f"wrong (weights version {SEVERITY.version})",
    headline=False,
)
_ERROR_COLUMNS = tuple(
    Column(
        f"err_{error}",
        error.capitalize(),
        "Errors",
        "Share of facts with this type of error",
        direction="down",
        headline=False,
    )
    for error in ERROR_TYPES
)


def signed(options: Options) -> Iterator[str]:
    """Yield the parts of the signature: the options, and the version of the weights.

    >>> from .options import check_options
    >>> list(signed(check_options({})))[1:]  # doctest: +NORMALIZE_WHITESPACE
    ['matcher:aligned', 'unit:beside', 'text:visible', 'text_rules:factboard', 'missing:zero',
     'severity:4']
    """
    # `beside` was added in a later version; figures do not change without it.
    unused = ("beside", "")
    yield from (f"{name}:{value}" for name, value in options.items() if (name, value) != unused)
    yield f"severity:{SEVERITY.version}"


def columns_for(options: Options) -> tuple[Column, ...]:
    """Return the columns in the order of the papers' tables, one accuracy for each fact type."""
    accuracies = (
        Column(
            *accuracy_of(label),
            _FACT_LEVEL,
            f"Share of {label} facts reproduced correctly",
            over="gold",
        )
        for label in labels_of(options)
    )
    ffa = Column(
        "ffa",
        "FFA",
        _FACT_LEVEL,
        "Share of facts reproduced correctly",
        rank="board",
        over="gold",
    )
    return (
        *_GENERAL,
        *accuracies,
        ffa,
        *FIGURES.columns["precision"],
        _WEIGHTED_COLUMN,
        *FIGURES.columns["recovery"],
        *_ERROR_COLUMNS,
    )


def headline_for(options: Options) -> Headline:
    place = " and in the right place" if main_matcher(options) == "aligned" else ""
    return Headline(
        f"share of the {{count}} financial facts reproduced exactly{place}",
        "facts",
        {"precision": "Precision", "n_ffa": "Numbers", "t_ffa": "Dates", "general": "Text"},
    )


_BY_MATCHER = "FFA by matcher"


def type_key(document_type: str) -> str:
    """Return the key of the fact-level accuracy on pages of a document type."""
    return f"ffa_{document_type}"


def views_for(options: Options) -> tuple[View, ...]:
    """Return correct facts by document type; if more fact types are counted than in the paper's
    first version, also its table; accuracy among the found facts; the comparison of matchers."""
    reported = _rows("v1", {"ffa": FIRST_FFA})
    first = (replace(_FIRST, reported=reported),) if first_labels(options) else ()
    matchers = (_matchers(options),) if other_matchers(options) or judge_model(options) else ()
    return (_DOCUMENTS, *first, _found_facts(options), *matchers)


def found_key(label: str) -> str:
    """Return the key of the correct facts among the found ones of a type.

    >>> found_key("Number"), found_key("FinancialConcept")
    ('n_precision', 'fc_precision')
    """
    return accuracy_of(label)[0].removesuffix("_ffa") + "_precision"


_OF_FOUND, _OF_ALL = "Precision", "Recall"


def _found_facts(options: Options) -> View:
    """Return the two accuracies of every fact type: of the found facts, as the later release of the
    benchmark reports it, and of all."""
    labels = labels_of(options)
    return View(
        "found_facts",
        "Precision",
        "Precision: share of found facts that are correct, as in the later release of the "
        "benchmark. Recall: share of all facts that are correct (FFA).",
        (
            *_GENERAL,
            *(
                Column(
                    found_key(label),
                    _short(label),
                    _OF_FOUND,
                    f"Precision: share of found {label} facts that are correct",
                )
                for label in labels
            ),
            Column(
                "precision",
                "All",
                _OF_FOUND,
                "Share of found facts that are correct",
                rank="board",
            ),
            *(
                Column(
                    accuracy_of(label)[0],
                    _short(label),
                    _OF_ALL,
                    f"Recall: share of all {label} facts reproduced correctly",
                )
                for label in labels
            ),
            Column("ffa", "All", _OF_ALL, "Recall: share of all facts reproduced correctly"),
        ),
        _rows("v2", _LATER_KEYS) if set(labels) == set(LABEL_SETS["v2"]) else (),
        needs="precision",
    )


def _short(label: str) -> str:
    return accuracy_of(label)[1].removesuffix("-FFA")


def _matchers(options: Options) -> View:
    """Return the view of fact-level accuracy by each matcher, the board's own last."""
    beside = (
        Column(
            matcher_key(name),
            TITLES[name],
            _BY_MATCHER,
            f"FFA with the {TITLES[name]} matcher",
            over="gold",
        )
        for name in NAMES
        if name in other_matchers(options)
    )
    own = main_matcher(options)
    decides = f"FFA with the {TITLES[own]} matcher, which ranks the board"
    return View(
        "matchers",
        "By matcher",
        "FFA of the same predictions under each matching method (matcher).",
        (
            *beside,
            Column("ffa", TITLES[own], _BY_MATCHER, decides, rank="board"),
            *(FIGURES.columns["judge"] if judge_model(options) else ()),
        ),
    )


# Table 4 of the paper's first version, and the results published with the later release.
REPORTED = load_reported(_FOLDER / "reported.csv")


def _rows(protocol: str, keys: Mapping[str, str]) -> tuple[ReportedRow, ...]:
    """Return the published results of a protocol, with figures under the keys used here."""
    return tuple(
        replace(row, scores={keys.get(key, key): value for key, value in row.scores.items()})
        for row in REPORTED
        if row.protocol == protocol
    )


# Those of the later release are accuracies among found facts.
_LATER_KEYS = {"ffa": "precision"} | {
    accuracy_of(label)[0]: found_key(label) for label in LABEL_SETS["v2"]
}


_FIRST, _DOCUMENTS = FIGURES.views


_EXTRA = ("tokens", "count")

_Numbers = dict[str, float | int | None]


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
    texts: dict[str, list[float]] = field(default_factory=lambda: {key: [] for key in TEXT_FIGURES})
    all: _Facts = field(default_factory=_Facts)
    documents: dict[str, _Facts] = field(
        default_factory=lambda: {key: _Facts() for key in DOCUMENT_TYPES}
    )
    errors: Counter[str] = field(default_factory=Counter)
    extra: Counter[str] = field(default_factory=Counter)
    beside: Counter[str] = field(default_factory=Counter)
    judged: dict[str, list[float]] = field(default_factory=lambda: {key: [] for key in PAGE_SCORES})

    def add(self, result: ItemResult) -> None:
        for key in TEXT_FIGURES:
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
            matcher_key(matcher): share(self.beside[matcher], facts)
            for matcher in other_matchers(options)
        }
        if not judge_model(options):
            return beside
        return beside | {key: mean(values) for key, values in self.judged.items()}


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
        "hallucinated": share(sums.extra["count"], sums.extra["tokens"]),
        **{f"err_{error}": share(sums.errors[error], total["facts"]) for error in ERROR_TYPES},
        **{type_key(key): _rate(counts, "correct") for key, counts in documents.items()},
    }


def _first(facts: _Facts, labels: tuple[str, ...]) -> dict[str, float | None]:
    return {FIRST_FFA: _rate(facts.total(labels), "correct")} if labels else {}


def _general(texts: dict[str, list[float]]) -> dict[str, float | None]:
    means = {key: mean(texts[key]) for key in TEXT_FIGURES}
    known = {key: mean for key, mean in means.items() if mean is not None}
    general = general_score(**known) if len(known) == len(TEXT_FIGURES) else None
    return {**means, "general": general}


def _accuracies(facts: _Facts, labels: tuple[str, ...]) -> dict[str, float | None]:
    return {accuracy_of(label)[0]: _rate(facts.types[label], "correct") for label in labels}


def _of_found(facts: _Facts, labels: tuple[str, ...]) -> dict[str, float | None]:
    types = {label: facts.types[label] for label in labels}
    return {
        found_key(label): share(counts["correct"], counts["found"])
        for label, counts in types.items()
    }


def _recovery(counts: Mapping[str, int]) -> dict[str, float | None]:
    return {
        "found": _rate(counts, "found"),
        "missing_rate": share(counts["facts"] - counts["found"], counts["facts"]),
        "precision": share(counts["correct"], counts["found"]),
    }


def _by_type(counts: Mapping[str, int]) -> _Numbers:
    return {"facts": counts["facts"], "ffa": _rate(counts, "correct"), **_recovery(counts)}


def _documents(documents: Mapping[str, _Facts], labels: tuple[str, ...]) -> dict[str, _Numbers]:
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
    return share(counts[key], counts["facts"])
