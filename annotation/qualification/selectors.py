"""Reads of qualification rounds: possible sources of known gold, and annotators' results.

A source is a frozen release whose gold the user may see, or another campaign that they manage.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from random import Random
from typing import Any

from django.db.models import Count, Q, QuerySet

from annotation.access import CampaignAccess, visible_campaigns
from annotation.models import (
    Assignment,
    Campaign,
    CampaignDocument,
    GoldSpan,
    Membership,
    QualificationResult,
)
from annotation.spans import span_f1
from portal.accounts.access import is_organiser
from portal.accounts.models import display_name
from portal.audit.models import Event
from portal.datasets.access import visible_datasets
from portal.datasets.models import Document, Release, ReleaseItem
from portal.facts import RefusedHtml, Span, TagError, read_tags

Source = Release | Campaign


@dataclass(frozen=True)
class Candidate:
    """A page of a source. `obstacle` is the reason for which it cannot be used, or empty."""

    name: str
    document: int
    obstacle: str


@dataclass(frozen=True)
class SourceRow:
    """A source with its key in forms and the API: `release:PK` or `campaign:SLUG`."""

    key: str
    title: str
    pages: int


class UnusableGold(Exception):
    """The gold of a page cannot be used; the message names the page."""


def gold_releases(user: Any, campaign: Campaign) -> QuerySet[Release]:
    """Releases with the campaign's labels whose gold the user may see, newest first."""
    releases = Release.objects.filter(dataset__in=visible_datasets(user)).select_related("dataset")
    if not is_organiser(user):
        releases = releases.filter(visibility=Release.Visibility.PUBLIC)
    fitting = [row.pk for row in releases if labels_fit(row, campaign)]
    return releases.filter(pk__in=fitting).order_by("-frozen_at")


def gold_campaigns(user: Any, campaign: Campaign) -> QuerySet[Any]:
    """Other campaigns with the same labels that the user manages, with `gold_pages` above 0."""
    campaigns = visible_campaigns(user).exclude(pk=campaign.pk)
    if not is_organiser(user):
        led = Membership.objects.filter(user=user, role=Membership.Role.LEAD)
        campaigns = campaigns.filter(pk__in=led.values("campaign"))
    gold = Q(documents__stage=CampaignDocument.Stage.GOLD) & ~Q(
        documents__purpose=CampaignDocument.Purpose.QUALIFICATION
    )
    fitting = [row.pk for row in campaigns if labels_fit(row, campaign)]
    counted = campaigns.filter(pk__in=fitting).annotate(gold_pages=Count("documents", filter=gold))
    return counted.filter(gold_pages__gt=0).order_by("title")


def labels_fit(source: Source, campaign: Campaign) -> bool:
    """Whether the source and the campaign have the same labels."""
    return bool(source.labels) and set(source.labels) == set(campaign.labels)


def source_rows(user: Any, campaign: Campaign) -> list[SourceRow]:
    """All sources of the user. Campaigns come first, because their gold is not public."""
    return [
        *(
            SourceRow(f"campaign:{row.slug}", f"{row.title} (campaign)", row.gold_pages)
            for row in gold_campaigns(user, campaign)
        ),
        *(
            SourceRow(f"release:{row.pk}", str(row), row.item_count)
            for row in gold_releases(user, campaign)
        ),
    ]


def find_source(user: Any, campaign: Campaign, key: str) -> Source | None:
    """The source with the key of a `SourceRow`, or None."""
    kind, _, name = key.partition(":")
    if kind == "campaign":
        return gold_campaigns(user, campaign).filter(slug=name).first()
    if kind == "release" and name.isascii() and name.isdigit() and len(name) <= 9:
        return gold_releases(user, campaign).filter(pk=name).first()
    return None


def describe_source(source: Source) -> str:
    """The name of the source, as stored in `KnownGold.source`."""
    return str(source) if isinstance(source, Release) else f"{source.title} (campaign)"


def qualification_pages(campaign: Campaign) -> QuerySet[CampaignDocument]:
    return CampaignDocument.objects.filter(
        campaign=campaign, purpose=CampaignDocument.Purpose.QUALIFICATION
    )


def candidates(campaign: Campaign, source: Source) -> list[Candidate]:
    """The pages of the source by name, with the reasons for which some cannot be used."""
    rows = _source_pages(source).values_list(
        "document__name", "document", "document__text_sha256", "document__kind", "document__state"
    )
    inside = set(campaign.documents.values_list("document", flat=True))
    # A page with the same text would be labelled by annotators who know the answers, and names
    # must be unique.
    documents_with: defaultdict[str, set[int]] = defaultdict(set)
    others = Document.objects.filter(dataset=campaign.dataset_id).exclude(
        pk__in=qualification_pages(campaign).values("document")
    )
    for document, digest in others.values_list("pk", "text_sha256"):
        documents_with[digest].add(document)
    known = Document.objects.filter(Q(dataset=campaign.dataset_id) | Q(pk__in=inside))
    for document, name in known.values_list("pk", "name"):
        documents_with[name].add(document)
    listed = []
    for name, document, digest, kind, state in rows.order_by("document__name"):
        obstacle = ""
        if kind == Document.Kind.PICTURE:
            obstacle = "is an image without text"
        elif state == Document.State.HELD:
            obstacle = "is held back"
        elif document in inside:
            obstacle = "is already in the campaign"
        elif documents_with[digest] - {document}:
            obstacle = "has the same text as a document in the campaign"
        elif documents_with[name] - {document}:
            obstacle = "has the same name as another document in the campaign"
        listed.append(Candidate(name, document, obstacle))
    return listed


def _source_pages(source: Source) -> QuerySet[Any]:
    if isinstance(source, Release):
        return ReleaseItem.objects.filter(release=source, document__isnull=False)
    return CampaignDocument.objects.in_work().filter(
        campaign=source, stage=CampaignDocument.Stage.GOLD
    )


def draw_names(names: Iterable[str], count: int, seed: int) -> list[str]:
    """`count` of the names, sorted, or all if there are fewer. Independent of their order.

    Each name in alphabetical order gets the next number of `random.Random(seed).random()`, which
    Python keeps stable across versions; the smallest numbers are drawn.

    >>> draw_names(["c", "a", "b"], 2, seed=1)
    ['a', 'c']
    """
    numbers = Random(seed)  # noqa: S311 - a reproducible draw, not a secret
    numbered = sorted((numbers.random(), name) for name in sorted(names))
    return sorted(name for _, name in numbered[:count])


def known_spans(source: Source, chosen: Sequence[Candidate]) -> dict[int, list[Span]]:
    """The gold of the chosen pages by document, in text order; raises UnusableGold."""
    documents = [candidate.document for candidate in chosen]
    if isinstance(source, Release):
        items = ReleaseItem.objects.filter(release=source, document__in=documents)
        return {
            item.document.pk: _tagged(item, item.document, source.labels)
            for item in items.select_related("document")
            if item.document
        }
    gold = GoldSpan.objects.filter(
        campaign_document__campaign=source, campaign_document__document__in=documents
    )
    return {document: [] for document in documents} | gold.by_document()


def _tagged(item: ReleaseItem, document: Document, labels: Sequence[str]) -> list[Span]:
    html = item.gold.get("html")
    if not isinstance(html, str):
        raise UnusableGold(f"{item.name}: its gold is not a document with fact tags")
    try:
        tagged = read_tags(html, labels)
    except (TagError, RefusedHtml, ValueError) as error:
        raise UnusableGold(f"{item.name}: {error}") from error
    if tagged.canonical.text_sha256 != document.text_sha256:
        raise UnusableGold(f"{item.name}: the text of its gold differs from the stored document")
    return sorted(tagged.spans)


@dataclass(frozen=True)
class PageRound:
    """One annotator's tries at one page. `assignment` is None until the page is assigned."""

    name: str
    assignment: Assignment | None
    results: tuple[QualificationResult, ...]

    @property
    def is_submitted(self) -> bool:
        return self.assignment is not None and self.assignment.is_submitted

    @property
    def latest(self) -> QualificationResult | None:
        return self.results[-1] if self.results else None

    @property
    def f1(self) -> float | None:
        """Span F1 of the latest try, 0 to 1; 1 if neither gold nor annotator has a span."""
        if self.latest is None:
            return None
        return 1.0 if not self.has_errors else _f1([self.latest])

    @property
    def has_errors(self) -> bool:
        latest = self.latest
        return latest is not None and not latest.matched == latest.marked == latest.expected


@dataclass(frozen=True)
class AnnotatorRound:
    """An annotator's results. `reason` is that of a lead who qualified them by decision."""

    member: Membership
    name: str
    threshold: float
    pages: tuple[PageRound, ...]
    reason: str = ""

    @property
    def is_qualified(self) -> bool:
        return self.member.qualified_at is not None

    @property
    def qualified_at(self) -> datetime | None:
        return self.member.qualified_at

    @property
    def submitted(self) -> int:
        return sum(page.is_submitted for page in self.pages)

    @property
    def is_submitted(self) -> bool:
        """Whether the round has pages and all are submitted."""
        return bool(self.pages) and self.submitted == len(self.pages)

    @property
    def f1(self) -> float | None:
        """Span F1 over the latest tries at all pages, 0 to 1; None until all are submitted."""
        latest = [page.latest for page in self.pages if page.latest]
        return _f1(latest) if self.is_submitted else None

    @property
    def facts(self) -> int:
        """The number of known facts in the latest tries."""
        return sum(page.latest.expected for page in self.pages if page.latest)

    @property
    def matched(self) -> int:
        return sum(page.latest.matched for page in self.pages if page.latest)

    @property
    def marked(self) -> int:
        return sum(page.latest.marked for page in self.pages if page.latest)

    @property
    def next(self) -> Assignment | None:
        """The first page that is not submitted."""
        return next(
            (page.assignment for page in self.pages if page.assignment and not page.is_submitted),
            None,
        )

    @property
    def attempts(self) -> int:
        return max((len(page.results) for page in self.pages), default=0)

    @property
    def has_passed(self) -> bool:
        return self.f1 is not None and self.f1 >= self.threshold

    @property
    def has_failed(self) -> bool:
        return not self.is_qualified and self.is_submitted and not self.has_passed


def known_pages(campaign: Campaign) -> list[CampaignDocument]:
    """The pages of the round by name, with their gold."""
    return list(_pages(campaign).select_related("known_gold"))


def annotator_rounds(campaign: Campaign, pages: Sequence[CampaignDocument]) -> list[AnnotatorRound]:
    """Every annotator's results, in the order of `known_pages`; for leads and organisers."""
    members = campaign.memberships.filter(role=Membership.Role.ANNOTATOR).select_related("user")
    reasons = _reasons(campaign)
    tries = _tries(pages)
    return [
        _round(campaign, member, pages, tries, reasons.get(member.user_id, ""))
        for member in members.order_by("id")
    ]


def annotator_round(campaign: Campaign, member: Membership) -> AnnotatorRound:
    pages = list(_pages(campaign))
    return _round(campaign, member, pages, _tries(pages, member.user_id), "")


def own_round(access: CampaignAccess, user: int) -> AnnotatorRound | None:
    """The round of an annotator of the campaign; None for other users."""
    members = access.campaign.memberships.select_related("user")
    member = members.filter(user=user, role=Membership.Role.ANNOTATOR).first()
    return annotator_round(access.campaign, member) if member else None


def _pages(campaign: Campaign) -> QuerySet[CampaignDocument]:
    return qualification_pages(campaign).select_related("document").order_by("document__name", "id")


def _tries(
    pages: Sequence[CampaignDocument], user: int | None = None
) -> dict[tuple[int, int], Assignment]:
    """Assignments with their results, by page and annotator."""
    rows = Assignment.objects.active().filter(campaign_document__in=pages)
    if user is not None:
        rows = rows.filter(annotator=user)
    return {
        (row.campaign_document_id, row.annotator_id): row
        for row in rows.prefetch_related("qualification_results")
    }


def _round(
    campaign: Campaign,
    member: Membership,
    pages: Sequence[CampaignDocument],
    tries: dict[tuple[int, int], Assignment],
    reason: str,
) -> AnnotatorRound:
    return AnnotatorRound(
        member=member,
        name=display_name(member.user),
        threshold=campaign.qualification_f1,
        pages=tuple(
            _page(page.document.name, tries.get((page.pk, member.user_id))) for page in pages
        ),
        reason=reason,
    )


def _page(name: str, assignment: Assignment | None) -> PageRound:
    results = assignment.qualification_results.all() if assignment else ()
    return PageRound(name, assignment, tuple(sorted(results, key=lambda row: row.attempt)))


def _reasons(campaign: Campaign) -> dict[int, str]:
    """The reasons of leads who qualified annotators by decision, by user. The last one counts."""
    events = Event.objects.filter(
        verb="qualify_by_decision",
        subject_type=campaign._meta.label_lower,
        subject_id=str(campaign.pk),
    ).order_by("id")
    reasons: defaultdict[int, str] = defaultdict(str)
    for data in events.values_list("data", flat=True):
        reasons[data["user"]] = data["reason"]
    return dict(reasons)


def _f1(results: Sequence[QualificationResult]) -> float | None:
    return span_f1(
        sum(result.matched for result in results),
        sum(result.marked for result in results),
        sum(result.expected for result in results),
    )
