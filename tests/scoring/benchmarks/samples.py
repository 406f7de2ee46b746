"""A few items of every benchmark, in every layout that it reads."""

import io
import json
import tarfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Side = Literal["gold", "predictions"]
Line = dict[str, Any]
Files = dict[str, bytes]


@dataclass(frozen=True)
class Sample:
    """Items that are graded without a fault.

    `gold` and `predictions` are canonical lines; `answer` is the key of a prediction for the
    model's output; `files` has the same items in the benchmark's own layout, if it has one.
    """

    gold: Sequence[Line]
    predictions: Sequence[Line]
    answer: str
    files: Mapping[Side, Files] = field(default_factory=dict)

    def lines(self, side: Side) -> Sequence[Line]:
        return self.gold if side == "gold" else self.predictions


def as_json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def as_lines(lines: Sequence[Line]) -> bytes:
    """JSON Lines."""
    return b"".join(as_json(line) + b"\n" for line in lines)


def as_tar(files: Mapping[str, bytes]) -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as bundle:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            bundle.addfile(member, io.BytesIO(content))
    return data.getvalue()


def as_zip(files: Files, compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as bundle:
        for name, data in files.items():
            bundle.writestr(name, data)
    return buffer.getvalue()


_PAGES = {
    "p-1": "<p>Café: net loss <Number>(1,200)</Number> in <Date>Q2 2023</Date></p>",
    "p-2": "<table><tr><td>Total</td><td><Number>42</Number></td></tr></table>",
}
_OCR = {"p-1": "<p>Café: net loss (1,200) in Q2 2023</p>", "p-2": "Total 42"}

FINCRITICALED = Sample(
    gold=[{"id": item, "html": html} for item, html in _PAGES.items()],
    predictions=[{"id": item, "html": html} for item, html in _OCR.items()],
    answer="html",
    files={
        "gold": {f"{item}.html": html.encode() for item, html in _PAGES.items()},
        "predictions": {
            "p-1.html": _OCR["p-1"].encode(),
            "pred_p-2.txt": _OCR["p-2"].encode(),
        },
    },
)

_TEXT = "Café\nBalance Sheet\nRevenue 1,200 and 12.5"
FINDOC = Sample(
    gold=[{"id": "d-1", "gold": {"Café": ["Revenue 1,200", 12.5], "note": {"audited": True}}}],
    predictions=[{"id": "d-1", "text": _TEXT}],
    answer="text",
    files={"predictions": {"d-1.txt": _TEXT.encode()}},
)


def _question(item: str, task: str, subtask: str, answer: Any) -> Line:
    names = {"task": task, "subtask": subtask, "robustness": "Normal Captures"}
    return {"id": item, **names, "response": json.dumps(answer, ensure_ascii=False)}


FCMBENCH = Sample(
    gold=[
        _question("q-1", "KIE", "inf_ext_001", {"name": "Café", "total": {"net": 12.0}}),
        _question("q-2", "NC", "num_cal_001", 281),
        _question("q-3", "DTR", "doc_cla_003", {"present_categories": ["licence"]}),
    ],
    predictions=[
        {"id": "q-1", "response": 'So: {"name": "Café", "total": {"net": 12}}', "output_tokens": 9},
        {"id": "q-2", "response": '{"answer": 280}'},
        {"id": "q-3", "response": '{"present_categories": ["licence", "permit"]}'},
    ],
    answer="response",
)

_FIELDS: Line = {
    "seller_name": "Café Central",
    "orig_total": "45.00",
    "std_total": 45,
    "orig_curr": ["$"],
    "detail": [{"content": "Fare", "amount": "45.00", "ifTax": False}],
}
RECEIPTBENCH = Sample(
    gold=[
        {"id": "r-1", "fields": _FIELDS, "language": "English", "category": "taxi"},
        {"id": "r-2", "fields": {"type": "taxi"}, "balanced": True},
    ],
    predictions=[
        {"id": "r-1", "response": f"```json {json.dumps(_FIELDS, ensure_ascii=False)}```"},
        {"id": "r-2", "fields": {"type": "train", "detail": []}},
    ],
    answer="response",
    files={
        "gold": {"r-1.json": as_json(_FIELDS), "r-2.json": as_json({"type": "taxi"})},
        "predictions": {
            "r-1.json": as_json({"response": as_json(_FIELDS).decode()}),
            "r-2.json": as_json({"fields": {"type": "train"}}),
        },
    },
)

_TABLE = "<table><tr><td colspan=2>Café</td></tr><tr><td>1</td><td>2</td></tr></table>"
_WORDS = [{"text": "Café", "point": [10, 20]}, {"text": "total", "box": [0, 0, 4, 2]}]
# Name, track, op, answer, response.
_IMAGES: tuple[tuple[str, str, str, Any, str], ...] = (
    ("CORD", "multi_scene", "ocr", "Café total 9.80", "café total 9.30"),
    ("Korean", "multi_lan", "ocr", "합계", "합 계"),
    ("doc", "doc_parsing", "doc", "Café", "```latex\nCafé```"),
    ("table", "doc_parsing", "table", _TABLE, _TABLE.replace("2<", "3<")),
    ("math", "doc_parsing", "formula", "x^2", "x^3"),
    ("molecules", "doc_parsing", "molecular", "CCO", "CCN"),
    ("SROIE", "kie", "kie", {"café": {"total": ["9.80"]}}, '{"café": {"total": ["9.30"]}}'),
    ("CORD_grounding", "multi_scene", "grounding", _WORDS, json.dumps(_WORDS[:1])),
)
_PUBLISHED = [image for image in _IMAGES if image[2] != "grounding"]
_GROUPS = {
    "multi_scene": "multi_scene_ocr",
    "multi_lan": "multi_lan_ocr",
    "doc_parsing": "doc_parsing",
    "kie": "kie",
}

CCOCR = Sample(
    gold=[
        {"id": "1.jpg", "subset": name, "track": track, "op": op, "answer": answer}
        for name, track, op, answer, _ in _IMAGES
    ],
    predictions=[
        {"id": "1.jpg", "subset": name, "response": response} for name, *_, response in _IMAGES
    ],
    answer="response",
    files={
        "gold": {
            "index.json": as_json(
                [
                    {
                        "dataset": name,
                        "base_dir": name,
                        "group": _GROUPS[track],
                        "op": op,
                    }
                    for name, track, op, *_ in _PUBLISHED
                ]
            ),
            **{
                f"{name}/label.json": as_json({"1.jpg": answer})
                for name, _, _, answer, _ in _PUBLISHED
            },
        },
        "predictions": {
            f"{name}/1.jpg.json": as_json({"model_name": "local", "response": response})
            for name, *_, response in _PUBLISHED
        },
    },
)

SAMPLES: dict[str, Sample] = {
    "fincriticaled": FINCRITICALED,
    "findoc": FINDOC,
    "fcmbench": FCMBENCH,
    "receiptbench": RECEIPTBENCH,
    "ccocr": CCOCR,
}
