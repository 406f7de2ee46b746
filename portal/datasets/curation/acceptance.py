"""Quality acceptance of a batch: a random sample inspected field by field.

A batch is rejected as a whole when the accuracy of any field is under the threshold. Source:
ReceiptBench, section 3.1 (threshold 97 %).
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, Literal, NamedTuple, TypeAlias

from portal.facts.sampling import Z_95, Range, wilson

from .records import FieldFault

State: TypeAlias = Literal["incomplete", "accepted", "rejected"]

THRESHOLD = 0.97


class Verdict(NamedTuple):
    """What a person said of one field of one document; `comment` and `correct_value` if wrong.

    `value` is what the record has there.
    """

    document: str
    field: str
    is_right: bool
    correct_value: Any = None
    comment: str = ""
    value: Any = None


@dataclass(frozen=True)
class FieldAccuracy:
    """How often a field was right among the `n` documents in which it was inspected.

    `accuracy` and its 95 % interval are from 0 to 1, and None without inspections. `missing` is the
    number of sampled documents in which nobody has looked at the field yet.
    """

    field: str
    right: int
    n: int
    missing: int = 0

    @property
    def accuracy(self) -> float | None:
        return self.right / self.n if self.n else None

    @property
    def interval(self) -> Range | None:
        return wilson(self.right, self.n)


@dataclass(frozen=True)
class Acceptance:
    """Where the inspection of a batch stands.

    `state` stays "incomplete" until every field of every sampled document has a verdict. `failing`
    names the fields that are under the threshold, or cannot reach it any more whatever is still
    found: a batch with one is lost before its inspection ends.
    """

    threshold: float
    fields: tuple[FieldAccuracy, ...]
    overall: FieldAccuracy
    state: State
    failing: tuple[str, ...]


def smallest_telling_sample(threshold: float = THRESHOLD) -> int:
    """The size from which a sample without any error has its whole interval above the threshold.

    The lower end of n right ones of n is n / (n + z²), so n = z² t / (1 - t), rounded up. Smaller
    samples may pass, but cannot show that the batch is as good. Raises ValueError unless the
    threshold lies between 0 and 1.

    >>> smallest_telling_sample(0.97)
    125
    """
    if not 0 < threshold < 1:
        raise ValueError(f"the threshold must lie between 0 and 1, not {threshold}")
    return math.ceil(Z_95**2 * threshold / (1 - threshold))


def accept(
    *,
    fields: Sequence[str],
    sampled: Iterable[str],
    verdicts: Iterable[Verdict],
    threshold: float = THRESHOLD,
) -> Acceptance:
    """Judges a batch by what was said of its sample.

    The threshold itself is enough, taken as the decimal it is written as: 97 of 100 reach 0.97.
    Raises ValueError for a threshold that is not above 0 and at most 1, an empty sample, no or
    doubled fields, and a verdict that is doubled or on a document or field outside.
    """
    if not 0 < threshold <= 1:
        raise ValueError(f"the threshold must be above 0 and at most 1, not {threshold}")
    documents = set(sampled)
    if not documents or not fields or len(set(fields)) < len(fields):
        raise ValueError("acceptance needs sampled documents and fields, each field once")
    right, n = _counted(verdicts, documents, set(fields))
    rows = tuple(
        FieldAccuracy(name, right[name], n[name], len(documents) - n[name]) for name in fields
    )
    bar = Fraction(repr(threshold))
    failing = tuple(row.field for row in rows if row.right + row.missing < bar * len(documents))
    overall = pooled(rows)
    state: State = "rejected" if failing else "accepted"
    if overall.missing:
        state = "incomplete"
    return Acceptance(threshold, rows, overall, state, failing)


def pooled(rows: Iterable[FieldAccuracy], name: str = "overall") -> FieldAccuracy:
    """All verdicts of several fields or batches taken together (micro average)."""
    rows = list(rows)
    return FieldAccuracy(
        name,
        sum(row.right for row in rows),
        sum(row.n for row in rows),
        sum(row.missing for row in rows),
    )


def audit_report(
    acceptance: Acceptance,
    verdicts: Iterable[Verdict],
    faults: Mapping[str, Sequence[FieldFault]],
    *,
    batch_size: int,
    seed: int,
) -> dict[str, Any]:
    """The audit report of a batch as plain JSON.

    `faults` has what the automatic validation found, by document of the whole batch. The report
    tells the decision with its grounds, every wrong value with what it should be, and how often
    the validation found which fault in which field, most frequent first.
    """
    return {
        "state": acceptance.state,
        "threshold": acceptance.threshold,
        "batch_size": batch_size,
        "sample_size": acceptance.fields[0].n + acceptance.fields[0].missing,
        "seed": seed,
        "failing": list(acceptance.failing),
        "fields": [_row(row) for row in acceptance.fields],
        "overall": _row(acceptance.overall),
        "errors": [
            {
                "document": verdict.document,
                "field": verdict.field,
                "value": verdict.value,
                "correct_value": verdict.correct_value,
                "comment": verdict.comment,
            }
            for verdict in sorted(verdicts, key=lambda verdict: verdict[:2])
            if not verdict.is_right
        ],
        "validation": validation_counts(faults),
    }


def validation_counts(faults: Mapping[str, Sequence[FieldFault]]) -> dict[str, Any]:
    """How many documents have faults, and how often each occurs: `{field, code, count}`."""
    kinds = Counter((fault.field, fault.code) for found in faults.values() for fault in found)
    return {
        "documents_with_faults": sum(bool(found) for found in faults.values()),
        "counts": [
            {"field": field, "code": code, "count": count}
            for (field, code), count in sorted(kinds.items(), key=lambda kind: (-kind[1], kind))
        ],
    }


def _row(row: FieldAccuracy) -> dict[str, Any]:
    interval = row.interval
    return {
        **asdict(row),
        "accuracy": row.accuracy,
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
    }


def _counted(
    verdicts: Iterable[Verdict], documents: set[str], fields: set[str]
) -> tuple[Counter[str], Counter[str]]:
    """How often each field was right, and how often it was inspected."""
    right: Counter[str] = Counter()
    n: Counter[str] = Counter()
    seen: set[tuple[str, str]] = set()
    for verdict in verdicts:
        place = (verdict.document, verdict.field)
        where = f"{verdict.field} of {verdict.document}"
        if verdict.document not in documents or verdict.field not in fields:
            raise ValueError(f"{where} is not in the sample")
        if place in seen:
            raise ValueError(f"{where} has two verdicts")
        seen.add(place)
        n[verdict.field] += 1
        right[verdict.field] += verdict.is_right
    return right, n
