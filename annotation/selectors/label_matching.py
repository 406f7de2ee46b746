"""Which documents of a campaign a file speaks of, and where its spans are in them."""

from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache

from annotation.label_files import FileLabels, StudioWork
from annotation.models import Campaign
from portal.datasets.models import Document, DocumentContent
from portal.datasets.services.gold import text_difference
from portal.facts import (
    DocumentLine,
    FactSpan,
    Page,
    Placement,
    SourcePage,
    canonicalise,
    place_regions,
    read_line_spans,
    read_tags,
    read_value,
)

# A file speaks of a document once for every annotator, mostly in a row.
PAGES_KEPT = 8


@dataclass(frozen=True)
class PlacedLabels:
    """What a file says of a document, placed in its text. `notes` tell what is not as it said."""

    where: str
    document: int
    name: str
    by: str
    is_gold: bool
    spans: tuple[FactSpan, ...]
    moved: int
    notes: tuple[str, ...]


class LabelMatcher:
    """Places what files say in the documents of a campaign's dataset. Writes nothing."""

    def __init__(self, campaign: Campaign) -> None:
        self._labels = campaign.labels
        self._by_name: dict[str, Document] = {}
        self._by_text: dict[str, list[Document]] = defaultdict(list)
        for document in Document.objects.filter(dataset=campaign.dataset_id).order_by("name"):
            self._by_name[document.name] = document
            self._by_text[document.text_sha256].append(document)
        self._page = lru_cache(maxsize=PAGES_KEPT)(_page)

    def place(self, labels: FileLabels) -> PlacedLabels:
        """Raises ValueError with a sentence when the document is not here or is another text."""
        content = labels.content
        if isinstance(content, StudioWork):
            document, placement = self._studio_work(labels, content)
        elif isinstance(content, DocumentLine):
            document, placement = self._line(labels, content)
        else:
            document, placement = self._tagged(labels, content)
        notes = [*placement.unplaced, *placement.moved, *placement.remarks]
        return PlacedLabels(
            labels.where,
            document.pk,
            document.name,
            labels.by,
            labels.is_gold,
            tuple(placement.spans),
            len(placement.moved),
            tuple(f"{labels.where} ({document.name}): {note}" for note in notes),
        )

    def _document(self, name: str, text_sha256: str) -> Document:
        """The document of this text; of several, or of none, that of the name."""
        alike = self._by_text.get(text_sha256, [])
        if len(alike) == 1:
            return alike[0]
        named = self._by_name.get(name)
        if named is not None and (not alike or named in alike):
            return named
        if alike:
            return alike[0]
        called = f"called {name[:100]!r}" if name else "of this text"
        raise ValueError(f"the dataset has no document {called}")

    def _studio_work(self, labels: FileLabels, work: StudioWork) -> tuple[Document, Placement]:
        html = work.task.html
        text_sha256 = labels.text_sha256
        if text_sha256 not in self._by_text and labels.name not in self._by_name and html:
            text_sha256 = canonicalise(html).text_sha256
        document = self._document(labels.name, text_sha256)
        source = SourcePage(html) if html else None
        regions = work.annotation.regions
        return document, place_regions(self._page(document.pk), regions, self._labels, source)

    def _line(self, labels: FileLabels, line: DocumentLine) -> tuple[Document, Placement]:
        document = self._document(labels.name, labels.text_sha256)
        if line.text_sha256 not in {"", document.text_sha256}:
            told, here = line.text_sha256[:64], document.text_sha256
            raise ValueError(f"text_sha256: {told} is another text; {document.name} has {here}")
        return document, Placement(read_line_spans(line, self._page(document.pk).text))

    def _tagged(self, labels: FileLabels, html: str) -> tuple[Document, Placement]:
        tagged = read_tags(html, self._labels)
        document = self._document(labels.name, tagged.canonical.text_sha256)
        if tagged.canonical.text_sha256 != document.text_sha256:
            raise ValueError(text_difference(tagged.canonical.text, document))
        text = tagged.canonical.text
        spans = []
        for span in tagged.spans:
            quote = text[span.start : span.end]
            place = span.label, span.start, span.end, quote
            spans.append(FactSpan(f"t{span.start}", *place, *read_value(quote, span.label)))
        return document, Placement(spans)


def _page(document: int) -> Page:
    return Page(DocumentContent.objects.values_list("html", flat=True).get(pk=document))
