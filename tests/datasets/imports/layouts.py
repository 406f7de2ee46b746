"""A small source in each layout, made in memory, and its expected outcome."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet

from portal.datasets.imports.services import import_path
from portal.datasets.models import Dataset, ImportRun
from portal.facts import FactSpan, LabelledBy, canonicalise, write_task
from tests.datasets.factories import Files, page, png, zip_bytes

Form = ImportRun.Form

PAGE = "<p>Net sales 1,200 at March 31, 2025</p>"
GOLD = "<p>Net sales <Number>1,200</Number> at <Date>March 31, 2025</Date></p>"
QUESTION: dict[str, Any] = {
    "id": "q1",
    "images": ["images/card.png"],
    "question": "What is it?",
    "response": '{"answer": ["card"]}',
    "task": "DTR",
    "subtask": "doc_cla_001",
    "robustness": "Normal Captures",
}
RECEIPT = {"type": "hotel", "std_total": "12.00", "language": "en"}
FILING = (
    "<html><body><p>Annual report on FORM 10-K of Acme</p><p>Sales 1,200</p>"
    '<hr style="page-break-after: always"><p>Second page, assets 3,400</p></body></html>'
)


def json_lines(*values: dict[str, Any]) -> bytes:
    return "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values).encode()


def csv_table(*rows: dict[str, str]) -> bytes:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def parquet(*rows: dict[str, Any]) -> bytes:
    data = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(list(rows)), data)
    return data.getvalue()


def studio_task(html: str = PAGE, name: str = "p1", *, is_gold: bool = True) -> dict[str, Any]:
    """A task of Label Studio in which “1,200” is a Number."""
    canonical = canonicalise(html)
    start = canonical.text.index("1,200")
    span = FactSpan("k1", "Number", start, start + 5, "1,200", "1200", "")
    by = LabelledBy(1, 7, [span], is_gold=is_gold)
    return write_task(1, {"name": name}, canonical.html, [by])


def questions(*lines: dict[str, Any]) -> Files:
    return {"bench.jsonl": json_lines(*(lines or (QUESTION,))), "images/card.png": png()}


def ccocr() -> Files:
    index = [{"dataset": "CORD", "base_dir": "data/CORD", "group": "kie", "op": "x"}]
    return {
        "index.json": json.dumps(index),
        "data/CORD/label.json": json.dumps({"1.png": {"total": "9"}}),
        "data/CORD/qa.jsonl": json_lines({"url": "images/1.png", "prompt": "Read it."}),
        "data/CORD/images/1.png": png(),
    }


# Form → the files of a source of one document (two pages of the filing).
SOURCES: dict[str, Files] = {
    Form.PAGES: {"pages/p1.html": page(), "images/p1.png": png()},
    Form.FILING: {"acme.htm": FILING},
    Form.FINCRITICALED: {
        "test.csv": csv_table({"id": "p1", "matched_html": PAGE}),
        "gold/p1.html": GOLD,
    },
    Form.LABEL_STUDIO: {"export.json": json.dumps([studio_task()])},
    Form.FCMBENCH: questions(),
    Form.CCOCR: ccocr(),
    Form.RECEIPTS: {"r1.json": json.dumps(RECEIPT), "r1.png": png()},
    Form.PARQUET: {
        "train.parquet": parquet({"id": "p1", "image": {"bytes": png(), "path": "a.png"}, "x": 3})
    },
}
# Form → the names of the documents that its source makes.
NAMES: dict[str, list[str]] = {
    Form.PAGES: ["p1"],
    Form.FILING: ["acme_p001", "acme_p002"],
    Form.FINCRITICALED: ["p1"],
    Form.LABEL_STUDIO: ["p1"],
    Form.FCMBENCH: ["q1"],
    Form.CCOCR: ["CORD__1"],
    Form.RECEIPTS: ["r1"],
    Form.PARQUET: ["p1"],
}
FORMS = list(SOURCES)
OTHER_FORMS = [form for form in FORMS if form != Form.PAGES]


def write_zip(path: Path, files: Files) -> Path:
    path.write_bytes(zip_bytes(files))
    return path


def import_files(
    dataset: Dataset, folder: Path, form: str, files: Files, benchmark: str = ""
) -> ImportRun:
    """Imports the files as a ZIP, as the command does."""
    folder.mkdir(parents=True, exist_ok=True)
    path = write_zip(folder / "source.zip", files)
    return import_path(dataset=dataset, path=path, form=form, benchmark=benchmark)
