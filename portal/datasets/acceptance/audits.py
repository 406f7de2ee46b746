"""Quality acceptance of a batch: a random sample inspected field by field, and the audit report.

A batch is rejected as a whole when the accuracy of any field is under the threshold. Source:
ReceiptBench, section 3.1 (threshold 97 %). `audit_markdown` and `audit_csv` write the report
that `audit_report` makes, as JSON has it. No Django.
"""

import csv
import io
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, NamedTuple, TypeAlias

from portal.facts.sampling import Z_95, Range, wilson
from portal.files.tables import decimal_text

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


def smallest_conclusive_sample(threshold: float = THRESHOLD) -> int:
    """The size from which a sample without any error has its whole interval above the threshold.

    The lower end of n right ones of n is n / (n + z²), so n = z² t / (1 - t), rounded up. Smaller
    samples may pass, but cannot show that the batch is as good. Raises ValueError unless the
    threshold lies between 0 and 1.

    >>> smallest_conclusive_sample(0.97)
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


@dataclass(frozen=True)
class FieldFigures:
    """How often a field was right; `missing` inspections are still to come."""

    field: str
    right: int
    n: int
    missing: int
    accuracy: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class WrongValue:
    """A wrong value, with what it should be."""

    document: str
    field: str
    value: Any
    correct_value: Any | None
    comment: str


@dataclass(frozen=True)
class FaultCount:
    """How often the validation found a fault in a field."""

    field: str
    code: str
    count: int


@dataclass(frozen=True)
class Validation:
    """What the validation found in the whole batch, the most frequent faults first."""

    documents_with_faults: int
    counts: list[FaultCount]


@dataclass(frozen=True)
class AuditReport:
    """The audit report: of an open batch as it is now, with the state `incomplete` or what it
    would be closed with.
    """

    state: State
    threshold: float
    batch_size: int
    sample_size: int
    seed: int
    failing: list[str]
    fields: list[FieldFigures]
    overall: FieldFigures
    errors: list[WrongValue]
    validation: Validation


def audit_report(
    acceptance: Acceptance,
    verdicts: Iterable[Verdict],
    faults: Mapping[str, Sequence[FieldFault]],
    *,
    batch_size: int,
    seed: int,
) -> AuditReport:
    """The decision with its grounds, every wrong value, and how often which fault was found.

    `faults` has what the automatic validation found, by document of the whole batch.
    """
    return AuditReport(
        state=acceptance.state,
        threshold=acceptance.threshold,
        batch_size=batch_size,
        sample_size=acceptance.fields[0].n + acceptance.fields[0].missing,
        seed=seed,
        failing=list(acceptance.failing),
        fields=[_figures(row) for row in acceptance.fields],
        overall=_figures(acceptance.overall),
        errors=[
            WrongValue(one.document, one.field, one.value, one.correct_value, one.comment)
            for one in sorted(verdicts, key=lambda verdict: verdict[:2])
            if not one.is_right
        ],
        validation=validation_counts(faults),
    )


def validation_counts(faults: Mapping[str, Sequence[FieldFault]]) -> Validation:
    """How many documents have faults, and how often each fault occurs."""
    kinds = Counter((fault.field, fault.code) for found in faults.values() for fault in found)
    return Validation(
        documents_with_faults=sum(bool(found) for found in faults.values()),
        counts=[
            FaultCount(field, code, count)
            for (field, code), count in sorted(kinds.items(), key=lambda kind: (-kind[1], kind))
        ],
    )


def _figures(row: FieldAccuracy) -> FieldFigures:
    low, high = row.interval or (None, None)
    return FieldFigures(row.field, row.right, row.n, row.missing, row.accuracy, low, high)


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


CSV_COLUMNS = (
    "section",
    "document",
    "field",
    "right",
    "n",
    "accuracy",
    "low",
    "high",
    "count",
    "code",
    "value",
    "correct_value",
    "comment",
)
# A text that begins so would be a formula to a spreadsheet, unless it is a number.
_FORMULA = re.compile(r"[=+\-@\t\r](?![0-9.,]+$)")

_STATES = {
    "accepted": "Accepted.",
    "rejected": "Rejected as a whole.",
    "incomplete": "Not decided: the inspection is not complete.",
}


def audit_csv(report: Mapping[str, Any]) -> str:
    """One line per field, per wrong value and per kind of fault, with six decimals at most.

    Sections: field, overall, error, fault. Texts that a spreadsheet would calculate have an
    apostrophe before them.
    """
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, CSV_COLUMNS, restval="")
    writer.writeheader()
    for row in _lines(report):
        writer.writerow({key: _cell(value) for key, value in row.items()})
    return text.getvalue()


def audit_markdown(report: Mapping[str, Any], title: str) -> str:
    """The report for reading; `title` is its heading."""
    return "\n".join(_paragraphs(report, title)) + "\n"


def _lines(report: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for section, rows in (("field", report["fields"]), ("overall", [report["overall"]])):
        for row in rows:
            figures = {key: row[key] for key in ("field", "right", "n", "accuracy", "low", "high")}
            yield {"section": section, **figures}
    for error in report["errors"]:
        yield {
            "section": "error",
            "document": error["document"],
            "field": error["field"],
            "value": spelt(error["value"]),
            "correct_value": spelt(error["correct_value"]),
            "comment": error["comment"],
        }
    for fault in report["validation"]["counts"]:
        yield {"section": "fault", **fault}


def _paragraphs(report: Mapping[str, Any], title: str) -> Iterator[str]:
    yield f"# {_line(title)}"
    yield ""
    yield (
        f"{_STATES[report['state']]} {report['sample_size']} of {report['batch_size']} documents "
        f"were drawn with seed {report['seed']}; every field has to reach "
        f"{100 * report['threshold']:g} %."
    )
    if report["failing"]:
        names = ", ".join(_line(name) for name in report["failing"])
        yield f"Under the threshold: {names}."
    yield from ("", "## Accuracy", "", "| field | right | inspected | accuracy | 95 % interval |")
    yield "|---|---:|---:|---:|---|"
    for row in [*report["fields"], report["overall"]]:
        yield f"| {_line(row['field'])} | {row['right']} | {row['n']} | {_accuracy(row)} |"
    yield from ("", "## Wrong values", "")
    if report["errors"]:
        yield "| document | field | value | should be | comment |"
        yield "|---|---|---|---|---|"
    else:
        yield "None."
    for error in report["errors"]:
        told = (error["document"], error["field"], spelt(error["value"]))
        right = "" if error["correct_value"] is None else spelt(error["correct_value"])
        cells = (*told, right, error["comment"])
        yield f"| {' | '.join(_line(cell) for cell in cells)} |"
    validation = report["validation"]
    yield from ("", "## Automatic validation", "")
    yield f"{validation['documents_with_faults']} documents of the batch have faults."
    if validation["counts"]:
        yield from ("", "| field | fault | documents or items |", "|---|---|---:|")
    for fault in validation["counts"]:
        yield f"| {_line(fault['field'] or '–')} | {fault['code']} | {fault['count']} |"


def spelt(value: Any) -> str:
    """A value as people read it: a text as it is, nothing as nothing, the rest as JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _accuracy(row: Mapping[str, Any]) -> str:
    if row["accuracy"] is None:
        return "– | –"
    return f"{100 * row['accuracy']:.1f} % | {100 * row['low']:.1f}–{100 * row['high']:.1f} %"


def _line(text: str) -> str:
    """Text for one cell of a table, in which nothing is markup."""
    flat = " ".join(text.split())
    for special in ("\\", "|", "<", "[", "*", "_", "`"):
        flat = flat.replace(special, f"\\{special}")
    return flat


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, str) and _FORMULA.match(value):
        return f"'{value}"
    return decimal_text(value) if isinstance(value, float) else value
