"""Aggregates the receipts of a submission: by field, sub-task, language, category and weights."""

import math
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from scoring.benchmarks.base import Scores
from scoring.benchmarks.items import ItemResult, Options, mean, share
from scoring.metrics.receipts import ERRORS, FIELDS, TASKS, Counts, Rates, Strict, rates
from scoring.metrics.receipts.values import WEIGHTS

from .columns import (
    BALANCED,
    FALSE_POSITIVES,
    LANGUAGES,
    NON_ENGLISH,
    OTHER,
    PARTS,
    RATES,
    WRONG,
    error_key,
    language_code,
    part_key,
    weights_key,
)
from .scorer import LEFT_OUT, OVERALL, STRICT, UNPARSEABLE

_ENGLISH = "en"

# Counts by field: a row per field, columns TP, FP, FN, TN and the errors by type.
Table = npt.NDArray[np.float64]
Figures = dict[str, float | int | None]

_NAMES = tuple(rule.name for rule in FIELDS)
_WIDTH = len(Counts._fields)
_ROWS = {
    **{task: [n for n, rule in enumerate(FIELDS) if rule.task == task] for task in TASKS},
    OVERALL: list(range(len(FIELDS))),
}


def _table() -> Table:
    return np.zeros((len(FIELDS), _WIDTH + len(ERRORS)))


@dataclass
class _Part:
    """Receipts of one kind: their number and their counts."""

    receipts: int = 0
    table: Table = field(default_factory=_table)

    def add(self, table: Table) -> None:
        self.receipts += 1
        self.table += table


@dataclass
class _Sums:
    """The sums behind all figures of a submission."""

    counts: Counter[str] = field(default_factory=Counter)
    strict: Strict = field(default_factory=lambda: Strict(0, 0))
    rewards: "array[float]" = field(default_factory=lambda: array("d"))
    all: _Part = field(default_factory=_Part)
    balanced: _Part = field(default_factory=_Part)
    languages: defaultdict[str, _Part] = field(default_factory=lambda: defaultdict(_Part))
    categories: defaultdict[str, _Part] = field(default_factory=lambda: defaultdict(_Part))
    weights: defaultdict[str, _Part] = field(default_factory=lambda: defaultdict(_Part))

    def add(self, result: ItemResult) -> None:
        self._count(result)
        right, counted = result["strict"]
        self.strict = Strict(self.strict.right + right, self.strict.counted + counted)
        if result["outcome"] == LEFT_OUT:
            return
        table = _table_of(result)
        self.rewards.append(result["reward"])
        self.all.add(table)
        if result["balanced"]:
            self.balanced.add(table)
        if result["language"]:
            self.languages[result["language"]].add(table)
        if result["category"]:
            self.categories[result["category"]].add(table)
        for label, fields in result["weights"].items():
            part = self.weights[label]
            part.receipts += 1
            for name, counts in fields.items():
                part.table[_NAMES.index(name), :_WIDTH] += counts

    def _count(self, result: ItemResult) -> None:
        counts = self.counts
        counts["items"] += 1
        counts["missing"] += result["missing"]
        counts["left_out"] += result["outcome"] == LEFT_OUT
        counts["unparseable"] += result["outcome"] == UNPARSEABLE
        counts["unknown_fields"] += result["unknown_fields"]
        counts["wrong_kind"] += sum(part.get("wrong_kind", 0) for part in result["fields"].values())
        if result["outcome"] == LEFT_OUT:
            return
        for key in ("arithmetic", "arithmetic_gold"):
            if result[key] is not None:
                counts[f"{key}_checked"] += 1
                counts[f"{key}_right"] += result[key]


def aggregate(results: Iterable[ItemResult], _: Options) -> Scores:
    """Compute the figures of all receipts, in any order; `results` may be a stream.

    A sub-task adds up the counts of its fields, `overall` those of all (micro average), and
    `overall_strict` those with every value that is not answered counted like a wrong one.
    """
    sums = _Sums()
    for result in results:
        sums.add(result)
    return Scores(
        items=sums.counts["items"],
        missing=sums.counts["missing"],
        scores=_scores(sums),
        counts=_shown_counts(sums),
        subsets=_subsets(sums),
    )


def _table_of(result: ItemResult) -> Table:
    rows = []
    for name in _NAMES:
        part = result["fields"][name]
        errors = part.get("errors", {})
        rows.append([*part["counts"], *(errors.get(error, 0) for error in ERRORS)])
    return np.array(rows, dtype=np.float64)


def _rates(table: Table, rows: list[int]) -> Rates:
    tp, fp, fn, tn = table[rows, :_WIDTH].sum(axis=0).tolist()
    return rates(Counts(tp, fp, fn, tn))


def _scores(sums: _Sums) -> dict[str, float | None]:
    table, counts = sums.all.table, sums.counts
    errors = table[:, _WIDTH:].sum(axis=0).tolist()
    scores: dict[str, float | None] = dict(_by_task(table))
    scores |= _rates(table, _ROWS[OVERALL])._asdict()
    scores[STRICT] = share(*sums.strict)
    scores["reward"] = mean(sums.rewards)
    for key in ("arithmetic", "arithmetic_gold"):
        scores[key] = share(counts[f"{key}_right"], counts[f"{key}_checked"])
    scores["unparseable"] = share(counts["unparseable"], counts["items"] - counts["missing"])
    for error, number in zip(ERRORS, errors, strict=True):
        scores[error_key(error)] = share(number, sum(errors))
    for task in TASKS:
        found = _rates(table, _ROWS[task])._asdict()
        scores |= {f"{task}_{rate}": found[rate] for rate in RATES if rate != "f1"}
    scores |= {name: _rates(table, [row]).f1 for row, name in enumerate(_NAMES)}
    return scores | _view_scores(sums)


def _view_scores(sums: _Sums) -> dict[str, float | None]:
    """Return the figures of the views that are not columns of the benchmark."""
    scores: dict[str, float | None] = {}
    for name, part in _paper_parts(sums).items():
        scores |= {part_key(name, key): f1 for key, f1 in _by_task(part.table).items()}
    for code in (*LANGUAGES, OTHER):
        spoken = _merged(sums, {code})
        scores[part_key("language", code)] = _by_task(spoken.table)[OVERALL]
    scores |= _by_field(FALSE_POSITIVES, sums.all, [Counts._fields.index("fp")])
    scores |= _by_field(WRONG, sums.all, range(_WIDTH, _WIDTH + len(ERRORS)))
    for weights in WEIGHTS:
        scores[weights_key(weights)] = None
    for label, found in _under_weights(sums).items():
        scores[weights_key(label)] = found[OVERALL]
    return scores


def _by_field(kind: str, part: _Part, columns: Sequence[int]) -> dict[str, float | None]:
    """Return each field's sum of these columns, and that of all fields; None without receipts."""
    keys = [part_key(kind, name) for name in (*_NAMES, OVERALL)]
    if not part.receipts:
        return dict.fromkeys(keys)
    counts = part.table[:, columns].sum(axis=1).tolist()
    return dict(zip(keys, (*counts, math.fsum(counts)), strict=True))


def _shown_counts(sums: _Sums) -> dict[str, int]:
    totals = dict(zip((*Counts._fields, *ERRORS), _totals(sums.all.table), strict=True))
    keys = ("left_out", "unparseable", "wrong_kind", "unknown_fields")
    checks = ("arithmetic_checked", "arithmetic_gold_checked")
    return {
        "receipts": sums.all.receipts,
        **{key: sums.counts[key] for key in (*keys, *checks)},
        **{key: totals[key] for key in Counts._fields},
        **{error_key(error): totals[error] for error in ERRORS},
    }


def _totals(table: Table) -> list[int]:
    return [round(number) for number in table.sum(axis=0).tolist()]


def _by_task(table: Table) -> Figures:
    return {name: _rates(table, rows).f1 for name, rows in _ROWS.items()}


def _subsets(sums: _Sums) -> dict[str, Figures]:
    table = sums.all.table
    return {
        **{name: dict(_rates(table, rows)._asdict()) for name, rows in _ROWS.items()},
        **_fields(table),
        **_named("language", sums.languages),
        **_named("category", sums.categories),
        **_parts(sums),
        **_by_weights(sums),
    }


def _fields(table: Table) -> dict[str, Figures]:
    """Return each field's rates, its false positives and errors, and its rank among the error-prone
    fields."""
    errors = table[:, _WIDTH:]
    wrong = errors.sum(axis=1)
    shown: dict[str, Figures] = {}
    for row, name in enumerate(_NAMES):
        shown[name] = {
            **_rates(table, [row])._asdict(),
            "false_positives": round(table[row, Counts._fields.index("fp")]),
            "errors": round(wrong[row]),
            "error_rank": 1 + int((wrong > wrong[row]).sum()),
            **{
                f"errors_{error}": round(number)
                for error, number in zip(ERRORS, errors[row].tolist(), strict=True)
            },
        }
    return shown


def _named(kind: str, parts: dict[str, _Part]) -> dict[str, Figures]:
    return {f"{kind} {name}": _part(parts[name]) for name in sorted(parts)}


def _part(part: _Part) -> Figures:
    return {"receipts": part.receipts, **_by_task(part.table)}


def _paper_parts(sums: _Sums) -> dict[str, _Part]:
    """Return the receipts of table 9, marked as balanced, and of table 10, whose stated language is
    not English."""
    foreign = _merged(sums, {*LANGUAGES, OTHER} - {_ENGLISH})
    return {BALANCED: sums.balanced, NON_ENGLISH: foreign}


def _merged(sums: _Sums, codes: Set[str]) -> _Part:
    """Merge the receipts in these languages, under any name that the gold uses."""
    parts = [part for stated, part in sums.languages.items() if language_code(stated) in codes]
    return _Part(sum(part.receipts for part in parts), _sum([part.table for part in parts]))


def _parts(sums: _Sums) -> dict[str, Figures]:
    """Return the views of the paper, and a view of all receipts with equal weight for each
    category, which is the expected value of drawing equally many of each."""
    found = _paper_parts(sums).items()
    shown = {PARTS[name]: _part(part) for name, part in found if part.receipts}
    parts = [sums.categories[name] for name in sorted(sums.categories)]
    if parts:
        table = _sum([part.table / part.receipts for part in parts])
        shown["Categories weighed equally"] = {"categories": len(parts), **_by_task(table)}
    return shown


def _by_weights(sums: _Sums) -> dict[str, Figures]:
    """Return structure and overall F1 with the lists matched under other weights."""
    return {
        f"weights {label}": {key: found[key] for key in ("structure", OVERALL)}
        for label, found in _under_weights(sums).items()
    }


def _under_weights(sums: _Sums) -> dict[str, Figures]:
    """Return F1 by sub-task and overall with the lists matched under each of the weights."""
    shown: dict[str, Figures] = {}
    for label in sorted(sums.weights):
        table = sums.all.table.copy()
        for row, rule in enumerate(FIELDS):
            if rule.kind == "list":
                table[row] = sums.weights[label].table[row]
        shown[label] = _by_task(table)
    return shown


def _sum(tables: list[Table]) -> Table:
    total = _table()
    for table in tables:
        total += table
    return total
