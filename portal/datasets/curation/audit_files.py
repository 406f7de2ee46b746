"""An audit report as Markdown for people and as CSV for spreadsheets.

Both take the report as `acceptance.audit_report` makes it.
"""

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from portal.files.tables import decimal_text

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
