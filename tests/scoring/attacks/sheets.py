"""Items of every benchmark whose facts have two readings, of which one is right.

An attacker knows both readings from the images, as from two models that disagree, and not which is
right. Guessing is right half of the time.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

Line = dict[str, Any]
Values = Sequence[str | None]


@dataclass(frozen=True)
class Sheet:
    """A kind of item: the two readings of each fact, and how gold and predictions are written.
    Values of a prediction are None where it has no answer."""

    readings: tuple[tuple[str, str], ...]
    gold: Callable[[str, Values], Line]
    prediction: Callable[[str, Values], Line]


def _page(values: Values, label: Callable[[str, str], str]) -> str:
    dates = (3, 4)
    revenue, margin, loss, day, year = (
        "not stated" if value is None else label("Date" if n in dates else "Number", value)
        for n, value in enumerate(values)
    )
    return (
        f"<h1>Report</h1><p>Revenue was {revenue}, with a margin of {margin}.</p>"
        f"<p>The loss of {loss} was on {day}, after the audit of {year}.</p>"
    )


PAGE = Sheet(
    readings=(
        ("1,204", "1,294"),
        ("87.5%", "81.5%"),
        ("(350)", "(359)"),
        ("May 27, 2021", "May 21, 2021"),
        ("2019", "2016"),
    ),
    gold=lambda name, values: {
        "id": name,
        "html": _page(values, lambda label, value: f"<{label}>{value}</{label}>"),
    },
    prediction=lambda name, values: {"id": name, "html": _page(values, lambda _, value: value)},
)


def _without_none(names: Sequence[str], values: Values) -> dict[str, str]:
    return {name: value for name, value in zip(names, values, strict=True) if value is not None}


_RECEIPT = (
    "invoice_number tax_number seller_name orig_total std_invoice_time std_total type std_curr"
).split()
RECEIPT = Sheet(
    readings=(
        ("A-1001", "A-1007"),
        ("DE811", "DE817"),
        ("Alpha Taxi", "Berlin Books"),
        ("45.00", "46.00"),
        ("2024-01-02", "2024-01-12"),
        ("145", "146"),
        ("taxi", "train"),
        ("EUR", "USD"),
    ),
    gold=lambda name, values: {
        "id": name,
        "language": "English",
        "category": "travel",
        "fields": _without_none(_RECEIPT, values),
    },
    prediction=lambda name, values: {"id": name, "fields": _without_none(_RECEIPT, values)},
)


def _question(task: str, subtask: str, fields: Sequence[str]) -> Sheet:
    names = {"task": task, "subtask": subtask, "robustness": "Normal Captures"}

    def line(name: str, values: Values) -> Line:
        return {"id": name, "response": json.dumps(_without_none(fields, values))}

    return Sheet(
        tuple((f"{field} one", f"{field} two") for field in fields),
        lambda name, values: line(name, values) | names,
        line,
    )


def _number(name: str, values: Values) -> Line:
    return {"id": name, "response": values[0] or ""}


NUMBER = Sheet(
    (("281", "287"),),
    lambda name, values: (
        _number(name, values)
        | {"task": "NC", "subtask": "num_cal_001", "robustness": "Normal Captures"}
    ),
    _number,
)


_FORM = ("company", "date", "total")


def _image(track: str, subset: str, op: str, write: Callable[[Values], Any]) -> Sheet:
    """Return an image of CC-OCR, without its readings."""
    kind = {"subset": subset, "track": track, "op": op}

    def prediction(name: str, values: Values) -> Line:
        answer = write(values)
        text = answer if isinstance(answer, str) else json.dumps(answer)
        return {"id": name, "subset": subset, "response": text}

    return Sheet((), lambda name, values: {"id": name, "answer": write(values), **kind}, prediction)


def _words(values: Values) -> str:
    return " ".join(["receipt", *(value for value in values if value is not None), "thanks"])


FORM = replace(
    _image("kie", "SROIE", "kie", lambda values: _without_none(_FORM, values)),
    readings=(("Acme", "Bolt"), ("2024-01-02", "2024-01-12"), ("9.80", "9.30")),
)
SCENE = replace(
    _image("multi_scene", "CORD", "ocr", _words),
    readings=(("coffee", "toffee"), ("north", "south")),
)
FRENCH = replace(_image("multi_lan", "French", "ocr", _words), readings=(("pain", "vin"),))
FORMULA = replace(
    _image("doc_parsing", "math", "formula", lambda values: f"x + {values[0] or ''}"),
    readings=(("3", "8"),),
)

_STATEMENT = ("Revenue", "Costs", "Auditor", "Cash")
STATEMENT = Sheet(
    readings=(("1204", "1294"), ("875", "815"), ("Alpha Audit", "Berlin Books"), ("3507", "3597")),
    gold=lambda name, values: {"id": name, "gold": _without_none(_STATEMENT, values)},
    prediction=lambda name, values: {
        "id": name,
        "text": "\n".join(map(" ".join, _without_none(_STATEMENT, values).items())),
    },
)

SHEETS: Mapping[str, tuple[Sheet, ...]] = {
    "fincriticaled": (PAGE,),
    "receiptbench": (RECEIPT,),
    "fcmbench": (
        _question("KIE", "inf_ext_001", ("name", "bank", "city")),
        NUMBER,
    ),
    "ccocr": (FORM, SCENE, FRENCH, FORMULA),
    "findoc": (STATEMENT,),
}
