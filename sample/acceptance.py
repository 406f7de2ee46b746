"""Quality acceptance of the sample receipts: one batch accepted, one half inspected."""

import json
from pathlib import Path
from typing import Any

from portal.accounts.models import User
from portal.datasets.acceptance.records import raw_schema
from portal.datasets.acceptance.selectors import batch_schema
from portal.datasets.acceptance.services import close_batch, open_batch, save_verdict
from portal.datasets.imports.services import import_path
from portal.datasets.models import Batch, BatchDocument, Dataset, ImportRun

from .parts import Cast

SCHEMA = "receipts"
FIRST_SAMPLE, SECOND_SAMPLE = 8, 6
SEED = 7
# Inspected of the second batch: this many whole documents, and this many fields of the next.
INSPECTED, BEGUN = 3, 8
COMMENT = "Read on the receipt."


def load_batches(dataset: Dataset, folder: Path, cast: Cast) -> None:
    """Accept the first batch; leave the second one under inspection."""
    organiser = cast["organiser"]
    if not dataset.batches.filter(number=1).exists():
        _open(dataset, FIRST_SAMPLE, organiser)
    first = dataset.batches.get(number=1)
    if first.state == Batch.State.OPEN:
        for sampled in _sampled(first):
            _inspect(first, sampled, {}, organiser)
        close_batch(batch=first, actor=organiser)
    if dataset.imports.filter(state=ImportRun.State.DONE).count() < 2:
        path = folder / "source" / "delivery-2"
        import_path(dataset=dataset, path=path, actor=organiser, form=ImportRun.Form.RECEIPTS)
    if not dataset.batches.filter(number=2).exists():
        second = _open(dataset, SECOND_SAMPLE, organiser)
        _inspect_half(second, json.loads((folder / "slips.json").read_bytes()), organiser)


def _open(dataset: Dataset, sample_size: int, organiser: User) -> Batch:
    return open_batch(
        dataset=dataset,
        schema=raw_schema(SCHEMA),
        sample_size=sample_size,
        seed=SEED,
        actor=organiser,
    )


def _sampled(batch: Batch) -> list[BatchDocument]:
    drawn = batch.documents.filter(is_sampled=True).select_related("document__record")
    return list(drawn.order_by("document__name"))


def _inspect_half(batch: Batch, slips: dict[str, dict[str, Any]], organiser: User) -> None:
    """The inspector finds all errors, and stops in the middle of a document."""
    sampled = _sampled(batch)
    for each in sampled[:INSPECTED]:
        _inspect(batch, each, slips.get(each.document.name, {}), organiser)
    begun = sampled[INSPECTED]
    _inspect(batch, begun, slips.get(begun.document.name, {}), organiser, fields=BEGUN)


def _inspect(
    batch: Batch,
    sampled: BatchDocument,
    slips: dict[str, Any],
    organiser: User,
    *,
    fields: int | None = None,
) -> None:
    for field in batch_schema(batch).names[:fields]:
        save_verdict(
            sampled=sampled,
            field=field,
            is_right=field not in slips,
            correct_value=slips.get(field),
            comment=COMMENT if field in slips else "",
            actor=organiser,
        )
