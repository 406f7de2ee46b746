"""The rows of a release before it is frozen: gold lines with facts, hashes and splits.

`place_gold` matches gold HTML to the documents of a dataset; `page_rows` and `line_rows` make the
items; `put_in_splits` assigns each item to a split. The `scoring` app registers the readers of its
benchmarks with `register_gold_format` at startup.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import IO, Any, Protocol, TypeAlias

from portal.datasets.curation.draws import SplitDraw, Unit, draw_splits, group_of
from portal.datasets.imports.labelled_pages import GoldFault, GoldPage, first_difference
from portal.datasets.models import (
    Dataset,
    Document,
    DocumentContent,
    DocumentType,
    Release,
    ReleaseItem,
)
from portal.datasets.models.documents import document_name, strata_of
from portal.datasets.releases.publishing.kits import EmptyLine, empty_line_like
from portal.datasets.releases.publishing.manifest import gold_sha256
from portal.facts import (
    FactValue,
    RefusedHtml,
    Span,
    TagError,
    check_labels,
    check_spans,
    read_tags,
    write_tags,
)


@dataclass(frozen=True)
class GoldLines:
    """Canonical gold lines by id, in source order, and the errors of lines that were not read.

    `places` maps an id to the number of its record, from 0.
    """

    lines: dict[str, Mapping[str, Any]]
    places: dict[str, int]
    faults: tuple[str, ...] = ()


class GoldFormat(Protocol):
    """How releases read the gold of a benchmark and write an empty submission."""

    key: str
    title: str

    def read_file(self, source: Path | IO[bytes], name: str) -> GoldLines:
        """Reads a gold file in any layout of the benchmark. Faults name file and line."""

    def read_records(self, records: Sequence[tuple[str, Mapping[str, Any]]]) -> GoldLines:
        """Reads gold lines, given with the name to use in faults."""

    def empty_line(self, name: str) -> Mapping[str, Any]:
        """An empty prediction for this item."""

    def prompts(self) -> Sequence[Mapping[str, str]]:
        """Prompts for models: {version, name, text, source, sha256}."""


_formats: dict[str, GoldFormat] = {}


def register_gold_format(gold_format: GoldFormat) -> None:
    """Call once for each benchmark, from an AppConfig."""
    _formats[gold_format.key] = gold_format


def gold_formats() -> list[GoldFormat]:
    return list(_formats.values())


def gold_format(key: str) -> GoldFormat | None:
    return _formats.get(key)


def empty_line_of(benchmark: str) -> EmptyLine:
    """The function that makes an empty prediction; for an unknown benchmark it has only the id."""
    known = _formats.get(benchmark)
    return known.empty_line if known else empty_line_like("{}")


def prompts_of(benchmark: str) -> list[dict[str, str]]:
    """The prompts of a benchmark as they are now; a release pins them when it is frozen."""
    known = _formats.get(benchmark)
    return [dict(prompt) for prompt in known.prompts()] if known else []


# The benchmark whose gold is pages with fact tags.
PAGES = "fincriticaled"
AT_ONCE = 200
MOST_NAMED = 200


Meanings = Mapping[tuple[int, int], FactValue]


@dataclass(frozen=True)
class GoldItem:
    """A document and its facts: non-overlapping spans of its canonical text.

    `meanings` are their settled values and signs, by start and end, where people settled them.
    """

    document: Document
    spans: Sequence[Span]
    meanings: Meanings = field(default_factory=dict)


@dataclass(frozen=True)
class Gold:
    """The gold to freeze: facts of pages with a label set, or the lines of another benchmark.

    `documents` are those of the lines by id; by default a line belongs to the document with the
    same name, if there is one. `splits` are those given with the gold, by item name. `base` is the
    release that the gold comes from, whose terms apply unless others are given.
    """

    benchmark: str = PAGES
    items: Sequence[GoldItem] = ()
    labels: Sequence[str] = ()
    lines: Mapping[str, Mapping[str, Any]] | None = None
    documents: Mapping[str, Document] | None = None
    splits: Mapping[str, str] | None = None
    base: Release | None = None

    @property
    def kept_splits(self) -> Mapping[str, str] | None:
        """The splits of the base; None if there are none."""
        return self.splits if self.base and self.splits and all(self.splits.values()) else None


class ReleaseError(Exception):
    """Nothing was frozen; one sentence per fault, each naming its document.

    At most MOST_NAMED faults are listed; the others are counted.
    """

    def __init__(self, faults: Sequence[str]) -> None:
        more = len(faults) - MOST_NAMED
        rest = [f"and {more:,} more errors"] if more > 0 else []
        self.faults = [*faults[:MOST_NAMED], *rest]
        super().__init__("\n".join(self.faults))


def gold_rows(
    dataset: Dataset, gold: Gold, each: Callable[[], None] = lambda: None
) -> list[ReleaseItem]:
    """The rows of pages or lines. `each` is called for each row. Raises ReleaseError."""
    if gold.lines is None:
        return page_rows(dataset, gold.items, gold.labels, each=each)
    return line_rows(dataset, gold.lines, gold.documents, each=each)


def page_rows(
    dataset: Dataset,
    items: Sequence[GoldItem],
    labels: Sequence[str],
    *,
    each: Callable[[], None] = lambda: None,
) -> list[ReleaseItem]:
    """The rows, without their release, sorted by document name.

    `each` is called for each row. Raises ReleaseError with the faults of all items.
    """
    if faults := list(_page_faults(dataset, items, labels)):
        raise ReleaseError(faults)
    rows: list[ReleaseItem] = []
    ordered = sorted(items, key=lambda item: item.document.name)
    for start in range(0, len(ordered), AT_ONCE):
        part = ordered[start : start + AT_ONCE]
        contents = DocumentContent.objects.in_bulk([item.document.pk for item in part])
        for item in part:
            each()
            try:
                rows.append(_page_row(item, contents[item.document.pk], labels, len(rows)))
            except ReleaseError as error:
                faults += error.faults
    if faults:
        raise ReleaseError(faults)
    return rows


def line_rows(
    dataset: Dataset,
    lines: Mapping[str, Mapping[str, Any]],
    documents: Mapping[str, Document] | None = None,
    *,
    each: Callable[[], None] = lambda: None,
) -> list[ReleaseItem]:
    """The rows of gold lines, without their release, sorted by id.

    `documents` maps line ids to documents; by default documents are found by name. `each` is called
    for each row. Raises ReleaseError.
    """
    if not lines:
        raise ReleaseError(["a release needs at least one item"])
    if documents is None:
        documents = _named(dataset, list(lines))
    held = [documents[name] for name in sorted(lines) if name in documents]
    if faults := [*_foreign(dataset, held), *_held(held)]:
        raise ReleaseError(faults)
    rows = []
    for position, name in enumerate(sorted(lines)):
        each()
        rows.append(
            ReleaseItem(
                position=position,
                name=name,
                document=documents.get(name),
                gold=dict(lines[name]),
                sha256=gold_sha256(lines[name]),
            )
        )
    return rows


def _named(dataset: Dataset, names: Sequence[str]) -> dict[str, Document]:
    documents: dict[str, Document] = {}
    for start in range(0, len(names), AT_ONCE):
        part = dataset.documents.filter(name__in=names[start : start + AT_ONCE])
        documents |= {document.name: document for document in part.defer("metadata")}
    return documents


def _page_faults(
    dataset: Dataset, items: Sequence[GoldItem], labels: Sequence[str]
) -> Iterator[str]:
    """The faults that can be found without reading any content."""
    yield from check_labels(labels)
    if not items:
        yield "a release needs at least one document"
    documents = [item.document for item in items]
    yield from _foreign(dataset, documents)
    yield from _held(documents)
    seen: set[int] = set()
    for document in documents:
        if document.kind == Document.Kind.PICTURE:
            yield f"{document.name}: is an image without text and cannot have facts"
        if document.pk in seen:
            yield f"{document.name}: appears twice"
        seen.add(document.pk)


def _foreign(dataset: Dataset, documents: Sequence[Document]) -> Iterator[str]:
    for document in documents:
        if document.dataset_id != dataset.pk:
            yield f"{document.name}: belongs to another dataset"


def _held(documents: Sequence[Document]) -> Iterator[str]:
    for document in documents:
        if document.state == Document.State.HELD:
            reason = f": {document.held_reason}" if document.held_reason else ""
            yield f"{document.name}: is held back{reason}"


def _page_row(
    item: GoldItem, content: DocumentContent, labels: Sequence[str], position: int
) -> ReleaseItem:
    name = item.document.name
    if faults := check_spans(content.text, item.spans, labels):
        raise ReleaseError([f"{name}: {fault.message}" for fault in faults])
    gold = {"id": name, "html": write_tags(content.html, item.spans)}
    if item.document.doc_type != DocumentType.OTHER:
        gold["doc_type"] = item.document.doc_type
    facts = _facts(name, gold["html"], content, item, labels)
    return ReleaseItem(
        position=position,
        name=name,
        document=item.document,
        gold=gold,
        facts=facts,
        sha256=gold_sha256(gold),
    )


def _facts(
    name: str, html: str, content: DocumentContent, item: GoldItem, labels: Sequence[str]
) -> list[dict[str, Any]]:
    """The facts as read back from the gold HTML; raises ReleaseError unless they equal the spans.

    A frozen line cannot be corrected, so it is read back first. White space at the edges of a span
    may be lost, because no tag can be placed between the cells of a table.
    """
    try:
        page = read_tags(html, labels, known=content.html)
    except (TagError, RefusedHtml) as error:
        raise ReleaseError([f"{name}: its gold HTML cannot be read back: {error}"]) from error
    spans = sorted(item.spans)
    wanted = [(span.label, content.text[span.start : span.end].strip()) for span in spans]
    tagged = [(span.label, content.text[span.start : span.end].strip()) for span in page.spans]
    if page.canonical.html != content.html or wanted != tagged:
        raise ReleaseError([f"{name}: its facts change when they are written as tags"])
    return [
        {
            "n": n,
            "type": span.label,
            "value": content.text[span.start : span.end],
            "start": span.start,
            "end": span.end,
            **_meaning(item.meanings, given),
        }
        for n, (span, given) in enumerate(zip(page.spans, spans, strict=True))
    ]


def _meaning(meanings: Meanings, span: Span) -> dict[str, list[str]]:
    """`{"meaning": [value, sign]}`, which no published file but Label Studio's holds."""
    found = meanings.get((span.start, span.end))
    return {} if found is None else {"meaning": list(found)}


class _MisplacedError(Exception):
    """A gold page that matches no document; the message says why."""


def place_gold(
    *, dataset: Dataset, pages: Iterable[GoldPage | GoldFault], labels: Sequence[str]
) -> list[GoldItem]:
    """Matches gold pages to documents by name and reads the spans. Writes nothing.

    Offsets come from the inline tags. The canonical text of the page must equal the document's.
    Raises ReleaseError with every fault, each naming the file, or file and line.
    """
    if problems := check_labels(labels):
        raise ReleaseError(problems)
    items: list[GoldItem] = []
    faults: list[str] = []
    placed: dict[int, str] = {}
    for part in _pages_in_parts(pages):
        names = [page.name for page in part if isinstance(page, GoldPage)]
        rows = dataset.documents.filter(name__in=[*map(_name_of, names)]).defer("metadata")
        documents = {document.name: document for document in rows}
        for page in part:
            if isinstance(page, GoldFault):
                faults.append(page.message)
                continue
            try:
                item = _place_page(dataset, documents, page, labels)
            except _MisplacedError as error:
                faults.append(f"{page.where}: {error}")
                continue
            if earlier := placed.get(item.document.pk):
                faults.append(f"{page.where}: the gold of {page.name} is already in {earlier}")
            placed[item.document.pk] = page.where
            items.append(item)
    if faults:
        raise ReleaseError(faults)
    return items


def _pages_in_parts(pages: Iterable[GoldPage | GoldFault]) -> Iterator[list[GoldPage | GoldFault]]:
    rest = iter(pages)
    while part := list(islice(rest, AT_ONCE)):
        yield part


def _name_of(text: str) -> str:
    """The document name; empty if it is invalid, which `_place_page` reports."""
    try:
        return document_name(text)
    except ValueError:
        return ""


def _place_page(
    dataset: Dataset, documents: Mapping[str, Document], page: GoldPage, labels: Sequence[str]
) -> GoldItem:
    try:
        name = document_name(page.name)
        tagged = read_tags(page.html, labels)
    except (TagError, RefusedHtml, ValueError) as error:
        raise _MisplacedError(str(error)) from error
    document = documents.get(name)
    if document is None:
        raise _MisplacedError(f"the dataset {dataset.slug} has no document {name}")
    # Offsets count in the text, so different markup is harmless if the text is the same.
    if tagged.canonical.text_sha256 != document.text_sha256:
        raise _MisplacedError(text_difference(tagged.canonical.text, document))
    return GoldItem(document, tagged.spans)


def text_difference(text: str, document: Document) -> str:
    """A message that shows where the text differs from the document's."""
    place = first_difference(text, document.content.text)
    return f"the text without tags differs from the document {document.name}: {place}"


# The split of each item by name, or how to draw the splits; None for a release without splits.
Splits: TypeAlias = Mapping[str, str] | SplitDraw | None

# Fields of a gold line that name the kind of item if its document does not.
_KINDS = ("doc_type", "task", "track", "category")
_MOST_NAMED = 20


def put_in_splits(
    dataset: Dataset, rows: Sequence[ReleaseItem], splits: Splits, visibility: str
) -> dict[str, Any]:
    """Sets the split of every row; returns the record of a draw, empty without one.

    Raises ReleaseError.
    """
    if splits is None:
        return {}
    draw: dict[str, Any] = {}
    if isinstance(splits, SplitDraw):
        groups, kept = _groups(dataset, rows, splits.group_by), kept_splits(dataset)
        wanted, splits = splits, _drawn(rows, splits, groups, kept)
        kept_items = sum(row.name in kept for row in rows)
        # If every item keeps its split, the seed decided nothing: the earlier draw is the record.
        terms = _last_draw(dataset) if kept_items == len(rows) else wanted.as_json()
        if terms:
            draw = terms | _outcome(rows, splits, groups)
            draw |= {"kept": kept_items} if kept_items else {}
    if faults := list(_faults(rows, splits, visibility)):
        raise ReleaseError(faults)
    for row in rows:
        row.split = splits[row.name]
    return draw


def kept_splits(dataset: Dataset) -> dict[str, str]:
    """The split of each item in the newest release with splits that contains it."""
    items = ReleaseItem.objects.filter(release__dataset=dataset).exclude(split="")
    return dict(items.order_by("release_id").values_list("name", "split"))


def _last_draw(dataset: Dataset) -> dict[str, Any]:
    """The share, seed and grouping of the newest draw; empty if no split was drawn."""
    drawn = dataset.releases.exclude(draw={}).order_by("-pk").first()
    terms = ("share", "seed", "group_by")
    return {name: drawn.draw[name] for name in terms if name in drawn.draw} if drawn else {}


def _groups(dataset: Dataset, rows: Sequence[ReleaseItem], group_by: str) -> dict[str, str]:
    """The group of each item, by item name."""
    documents = dataset.documents.only("name", "company", "source_url", "metadata")
    groups: dict[int | None, str] = {
        document.pk: group_of(
            group_by,
            document.name,
            metadata=document.metadata,
            company=document.company,
            source_url=document.source_url,
        )
        for document in documents.iterator(chunk_size=AT_ONCE)
    }
    return {
        row.name: groups.get(row.document_id) or group_of(group_by, row.name, metadata={})
        for row in rows
    }


def _outcome(
    rows: Sequence[ReleaseItem],
    splits: Mapping[str, str],
    groups: Mapping[str, str],
) -> dict[str, Any]:
    """The outcome of a draw: counts of items and groups, and test items by kind.

    `divided` counts groups that earlier releases put into both splits.
    """
    parts: defaultdict[str, set[str]] = defaultdict(set)
    for row in rows:
        parts[groups[row.name]].add(splits[row.name])
    items = Counter(_kind(row) for row in rows)
    test = Counter(_kind(row) for row in rows if splits[row.name] == ReleaseItem.Split.TEST)
    return {
        "items": len(rows),
        "test_items": test.total(),
        "groups": len(parts),
        "divided": sum(len(used) > 1 for used in parts.values()),
        "kinds": [
            {"kind": kind, "items": count, "test_items": test[kind]}
            for kind, count in sorted(items.items())
        ],
    }


def _drawn(
    rows: Sequence[ReleaseItem],
    draw: SplitDraw,
    groups: Mapping[str, str],
    kept: Mapping[str, str],
) -> dict[str, str]:
    if len(rows) < 2:
        raise ReleaseError(["a random split needs at least two items"])
    units = [Unit(row.name, (_kind(row), *strata_of(row.gold).values())) for row in rows]
    try:
        return draw_splits(units, draw, kept, groups)
    except ValueError as error:
        raise ReleaseError([str(error)]) from error


def _kind(row: ReleaseItem) -> str:
    if row.document is not None and row.document.doc_type != DocumentType.OTHER:
        return row.document.doc_type
    named = next((str(row.gold[key]) for key in _KINDS if row.gold.get(key)), "")
    return named or strata_of(row.gold)["subset"]


def _faults(
    rows: Sequence[ReleaseItem], splits: Mapping[str, str], visibility: str
) -> Iterator[str]:
    names = {row.name for row in rows}
    known = ReleaseItem.Split.values
    yield from _few(
        [
            f"{name}: {split!r} is not a split; use {' or '.join(known)}"
            for name, split in splits.items()
            if name in names and split not in known
        ]
    )
    yield from _few([f"{name}: has no split" for name in sorted(names - set(splits))])
    yield from _few([f"{name}: is not in the release" for name in sorted(set(splits) - names)])
    hidden = visibility == Release.Visibility.GOLD_HIDDEN
    if hidden and ReleaseItem.Split.TEST not in splits.values():
        yield "no item is in the test split, so no gold would be hidden"


def _few(faults: list[str]) -> list[str]:
    more = len(faults) - _MOST_NAMED
    return [*faults[:_MOST_NAMED], *([f"and {more:,} more like it"] if more > 0 else [])]
