"""Assignments: which annotators get which documents."""

from collections import defaultdict

from django.db import transaction

from annotation.balance import balanced_assignment, replacements
from annotation.models import Assignment, Campaign, CampaignDocument, Membership
from portal.accounts.models import User
from portal.audit.models import record_event
from portal.datasets.models import Document

from .errors import CampaignNotOpen, Refused


@transaction.atomic
def assign_documents(*, campaign: Campaign, actor: User) -> int:
    """Takes in the documents that joined the dataset later; returns how many there were.

    Raises Refused when the campaign is not open, nothing is new or annotators are too few.
    """
    locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
    if locked.state != Campaign.State.OPEN:
        raise CampaignNotOpen
    documents = assign_new_documents(campaign=locked)
    if not documents:
        raise Refused("Every document of the dataset is in the campaign already.", code="nothing")
    record_event(verb="assign_documents", subject=campaign, actor=actor, documents=documents)
    return documents


def assign_new_documents(*, campaign: Campaign) -> int:
    """The part that opening and later additions share; runs in the caller's transaction."""
    known = CampaignDocument.objects.filter(campaign=campaign).values("document")
    new = Document.objects.filter(dataset=campaign.dataset_id).exclude(pk__in=known)
    # In the order of their published names, whatever the order of import was.
    rows = CampaignDocument.objects.bulk_create(
        CampaignDocument(campaign=campaign, document_id=pk)
        for pk in new.order_by("name").values_list("pk", flat=True)
    )
    if rows:
        _assign(campaign, rows)
    return len(rows)


def _assign(campaign: Campaign, rows: list[CampaignDocument]) -> None:
    annotators = active_annotators(campaign)
    if len(annotators) < campaign.overlap:
        raise Refused(
            f"Every document needs {campaign.overlap} annotators, but the campaign has "
            f"{len(annotators)}. Add people first.",
            code="too_few_annotators",
        )
    teams = balanced_assignment(
        [row.pk for row in rows], annotators, campaign.overlap, _teams(campaign)
    )
    Assignment.objects.bulk_create(
        Assignment(campaign_document_id=document, annotator_id=annotator)
        for document, team in teams.items()
        for annotator in team
    )


def _teams(campaign: Campaign) -> dict[int, list[int]]:
    teams: dict[int, list[int]] = defaultdict(list)
    rows = Assignment.objects.filter(campaign_document__campaign=campaign).order_by("id")
    for document, annotator in rows.values_list("campaign_document", "annotator"):
        teams[document].append(annotator)
    return teams


def hand_over_untouched(*, campaign: Campaign, leaving: User) -> int:
    """Gives the documents that `leaving` never began to others; returns how many.

    Runs in the caller's transaction. Raises Refused when nobody is left for one of them, or when
    one is begun while this runs.
    """
    untouched = Assignment.objects.filter(
        campaign_document__campaign=campaign,
        annotator=leaving,
        state=Assignment.State.ASSIGNED,
    ).order_by("id")
    documents = dict(untouched.values_list("campaign_document", "pk"))
    others = [pk for pk in active_annotators(campaign) if pk != leaving.pk]
    try:
        heirs = replacements(_teams(campaign), list(documents), others)
    except ValueError as error:
        raise Refused(
            f"{leaving} has documents to do that no other annotator could take over. "
            "Add an annotator first.",
            code="too_few_annotators",
        ) from error
    for document, heir in heirs.items():
        still_untouched = Assignment.objects.filter(
            pk=documents[document], annotator=leaving, state=Assignment.State.ASSIGNED
        )
        if not still_untouched.update(annotator=heir):
            raise Refused(f"{leaving} has just begun one of the documents.", code="holds_work")
    return len(heirs)


def active_annotators(campaign: Campaign) -> list[int]:
    """Primary keys of those who may get work, in the order in which they joined."""
    return list(
        Membership.objects.filter(
            campaign=campaign, role=Membership.Role.ANNOTATOR, user__is_active=True
        )
        .order_by("id")
        .values_list("user", flat=True)
    )
