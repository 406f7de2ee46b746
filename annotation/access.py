"""Who may see and do what in annotation. Every view and endpoint asks here first.

The rule that everything else serves: nobody sees another annotator's labels of a document before
all of its annotators have submitted. Labels, and the comments and history that tell of them, are
read in few places only: the owner's assignment (`own_assignment`, `readable_assignment`), cases and
agreement. To anybody else the latter two, and other people's assignments, are open only for
documents that everybody has submitted, and ask for a role besides.

What is not yours answers 404, as if it did not exist; a role you lack in a campaign of yours
answers 403.
"""

from dataclasses import dataclass
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db.models import Exists, OuterRef, QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404

from annotation.models import Assignment, Campaign, CampaignDocument, Case, Membership
from annotation.models.assignments import AssignmentQuerySet
from portal.accounts.access import is_organiser

# HTML and text are large, and no page needs both.
_CONTENT = "campaign_document__document__content"


@dataclass(frozen=True)
class Standing:
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


def campaign_for(user: Any, slug: str) -> Standing:
    """The campaign and the user's roles in it; 404 for who has none and is no organiser."""
    campaign = get_object_or_404(Campaign.objects.select_related("dataset"), slug=slug)
    roles = frozenset(
        Membership.objects.filter(campaign=campaign, user=user).values_list("role", flat=True)
    )
    organiser = is_organiser(user)
    if not roles and not organiser:
        raise Http404("No such campaign.")
    return Standing(campaign, roles, organiser)


def managed_campaign(user: Any, slug: str) -> Standing:
    """For the campaign's leads and for organisers."""
    standing = campaign_for(user, slug)
    if not standing.may_manage:
        raise PermissionDenied("This is for the campaign's leads and for organisers.")
    return standing


def adjudicated_campaign(user: Any, slug: str) -> Standing:
    """For the campaign's leads only: deciding cases is a role one is given, not a right over the
    site.
    """
    standing = campaign_for(user, slug)
    if not standing.is_lead:
        raise PermissionDenied("Adjudication is for the campaign's leads.")
    return standing


def case_for(user: Any, slug: str, pk: int) -> tuple[Standing, Case]:
    """A case of a campaign the user leads. Only documents all have submitted have cases."""
    standing = adjudicated_campaign(user, slug)
    cases = Case.objects.filter(campaign_document__campaign=standing.campaign)
    case = get_object_or_404(
        cases.select_related("campaign_document__document__content", "decided_by"), pk=pk
    )
    return standing, case


def own_assignments(user: Any) -> AssignmentQuerySet:
    """The user's own work in campaigns whose annotator they still are: all an annotator may ever
    see.
    """
    if not user.is_authenticated:
        return Assignment.objects.none()
    # A person holds a role once, so that the join multiplies nothing.
    return Assignment.objects.of(user).standing().filter(
        campaign_document__campaign__memberships__user=user,
        campaign_document__campaign__memberships__role=Membership.Role.ANNOTATOR,
    )


def own_assignment(user: Any, pk: int) -> Assignment:
    """One of the user's own assignments; anybody else's answers 404."""
    related = own_assignments(user).select_related(
        "campaign_document__campaign", "campaign_document__document"
    )
    return get_object_or_404(related, pk=pk)


def own_text(user: Any, pk: int) -> Assignment:
    """The same with the page's text, which spans are checked against."""
    related = own_assignments(user).select_related(
        "campaign_document__campaign", "campaign_document__document__content"
    )
    return get_object_or_404(related.defer(f"{_CONTENT}__html"), pk=pk)


def readable_assignment(user: Any, pk: int) -> Assignment:
    """For history and comments: the owner, and the leads once everybody has submitted."""
    related = Assignment.objects.select_related(
        "campaign_document__campaign", "campaign_document__document"
    )
    return _readable(user, related.filter(pk=pk).first())


def readable_page(user: Any, pk: int) -> Assignment:
    """The same, with the page's HTML: for the page itself and its image."""
    related = Assignment.objects.select_related(
        "campaign_document__campaign", "campaign_document__document__content"
    )
    return _readable(user, related.defer(f"{_CONTENT}__text").filter(pk=pk).first())


def _readable(user: Any, assignment: Assignment | None) -> Assignment:
    """One answer for what is not there and what may not be read, so that they look alike."""
    if assignment is None or assignment.state == Assignment.State.WITHDRAWN:
        raise Http404("No such assignment.")
    if own_assignments(user).filter(pk=assignment.pk).exists():
        return assignment
    document = assignment.campaign_document
    settled = document.stage in CampaignDocument.SETTLED
    leads = Membership.objects.filter(
        campaign=document.campaign_id,
        user=user,
        role=Membership.Role.LEAD,
    )
    if settled and leads.exists():
        return assignment
    raise Http404("No such assignment.")
