"""The qualification round: how far one annotator has come, and everybody."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet

from annotation.access import Standing
from annotation.gold_comparison import (
    span_f1,
)
from annotation.models import (
    Assignment,
    Campaign,
    CampaignDocument,
    Membership,
    QualificationResult,
)
from portal.accounts.models import display_name
from portal.audit.models import Event

from .known_gold import qualification_pages


@dataclass(frozen=True)
class PageRound:
    """One annotator's tries at one page; `assignment` is None before it was given to them."""

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
        """Span F1 of the latest try, 0 to 1; 1 where there was nothing to mark and nothing was."""
        if self.latest is None:
            return None
        return 1.0 if not self.has_errors else _f1([self.latest])

    @property
    def has_errors(self) -> bool:
        latest = self.latest
        return latest is not None and not latest.matched == latest.marked == latest.expected


@dataclass(frozen=True)
class AnnotatorRound:
    """How far an annotator has come. `reason` is why a lead qualified them by decision, if so."""

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
        """Whether there is a round and every page of it is submitted."""
        return bool(self.pages) and self.submitted == len(self.pages)

    @property
    def f1(self) -> float | None:
        """Pooled over the latest tries at all pages, 0 to 1; None until all are submitted."""
        latest = [page.latest for page in self.pages if page.latest]
        return _f1(latest) if self.is_submitted else None

    @property
    def facts(self) -> int:
        """Known facts that the pooled F1 stands on."""
        return sum(page.latest.expected for page in self.pages if page.latest)

    @property
    def matched(self) -> int:
        return sum(page.latest.matched for page in self.pages if page.latest)

    @property
    def marked(self) -> int:
        return sum(page.latest.marked for page in self.pages if page.latest)

    @property
    def next(self) -> Assignment | None:
        """The page to go on with."""
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


@dataclass(frozen=True)
class RoundPage:
    """A qualification page as leads see it: its name, where its gold is from, how many facts."""

    name: str
    source: str
    facts: int


@dataclass(frozen=True)
class Qualification:
    """The round of a campaign: its pages, and every annotator's results in the same order."""

    threshold: float
    pages: tuple[RoundPage, ...]
    annotators: tuple[AnnotatorRound, ...]


def campaign_qualification(campaign: Campaign) -> Qualification:
    """For leads and organisers: results of everybody, and no fact."""
    pages = list(_pages(campaign).select_related("known_gold"))
    members = campaign.memberships.filter(role=Membership.Role.ANNOTATOR).select_related("user")
    reasons = _reasons(campaign)
    tries = _tries(pages)
    return Qualification(
        threshold=campaign.qualification_f1,
        pages=tuple(
            RoundPage(page.document.name, page.known_gold.source, len(page.known_gold.spans))
            for page in pages
        ),
        annotators=tuple(
            _round(campaign, member, pages, tries, reasons.get(member.user_id, ""))
            for member in members.order_by("id")
        ),
    )


def annotator_round(campaign: Campaign, member: Membership) -> AnnotatorRound:
    """One annotator's round."""
    pages = list(_pages(campaign))
    return _round(campaign, member, pages, _tries(pages, member.user_id), "")


def own_round(standing: Standing, user: int) -> AnnotatorRound | None:
    """The round of somebody who annotates in the campaign; None for others."""
    members = standing.campaign.memberships.select_related("user")
    member = members.filter(user=user, role=Membership.Role.ANNOTATOR).first()
    return annotator_round(standing.campaign, member) if member else None


def _pages(campaign: Campaign) -> QuerySet[CampaignDocument]:
    return qualification_pages(campaign).select_related("document").order_by("document__name", "id")


def _tries(
    pages: Sequence[CampaignDocument], user: int | None = None
) -> dict[tuple[int, int], Assignment]:
    """Assignments with their results by page and annotator."""
    rows = Assignment.objects.standing().filter(campaign_document__in=pages)
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
    """Why leads qualified somebody by decision, by user; the last decision counts."""
    events = Event.objects.filter(
        verb="qualify_by_decision",
        subject_type=campaign._meta.label_lower,
        subject_id=str(campaign.pk),
    ).order_by("id")
    found: defaultdict[int, str] = defaultdict(str)
    for data in events.values_list("data", flat=True):
        found[data["user"]] = data["reason"]
    return dict(found)


def _f1(results: Sequence[QualificationResult]) -> float | None:
    return span_f1(
        sum(result.matched for result in results),
        sum(result.marked for result in results),
        sum(result.expected for result in results),
    )
