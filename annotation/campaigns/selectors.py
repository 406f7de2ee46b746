"""Lists and overviews of campaigns, versions of guidelines, and what a release would contain.

Overviews count documents, never labels.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery
from django.shortcuts import get_object_or_404

from annotation.access import visible_campaigns
from annotation.assignments.selectors import counted_work
from annotation.doubts import DoubtfulFact, doubtful_facts
from annotation.models import (
    Assignment,
    Campaign,
    CampaignDocument,
    Case,
    GuidelinesVersion,
    Membership,
    ReviewItem,
    Screening,
)
from annotation.review.selectors import review_blocks_release, unreviewed_pages
from portal.datasets.models import Dataset, Document, Release, ReleaseItem
from portal.datasets.releases.services import freeze_warnings, suggest_version
from portal.web.queries import Parameter, Prepared

Stage = CampaignDocument.Stage
Purpose = CampaignDocument.Purpose


@dataclass(frozen=True)
class Stages:
    """The number of documents in each stage, without qualification pages."""

    screening: int = 0
    annotation: int = 0
    validation: int = 0
    adjudication: int = 0
    gold: int = 0
    excluded: int = 0

    @property
    def total(self) -> int:
        """All but excluded documents."""
        return self.screening + self.annotation + self.validation + self.adjudication + self.gold


@dataclass(frozen=True)
class CampaignRow:
    campaign: Campaign
    roles: tuple[str, ...]
    stages: Stages


@dataclass(frozen=True)
class AnnotatorProgress:
    """An annotator's documents by state."""

    user: int
    name: str
    to_do: int
    in_progress: int
    submitted: int

    @property
    def total(self) -> int:
        return self.to_do + self.in_progress + self.submitted

    @property
    def left(self) -> int:
        return self.to_do + self.in_progress


@dataclass(frozen=True)
class Overview:
    """The figures of a campaign.

    `unassigned` counts documents in annotation without annotators, `to_share` adds those that are
    new in the dataset, and `review_items` counts facts without a reviewer's verdict.
    """

    stages: Stages
    annotators: tuple[AnnotatorProgress, ...]
    open_cases: int
    new_documents: int
    unassigned: int
    calibration: int
    review_items: int
    # Gold documents whose current state is in no release.
    unreleased: int

    @property
    def documents(self) -> int:
        """All documents that can become gold, including new ones of the dataset."""
        return self.stages.total + self.new_documents

    @property
    def to_share(self) -> int:
        return self.new_documents + self.unassigned


def campaign_rows(user: Any) -> list[CampaignRow]:
    """The campaigns that the user may see, with their stages and the user's roles."""
    campaigns = list(visible_campaigns(user).select_related("dataset"))
    documents = CampaignDocument.objects.exclude(purpose=Purpose.QUALIFICATION)
    rows = documents.filter(campaign__in=campaigns).order_by().values_list("campaign", "stage")
    stages: defaultdict[int, dict[str, int]] = defaultdict(dict)
    for pk, stage, count in rows.annotate(n=Count("id")):
        stages[pk][stage] = count
    roles: defaultdict[int, list[str]] = defaultdict(list)
    for pk, role in Membership.objects.filter(user=user).values_list("campaign", "role"):
        roles[pk].append(role)
    return [
        CampaignRow(
            campaign=campaign,
            roles=tuple(sorted(roles[campaign.pk])),
            stages=Stages(**stages[campaign.pk]),
        )
        for campaign in campaigns
    ]


def campaign_overview(campaign: Campaign) -> Overview:
    documents = CampaignDocument.objects.filter(campaign=campaign)
    cases = Case.objects.filter(campaign_document__campaign=campaign, state=Case.State.OPEN)
    items = ReviewItem.objects.filter(round__campaign=campaign, verdict=ReviewItem.Verdict.PENDING)
    new = campaign.candidates()
    counts = _document_counts(documents)
    return Overview(
        stages=Stages(**{stage.value: counts[stage.value] for stage in Stage}),
        annotators=_annotators(campaign),
        open_cases=cases.count(),
        new_documents=new.exclude(pk__in=documents.values("document")).count(),
        unassigned=counts["unassigned"],
        calibration=counts["calibration"],
        review_items=items.count(),
        unreleased=counts["unreleased"],
    )


def why_no_documents(campaign: Campaign) -> str:
    """The reason why a campaign has no documents to label."""
    if campaign.dataset.documents.exists():
        return (
            "The dataset has no documents to label. Its documents are images, held back, or used "
            "for qualification."
        )
    return "The dataset has no documents yet. Import documents, then open the campaign."


def _document_counts(documents: QuerySet[CampaignDocument]) -> dict[str, int]:
    """The counts of documents by stage and by other properties, in one query."""
    given = Assignment.objects.active().filter(campaign_document=OuterRef("pk"))
    released = ReleaseItem.objects.filter(
        document=OuterRef("document"), release__frozen_at__gte=OuterRef("gold_at")
    )
    becoming_gold = documents.exclude(purpose=Purpose.QUALIFICATION)
    return becoming_gold.aggregate(
        **{stage.value: Count("id", filter=Q(stage=stage)) for stage in Stage},
        unassigned=Count("id", filter=Q(~Exists(given), stage=Stage.ANNOTATION)),
        unreleased=Count("id", filter=Q(~Exists(released), stage=Stage.GOLD)),
        calibration=Count("id", filter=Q(purpose=Purpose.CALIBRATION) & ~Q(stage=Stage.EXCLUDED)),
    )


def flagged_work(campaign: Campaign) -> QuerySet[Assignment]:
    """Flagged and skipped pages, skipped ones first. Submitted pages keep their flag.

    For leads and organisers only, because reasons may quote the text.
    """
    return (
        counted_work(campaign)
        .exclude(flag=Assignment.Flag.NONE)
        .select_related("annotator", "campaign_document__document")
        .order_by("-flag", "campaign_document__document__name", "id")
    )


def _annotators(campaign: Campaign) -> tuple[AnnotatorProgress, ...]:
    """Everyone with the role or with work in the campaign, in the order of joining."""
    members = Membership.objects.filter(campaign=campaign, role=Membership.Role.ANNOTATOR)
    joined = members.select_related("user").order_by("id")
    names = {membership.user_id: str(membership.user) for membership in joined}
    states: defaultdict[int, Counter[str]] = defaultdict(Counter)
    rows = (
        counted_work(campaign)
        .order_by("annotator")
        .values("annotator", "state", name=F("annotator__name"), email=F("annotator__email"))
        .annotate(n=Count("id"))
    )
    for row in rows:
        # Includes former members with submitted work.
        names.setdefault(row["annotator"], row["name"] or row["email"].partition("@")[0])
        states[row["annotator"]][row["state"]] = row["n"]
    order = (Assignment.State.ASSIGNED, Assignment.State.IN_PROGRESS, Assignment.State.SUBMITTED)
    return tuple(
        AnnotatorProgress(pk, name, *(states[pk][state] for state in order))
        for pk, name in names.items()
    )


_WORD = re.compile(r"\s*\S+\s*|\s+")
# Longer texts are shown as removed and added as a whole: comparing takes quadratic time.
WORDS_COMPARED = 2_000
LINES_COMPARED = 4_000
LINES_AROUND = 3


@dataclass(frozen=True)
class Piece:
    """A part of a comparison. `kind` is `same`, `added`, `removed`, or `gap` for omitted text."""

    kind: str
    text: str


_SEEN = Prepared(
    lambda: (
        Membership.objects.filter(campaign=Parameter("campaign"), user=Parameter("user"))
        .order_by("-seen_guidelines")
        .values_list("seen_guidelines", flat=True)[:1]
    )
)


def seen_guidelines(campaign: Campaign, user: int) -> int:
    """The newest version that the user (a primary key) opened; 0 for none."""
    return _SEEN.first(campaign=campaign.pk, user=user) or 0


def guidelines_versions(campaign: Campaign) -> QuerySet[GuidelinesVersion]:
    """The versions, newest first, without their texts."""
    return campaign.guidelines_versions.select_related("author").defer("text").order_by("-number")


def guidelines_version(campaign: Campaign, number: int) -> GuidelinesVersion:
    """One version with its text; 404 if the number does not exist."""
    return get_object_or_404(campaign.guidelines_versions.select_related("author"), number=number)


def changes_of(version: GuidelinesVersion) -> list[Piece]:
    """The changes against the version before; empty for the first."""
    former = GuidelinesVersion.objects.filter(
        campaign=version.campaign_id, number=version.number - 1
    ).first()
    return shortened(compared(former.text, version.text)) if former else []


def compared(former: str, text: str) -> list[Piece]:
    """A comparison of both texts by lines, and by words within changed lines.

    The pieces without the removed ones make up `text`, those without the added ones `former`.

    >>> [(piece.kind, piece.text) for piece in compared("Mark it.", "Mark all.")]
    [('same', 'Mark '), ('removed', 'it.'), ('added', 'all.')]
    """
    old, new = former.splitlines(keepends=True), text.splitlines(keepends=True)
    if len(old) + len(new) > LINES_COMPARED:
        return _joined(iter([Piece("removed", former), Piece("added", text)]))
    return _joined(_compared_lines(old, new))


def shortened(pieces: Sequence[Piece]) -> list[Piece]:
    """The changes with a few lines of context. Longer unchanged parts become gaps.

    Empty if nothing changed.
    """
    if all(piece.kind == "same" for piece in pieces):
        return []
    short: list[Piece] = []
    for place, piece in enumerate(pieces):
        lines = piece.text.splitlines(keepends=True)
        # Text before the first change or after the last one has a change on one side only.
        head = 0 if place == 0 else LINES_AROUND
        tail = 0 if place == len(pieces) - 1 else LINES_AROUND
        if piece.kind != "same" or len(lines) <= head + tail + 1:
            short.append(piece)
            continue
        parts = "".join(lines[:head]), "".join(lines[len(lines) - tail :])
        short += [Piece("same", parts[0]), Piece("gap", ""), Piece("same", parts[1])]
    return [piece for piece in short if piece.text or piece.kind == "gap"]


def _compared_lines(former: Sequence[str], text: Sequence[str]) -> Iterator[Piece]:
    for a, b, c, d, same in _stretches(former, text):
        old, new = "".join(former[a:b]), "".join(text[c:d])
        if same:
            yield Piece("same", old)
        elif old and new and len(old.split()) + len(new.split()) <= WORDS_COMPARED:
            yield from _compared_words(_words(old), _words(new))
        else:
            yield from (Piece("removed", old), Piece("added", new))


def _compared_words(former: Sequence[str], text: Sequence[str]) -> Iterator[Piece]:
    for a, b, c, d, same in _stretches(former, text):
        if same:
            yield Piece("same", "".join(former[a:b]))
        else:
            yield from (Piece("removed", "".join(former[a:b])), Piece("added", "".join(text[c:d])))


def _stretches(
    former: Sequence[str], text: Sequence[str]
) -> Iterator[tuple[int, int, int, int, bool]]:
    matcher = SequenceMatcher(None, former, text, autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        yield a, b, c, d, tag == "equal"


def _words(text: str) -> list[str]:
    """Words, each with the white space after it."""
    return _WORD.findall(text)


def _joined(pieces: Iterator[Piece]) -> list[Piece]:
    """Merges neighbouring pieces of one kind and drops empty ones."""
    joined: list[Piece] = []
    for piece in pieces:
        if joined and joined[-1].kind == piece.kind:
            joined[-1] = Piece(piece.kind, joined[-1].text + piece.text)
        elif piece.text:
            joined.append(piece)
    return joined


@dataclass(frozen=True)
class UnfinishedDocument:
    """A document that is not finished, with its stage in words."""

    name: str
    stage: str


@dataclass(frozen=True)
class LeftOut:
    """A document that screening excluded from releases, with the reason."""

    name: str
    faults: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class ReleaseState:
    """The contents of the next release, what blocks it, and earlier releases."""

    gold: int
    facts: int
    unfinished: tuple[UnfinishedDocument, ...]
    left_out: tuple[LeftOut, ...]
    # Why the review blocks a release, or None.
    review: str | None
    releases: tuple[Release, ...]
    next_version: str
    # Facts with a warning. Those on which no one decided block a release.
    doubtful: tuple[DoubtfulFact, ...]
    # Why only organisers will see a release, or empty.
    hidden: str

    @property
    def undecided(self) -> int:
        """The number of facts with a warning on which no one decided."""
        return sum(not fact.is_signed for fact in self.doubtful)

    @property
    def waiting(self) -> list[tuple[str, int]]:
        """The unfinished documents by stage, most first."""
        return Counter(document.stage for document in self.unfinished).most_common()


def gold_documents(campaign: Campaign) -> QuerySet[CampaignDocument]:
    """Finished documents by name: gold, reviewed where required, and not held back."""
    gold = CampaignDocument.objects.filter(
        campaign=campaign, stage=CampaignDocument.Stage.GOLD, document__state=Document.State.ACTIVE
    )
    return gold.exclude(pk__in=unreviewed_pages(campaign)).order_by("document__name")


def unfinished_documents(campaign: Campaign) -> tuple[UnfinishedDocument, ...]:
    """Every document of the campaign that is not finished yet, by name."""
    gold = CampaignDocument.Stage.GOLD
    rows = CampaignDocument.objects.filter(campaign=campaign)
    begun = rows.in_work().exclude(stage=gold).values_list("document__name", "stage")
    held = rows.in_work().filter(stage=gold, document__state=Document.State.HELD)
    unreviewed = unreviewed_pages(campaign).exclude(pk__in=held)
    missing = campaign.candidates().exclude(pk__in=rows.values("document"))
    found = [
        *begun,
        *((name, "gold, held back") for name in _names(held)),
        *((name, "gold, not reviewed") for name in _names(unreviewed)),
        *((name, "not assigned") for name in missing.values_list("name", flat=True)),
    ]
    return tuple(UnfinishedDocument(name, stage) for name, stage in sorted(found))


def _names(rows: QuerySet[CampaignDocument]) -> QuerySet[CampaignDocument, str]:
    return rows.values_list("document__name", flat=True)


def left_out_documents(campaign: Campaign) -> tuple[LeftOut, ...]:
    """Excluded documents with their latest verdict, by name."""
    last = Screening.objects.filter(campaign_document=OuterRef("pk")).order_by("-id")
    rows = CampaignDocument.objects.filter(
        campaign=campaign, stage=CampaignDocument.Stage.EXCLUDED
    ).annotate(
        faults_found=Subquery(last.values("faults")[:1]), why=Subquery(last.values("reason")[:1])
    )
    found = rows.order_by("document__name").values_list("document__name", "faults_found", "why")
    return tuple(LeftOut(name, tuple(faults or ()), why or "") for name, faults, why in found)


def release_state(campaign: Campaign) -> ReleaseState:
    gold = gold_documents(campaign)
    releases = tuple(Release.objects.filter(dataset=campaign.dataset_id).order_by("-frozen_at"))
    return ReleaseState(
        gold=gold.count(),
        facts=gold.aggregate(facts=Count("gold_spans"))["facts"],
        unfinished=unfinished_documents(campaign),
        left_out=left_out_documents(campaign),
        review=review_blocks_release(campaign),
        releases=releases,
        next_version=suggest_version(campaign.dataset),
        doubtful=doubtful_facts(gold),
        hidden=why_hidden(campaign.dataset),
    )


def release_warnings(release: Release) -> list[str]:
    """Possible problems of a frozen release."""
    hidden = why_hidden(release.dataset)
    return [*freeze_warnings(release), *([hidden] if hidden else [])]


def why_hidden(dataset: Dataset) -> str:
    """Why only organisers see releases of the dataset, whatever their visibility, or empty."""
    if dataset.visibility == Dataset.Visibility.PUBLIC:
        return ""
    return (
        "The dataset is private, so only organisers can open its releases, whatever their "
        "visibility. An organiser can make the dataset public."
    )
