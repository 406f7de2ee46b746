"""Receipts with records, batches of them, and verdicts, for tests of quality acceptance."""

from typing import Any

from portal.accounts.models import User
from portal.datasets.acceptance.services import open_batch, save_verdict
from portal.datasets.models import Batch, BatchDocument, Dataset, Document, DocumentRecord
from tests.datasets.factories import add_image, png
from tests.factories import empty_dataset, make_picture

# A small schema: three fields, and the rule that the items add up to the total.
SCHEMA: dict[str, Any] = {
    "fields": [
        {"name": "seller", "kind": "text", "required": True},
        {"name": "total", "kind": "number"},
        {
            "name": "items",
            "kind": "list",
            "items": [{"name": "what", "kind": "text"}, {"name": "amount", "kind": "number"}],
        },
    ],
    "sums": [{"items": "items", "amount": "amount", "total": "total"}],
}
FIELDS = ["seller", "total", "items"]


def receipt(total: str = "3.00", **changes: Any) -> dict[str, Any]:
    """The fields of a receipt whose one item is 3.00, so that other totals are a fault."""
    fields = {"seller": "Ada's", "total": total, "items": [{"what": "tea", "amount": "3.00"}]}
    return {**fields, **changes}


def make_receipt(dataset: Dataset, name: str, *, image: bool = False, **changes: Any) -> Document:
    document = make_picture(dataset, name, language="en")
    DocumentRecord.objects.create(
        document=document,
        benchmark="receiptbench",
        gold={"id": name, "fields": receipt(**changes)},
    )
    if image:
        add_image(document, png(300, 400, shade=230))
    return document


def receipts(count: int, *, image: bool = False, **fields: Any) -> Dataset:
    """A dataset `receipts` of r001, r002, …"""
    dataset = empty_dataset(**{"slug": "receipts", "title": "Receipts", **fields})
    for number in range(1, count + 1):
        make_receipt(dataset, f"r{number:03}", image=image)
    return dataset


def make_batch(dataset: Dataset, *, sample: int, actor: User | None = None, **given: Any) -> Batch:
    arguments: dict[str, Any] = {"schema": SCHEMA, "seed": 7, **given}
    return open_batch(dataset=dataset, sample_size=sample, actor=actor, **arguments)


def sampled_of(batch: Batch, place: int = 0) -> BatchDocument:
    drawn = batch.documents.filter(is_sampled=True).order_by("document__name")
    return drawn.select_related("document__record", "batch__dataset")[place]


def inspect_all(
    batch: Batch, actor: User, wrong: dict[str, int] | None = None, *, but: int = 0
) -> None:
    """Give a verdict on every field of the sample, except for its last `but` documents.

    `wrong` is the number of documents, from the first, in which a field is wrong.
    """
    drawn = list(batch.documents.filter(is_sampled=True).order_by("document__name"))
    for place, sampled in enumerate(drawn[: len(drawn) - but]):
        for field in FIELDS:
            is_right = place >= (wrong or {}).get(field, 0)
            save_verdict(sampled=sampled, field=field, is_right=is_right, actor=actor)
