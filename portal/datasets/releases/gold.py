"""What goes into a release before it is frozen: its gold lines with facts, hashes and splits.

`place_gold` places gold HTML onto the documents of a dataset; `page_rows` and `line_rows` make
the items; `put_in_splits` puts each into a part: a given one, or one drawn at random. Datasets do
not know how the gold of a benchmark is read: `scoring` registers its benchmarks with
`register_gold_format` when it starts.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any, Protocol, TypeAlias

from portal.datasets.curation.draws import SplitDraw, Unit, draw_splits, group_of
from portal.datasets.imports.labelled_pages import GoldFault, GoldPage, where_texts_part
from portal.datasets.models import (
    Dataset,
    Document,
    DocumentContent,
    DocumentType,
    Release,
    ReleaseItem,
)
from portal.datasets.models.documents import document_name
from portal.datasets.releases.publishing.formats import EmptyLine, empty_line_like
from portal.datasets.releases.publishing.manifest import gold_sha256
from portal.facts import (
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
    """Canonical gold lines by id, in the order of the source, and what was wrong with others.

    `places` gives for an id the number of the record it was read from, from 0.
    """

    lines: dict[str, Mapping[str, Any]]
    places: dict[str, int]
    faults: tuple[str, ...] = ()


class GoldFormat(Protocol):
    """The gold of a benchmark and its submissions, as far as releases need it."""

    key: str
    title: str

    def read_file(self, source: Path | IO[bytes], name: str) -> GoldLines:
        """The gold of a file in any layout of the benchmark. Faults name file and line."""

    def read_records(self, records: Sequence[tuple[str, Mapping[str, Any]]]) -> GoldLines:
        """The gold of lines that are known already, each with the name that a fault blames."""

    def empty_line(self, name: str) -> Mapping[str, Any]:
        """The line of a submission that has nothing to say of this item."""


_formats: dict[str, GoldFormat] = {}


def register_gold_format(gold_format: GoldFormat) -> None:
    """Called once for each benchmark, from an AppConfig."""
    _formats[gold_format.key] = gold_format


def gold_formats() -> list[GoldFormat]:
    return list(_formats.values())


def gold_format(key: str) -> GoldFormat | None:
    return _formats.get(key)


def empty_line_of(benchmark: str) -> EmptyLine:
    """How the empty line of a submission is made; for an unknown benchmark, of the id alone."""
    known = _formats.get(benchmark)
    return known.empty_line if known else empty_line_like("{}")


AT_ONCE = 200
MOST_NAMED = 200


@dataclass(frozen=True)
class GoldItem:
    """A document and its facts: spans of its canonical text that share no character."""

    document: Document
    spans: Sequence[Span]


class ReleaseError(Exception):
    """Why nothing was frozen: one sentence per fault, each naming the document it concerns.

    So many faults are named, and the others counted.
    """

    def __init__(self, faults: Sequence[str]) -> None:
        more = len(faults) - MOST_NAMED
        rest = [f"and {more:,} more faults"] if more > 0 else []
        self.faults = [*faults[:MOST_NAMED], *rest]
        super().__init__("\n".join(self.faults))


def page_rows(
    dataset: Dataset,
    items: Sequence[GoldItem],
    labels: Sequence[str],
    *,
    each: Callable[[], None] = lambda: None,
) -> list[ReleaseItem]:
    """The rows without their release, in the order of the documents' names.

    `each` is called for each of them. Raises ReleaseError with the faults of all items.
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
    """The rows of gold lines without their release, in the order of their ids.

    `documents` are those of the lines by id; by default those of the same names. `each` is called
    for each of them. Raises ReleaseError.
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
    found: dict[str, Document] = {}
    for start in range(0, len(names), AT_ONCE):
        part = dataset.documents.filter(name__in=names[start : start + AT_ONCE])
        found |= {document.name: document for document in part.defer("metadata")}
    return found


def _page_faults(
    dataset: Dataset, items: Sequence[GoldItem], labels: Sequence[str]
) -> Iterator[str]:
    """What is wrong before any content is looked at."""
    yield from check_labels(labels)
    if not items:
        yield "a release needs at least one document"
    documents = [item.document for item in items]
    yield from _foreign(dataset, documents)
    yield from _held(documents)
    seen: set[int] = set()
    for document in documents:
        if document.kind == Document.Kind.PICTURE:
            yield f"{document.name}: is a picture without text, in which no fact can be marked"
        if document.pk in seen:
            yield f"{document.name}: is given twice"
        seen.add(document.pk)


def _foreign(dataset: Dataset, documents: Sequence[Document]) -> Iterator[str]:
    for document in documents:
        if document.dataset_id != dataset.pk:
            yield f"{document.name}: is a document of another dataset"


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
    facts = _facts(name, gold["html"], content, item.spans, labels)
    return ReleaseItem(
        position=position,
        name=name,
        document=item.document,
        gold=gold,
        facts=facts,
        sha256=gold_sha256(gold),
    )


def _facts(
    name: str, html: str, content: DocumentContent, spans: Sequence[Span], labels: Sequence[str]
) -> list[dict[str, Any]]:
    """The facts as a reader of the gold finds them; raises ReleaseError unless they are `spans`.

    A frozen line cannot be mended, so it is read back before it is kept. Only white space at a
    span's edge may have been given up, where no tag can stand between the cells of a table.
    """
    try:
        page = read_tags(html, labels, known=content.html)
    except (TagError, RefusedHtml) as error:
        raise ReleaseError([f"{name}: its gold HTML cannot be read back: {error}"]) from error
    wanted = [(span.label, content.text[span.start : span.end].strip()) for span in sorted(spans)]
    found = [(span.label, content.text[span.start : span.end].strip()) for span in page.spans]
    if page.canonical.html != content.html or wanted != found:
        raise ReleaseError([f"{name}: its facts do not survive being written as tags"])
    return [
        {
            "n": n,
            "type": span.label,
            "value": content.text[span.start : span.end],
            "start": span.start,
            "end": span.end,
        }
        for n, span in enumerate(page.spans)
    ]


class _MisplacedError(Exception):
    """A gold page that fits no document; the message says why."""


def place_gold(
    *, dataset: Dataset, pages: Iterable[GoldPage | GoldFault], labels: Sequence[str]
) -> list[GoldItem]:
    """The spans of gold pages on the documents of the same names. Writes nothing.

    Offsets are taken from the inline tags, in a page whose canonical form, or at least its
    canonical text, is that of the document. Raises ReleaseError with every fault, each naming the
    file, or file and line.
    """
    if problems := check_labels(labels):
        raise ReleaseError(problems)
    items: list[GoldItem] = []
    faults: list[str] = []
    placed: dict[int, str] = {}
    for part in _pages_in_parts(pages):
        names = [page.name for page in part if isinstance(page, GoldPage)]
        found = dataset.documents.filter(name__in=[*map(_name_of, names)]).defer("metadata")
        documents = {document.name: document for document in found}
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
                faults.append(f"{page.where}: the gold of {page.name} was in {earlier} already")
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
    """The name to look for; a name that can be none is told with its reason later."""
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
    # Offsets live in the text: where it is the same, markup that differs does no harm.
    if tagged.canonical.text_sha256 != document.text_sha256:
        raise _MisplacedError(text_difference(tagged.canonical.text, document))
    return GoldItem(document, tagged.spans)


def text_difference(text: str, document: Document) -> str:
    """Where the text without its tags parts from the document's, for people."""
    place = where_texts_part(text, document.content.text)
    return f"without its tags the page is not the document {document.name}: {place}"


# Which split an item belongs to by its name, or how to draw it; None for a release in one piece.
Splits: TypeAlias = Mapping[str, str] | SplitDraw | None

# What says of a gold line what kind of item it is, where its document does not.
_KINDS = ("doc_type", "task", "track", "category")
_MOST_NAMED = 20


def put_in_splits(
    dataset: Dataset, rows: Sequence[ReleaseItem], splits: Splits, visibility: str
) -> dict[str, Any]:
    """Sets the split of every row; gives what is kept of a draw, empty without one. Raises
    ReleaseError.
    """
    if splits is None:
        return {}
    draw: dict[str, Any] = {}
    if isinstance(splits, SplitDraw):
        groups = _groups(dataset, rows, splits.group_by)
        wanted, splits = splits, _drawn(dataset, rows, splits, groups)
        draw = wanted.as_json() | _outcome(rows, splits, groups)
    if faults := list(_faults(rows, splits, visibility)):
        raise ReleaseError(faults)
    for row in rows:
        row.split = splits[row.name]
    return draw


def kept_splits(dataset: Dataset) -> dict[str, str]:
    """The split that each item had in the newest release in splits that held it."""
    items = ReleaseItem.objects.filter(release__dataset=dataset).exclude(split="")
    return dict(items.order_by("release_id").values_list("name", "split"))


def _groups(dataset: Dataset, rows: Sequence[ReleaseItem], group_by: str) -> dict[str, str]:
    """What names the group of each item, by the item's name."""
    documents = dataset.documents.only("name", "company", "source_url", "metadata")
    found: dict[int | None, str] = {
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
        row.name: found.get(row.document_id) or group_of(group_by, row.name, metadata={})
        for row in rows
    }


def _outcome(
    rows: Sequence[ReleaseItem],
    splits: Mapping[str, str],
    groups: Mapping[str, str],
) -> dict[str, Any]:
    """What a draw came to: items and groups, and by kind of item how many are in the test part.

    `divided` are groups that earlier releases have put into both parts.
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
        "divided": sum(len(found) > 1 for found in parts.values()),
        "kinds": [
            {"kind": kind, "items": count, "test_items": test[kind]}
            for kind, count in sorted(items.items())
        ],
    }


def _drawn(
    dataset: Dataset, rows: Sequence[ReleaseItem], draw: SplitDraw, groups: Mapping[str, str]
) -> dict[str, str]:
    if len(rows) < 2:
        raise ReleaseError(["one item alone cannot be drawn into two parts"])
    units = [Unit(row.name, (_kind(row),)) for row in rows]
    try:
        return draw_splits(units, draw, kept_splits(dataset), groups)
    except ValueError as error:
        raise ReleaseError([str(error)]) from error


def _kind(row: ReleaseItem) -> str:
    if row.document is not None and row.document.doc_type != DocumentType.OTHER:
        return row.document.doc_type
    return next((str(row.gold[key]) for key in _KINDS if row.gold.get(key)), "")


def _faults(
    rows: Sequence[ReleaseItem], splits: Mapping[str, str], visibility: str
) -> Iterator[str]:
    names = {row.name for row in rows}
    known = ReleaseItem.Split.values
    yield from _few(
        [
            f"{name}: {split!r} is no split; there are {' and '.join(known)}"
            for name, split in splits.items()
            if name in names and split not in known
        ]
    )
    yield from _few([f"{name}: has no split" for name in sorted(names - set(splits))])
    yield from _few([f"{name}: is no item of the release" for name in sorted(set(splits) - names)])
    hidden = visibility == Release.Visibility.GOLD_HIDDEN
    if hidden and ReleaseItem.Split.TEST not in splits.values():
        yield "no item is in the test part, so that no gold would be hidden"


def _few(faults: list[str]) -> list[str]:
    more = len(faults) - _MOST_NAMED
    return [*faults[:_MOST_NAMED], *([f"and {more:,} more like it"] if more > 0 else [])]
