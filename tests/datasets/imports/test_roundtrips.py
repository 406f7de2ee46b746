"""Published layouts are imported completely: the stored data give the same lines again."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from portal.datasets.models import Dataset, Document, XbrlFacts
from portal.facts import FactSpan, LabelledBy, canonicalise, read_tags, write_task
from tests.datasets.factories import Files, png, stored_bytes
from tests.factories import empty_dataset
from tests.shared import FILINGS, REALDATA, needs_filings, needs_realdata

from .layouts import GOLD, PAGE, QUESTION, RECEIPT, SOURCES, Form, csv_table, import_files, parquet

pytestmark = pytest.mark.django_db


def pictures(document: Document) -> list[bytes]:
    return [stored_bytes(image) for image in document.images.order_by("number")]


def fcmbench_line(document: Document) -> dict[str, Any]:
    gold = document.record.gold
    return {
        "id": gold["id"],
        "images": document.metadata["images"],
        "question": document.record.prompt,
        **{key: gold[key] for key in ("response", "task", "subtask", "robustness")},
    }


def ccocr_files(document: Document) -> Files:
    gold, about = document.record.gold, document.metadata
    index = {"dataset": gold["subset"], "base_dir": "data/CORD", "group": gold["track"]}
    picture = f"{gold['id']}.png"
    prompt = {"url": f"images/{picture}", "prompt": document.record.prompt}
    return {
        "index.json": json.dumps([{**index, "op": about["part"]}]),
        "data/CORD/label.json": json.dumps({picture: gold["answer"]}),
        "data/CORD/qa.jsonl": json.dumps(prompt).encode() + b"\n",
        f"data/CORD/images/{picture}": pictures(document)[0],
    }


def receipt_files(document: Document) -> Files:
    gold = document.record.gold
    about = {key: value for key, value in gold.items() if key not in ("id", "fields")}
    value = json.dumps({**gold["fields"], **about})
    return {f"{document.name}.json": value, f"{document.name}.png": pictures(document)[0]}


def fincriticaled_files(document: Document) -> Files:
    row = {"id": document.name, "matched_html": document.content.html}
    return {"test.csv": csv_table(row), "gold/p1.html": document.record.gold["html"]}


def studio_files(document: Document) -> Files:
    spans = []
    for span in read_tags(document.record.gold["html"], ["Number", "Date"]).spans:
        quote = document.content.text[span.start : span.end]
        spans.append(FactSpan("k1", span.label, span.start, span.end, quote, "1200", ""))
    task = write_task(
        1,
        {"name": document.name},
        document.content.html,
        [LabelledBy(1, 7, spans, is_gold=True)],
    )
    return {"export.json": json.dumps([task])}


def parquet_files(document: Document) -> Files:
    image = {"bytes": pictures(document)[0], "path": "a.png"}
    return {"train.parquet": parquet({"id": document.name, "image": image, **document.metadata})}


def fcmbench_files(document: Document) -> Files:
    line = json.dumps(fcmbench_line(document), ensure_ascii=False) + "\n"
    return {"bench.jsonl": line, "images/card.png": pictures(document)[0]}


WRITERS: dict[str, Callable[[Document], Files]] = {
    Form.FCMBENCH: fcmbench_files,
    Form.CCOCR: ccocr_files,
    Form.RECEIPTS: receipt_files,
    Form.FINCRITICALED: fincriticaled_files,
    Form.LABEL_STUDIO: studio_files,
    Form.PARQUET: parquet_files,
}


@pytest.mark.parametrize("form", WRITERS)
def test_layout_is_written_again_from_what_is_stored(form: str, tmp_path: Path) -> None:
    source = SOURCES[form]
    import_files(empty_dataset(), tmp_path, form, source)
    again = WRITERS[form](Document.objects.get())
    assert again.keys() == source.keys()
    for name, data in source.items():
        assert plain(name, again[name]) == plain(name, data), name


def plain(name: str, data: bytes | str) -> Any:
    """JSON by its meaning, everything else by its bytes."""
    raw = data.encode() if isinstance(data, str) else data
    if name.endswith(".json"):
        return json.loads(raw)
    if name.endswith(".jsonl"):
        return [json.loads(line) for line in raw.splitlines()]
    return raw


def test_made_sources_are_what_is_expected_of_them() -> None:
    """The comparison above includes gold, prompt and pictures."""
    assert set(QUESTION) == set(fcmbench_keys())
    assert read_tags(GOLD, ["Number", "Date"]).canonical.html == canonicalise(PAGE).html
    assert RECEIPT["std_total"] in str(SOURCES[Form.RECEIPTS]["r1.json"])
    assert SOURCES[Form.FCMBENCH]["images/card.png"] == png()


def fcmbench_keys() -> list[str]:
    return ["id", "images", "question", "response", "task", "subtask", "robustness"]


@needs_realdata
def test_real_pages_and_gold_come_back_from_fincriticaleds_layout(tmp_path: Path) -> None:
    pages = sorted((REALDATA / "pages").glob("*.html"))[:12]
    rows = [{"id": path.stem, "matched_html": path.read_text(encoding="utf-8")} for path in pages]
    gold = {
        f"gold/{path.stem}.html": (REALDATA / "gold" / path.name).read_bytes()
        for path in pages
        if (REALDATA / "gold" / path.name).is_file()
    }
    assert gold
    dataset = empty_dataset()
    run = import_files(dataset, tmp_path, Form.FINCRITICALED, {"a.csv": csv_table(*rows), **gold})
    assert set(run.items.values_list("outcome", flat=True)) == {"imported"}
    assert {
        f"gold/{document.name}.html": document.record.gold["html"].encode()
        for document in dataset.documents.exclude(record=None).select_related("record")
    } == gold


@needs_filings
def test_real_filing_comes_in_whole(tmp_path: Path) -> None:
    path = FILINGS / "aapl-10-k-2024-11-01.html"
    dataset: Dataset = empty_dataset()
    run = import_files(dataset, tmp_path, Form.FILING, {path.name: path.read_bytes()})
    assert run.state == "done"
    documents = dataset.documents.order_by("name").select_related("content")
    assert documents.count() > 50
    assert {document.form_type for document in documents} == {"10-K"}
    facts = [row for one in XbrlFacts.objects.all() for row in one.facts]
    assert len(facts) > 500
    assert {len(row) for row in facts} == {5}
    # A page is known by its own content.
    first = documents[0]
    assert first.html_sha256 == hashlib.sha256(first.content.html.encode()).hexdigest()
