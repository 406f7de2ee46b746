"""Freezing without a campaign: from the records that came with documents, or from gold files."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from portal.accounts.models import User
from portal.datasets.gold_formats import GoldFormat, GoldLines, gold_format
from portal.datasets.models import Dataset, Document, Release, ReleaseItem
from portal.datasets.selectors.corrections import corrections_for
from portal.datasets.sources.gold import GoldPage, read_gold_pages
from portal.facts import Span
from portal.files.archives import ArchiveFault
from portal.files.uploads import archive_limits

from .gold import place_gold
from .release_rows import AT_ONCE, GoldItem, ReleaseError, line_rows, page_rows
from .release_splits import Splits, put_in_splits
from .releases import drafted_rows, freeze_lines, freeze_release

# Whose gold is pages with fact tags.
PAGES = "fincriticaled"
# Goes through pages one by one, and may count them on the way.
Over = Callable[[Iterable[Any]], Iterator[Any]]


@dataclass(frozen=True)
class Gold:
    """What is to be frozen: facts of pages under a label set, or the lines of another benchmark.

    `splits` are those that came with the gold, by the item's name.
    """

    benchmark: str
    items: Sequence[GoldItem] = ()
    labels: Sequence[str] = ()
    lines: Mapping[str, Mapping[str, Any]] | None = None
    documents: Mapping[str, Document] | None = None
    splits: Mapping[str, str] | None = None


def gold_of_release(*, release: Release, over: Over = iter) -> Gold:
    """The gold of an earlier release, with the corrections of accepted disputes applied.

    Documents that are held back since are left out. Raises ReleaseError.
    """
    items = release.items.select_related("document").defer("document__metadata", "pinned")
    kept = [item for item in items.order_by("position") if not _is_held(item)]
    if not kept:
        raise ReleaseError([f"all documents of release {release.version} are held back"])
    splits = {item.name: item.split for item in kept}
    if not release.has_pages:
        lines = {item.name: item.gold for item in kept}
        documents = {item.name: item.document for item in kept if item.document}
        return Gold(release.benchmark, lines=lines, documents=documents, splits=splits)
    corrected = corrections_for(release).facts
    pages = [
        GoldItem(item.document, _spans(corrected.get(item.name, item.facts)))
        for item in over(kept)
        if item.document
    ]
    return Gold(release.benchmark, items=pages, labels=release.labels, splits=splits)


def _is_held(item: ReleaseItem) -> bool:
    return item.document is not None and item.document.state == Document.State.HELD


def _spans(facts: Iterable[Mapping[str, Any]]) -> list[Span]:
    return sorted(Span(fact["start"], fact["end"], fact["type"]) for fact in facts)


def gold_of_records(
    *, dataset: Dataset, benchmark: str, labels: Sequence[str], over: Over = iter
) -> Gold:
    """The gold in the records of a benchmark, of all documents that are not held back.

    `over` iterates over the pages, and may count them.

    A column `split` of a record, or of its document's metadata, says in which part it belongs.
    Raises ReleaseError with every fault, each naming the document.
    """
    documents = list(_with_records(dataset, benchmark))
    if not documents:
        raise ReleaseError([f"no document has a record of {benchmark}"])
    splits = {document.name: _told_split(document) for document in documents}
    if benchmark == PAGES:
        pages = (
            GoldPage(document.name, document.name, str(document.record.gold.get("html", "")))
            for document in documents
        )
        items = place_gold(dataset=dataset, pages=over(pages), labels=labels)
        return Gold(benchmark, items=items, labels=labels, splits=splits)
    read = _format(benchmark).read_records(
        [(document.name, document.record.gold) for document in documents]
    )
    if read.faults:
        raise ReleaseError(read.faults)
    by_id = {item: documents[place] for item, place in read.places.items()}
    told = {item: splits[document.name] for item, document in by_id.items()}
    return Gold(benchmark, lines=read.lines, documents=by_id, splits=told)


def gold_of_file(
    *,
    dataset: Dataset,
    benchmark: str,
    path: Path,
    labels: Sequence[str],
    over: Over = iter,
) -> Gold:
    """The gold in a file or folder, in the benchmark's layouts. Raises ReleaseError."""
    if benchmark == PAGES:
        try:
            pages = over(read_gold_pages(path, archive_limits()))
            items = place_gold(dataset=dataset, pages=pages, labels=labels)
        except ArchiveFault as fault:
            raise ReleaseError([str(fault)]) from fault
        return Gold(benchmark, items=items, labels=labels)
    try:
        read: GoldLines = _format(benchmark).read_file(path, path.name)
    except (ArchiveFault, OSError) as fault:
        raise ReleaseError([str(fault)]) from fault
    if read.faults:
        raise ReleaseError(read.faults)
    known = _records_by_id(dataset, benchmark)
    return Gold(benchmark, lines=read.lines, documents=known or None)


def freeze_gold(
    *,
    dataset: Dataset,
    gold: Gold,
    version: str,
    notes: str | None,
    visibility: str,
    licence: str,
    citation: Mapping[str, Any],
    splits: Splits,
    actor: User | None,
    each: Callable[[], None] = lambda: None,
    then: Callable[[Release], None] | None = None,
) -> Release:
    """Freezes it; without `notes` they are drafted. `each` and `then` are as in `freeze_release`.

    Raises ReleaseError with all faults; then nothing is written.
    """
    terms: dict[str, Any] = {
        "dataset": dataset,
        "version": version,
        "notes": notes,
        "visibility": visibility,
        "licence": licence,
        "citation": citation,
        "splits": splits,
        "actor": actor,
        "each": each,
        "then": then,
    }
    if gold.lines is None:
        return freeze_release(items=gold.items, labels=gold.labels, **terms)
    return freeze_lines(
        benchmark=gold.benchmark, lines=gold.lines, documents=gold.documents, **terms
    )


def draft_notes(*, dataset: Dataset, gold: Gold, visibility: str, splits: Splits) -> str:
    """Change notes for a release of this gold, in Markdown, by comparison with the one before.

    Raises ReleaseError, for what freezing would.
    """
    if gold.lines is None:
        rows = page_rows(dataset, gold.items, gold.labels)
    else:
        rows = line_rows(dataset, gold.lines, gold.documents)
    return notes_of_rows(dataset, rows, visibility=visibility, splits=splits)


def notes_of_rows(
    dataset: Dataset, rows: list[ReleaseItem], *, visibility: str, splits: Splits
) -> str:
    """The same for rows that are about to be frozen."""
    put_in_splits(dataset, rows, splits, visibility)
    return drafted_rows(Release(dataset=dataset, visibility=visibility), rows)


def told_splits(gold: Gold) -> dict[str, str]:
    """The splits that came with the gold. Raises ReleaseError if any item has none."""
    told = {name: split for name, split in (gold.splits or {}).items() if split}
    if not told:
        raise ReleaseError(["no record and no metadata has a split of dev or test"])
    return told


def _told_split(document: Document) -> str:
    for source in (document.record.gold, document.metadata):
        if isinstance(source, dict) and isinstance(source.get("split"), str):
            return str(source["split"]).strip().lower()
    return ""


def _with_records(dataset: Dataset, benchmark: str) -> Iterator[Document]:
    documents = dataset.documents.filter(
        record__benchmark=benchmark, state=Document.State.ACTIVE
    ).select_related("record")
    return documents.order_by("name").iterator(chunk_size=AT_ONCE)


def _records_by_id(dataset: Dataset, benchmark: str) -> dict[str, Document]:
    """Documents by the id of their record's gold line; what cannot be read is nobody's."""
    documents = list(_with_records(dataset, benchmark))
    read = _format(benchmark).read_records([(one.name, one.record.gold) for one in documents])
    return {item: documents[place] for item, place in read.places.items()}


def _format(benchmark: str) -> GoldFormat:
    known = gold_format(benchmark)
    if known is None:
        raise ReleaseError([f"no benchmark is called {benchmark!r}"])
    return known
