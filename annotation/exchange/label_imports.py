"""Imports labels from a file as gold, or as the submitted work of an annotator."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import PurePosixPath
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

from .formats import FileLabels, Rejected, StudioWork, read_label_file
from .selectors import goes_by

# A file has labels of a document for each annotator, mostly one after the other.
PAGES_KEPT = 8
NOT_ASSIGNED = "it is not assigned yet; assign it first"


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
        """Raises ValueError if the document does not exist or has another text.

        A document is found by its name. Labels without a name are found by their text.
        """
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
            tuple(f"{_place(labels.where, document.name)}: {note}" for note in notes),
        )

    def _document(self, name: str, text_sha256: str) -> Document:
        """The document with the name, or the only one with the text if there is no name.

        Raises ValueError if the text is that of another document: a wrong name is not guessed.
        """
        alike = self._by_text.get(text_sha256, [])
        named = self._by_name.get(name)
        owner = (
            f"the text is that of {alike[0].name}; correct the name in the file" if alike else ""
        )
        if name and named is None:
            hint = f", but {owner}" if owner else ""
            raise ValueError(f"the dataset has no document named {name[:100]!r}{hint}")
        if named is not None and alike and named not in alike:
            raise ValueError(f"the name is {named.name}, but {owner}")
        if named is not None:
            return named
        if len(alike) > 1:
            raise ValueError(f"{len(alike)} documents have this text; add the name to the file")
        if not alike:
            raise ValueError("the dataset has no document with this text")
        return alike[0]

    def _studio_work(self, labels: FileLabels, work: StudioWork) -> tuple[Document, Placement]:
        html, name, text_sha256 = work.task.html, labels.name, labels.text_sha256
        if text_sha256 not in self._by_text and html:
            text_sha256 = canonicalise(html).text_sha256
        if name not in self._by_name and name == work.task.data.get("id"):
            # The identity of the task in another tool, not the name of a document.
            name = ""
        document = self._document(name, text_sha256)
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
        spans, faults = read_line_spans(line, self._page(document.pk).text, self._labels)
        return document, Placement(spans, unplaced=list(faults))

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


def _place(where: str, name: str) -> str:
    """The place in the file, with the name of the document unless the place has it."""
    return where if not name or PurePosixPath(where).stem == name else f"{where} ({name})"


def _page(document: int) -> Page:
    return Page(DocumentContent.objects.values_list("html", flat=True).get(pk=document))


Layer = CampaignImport.Layer
Stage = CampaignDocument.Stage


@dataclass
class ReadLabels:
    """The placed labels of a file, its parts that cannot be imported, and notes."""

    labels: list[PlacedLabels] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def unplaced(self) -> int:
        return sum(labels.unplaced for labels in self.labels)


@dataclass
class Kept:
    """The numbers of documents and spans written and of rejected documents, and a sentence for each
    problem.
    """

    documents: int = 0
    spans: int = 0
    moved: int = 0
    rejected: int = 0
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
            result.notes.append(part)
        elif isinstance(part, Rejected):
            result.rejected.append(part)
        else:
            try:
                result.labels.append(matcher.place(part))
            except (ValueError, RefusedHtml) as error:
                result.rejected.append(Rejected(_place(part.where, part.name), str(error)))
        progress(done)
    return _selected(campaign_import, result)


def _selected(campaign_import: CampaignImport, read: ReadLabels) -> ReadLabels:
    """The labels to import, at most one entry for each document."""
    if campaign_import.layer == Layer.GOLD:
        chosen, rejected = _gold_of(read.labels)
        notes: list[str] = []
    else:
        assert campaign_import.annotator is not None
        chosen, notes = _work_of(campaign_import.annotator, read.labels)
        rejected = []
    single: list[PlacedLabels] = []
    for first, *others in _by_document(chosen):
        if all(first.labels_as(each) for each in others):
            single.append(first)
            notes += [f"{each.where}: {each.name} is already in {first.where}" for each in others]
        else:
            places = ", ".join(each.where for each in others)
            reason = f"the file has other labels of it in {places}; keep one of them"
            rejected.append(Rejected(_place(first.where, first.name), reason))
    notes += [note for labels in single for note in labels.notes]
    return ReadLabels(single, [*read.rejected, *rejected], [*read.notes, *notes])


def _by_document(placed: Sequence[PlacedLabels]) -> list[list[PlacedLabels]]:
    by_document: dict[int, list[PlacedLabels]] = {}
    for labels in placed:
        by_document.setdefault(labels.document, []).append(labels)
    return list(by_document.values())


def _gold_of(placed: Sequence[PlacedLabels]) -> tuple[list[PlacedLabels], list[Rejected]]:
    """The labels marked as gold; otherwise the only labels of a document."""
    chosen: list[PlacedLabels] = []
    rejected: list[Rejected] = []
    for several in _by_document(placed):
        gold = [labels for labels in several if labels.is_gold] or several
        if len(gold) > 1 and not gold[0].is_gold:
            reason = f"the file has {len(gold)} annotations of it, none of them marked as gold"
            rejected.append(Rejected(_place(gold[0].where, gold[0].name), reason))
        else:
            chosen += gold
    return chosen, rejected


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


def keep_labels(
    campaign_import: CampaignImport, read: ReadLabels, *, accept_unplaced: int = 0
) -> Kept:
    """Writes the labels in the caller's transaction. The result lists rejected documents.

    A document with unplaced labels is rejected, unless `accept_unplaced` is the number of all
    unplaced labels: gold without them would say that there are no such facts.
    """
    campaign = Campaign.objects.select_for_update().get(pk=campaign_import.campaign_id)
    may_lack = accept_unplaced == read.unplaced
    result = Kept()
    rejected = list(read.rejected)
    for labels in sorted(read.labels, key=lambda labels: labels.name):
        reasons = _keep(campaign_import, campaign, labels, may_lack=may_lack)
        if reasons:
            rejected.append(Rejected(_place(labels.where, labels.name), "; ".join(reasons)))
        else:
            result.documents += 1
            result.spans += len(labels.spans)
            result.moved += labels.moved
    result.rejected = len(rejected)
    advice = _advice(read, accepted=accept_unplaced) if rejected else []
    result.faults = [*advice, *map(str, rejected), *read.notes]
    return result


def _advice(read: ReadLabels, *, accepted: int) -> list[str]:
    """How to import the rejected documents."""
    advice = [
        "Some documents were not imported. Correct the errors below, and import the file again."
    ]
    labels = "1 label" if read.unplaced == 1 else f"{read.unplaced} labels"
    if accepted and accepted != read.unplaced:
        advice.append(
            f"No labels were left out: you confirmed {accepted}, but {labels} of the documents "
            "that could be read have no place."
        )
    elif read.unplaced and not accepted:
        advice.append(
            "To import documents without their labels that have no place, confirm that "
            f"{labels} will be left out."
        )
    return advice


def _keep(
    campaign_import: CampaignImport, campaign: Campaign, labels: PlacedLabels, *, may_lack: bool
) -> list[str]:
    """Writes the labels of a document, or returns every reason for which it is rejected."""
    rows = CampaignDocument.objects.locked("document__content").filter(campaign=campaign)
    row = rows.filter(document=labels.document).first()
    is_new = row is None
    if row is None:
        row = CampaignDocument(campaign=campaign, document_id=labels.document)
    place: Assignment | str = ""
    if campaign_import.layer == Layer.GOLD:
        obstacle = "" if is_new else _obstacle_to_gold(row)
    else:
        assert campaign_import.annotator is not None
        place = NOT_ASSIGNED if is_new else _place_of(campaign_import.annotator, row)
        obstacle = place if isinstance(place, str) else ""
    drafts, faults = _drafts(row, labels.spans)
    reasons = [obstacle] if obstacle else []
    if labels.unplaced and not may_lack:
        count = labels.unplaced + len(labels.spans)
        reasons.append(f"{labels.unplaced} of {count} labels have no place (listed below)")
    reasons += faults
    if reasons:
        return reasons
    if isinstance(place, Assignment):
        _keep_work(campaign_import, place, drafts)
    else:
        _keep_gold(row, drafts)
    return []


def _obstacle_to_gold(row: CampaignDocument) -> str:
    """The reason for which the document cannot be made gold, or empty: labelling has started, or it
    is settled.
    """
    if row.stage not in {Stage.SCREENING, Stage.ANNOTATION}:
        return f"it is already in {row.get_stage_display()}, and an import does not replace it"
    if row.purpose == CampaignDocument.Purpose.QUALIFICATION:
        return "it is a qualification document"
    if row.assignments.active().exclude(state=Assignment.State.ASSIGNED).exists():
        return "an annotator has started it; gold would replace their work"
    return ""


def _keep_gold(row: CampaignDocument, drafts: Sequence[Draft]) -> None:
    """Makes the document gold."""
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
    campaign_import: CampaignImport, assignment: Assignment, drafts: Sequence[Draft]
) -> None:
    """Submits the spans as the annotator's work."""
    annotator = assignment.annotator
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


def _place_of(annotator: User, row: CampaignDocument) -> Assignment | str:
    """The annotator's own assignment, or that of an annotator who has not started, for them; not
    yet saved. Otherwise the reason for which there is none.
    """
    if row.stage != Stage.ANNOTATION:
        first = "; screen and assign it first" if row.stage == Stage.SCREENING else ""
        return f"it is in {row.get_stage_display()}, not in annotation{first}"
    if row.purpose == CampaignDocument.Purpose.QUALIFICATION:
        return "it is a qualification document"
    work = list(row.assignments.select_for_update().order_by("id"))
    untouched = [assignment for assignment in work if assignment.state == Assignment.State.ASSIGNED]
    own = next((assignment for assignment in work if assignment.annotator_id == annotator.pk), None)
    name = display_name(annotator)
    if own is not None:
        if own.state == Assignment.State.WITHDRAWN:
            return f"it was withdrawn from {name}"
        if own not in untouched:
            return f"{name} has started it; an import does not replace work"
        return own
    if not work:
        return NOT_ASSIGNED
    if not untouched:
        return f"it has no place for {name}: all its annotators have started"
    heir = untouched[-1]
    heir.annotator = annotator
    return heir


def _drafts(row: CampaignDocument, spans: Sequence[FactSpan]) -> tuple[list[Draft], list[str]]:
    """The spans to save, and all their faults."""
    if len(spans) > MAX_SPANS:
        return [], [f"a document can have at most {MAX_SPANS} spans, not {len(spans)}"]
    drafts, faults = [], []
    for span in spans:
        meaning = meaning_of(fact_of(span))
        if problem := meaning_problem(meaning, span.label):
            faults.append(f"the span at {span.start}: {problem}")
        place = span.key, span.label, span.start, span.end, span.quote
        drafts.append(Draft(*place, *meaning))
    checked = check_drafts(row.document.content.text, drafts, row.campaign.labels)
    return drafts, [*faults, *(str(fault["message"]) for fault in checked)]
