"""Access control of annotation. Every view and endpoint starts here.

The main rule: no one sees another annotator's labels of a document before all of its annotators
have submitted. Labels, comments and history are read in three places only: an annotator's own
assignment (`own_assignment`, `readable_assignment`), cases, and agreement. Cases, agreement and the
assignments of others require a role, and cover only documents that everyone has submitted.

Review rounds are for a campaign's reviewers and leads, verdicts for its reviewers. A review shows
gold and never the work of an annotator.

Objects of others answer 404, as if they did not exist. A missing role in one's own campaign
answers 403.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from django.core.exceptions import PermissionDenied
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404
from django.urls import reverse

from annotation.models.assignments import AssignmentQuerySet
from portal.accounts.access import is_organiser
from portal.accounts.models import Invitation, User
from portal.datasets.access import Workplace
from portal.datasets.models import Dataset, Document
from portal.web.queries import Parameter, Prepared

from .models import (
    Assignment,
    Campaign,
    CampaignDocument,
    CampaignInvitation,
    Case,
    Decision,
    Membership,
    ReviewItem,
    ReviewRound,
)

# HTML and text are large. No page needs both.
_CONTENT = "campaign_document__document__content"


class QualificationFirst(PermissionDenied):
    """The annotator must pass the campaign's qualification round before this work."""

    code = "qualification_first"
    title = "Qualification needed"
    action_label = "Go to the qualification"

    def __init__(self, campaign: Campaign) -> None:
        super().__init__(
            f"Pass the qualification round of {campaign.title} before you label its documents."
        )
        self.action_url = reverse("annotation:qualification", args=[campaign.slug])


class GivenAway(PermissionDenied):
    """The assignment was withdrawn from the user and given to another annotator."""

    code = "reassigned"
    title = "Document reassigned"
    action_label = "My tasks"

    def __init__(self) -> None:
        super().__init__("A lead reassigned this document to another annotator.")
        self.action_url = reverse("annotation:tasks")


@dataclass(frozen=True)
class CampaignAccess:
    """A user's roles in a campaign."""

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
        """Whether the user may open, close and change the campaign, and freeze releases."""
        return self.is_lead or self.is_organiser

    def may_give(self, role: str) -> bool:
        """Whether the user may grant the role. Only organisers appoint leads."""
        return self.is_organiser or (self.is_lead and role != Membership.Role.LEAD)

    def check_may_give(self, role: str) -> None:
        """Raises PermissionDenied if the user may not grant the role."""
        _require(self.may_give(role), "Only organisers can appoint leads.")


def _require(is_allowed: bool, message: str) -> None:
    if not is_allowed:
        raise PermissionDenied(message)


def visible_campaigns(user: Any) -> QuerySet[Campaign]:
    """All campaigns for organisers; for others, the campaigns in which they have a role."""
    if is_organiser(user):
        return Campaign.objects.all()
    mine = Membership.objects.filter(campaign=OuterRef("pk"), user=user)
    return Campaign.objects.filter(Exists(mine))


def campaign_for(user: Any, slug: str) -> CampaignAccess:
    """The campaign and the user's roles in it; 404 for users without a role, organisers apart."""
    campaign = get_object_or_404(Campaign.objects.select_related("dataset"), slug=slug)
    roles = frozenset(
        Membership.objects.filter(campaign=campaign, user=user).values_list("role", flat=True)
    )
    organiser = is_organiser(user)
    if not roles and not organiser:
        raise Http404("No such campaign.")
    return CampaignAccess(campaign, roles, organiser)


FindCampaign = Callable[[Any, str], CampaignAccess]


def _campaign_of(allows: Callable[[CampaignAccess], bool], refusal: str) -> FindCampaign:
    """A function that returns the CampaignAccess of a user and a slug if it `allows` the user."""

    def campaign_of(user: Any, slug: str) -> CampaignAccess:
        access = campaign_for(user, slug)
        _require(allows(access), refusal)
        return access

    return campaign_of


# Organisers need a role for joined, adjudicated, led and reviewed campaigns, too.
joined_campaign = _campaign_of(
    lambda access: bool(access.roles), "You have no role in this campaign."
)
managed_campaign = _campaign_of(
    lambda access: access.may_manage, "Only leads of this campaign and organisers can do this."
)
adjudicated_campaign = _campaign_of(
    lambda access: access.is_lead, "Only leads of this campaign can adjudicate."
)
# Only leads see the quality of annotators.
led_campaign = _campaign_of(
    lambda access: access.is_lead, "Only leads of this campaign can see the quality of annotators."
)
qualified_campaign = _campaign_of(
    lambda access: access.is_annotator or access.may_manage,
    "Only annotators and leads of this campaign can see this.",
)
reviewed_campaign = _campaign_of(
    lambda access: access.is_reviewer or access.is_lead,
    "Only reviewers and leads of this campaign can see the review.",
)
review_to_open = _campaign_of(
    lambda access: access.is_lead, "Only leads of this campaign can open a review before it is due."
)


def membership_for(user: Any, slug: str, pk: int) -> tuple[CampaignAccess, Membership]:
    """A membership with a role that the user may grant."""
    access = managed_campaign(user, slug)
    memberships = Membership.objects.filter(campaign=access.campaign)
    membership = get_object_or_404(memberships.select_related("campaign", "user"), pk=pk)
    access.check_may_give(membership.role)
    return access, membership


def member_for(user: Any, slug: str, pk: int) -> tuple[CampaignAccess, User]:
    """A member (a user's primary key) of a campaign that the user manages."""
    access = managed_campaign(user, slug)
    members = User.objects.filter(memberships__campaign=access.campaign).distinct()
    return access, get_object_or_404(members, pk=pk)


def invitation_for(user: Any, slug: str, pk: int) -> tuple[CampaignAccess, Invitation]:
    """An invitation with a role that the user may grant."""
    access = managed_campaign(user, slug)
    rows = CampaignInvitation.objects.filter(campaign=access.campaign)
    # By the invitation's own column: it takes a number that is too large for the database.
    row = get_object_or_404(rows.select_related("invitation"), invitation__id=pk)
    access.check_may_give(row.role)
    return access, row.invitation


def managed_assignment(user: Any, slug: str, pk: int) -> Assignment:
    """An assignment in a campaign that the user manages."""
    access = managed_campaign(user, slug)
    assignments = Assignment.objects.select_related("campaign_document__document", "annotator")
    return get_object_or_404(assignments, pk=pk, campaign_document__campaign=access.campaign)


def annotator_member(user: Any, slug: str, pk: int) -> tuple[Campaign, User]:
    """The annotator with this membership, of a campaign that the user manages."""
    campaign = managed_campaign(user, slug).campaign
    members = campaign.memberships.filter(role=Membership.Role.ANNOTATOR)
    return campaign, get_object_or_404(members.select_related("user"), pk=pk).user


def case_for(user: Any, slug: str, pk: int) -> tuple[CampaignAccess, Case]:
    """A case of a campaign that the user leads. Only settled documents have cases."""
    access = adjudicated_campaign(user, slug)
    cases = Case.objects.filter(campaign_document__campaign=access.campaign)
    case = get_object_or_404(
        cases.select_related("campaign_document__document__content", "decided_by"), pk=pk
    )
    return access, case


def adjudicated_page(user: Any, slug: str, name: str) -> tuple[CampaignAccess, CampaignDocument]:
    """A settled page, past validation, of a campaign that the user leads."""
    access = adjudicated_campaign(user, slug)
    compared = CampaignDocument.objects.settled().exclude(stage=CampaignDocument.Stage.VALIDATION)
    pages = compared.filter(campaign=access.campaign)
    page = get_object_or_404(pages.select_related("campaign", "document"), document__name=name)
    return access, page


def round_for(user: Any, slug: str, number: int) -> tuple[CampaignAccess, ReviewRound]:
    access = reviewed_campaign(user, slug)
    rounds = ReviewRound.objects.filter(campaign=access.campaign).select_related("campaign")
    return access, get_object_or_404(rounds, number=number)


def item_for(user: Any, slug: str, number: int, position: int) -> tuple[CampaignAccess, ReviewItem]:
    """A drawn fact, with the content of its page."""
    access = reviewed_campaign(user, slug)
    items = ReviewItem.objects.filter(round__campaign=access.campaign, round__number=number)
    related = items.select_related("round", "reviewer", "campaign_document__document__content")
    return access, get_object_or_404(related, position=position)


def item_to_decide(
    user: Any, slug: str, number: int, position: int
) -> tuple[CampaignAccess, ReviewItem]:
    access, item = item_for(user, slug, number, position)
    _require(access.is_reviewer, "Only reviewers of this campaign can give verdicts.")
    return access, item


def own_assignments(user: Any) -> AssignmentQuerySet:
    """The user's own assignments for lists and queues.

    In a campaign with a qualification round these are only its qualification pages until the user
    has passed, and only the other pages afterwards.
    """
    qualifying = Q(campaign_document__purpose=CampaignDocument.Purpose.QUALIFICATION)
    unqualified = Q(campaign_document__campaign__in=unqualified_campaigns(user))
    return _own(user).filter(qualifying & unqualified | ~qualifying & ~unqualified)


def _own(user: Any) -> AssignmentQuerySet:
    """The user's own assignments, in campaigns of which they are still an annotator."""
    if not user.is_authenticated:
        return Assignment.objects.none()
    # A user has each role at most once, so the join returns no row twice.
    return (
        Assignment.objects.of(user)
        .active()
        .filter(
            campaign_document__campaign__memberships__user=user,
            campaign_document__campaign__memberships__role=Membership.Role.ANNOTATOR,
        )
    )


def _waits_for_qualification(user: Any) -> Q:
    """Assignments that an annotator cannot open before qualifying.

    Submitted assignments stay open: they may be older than the qualification round.
    """
    qualification = CampaignDocument.Purpose.QUALIFICATION
    return (
        Q(campaign_document__campaign__in=unqualified_campaigns(user))
        & ~Q(campaign_document__purpose=qualification)
        & ~Q(state=Assignment.State.SUBMITTED)
    )


def unqualified_campaigns(user: Any) -> QuerySet[Membership, Any]:
    """Campaigns whose qualification round the user, an annotator, has not passed."""
    if not user.is_authenticated:
        return Membership.objects.none().values("campaign")
    rounds = CampaignDocument.objects.filter(
        campaign=OuterRef("campaign"), purpose=CampaignDocument.Purpose.QUALIFICATION
    )
    return Membership.objects.filter(
        Exists(rounds), user=user, role=Membership.Role.ANNOTATOR, qualified_at__isnull=True
    ).values("campaign")


class _AnyUser(Parameter):
    """The logged-in user in prepared queries. Pass their primary key as `user`."""

    is_authenticated = True


ANY_USER = _AnyUser("user")


def _own_one() -> AssignmentQuerySet:
    one = _own(ANY_USER).filter(pk=Parameter("pk"))
    related = one.select_related("campaign_document__campaign", "campaign_document__document")
    waiting: AssignmentQuerySet = related.annotate(waits=_waits_for_qualification(ANY_USER))
    return waiting


# Every request of the workbench starts with one of these.
_OWN: Prepared[Assignment] = Prepared(_own_one)
_OWN_TEXT: Prepared[Assignment] = Prepared(
    lambda: _own_one().select_related(_CONTENT).defer(f"{_CONTENT}__html")
)
_OWN_HTML: Prepared[Assignment] = Prepared(
    lambda: _own_one().select_related(_CONTENT).defer(f"{_CONTENT}__text")
)


def _own_or_404(user: Any, query: Prepared[Assignment], pk: int) -> Assignment:
    """An assignment of the user. Raises QualificationFirst before qualification, GivenAway if it
    was withdrawn from them, Http404 otherwise.
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
    """One of the user's own assignments; others answer 404."""
    return _own_or_404(user, _OWN, pk)


def own_text(user: Any, pk: int) -> Assignment:
    """Like `own_assignment`, with the page's text."""
    return _own_or_404(user, _OWN_TEXT, pk)


def readable_assignment(user: Any, pk: int) -> Assignment:
    """For history and comments: open to the annotator, and to leads once all have submitted."""
    related = Assignment.objects.select_related(
        "campaign_document__campaign", "campaign_document__document"
    )
    return _readable(user, related.filter(pk=pk).first())


def readable_page(user: Any, pk: int) -> Assignment:
    """Like `readable_assignment`, with the page's HTML."""
    own: Any = _OWN_HTML.first(user=user.pk, pk=pk) if user.is_authenticated else None
    if own is not None and not own.waits:
        return cast("Assignment", own)
    related = Assignment.objects.select_related(
        "campaign_document__campaign", "campaign_document__document__content"
    )
    return _readable(user, related.defer(f"{_CONTENT}__text").filter(pk=pk).first())


def _readable(user: Any, assignment: Assignment | None) -> Assignment:
    """The assignment if the user may read it. Missing and forbidden ones both answer 404."""
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


def worked_on(user: Any, documents: QuerySet[CampaignDocument]) -> bool:
    """Whether the user annotated one of the documents, or adjudicated one of their cases."""
    decided = Decision.objects.filter(case__campaign_document__in=documents, decided_by=user)
    return (
        Assignment.objects.filter(campaign_document__in=documents, annotator=user).exists()
        or Case.objects.filter(campaign_document__in=documents, decided_by=user).exists()
        # Returning a page reopens its case, which is an act of the review.
        or decided.exclude(choice=Decision.Choice.REOPENED).exists()
    )


class CampaignLeads:
    """Annotation's answers for `portal.datasets.access.register_deciders`."""

    def may_decide(self, user: Any, dataset: Dataset) -> bool:
        leads = Membership.objects.filter(user=user, role=Membership.Role.LEAD)
        return leads.filter(campaign__dataset=dataset).exists()

    def worked_on(self, user: Any, document: Document) -> bool:
        """Whether the user annotated or adjudicated the document in any campaign."""
        return worked_on(user, CampaignDocument.objects.filter(document=document))

    def workplaces(self, user: Any, dataset: Dataset, document: Document | None) -> list[Workplace]:
        """The campaigns with the document: all for organisers, their own for leads."""
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
