"""Placing gold HTML onto the documents of a dataset."""

from collections.abc import Iterable, Sequence

from portal.datasets.models import Dataset, Document
from portal.datasets.models.documents import document_name
from portal.datasets.sources.gold import GoldFault, GoldPage
from portal.facts import RefusedHtml, TagError, check_labels, read_tags

from .releases import GoldItem, ReleaseError

# Characters shown of each side where two texts part.
EXCERPT = 30


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
    for page in pages:
        if isinstance(page, GoldFault):
            faults.append(page.message)
            continue
        try:
            item = _place(dataset, page, labels)
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


def _place(dataset: Dataset, page: GoldPage, labels: Sequence[str]) -> GoldItem:
    try:
        name = document_name(page.name)
        tagged = read_tags(page.html, labels)
    except (TagError, RefusedHtml, ValueError) as error:
        raise _MisplacedError(str(error)) from error
    document = dataset.documents.filter(name=name).first()
    if document is None:
        raise _MisplacedError(f"the dataset {dataset.slug} has no document {name}")
    # Offsets live in the text: where it is the same, markup that differs does no harm.
    if tagged.canonical.text_sha256 != document.text_sha256:
        raise _MisplacedError(text_difference(tagged.canonical.text, document))
    return GoldItem(document, tagged.spans)


def text_difference(text: str, document: Document) -> str:
    """Where the text without its tags parts from the document's, for people."""
    stored = document.content.text
    shorter = min(len(text), len(stored))
    at = next((i for i in range(shorter) if text[i] != stored[i]), shorter)
    return (
        f"without its tags the page is not the document {document.name}: at character {at} it"
        f" reads {text[at : at + EXCERPT]!r}, the document {stored[at : at + EXCERPT]!r}"
    )
