"""What campaigns hold about a person, for their export and for the deletion of their account.

Labels that were submitted stay, without a name: gold rests on them, and so does agreement.
"""

from collections.abc import Iterator
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from annotation.access import own_assignments
from annotation.assignments.teams import UNFINISHED
from annotation.campaigns.people import remove_member
from annotation.models import (
    Assignment,
    CampaignImport,
    Comment,
    Decision,
    GuidelinesVersion,
    Membership,
    Reminder,
    ReviewItem,
    Revision,
    Screening,
)
from portal.accounts.account_data import Fate, Table, Upload, counted
from portal.accounts.models import User, display_name
from portal.audit.models import record_event

from .errors import Refused

Row = dict[str, Any]
_AT_ONCE = 100
_PAGE = "campaign_document__document__name"
_CAMPAIGN = "campaign_document__campaign__slug"


class CampaignData:
    def tables(self, user: User) -> Iterator[Table]:
        yield Table("campaigns", "Your roles in campaigns.", _memberships(user))
        yield Table(
            "annotations",
            "Documents you were given, with your labels as far as the documents are open to you.",
            _assignments(user),
        )
        yield Table("saves", "When you saved your work.", _revisions(user))
        yield Table("comments", "What you wrote about documents.", _comments(user))
        yield Table(
            "quality_work", "What you screened, adjudicated and reviewed.", _quality_work(user)
        )
        yield Table("guidelines", "Versions of guidelines you wrote.", _guidelines(user))
        yield Table("reminders", "Reminders you were sent.", _reminders(user))

    def uploads(self, user: User) -> Iterator[Upload]:
        yield from ()

    def fate(self, user: User) -> Fate:
        memberships = Membership.objects.filter(user=user)
        mine = Assignment.objects.of(user)
        submitted, open_ = mine.submitted().count(), mine.filter(state__in=UNFINISHED).count()
        goes, stays = [], []
        if campaigns := memberships.values("campaign").distinct().count():
            goes.append(f"Your roles in {counted(campaigns, 'campaign')}.")
        if open_:
            goes.append(
                f"Your unfinished work on {counted(open_, 'document')}: other annotators begin "
                "anew."
            )
        if submitted:
            stays.append(
                f"Your labels of {counted(submitted, 'document')}, as those of a former member: "
                "gold rests on them."
            )
        if _has_decided(user):
            stays.append(
                "What you screened, decided and reviewed, with its reasons, and your comments, "
                "without your name."
            )
        return Fate(goes=goes, stays=stays)

    def let_go(self, user: User) -> None:
        memberships = Membership.objects.filter(user=user).select_related("campaign", "user")
        # Pages are locked before their campaign, campaigns one after the other in one order.
        for membership in sorted(memberships, key=_in_locking_order):
            _give_up(membership, user)
        _forget_address(user)

    def erase(self, user: User) -> None:
        """Nothing takes long."""


def _in_locking_order(membership: Membership) -> tuple[int, bool]:
    return membership.campaign_id, membership.role != Membership.Role.ANNOTATOR


def _give_up(membership: Membership, user: User) -> None:
    """Work goes to others; where nobody could take it over it waits for a lead to hand it over."""
    try:
        with transaction.atomic():
            remove_member(membership=membership, actor=user, begun=True)
    except Refused:
        record_event(
            verb="remove_member", subject=membership.campaign, actor=user, user=user.pk,
            role=membership.role, handed_over=0,
        )  # fmt: skip
        membership.delete()


def _forget_address(user: User) -> None:
    """A report on a file with this person's work names them, and the address."""
    named = f"{display_name(user)} ({user.email})"
    for done in CampaignImport.objects.filter(annotator=user):
        done.faults = [str(fault).replace(named, "a former member") for fault in done.faults]
        done.save(update_fields=["faults"])


def _has_decided(user: User) -> bool:
    return (
        Screening.objects.filter(screened_by=user).exists()
        or Decision.objects.filter(decided_by=user).exists()
        or ReviewItem.objects.filter(reviewer=user).exists()
        or Comment.objects.filter(author=user).exists()
    )


def _memberships(user: User) -> Iterator[Row]:
    rows = Membership.objects.filter(user=user).select_related("campaign").order_by("pk")
    for row in rows:
        yield {
            "campaign": row.campaign.slug,
            "role": row.role,
            "qualified": row.qualified_at,
            "guidelines_seen": row.seen_guidelines,
        }


def _assignments(user: User) -> Iterator[Row]:
    """Whoever may not open a page any more gets no labels of it: its text may be hidden gold."""
    # Two queries, so that the large one reads in pieces.
    legible = set(own_assignments(user).values_list("pk", flat=True))
    rows: QuerySet[Assignment] = (
        Assignment.objects.of(user)
        .select_related("campaign_document__campaign", "campaign_document__document")
        .prefetch_related("spans")
        .order_by("pk")
    )
    for row in rows.iterator(_AT_ONCE):
        yield {
            "campaign": row.campaign_document.campaign.slug,
            "document": row.campaign_document.document.name,
            "state": row.state,
            "given": row.created_at,
            "submitted": row.submitted_at,
            "seconds": row.active_seconds,
            "flag": row.flag,
            "flag_reason": row.flag_reason,
            "labels": [
                {"label": span.label, "start": span.start, "end": span.end, "text": span.quote,
                 "value": span.value, "sign": span.sign}
                for span in row.spans.all()
            ]
            if row.pk in legible
            else None,
        }  # fmt: skip


def _revisions(user: User) -> Iterator[Row]:
    rows = Revision.objects.filter(author=user).order_by("pk")
    for assignment, number, note, at in rows.values_list(
        "assignment", "number", "note", "saved_at"
    ).iterator():
        yield {"assignment": assignment, "save": number, "note": note, "at": at}


def _comments(user: User) -> Iterator[Row]:
    rows = Comment.objects.filter(author=user).order_by("pk")
    for page, text, at in rows.values_list(f"assignment__{_PAGE}", "text", "created_at").iterator():
        yield {"document": page, "text": text, "at": at}


def _quality_work(user: User) -> Iterator[Row]:
    """Verdicts with their reasons; not the labels they were about, which are others' as well."""
    screened = Screening.objects.filter(screened_by=user).values_list(
        _CAMPAIGN, _PAGE, "verdict", "reason", "screened_at"
    )
    decided = Decision.objects.filter(decided_by=user).values_list(
        f"case__{_CAMPAIGN}", f"case__{_PAGE}", "choice", "reason", "decided_at"
    )
    reviewed = ReviewItem.objects.filter(reviewer=user).values_list(
        _CAMPAIGN, _PAGE, "verdict", "reason", "decided_at"
    )
    kinds: list[tuple[str, QuerySet[Any, Any]]] = [
        ("screening", screened), ("adjudication", decided), ("review", reviewed)
    ]  # fmt: skip
    for kind, rows in kinds:
        for campaign, page, verdict, reason, at in rows.order_by("pk").iterator():
            yield {
                "kind": kind,
                "campaign": campaign,
                "document": page,
                "verdict": verdict,
                "reason": reason,
                "at": at,
            }


def _guidelines(user: User) -> Iterator[Row]:
    rows = GuidelinesVersion.objects.filter(author=user).select_related("campaign").order_by("pk")
    for row in rows.iterator():
        yield {
            "campaign": row.campaign.slug,
            "version": row.number,
            "text": row.text,
            "note": row.note,
            "at": row.created_at,
        }


def _reminders(user: User) -> Iterator[Row]:
    rows = Reminder.objects.filter(user=user).select_related("campaign").order_by("pk")
    for row in rows.iterator():
        yield {"campaign": row.campaign.slug, "tasks": row.waiting, "at": row.sent_at}
