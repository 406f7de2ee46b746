"""Placing gold HTML onto the documents of a dataset."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from portal.datasets.models import Dataset, Document
from portal.datasets.models.documents import document_name
from portal.datasets.sources.gold import GoldFault, GoldPage, where_texts_part
from portal.facts import RefusedHtml, TagError, check_labels, read_tags

from .release_rows import AT_ONCE, GoldItem, ReleaseError


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
    for part in _in_parts(pages):
        names = [page.name for page in part if isinstance(page, GoldPage)]
        found = dataset.documents.filter(name__in=[*map(_name_of, names)]).defer("metadata")
        documents = {document.name: document for document in found}
        for page in part:
            if isinstance(page, GoldFault):
                faults.append(page.message)
                continue
            try:
                item = _place(dataset, documents, page, labels)
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


def _in_parts(pages: Iterable[GoldPage | GoldFault]) -> Iterator[list[GoldPage | GoldFault]]:
    rest = iter(pages)
    while part := list(islice(rest, AT_ONCE)):
        yield part


def _name_of(text: str) -> str:
    """The name to look for; a name that can be none is told with its reason later."""
    try:
        return document_name(text)
    except ValueError:
        return ""


def _place(
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
