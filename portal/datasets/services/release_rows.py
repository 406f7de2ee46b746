"""The items of a release before it is frozen: gold lines with their facts and hashes."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from portal.datasets.models import (
    Dataset,
    Document,
    DocumentContent,
    DocumentType,
    ReleaseItem,
)
from portal.datasets.publishing.manifest import gold_sha256
from portal.facts import (
    RefusedHtml,
    Span,
    TagError,
    check_labels,
    check_spans,
    read_tags,
    write_tags,
)

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
