"""Releases for tests: with a hidden test split, and of other benchmarks."""

import io
import zipfile
from functools import cache
from typing import Any

from PIL import Image
from PIL.PngImagePlugin import PngInfo

from portal.datasets.models import Dataset, DocumentRecord, Release
from portal.datasets.releases.gold import GoldItem
from portal.datasets.releases.services import freeze_release
from tests.datasets.factories import (
    LABELS,
    SECRET,
    add_image,
    secret_document,
    spans_of,
)
from tests.factories import empty_dataset, make_document, make_picture

OPEN = "8,150"
SECRET_IN_IMAGE = "Veiled caption"

# A gold line of each benchmark that is not of pages, by key.
RECORDS: dict[str, list[dict[str, Any]]] = {
    "fcmbench": [
        {"id": name, "task": "DTR", "subtask": "en.DTR", "robustness": "Standard",
         "response": '{"answer": "ID card"}'}
        for name in ("q1", "q2")
    ],
    "findoc": [{"id": name, "gold": {"total": 1200}} for name in ("q1", "q2")],
    "receiptbench": [{"id": name, "fields": {"type": "taxi"}} for name in ("q1", "q2")],
    "ccocr": [
        {"id": name, "subset": "IC15", "track": "multi_scene_ocr", "op": "ocr", "answer": "Exit"}
        for name in ("q1", "q2")
    ],
}  # fmt: skip


@cache
def titled_png() -> bytes:
    """A PNG with a secret in its metadata."""
    stream, info = io.BytesIO(), PngInfo()
    info.add_text("Title", SECRET_IN_IMAGE)
    Image.new("L", (40, 30), 90).save(stream, "PNG", pnginfo=info)
    return stream.getvalue()


def split_world(visibility: str = "gold_hidden", slug: str = "world", **terms: Any) -> Release:
    """The dataset `world`: `open` is development, `secret` is test."""
    dataset = empty_dataset(slug=slug, title="World", visibility="public")
    secret = secret_document(dataset)
    secret.images.all().delete()
    add_image(secret, titled_png())
    opened = make_document(dataset, "open", f"<p>Total 1,200 and {OPEN}</p>")
    add_image(opened, titled_png())
    return freeze_split(dataset, visibility=visibility, **terms)


def freeze_split(
    dataset: Dataset, *, version: str = "1.0.0", marked_less: bool = False, **terms: Any
) -> Release:
    """`marked_less`: without the second fact of each page."""
    documents = list(dataset.documents.filter(name__in=["open", "secret"]))
    marked = {"open": ["1,200", OPEN], "secret": ["1,200", SECRET]}
    if marked_less:
        marked = {name: quotes[:1] for name, quotes in marked.items()}
    terms.setdefault("splits", {"open": "dev", "secret": "test"})
    return freeze_release(
        dataset=dataset,
        version=version,
        items=[
            GoldItem(document, spans_of(document, Number=marked[document.name]))
            for document in documents
        ],
        labels=LABELS,
        **terms,
    )


def record_world(benchmark: str, *, images: bool = True) -> Dataset:
    """A dataset of picture documents with the records of a benchmark."""
    dataset = empty_dataset(slug="records", title="Records", visibility="public")
    for number, gold in enumerate(RECORDS[benchmark]):
        name = f"IC15__{gold['id']}" if benchmark == "ccocr" else gold["id"]
        document = make_picture(dataset, name)
        DocumentRecord.objects.create(
            document=document, benchmark=benchmark, gold=gold, prompt=f"Question {number}?"
        )
        if images:
            add_image(document, png_of(number))
    return dataset


def page_records() -> Dataset:
    """A dataset of pages with the gold that FinCriticalED's layout brings."""
    dataset = empty_dataset(slug="records", title="Records", visibility="public")
    for number, name in enumerate(("a", "b", "c", "d")):
        document = make_document(dataset, name, f"<p>Net {number} 1,200</p>")
        DocumentRecord.objects.create(
            document=document,
            benchmark="fincriticaled",
            gold={"id": name, "html": f"<p>Net {number} <Number>1,200</Number></p>"},
        )
        add_image(document, png_of(number))
    return dataset


def png_of(number: int) -> bytes:
    stream = io.BytesIO()
    Image.new("L", (40, 30), number).save(stream, "PNG")
    return stream.getvalue()


def unzipped(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def shown_text(data: bytes) -> str:
    """All text in a download, including archive members."""
    text = data.decode("latin-1")
    if data[:2] == b"PK":
        for name, part in unzipped(data).items():
            text += f"\n{name}\n" + shown_text(part)
    if data[:4] == b"PAR1":
        import pyarrow.parquet as pq

        text += str(pq.read_table(io.BytesIO(data)).to_pylist())
    return text
