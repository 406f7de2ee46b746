"""Who may see and do what in annotation. Every view and endpoint asks here first.

The rule that everything else serves: no one sees another annotator's labels of a document before
all of its annotators have submitted. Labels, and the comments and history that tell of them, are
read in few places only: the owner's assignment (`own_assignment`, `readable_assignment`), cases and
agreement. To anyone else the latter two, and other people's assignments, are open only for
documents that everyone has submitted, and ask for a role besides.

Rounds of the domain review are for a campaign's reviewers and leads, verdicts for its reviewers
alone. What a review shows is gold: it never leads to the work of an annotator.

What is not yours answers 404, as if it did not exist; a role you lack in a campaign of yours
answers 403.
"""

from dataclasses import dataclass
from typing import Any, cast

from django.core.exceptions import PermissionDenied
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404
from django.urls import reverse

from annotation.models.assignments import AssignmentQuerySet
from portal.accounts.access import is_organiser
from portal.datasets.access import Workplace
from portal.datasets.models import Dataset, Document
from portal.web.prepared import Parameter, Prepared

from .models import (
    Assignment,
    Campaign,
    CampaignDocument,
    Case,
    Membership,
    ReviewItem,
    ReviewRound,
)

# HTML and text are large, and no page needs both.
_CONTENT = "campaign_document__document__content"


class QualificationFirst(PermissionDenied):
    """The work is one's own, but the campaign's qualification round comes before it."""

    code = "qualification_first"
    title = "First the qualification"
    action_label = "Go to the qualification"

    def __init__(self, campaign: Campaign) -> None:
        super().__init__(
            f"{campaign.title} opens its pages to you once you have passed a short round of pages "
            "whose answers are known."
        )
        self.action_url = reverse("annotation:qualification", args=[campaign.slug])


class GivenAway(PermissionDenied):
    """The work was one's own and is somebody else's now; what was done is kept, but closed."""

    code = "reassigned"
    title = "Given to somebody else"
    action_label = "My tasks"

    def __init__(self) -> None:
        super().__init__("A lead gave this page to another annotator. You need not finish it.")
        self.action_url = reverse("annotation:tasks")


@dataclass(frozen=True)
class CampaignAccess:
    """A person's roles in a campaign."""

    campaign: Campaign
    roles: frozenset[str]
    is_organiser: bool

    @property
    def is_annotator(self) -> bool:
        return Membership.Role.ANNOTATOR in self.roles

    @property
    def is_lead(self) -> bool:
        return Membership.Role.LEAD in self.roles

    @property
    def is_reviewer(self) -> bool:
        return Membership.Role.REVIEWER in self.roles

    @property
    def may_manage(self) -> bool:
        """Open and close, assign, people, guidelines, agreement, releases."""
        return self.is_lead or self.is_organiser

    def may_give(self, role: str) -> bool:
        """Leads choose annotators and reviewers; who leads is the organisers' choice."""
        return self.is_organiser or (self.is_lead and role != Membership.Role.LEAD)


def visible_campaigns(user: Any) -> QuerySet[Campaign]:
    """All for organisers; for others those in which they hold a role."""
    if is_organiser(user):
        return Campaign.objects.all()
    mine = Membership.objects.filter(campaign=OuterRef("pk"), user=user)
    return Campaign.objects.filter(Exists(mine))


def campaign_for(user: Any, slug: str) -> CampaignAccess:
    """The campaign and the user's roles in it; 404 for who has none and is no organiser."""
    campaign = get_object_or_404(Campaign.objects.select_related("dataset"), slug=slug)
    roles = frozenset(
        Membership.objects.filter(campaign=campaign, user=user).values_list("role", flat=True)
    )
    organiser = is_organiser(user)
    if not roles and not organiser:
        raise Http404("No such campaign.")
    return CampaignAccess(campaign, roles, organiser)


def managed_campaign(user: Any, slug: str) -> CampaignAccess:
    """For the campaign's leads and for organisers."""
    access = campaign_for(user, slug)
    if not access.may_manage:
        raise PermissionDenied("This is for the campaign's leads and for organisers.")
    return access


def adjudicated_campaign(user: Any, slug: str) -> CampaignAccess:
    """For the campaign's leads only: deciding cases is a role one is given, not a right over the
    site.
    """
    access = campaign_for(user, slug)
    if not access.is_lead:
        raise PermissionDenied("Adjudication is for the campaign's leads.")
    return access


def qualified_campaign(user: Any, slug: str) -> CampaignAccess:
    """For those who take part in the qualification round, and those who hold it."""
    access = campaign_for(user, slug)
    if not access.is_annotator and not access.may_manage:
        raise PermissionDenied("The qualification is for the campaign's annotators and leads.")
    return access


def led_campaign(user: Any, slug: str) -> CampaignAccess:
    """For the campaign's leads only: how well each annotator works is told to nobody else."""
    access = campaign_for(user, slug)
    if not access.is_lead:
        raise PermissionDenied("The quality of each annotator is for the campaign's leads.")
    return access


def case_for(user: Any, slug: str, pk: int) -> tuple[CampaignAccess, Case]:
    """A case of a campaign the user leads. Only documents all have submitted have cases."""
    access = adjudicated_campaign(user, slug)
    cases = Case.objects.filter(campaign_document__campaign=access.campaign)
    case = get_object_or_404(
        cases.select_related("campaign_document__document__content", "decided_by"), pk=pk
    )
    return access, case


def adjudicated_page(user: Any, slug: str, name: str) -> tuple[CampaignAccess, CampaignDocument]:
    """A page that everybody has submitted and that was compared, of a campaign the user leads."""
    access = adjudicated_campaign(user, slug)
    compared = CampaignDocument.objects.settled().exclude(stage=CampaignDocument.Stage.VALIDATION)
    pages = compared.filter(campaign=access.campaign)
    page = get_object_or_404(pages.select_related("campaign", "document"), document__name=name)
    return access, page


def own_assignments(user: Any) -> AssignmentQuerySet:
    """The user's own work, as lists and queues have it.

    While a qualification round is to be passed in a campaign these are its pages and nothing else;
    afterwards they are no work any more.
    """
    qualifying = Q(campaign_document__purpose=CampaignDocument.Purpose.QUALIFICATION)
    unqualified = Q(campaign_document__campaign__in=unqualified_campaigns(user))
    return _own(user).filter(qualifying & unqualified | ~qualifying & ~unqualified)


def _own(user: Any) -> AssignmentQuerySet:
    """The user's own work in campaigns whose annotator they still are: all an annotator may ever
    see.
    """
    if not user.is_authenticated:
        return Assignment.objects.none()
    # A person holds a role once, so that the join multiplies nothing.
    return (
        Assignment.objects.of(user)
        .active()
        .filter(
            campaign_document__campaign__memberships__user=user,
            campaign_document__campaign__memberships__role=Membership.Role.ANNOTATOR,
        )
    )


def _waits_for_qualification(user: Any) -> Q:
    """The condition that work is closed to its annotator until they have qualified.

    What they had submitted before there was a qualification round stays open to them.
    """
    qualification = CampaignDocument.Purpose.QUALIFICATION
    return (
        Q(campaign_document__campaign__in=unqualified_campaigns(user))
        & ~Q(campaign_document__purpose=qualification)
        & ~Q(state=Assignment.State.SUBMITTED)
    )


def unqualified_campaigns(user: Any) -> QuerySet[Membership, Any]:
    """Campaigns with a qualification round that the user annotates for and has not passed."""
    if not user.is_authenticated:
        return Membership.objects.none().values("campaign")
    rounds = CampaignDocument.objects.filter(
        campaign=OuterRef("campaign"), purpose=CampaignDocument.Purpose.QUALIFICATION
    )
    return Membership.objects.filter(
        Exists(rounds), user=user, role=Membership.Role.ANNOTATOR, qualified_at__isnull=True
    ).values("campaign")


class _AnyUser(Parameter):
    """Whoever is logged in, in queries that are compiled once: give `user` their primary key."""

    is_authenticated = True


ANY_USER = _AnyUser("user")


def _own_one() -> AssignmentQuerySet:
    one = _own(ANY_USER).filter(pk=Parameter("pk"))
    related = one.select_related("campaign_document__campaign", "campaign_document__document")
    waiting: AssignmentQuerySet = related.annotate(waits=_waits_for_qualification(ANY_USER))
    return waiting


# Every request of the workbench begins with one of these.
_OWN: Prepared[Assignment] = Prepared(_own_one)
_OWN_TEXT: Prepared[Assignment] = Prepared(
    lambda: _own_one().select_related(_CONTENT).defer(f"{_CONTENT}__html")
)
_OWN_HTML: Prepared[Assignment] = Prepared(
    lambda: _own_one().select_related(_CONTENT).defer(f"{_CONTENT}__text")
)


def _own_or_404(user: Any, query: Prepared[Assignment], pk: int) -> Assignment:
    """One of the user's own; raises QualificationFirst when it has to wait for that, and GivenAway
    when it was theirs.
    """
    assignment: Any = query.first(user=user.pk, pk=pk) if user.is_authenticated else None
    if assignment is None:
        _refuse_given_away(user, pk)
        raise Http404("No such assignment.")
    if assignment.waits:
        raise QualificationFirst(assignment.campaign_document.campaign)
    found: Assignment = assignment
    return found


def _refuse_given_away(user: Any, pk: int) -> None:
    if not user.is_authenticated:
        return
    withdrawn = Assignment.objects.of(user).filter(pk=pk, state=Assignment.State.WITHDRAWN)
    annotates = Membership.objects.filter(
        campaign=OuterRef("campaign_document__campaign"), user=user, role=Membership.Role.ANNOTATOR
    )
    if withdrawn.filter(Exists(annotates)).exists():
        raise GivenAway


def own_assignment(user: Any, pk: int) -> Assignment:
    """One of the user's own assignments; anybody else's answers 404."""
    return _own_or_404(user, _OWN, pk)


def own_text(user: Any, pk: int) -> Assignment:
    """The same with the page's text, which spans are checked against."""
    return _own_or_404(user, _OWN_TEXT, pk)


def readable_assignment(user: Any, pk: int) -> Assignment:
    """For history and comments: the owner, and the leads once everybody has submitted."""
    related = Assignment.objects.select_related(
        "campaign_document__campaign", "campaign_document__document"
    )
    return _readable(user, related.filter(pk=pk).first())


def readable_page(user: Any, pk: int) -> Assignment:
    """The same, with the page's HTML: for the page itself and its image."""
    own: Any = _OWN_HTML.first(user=user.pk, pk=pk) if user.is_authenticated else None
    if own is not None and not own.waits:
        return cast("Assignment", own)
    related = Assignment.objects.select_related(
        "campaign_document__campaign", "campaign_document__document__content"
    )
    return _readable(user, related.defer(f"{_CONTENT}__text").filter(pk=pk).first())


def _readable(user: Any, assignment: Assignment | None) -> Assignment:
    """One answer for what is not there and what may not be read, so that they look alike."""
    if assignment is None or assignment.state == Assignment.State.WITHDRAWN:
        raise Http404("No such assignment.")
    own = _own(user).annotate(waits=_waits_for_qualification(user)).filter(pk=assignment.pk)
    if (waits := own.values_list("waits", flat=True).first()) is not None:
        if waits:
            raise QualificationFirst(assignment.campaign_document.campaign)
        return assignment
    document = assignment.campaign_document
    settled = document.stage in CampaignDocument.SETTLED
    leads = Membership.objects.filter(
        campaign=document.campaign_id, user=user, role=Membership.Role.LEAD
    )
    if settled and leads.exists():
        return assignment
    raise Http404("No such assignment.")


def reviewed_campaign(user: Any, slug: str) -> CampaignAccess:
    access = campaign_for(user, slug)
    if not (access.is_reviewer or access.is_lead):
        raise PermissionDenied("The review is for the campaign's reviewers and leads.")
    return access


def check_may_open(access: CampaignAccess) -> None:
    """A lead may have a review before it is due."""
    if not access.is_lead:
        raise PermissionDenied("Only leads open a review before it is due.")


def check_may_decide(access: CampaignAccess) -> None:
    if not access.is_reviewer:
        raise PermissionDenied("Verdicts are given by the campaign's reviewers.")


def round_for(user: Any, slug: str, number: int) -> tuple[CampaignAccess, ReviewRound]:
    access = reviewed_campaign(user, slug)
    rounds = ReviewRound.objects.filter(campaign=access.campaign).select_related("campaign")
    return access, get_object_or_404(rounds, number=number)


def item_for(user: Any, slug: str, number: int, position: int) -> tuple[CampaignAccess, ReviewItem]:
    """A fact that was drawn, with the content of its page."""
    access = reviewed_campaign(user, slug)
    items = ReviewItem.objects.filter(round__campaign=access.campaign, round__number=number)
    related = items.select_related("round", "reviewer", "campaign_document__document__content")
    return access, get_object_or_404(related, position=position)


class CampaignLeads:
    """What `portal.datasets.access` asks annotation."""

    def may_decide(self, user: Any, dataset: Dataset) -> bool:
        leads = Membership.objects.filter(user=user, role=Membership.Role.LEAD)
        return leads.filter(campaign__dataset=dataset).exists()

    def workplaces(self, user: Any, dataset: Dataset, document: Document | None) -> list[Workplace]:
        """The user's campaigns that have the document: organisers' all, leads' their own."""
        if document is None:
            return []
        pages = CampaignDocument.objects.filter(document=document, campaign__dataset=dataset)
        if not is_organiser(user):
            led = Membership.objects.filter(user=user, role=Membership.Role.LEAD)
            pages = pages.filter(campaign__in=led.values("campaign"))
        campaigns = {page.campaign for page in pages.select_related("campaign")}
        return [
            Workplace(campaign.title, reverse("annotation:campaign", args=[campaign.slug]))
            for campaign in sorted(campaigns, key=lambda campaign: campaign.title)
        ]
