"""The accuracy of an inspected sample, the decision on its batch, and the audit report. No Django.

A batch is rejected as a whole if the accuracy of any field is below the threshold. Source:
ReceiptBench, section 3.1 (threshold 97%). `audit_markdown` and `audit_csv` format the report
of `audit_report` after it was converted to JSON.
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

from portal.facts.sampling import Z_95, wilson
from portal.files.tables import decimal_text

from .records import FAULT_LABELS, FieldFault

State: TypeAlias = Literal["incomplete", "accepted", "rejected"]

THRESHOLD = 0.97


class Verdict(NamedTuple):
    """An inspector's verdict on one field of one document, and the `value` in the record."""

    document: str
    field: str
    is_right: bool
    correct_value: Any = None
    comment: str = ""
    value: Any = None


@dataclass(frozen=True)
class FieldAccuracy:
    """The number of documents in which a field was right, of `n` in which it was inspected.

    `accuracy` and its 95% interval from `low` to `high` are from 0 to 1, or None without
    inspections. `missing` is the number of sampled documents in which the field is not inspected
    yet.
    """

    field: str
    right: int
    n: int
    missing: int
    accuracy: float | None
    low: float | None
    high: float | None


def field_accuracy(field: str, right: int, n: int, missing: int = 0) -> FieldAccuracy:
    low, high = wilson(right, n) or (None, None)
    return FieldAccuracy(field, right, n, missing, right / n if n else None, low, high)


@dataclass(frozen=True)
class Acceptance:
    """The result of inspecting a batch so far.

    `state` is "incomplete" until every field of every sampled document has a verdict. `failing`
    names the fields that are below the threshold, or can no longer reach it. A batch with a failing
    field can be rejected before the inspection is complete.
    """

    threshold: float
    fields: tuple[FieldAccuracy, ...]
    overall: FieldAccuracy
    state: State
    failing: tuple[str, ...]


def smallest_conclusive_sample(threshold: float = THRESHOLD) -> int:
    """The smallest error-free sample whose whole interval is above the threshold.

    If n of n are right, the lower end of the interval is n / (n + z²), so n = z² t / (1 - t),
    rounded up. Smaller samples may pass without showing that the batch is good enough. Raises
    ValueError unless the threshold is between 0 and 1.

    >>> smallest_conclusive_sample(0.97)
    125
    """
    if not 0 < threshold < 1:
        raise ValueError(f"the threshold must be between 0 and 1, not {threshold}")
    return math.ceil(Z_95**2 * threshold / (1 - threshold))


def accept(
    *,
    fields: Sequence[str],
    sampled: Iterable[str],
    verdicts: Iterable[Verdict],
    threshold: float = THRESHOLD,
) -> Acceptance:
    """Decide on a batch by the verdicts on its sample.

    The threshold is an exact decimal and is met by an equal accuracy: 97 of 100 reach 0.97. Raises
    ValueError for a threshold that is not above 0 and at most 1, an empty sample, no or repeated
    fields, and a verdict that is repeated or on an unknown document or field.
    """
    if not 0 < threshold <= 1:
        raise ValueError(f"the threshold must be above 0 and at most 1, not {threshold}")
    documents = set(sampled)
    if not documents or not fields or len(set(fields)) < len(fields):
        raise ValueError("acceptance needs sampled documents and fields, each field once")
    right, n = _counted(verdicts, documents, set(fields))
    rows = tuple(
        field_accuracy(name, right[name], n[name], len(documents) - n[name]) for name in fields
    )
    bar = Fraction(repr(threshold))
    failing = tuple(row.field for row in rows if row.right + row.missing < bar * len(documents))
    overall = pooled(rows)
    state: State = "rejected" if failing else "accepted"
    if overall.missing:
        state = "incomplete"
    return Acceptance(threshold, rows, overall, state, failing)


def pooled(rows: Iterable[FieldAccuracy], name: str = "overall") -> FieldAccuracy:
    """The accuracy of all verdicts of several fields or batches (micro average)."""
    rows = list(rows)
    return field_accuracy(
        name,
        sum(row.right for row in rows),
        sum(row.n for row in rows),
        sum(row.missing for row in rows),
    )


@dataclass(frozen=True)
class WrongValue:
    """A wrong value and its correction."""

    document: str
    field: str
    value: Any
    correct_value: Any | None
    comment: str


@dataclass(frozen=True)
class FaultCount:
    """The number of times that validation found a fault in a field."""

    field: str
    code: str
    count: int

    @property
    def label(self) -> str:
        """The fault in words."""
        return FAULT_LABELS.get(self.code, self.code)


@dataclass(frozen=True)
class Validation:
    """The result of validation for the whole batch, with the most frequent faults first."""

    documents_with_faults: int
    counts: list[FaultCount]


@dataclass(frozen=True)
class AuditReport:
    """The audit report. For an open batch, `state` is `incomplete` or the expected result."""

    state: State
    threshold: float
    batch_size: int
    sample_size: int
    seed: int
    failing: list[str]
    fields: list[FieldAccuracy]
    overall: FieldAccuracy
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
    """Return the decision with the accuracies, the wrong values and the number of each fault.

    `faults` maps the name of every document of the batch to the faults that validation found.
    """
    return AuditReport(
        state=acceptance.state,
        threshold=acceptance.threshold,
        batch_size=batch_size,
        sample_size=acceptance.fields[0].n + acceptance.fields[0].missing,
        seed=seed,
        failing=list(acceptance.failing),
        fields=list(acceptance.fields),
        overall=acceptance.overall,
        errors=[
            WrongValue(
                verdict.document,
                verdict.field,
                verdict.value,
                verdict.correct_value,
                verdict.comment,
            )
            for verdict in sorted(verdicts, key=lambda verdict: verdict[:2])
            if not verdict.is_right
        ],
        validation=validation_counts(faults),
    )


def validation_counts(faults: Mapping[str, Sequence[FieldFault]]) -> Validation:
    """Count the documents with faults, and each fault."""
    kinds = Counter((fault.field, fault.code) for listed in faults.values() for fault in listed)
    return Validation(
        documents_with_faults=sum(bool(listed) for listed in faults.values()),
        counts=[
            FaultCount(field, code, count)
            for (field, code), count in sorted(kinds.items(), key=lambda kind: (-kind[1], kind))
        ],
    )


def _counted(
    verdicts: Iterable[Verdict], documents: set[str], fields: set[str]
) -> tuple[Counter[str], Counter[str]]:
    """Count how often each field was right, and how often it was inspected."""
    right: Counter[str] = Counter()
    n: Counter[str] = Counter()
    seen: set[tuple[str, str]] = set()
    for verdict in verdicts:
        place = (verdict.document, verdict.field)
        where = f"{verdict.field} of {verdict.document}"
        if verdict.document not in documents or verdict.field not in fields:
            raise ValueError(f"{where} is not in the sample")
        if place in seen:
            raise ValueError(f"{where} has two results")
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
# A spreadsheet would read such a text as a formula, unless it is a number.
_FORMULA = re.compile(r"[=+\-@\t\r](?![0-9.,]+$)")

_STATES = {
    "accepted": "Accepted.",
    "rejected": "Rejected.",
    "incomplete": "Under inspection: some fields of the sample are not inspected yet.",
}


def audit_csv(report: Mapping[str, Any]) -> str:
    """Format the report as CSV: one line per field, wrong value and kind of fault.

    Sections are field, overall, error and fault; numbers have up to six decimals. An apostrophe
    precedes a text that a spreadsheet would read as a formula.
    """
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, CSV_COLUMNS, restval="")
    writer.writeheader()
    for row in _lines(report):
        writer.writerow({key: _cell(value) for key, value in row.items()})
    return text.getvalue()


def audit_markdown(report: Mapping[str, Any], title: str) -> str:
    """Format the report as Markdown with `title` as its heading."""
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
            "value": written_value(error["value"]),
            "correct_value": written_value(error["correct_value"]),
            "comment": error["comment"],
        }
    for fault in report["validation"]["counts"]:
        yield {"section": "fault", **fault}


def _paragraphs(report: Mapping[str, Any], title: str) -> Iterator[str]:
    yield f"# {_line(title)}"
    yield ""
    yield (
        f"{_STATES[report['state']]} {report['sample_size']} of {report['batch_size']} documents "
        f"were drawn with seed {report['seed']}; every field must reach "
        f"{100 * report['threshold']:g}%."
    )
    if report["failing"]:
        names = ", ".join(_line(name) for name in report["failing"])
        yield f"Below the required accuracy: {names}."
    yield from (
        "",
        "## Accuracy",
        "",
        "| field | correct | inspected |  accuracy | 95% interval |",
    )
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
        cells = (
            error["document"],
            error["field"],
            written_value(error["value"]),
            written_value(error["correct_value"]),
            error["comment"],
        )
        yield f"| {' | '.join(_line(cell) for cell in cells)} |"
    validation = report["validation"]
    yield from ("", "## Automatic validation", "")
    yield f"{validation['documents_with_faults']} documents of the batch have validation errors."
    if validation["counts"]:
        yield from ("", "| field | error | documents or items |", "|---|---|---:|")
    for fault in validation["counts"]:
        label = FAULT_LABELS.get(fault["code"], fault["code"])
        yield f"| {_line(fault['field'] or '–')} | {label} | {fault['count']} |"


def written_value(value: Any) -> str:
    """Format a value: a text unchanged, None as "", anything else as JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _accuracy(row: Mapping[str, Any]) -> str:
    if row["accuracy"] is None:
        return "– | –"
    return f"{100 * row['accuracy']:.1f}% | {100 * row['low']:.1f}–{100 * row['high']:.1f}%"


def _line(text: str) -> str:
    """Escape a text for one cell of a Markdown table."""
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
