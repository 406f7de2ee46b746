"""Imports labels from a file as gold, or as the submitted work of an annotator."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import IO

from django.utils import timezone

from annotation.adjudication.settling import make_gold
from annotation.models import (
    Assignment,
    Campaign,
    CampaignDocument,
    CampaignImport,
    GoldSpan,
    Revision,
    Span,
)
from annotation.spans import MAX_SPANS, Draft, check_drafts, fact_of, meaning_of, meaning_problem
from annotation.workbench.services import submit_assignment
from portal.accounts.models import User, display_name
from portal.datasets.models import Document, DocumentContent
from portal.datasets.releases.gold import text_difference
from portal.facts import (
    DocumentLine,
    FactSpan,
    Page,
    Placement,
    RefusedHtml,
    SourcePage,
    canonicalise,
    place_regions,
    read_line_spans,
    read_tags,
    read_value,
)
from portal.files.uploads import archive_limits

from .formats import FileLabels, StudioWork, read_label_file
from .selectors import goes_by

# A file has labels of a document for each annotator, mostly one after the other.
PAGES_KEPT = 8


@dataclass(frozen=True)
class PlacedLabels:
    """Labels of a file, placed in a document's text. `unplaced` counts the labels without a place;
    `notes` list moved and unplaced labels.
    """

    where: str
    document: int
    name: str
    by: str
    is_gold: bool
    spans: tuple[FactSpan, ...]
    moved: int
    unplaced: int
    notes: tuple[str, ...]

    def labels_as(self, other: "PlacedLabels") -> bool:
        """Whether both have the same labels with the same values."""
        mine, others = (list(map(fact_of, labels.spans)) for labels in (self, other))
        return (mine, self.unplaced) == (others, other.unplaced)


class LabelMatcher:
    """Places labels of files in the documents of a campaign's dataset. Writes nothing."""

    def __init__(self, campaign: Campaign) -> None:
        self._labels = campaign.labels
        self._by_name: dict[str, Document] = {}
        self._by_text: dict[str, list[Document]] = defaultdict(list)
        for document in Document.objects.filter(dataset=campaign.dataset_id).order_by("name"):
            self._by_name[document.name] = document
            self._by_text[document.text_sha256].append(document)
        self._page = lru_cache(maxsize=PAGES_KEPT)(_page)

    def place(self, labels: FileLabels) -> PlacedLabels:
        """Raises ValueError if the document does not exist or has another text."""
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
            len(placement.unplaced) + labels.unread,
            tuple(f"{labels.where} ({document.name}): {note}" for note in notes),
        )

    def _document(self, name: str, text_sha256: str) -> Document:
        """The document with this text; if there is none or more than one, the one with the name."""
        alike = self._by_text.get(text_sha256, [])
        if len(alike) == 1:
            return alike[0]
        named = self._by_name.get(name)
        if named is not None and (not alike or named in alike):
            return named
        if alike:
            return alike[0]
        wanted = f"named {name[:100]!r}" if name else "with this text"
        raise ValueError(f"the dataset has no document {wanted}")

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
            given, expected = line.text_sha256[:64], document.text_sha256
            raise ValueError(
                f"text_sha256: {given} is another text; {document.name} has {expected}"
            )
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


Layer = CampaignImport.Layer
Stage = CampaignDocument.Stage


@dataclass
class ReadLabels:
    """The placed labels of a file, and a sentence for each problem."""

    labels: list[PlacedLabels] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    @property
    def moved(self) -> int:
        return sum(labels.moved for labels in self.labels)

    @property
    def unplaced(self) -> int:
        return sum(labels.unplaced for labels in self.labels)


@dataclass
class Kept:
    """The numbers of documents and spans written, and a sentence for each refused document."""

    documents: int = 0
    spans: int = 0
    faults: list[str] = field(default_factory=list)


def read_labels(
    campaign_import: CampaignImport, file: IO[bytes], *, progress: Callable[[int], None]
) -> ReadLabels:
    """Reads and places the gold, or the work of the annotator.

    Writes nothing. Raises ArchiveFault if the file as a whole is unusable.
    """
    matcher = LabelMatcher(campaign_import.campaign)
    result = ReadLabels()
    limits = archive_limits()
    parts = read_label_file(file, campaign_import.source_name, campaign_import.form, limits)
    for done, part in enumerate(parts, start=1):
        if isinstance(part, str):
            result.faults.append(part)
        else:
            try:
                result.labels.append(matcher.place(part))
            except (ValueError, RefusedHtml) as error:
                result.faults.append(f"{part.where}: {error}")
        progress(done)
    return _selected(campaign_import, result)


def _selected(campaign_import: CampaignImport, read: ReadLabels) -> ReadLabels:
    """The labels to import, at most one entry for each document."""
    if campaign_import.layer == Layer.GOLD:
        chosen, faults = _gold_of(read.labels)
    else:
        assert campaign_import.annotator is not None
        chosen, faults = _work_of(campaign_import.annotator, read.labels)
    single: list[PlacedLabels] = []
    for first, *others in _by_document(chosen):
        faults += [f"{each.where}: {each.name} is already in {first.where}" for each in others]
        if all(first.labels_as(each) for each in others):
            single.append(first)
        else:
            faults.append(f"{first.where}: {first.name}: not imported, because its labels differ")
    notes = [note for labels in single for note in labels.notes]
    return ReadLabels(single, [*read.faults, *faults, *notes])


def _by_document(placed: Sequence[PlacedLabels]) -> list[list[PlacedLabels]]:
    by_document: dict[int, list[PlacedLabels]] = {}
    for labels in placed:
        by_document.setdefault(labels.document, []).append(labels)
    return list(by_document.values())


def _gold_of(placed: Sequence[PlacedLabels]) -> tuple[list[PlacedLabels], list[str]]:
    """The labels marked as gold; otherwise the only labels of a document."""
    chosen: list[PlacedLabels] = []
    faults: list[str] = []
    for several in _by_document(placed):
        gold = [labels for labels in several if labels.is_gold] or several
        if len(gold) > 1 and not gold[0].is_gold:
            count = f"{len(gold)} annotations, none of them marked as gold"
            faults.append(f"{gold[0].where}: {gold[0].name} has {count}")
        else:
            chosen += gold
    return chosen, faults


def _work_of(
    annotator: User, placed: Sequence[PlacedLabels]
) -> tuple[list[PlacedLabels], list[str]]:
    """All labels if the file has a single annotator; otherwise those of `annotator`."""
    if len({labels.by for labels in placed}) <= 1:
        return list(placed), []
    chosen = [labels for labels in placed if goes_by(annotator, labels.by)]
    missing = {labels.document for labels in placed} - {labels.document for labels in chosen}
    if not missing:
        return chosen, []
    others = ", ".join(sorted({labels.by or "no name" for labels in placed})[:10])
    return chosen, [
        f"{len(missing)} documents have no labels by {display_name(annotator)} "
        f"({annotator.email}) in the file. Its annotators are {others}"
    ]


class _Incomplete(ValueError):
    """Some labels of the document have no place, and no one has confirmed to leave them out."""


def keep_labels(
    campaign_import: CampaignImport, read: ReadLabels, *, accept_unplaced: int = 0
) -> Kept:
    """Writes the labels in the caller's transaction. The result lists refused documents.

    A document with unplaced labels is refused, unless `accept_unplaced` is the number of all
    unplaced labels: gold without them would say that there are no such facts.
    """
    campaign = Campaign.objects.select_for_update().get(pk=campaign_import.campaign_id)
    may_lack = accept_unplaced == read.unplaced
    result = Kept()
    incomplete = False
    for labels in sorted(read.labels, key=lambda labels: labels.name):
        rows = CampaignDocument.objects.locked("document__content").filter(campaign=campaign)
        row = rows.filter(document=labels.document).first()
        try:
            if campaign_import.layer == Layer.GOLD:
                _keep_gold(campaign, row, labels, may_lack=may_lack)
            else:
                _keep_work(campaign_import, row, labels, may_lack=may_lack)
        except ValueError as problem:
            incomplete = incomplete or isinstance(problem, _Incomplete)
            result.faults.append(f"{labels.where}: {labels.name}: {problem}")
        else:
            result.documents += 1
            result.spans += len(labels.spans)
    if incomplete:
        result.faults.insert(0, _how_to_leave_out(read.unplaced))
    return result


def _how_to_leave_out(unplaced: int) -> str:
    labels = "1 label" if unplaced == 1 else f"{unplaced} labels"
    return (
        f"Documents with labels that have no place were not imported. Correct the file, or import "
        f"it again and confirm that {labels} will be left out."
    )


def _check_complete(labels: PlacedLabels, *, may_lack: bool) -> None:
    if labels.unplaced and not may_lack:
        count = labels.unplaced + len(labels.spans)
        raise _Incomplete(
            f"not imported, because {labels.unplaced} of {count} labels have no place"
        )


def _keep_gold(
    campaign: Campaign, row: CampaignDocument | None, labels: PlacedLabels, *, may_lack: bool
) -> None:
    """Makes the document gold. Raises ValueError if labelling has started or it is settled, and for
    unplaced labels unless it `may_lack` them.
    """
    if row is None:
        row = CampaignDocument(campaign=campaign, document_id=labels.document)
    elif row.stage not in {Stage.SCREENING, Stage.ANNOTATION}:
        raise ValueError(f"it is already in {row.get_stage_display()}")
    elif row.purpose == CampaignDocument.Purpose.QUALIFICATION:
        raise ValueError("it is a qualification document")
    else:
        access = row.assignments.active()
        if access.exclude(state=Assignment.State.ASSIGNED).exists():
            raise ValueError("an annotator has started it; gold would replace their work")
    _check_complete(labels, may_lack=may_lack)
    drafts = _drafts(row, labels.spans)
    if row._state.adding:
        row.save()
    row.assignments.active().delete()
    GoldSpan.objects.bulk_create(
        GoldSpan(
            campaign_document=row,
            origin=GoldSpan.Origin.IMPORTED,
            **fact_of(draft),
        )
        for draft in drafts
    )
    row.settled_at = timezone.now()
    row.save(update_fields=["settled_at"])
    make_gold(campaign_document=row)


def _keep_work(
    campaign_import: CampaignImport,
    row: CampaignDocument | None,
    labels: PlacedLabels,
    *,
    may_lack: bool,
) -> None:
    """Submits the spans as the annotator's work. Raises ValueError if that is not possible, and for
    unplaced labels unless it `may_lack` them.
    """
    if row is None:
        raise ValueError("it is not assigned yet")
    annotator = campaign_import.annotator
    assert annotator is not None
    assignment = _place_of(annotator, row)
    _check_complete(labels, may_lack=may_lack)
    drafts = _drafts(row, labels.spans)
    Span.objects.bulk_create(
        (Span(assignment=assignment, **draft._asdict()) for draft in drafts), batch_size=500
    )
    added = [draft._asdict() for draft in drafts]
    Revision.objects.create(
        assignment=assignment,
        number=1,
        author=campaign_import.created_by or annotator,
        save_key=f"import-{campaign_import.pk}",
        digest=hashlib.sha256(json.dumps(added).encode()).hexdigest(),
        added=added,
        note=f"imported {campaign_import.source_name[-150:]}",
    )
    assignment.revision = 1
    assignment.save(update_fields=["annotator", "revision"])
    # A page without labels in the file means that the annotator found no facts.
    submit_assignment(assignment=assignment, base_revision=1, actor=annotator, no_facts=True)


def _place_of(annotator: User, row: CampaignDocument) -> Assignment:
    """The annotator's own assignment, or that of an annotator who has not started, for them; not
    yet saved.
    """
    if row.stage != Stage.ANNOTATION:
        raise ValueError(f"it is in {row.get_stage_display()}, not in annotation")
    if row.purpose == CampaignDocument.Purpose.QUALIFICATION:
        raise ValueError("it is a qualification document")
    work = list(row.assignments.select_for_update().order_by("id"))
    untouched = [assignment for assignment in work if assignment.state == Assignment.State.ASSIGNED]
    own = next((assignment for assignment in work if assignment.annotator_id == annotator.pk), None)
    name = display_name(annotator)
    if own is not None:
        if own.state == Assignment.State.WITHDRAWN:
            raise ValueError(f"it was withdrawn from {name}")
        if own not in untouched:
            raise ValueError(f"{name} has started it; an import does not replace work")
        return own
    if not untouched:
        raise ValueError(f"it has no place for {name}: all its annotators have started")
    heir = untouched[-1]
    heir.annotator = annotator
    return heir


def _drafts(row: CampaignDocument, spans: Sequence[FactSpan]) -> list[Draft]:
    """The spans to save; raises ValueError with the first fault."""
    if len(spans) > MAX_SPANS:
        raise ValueError(f"a document can have at most {MAX_SPANS} spans, not {len(spans)}")
    drafts = []
    for span in spans:
        meaning = meaning_of(fact_of(span))
        if problem := meaning_problem(meaning, span.label):
            raise ValueError(f"the span at {span.start}: {problem}")
        place = span.key, span.label, span.start, span.end, span.quote
        drafts.append(Draft(*place, *meaning))
    faults = check_drafts(row.document.content.text, drafts, row.campaign.labels)
    if faults:
        more = f" ({len(faults) - 1} more errors)" if len(faults) > 1 else ""
        raise ValueError(f"{faults[0]['message']}{more}")
    return drafts
