"""Data of annotation about a user, for the export and the deletion of their account.

Submitted labels stay without a name, because gold and agreement depend on them.
"""

from collections.abc import Iterator
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from annotation.access import own_assignments
from annotation.assignments.selectors import UNFINISHED
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
            "Documents assigned to you, with your labels where you may still open the document.",
            _assignments(user),
        )
        yield Table("saves", "When you saved your labels.", _revisions(user))
        yield Table("comments", "Your comments on documents.", _comments(user))
        yield Table("quality_work", "Your screening, adjudication and review.", _quality_work(user))
        yield Table("guidelines", "Versions of guidelines you wrote.", _guidelines(user))
        yield Table("reminders", "Reminders sent to you.", _reminders(user))

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
            again = "it" if open_ == 1 else "them"
            goes.append(
                f"Your unfinished work on {counted(open_, 'document')}. Other annotators will "
                f"label {again} from the start."
            )
        if submitted:
            stays.append(
                f"Your labels of {counted(submitted, 'document')}, because gold depends on them."
            )
        if _has_decided(user):
            stays.append("Your screening results, decisions, reviews and comments.")
        return Fate(goes=goes, stays=stays)

    def let_go(self, user: User) -> None:
        memberships = Membership.objects.filter(user=user).select_related("campaign", "user")
        # Lock order: pages before their campaign, campaigns by primary key.
        role = Membership.Role.ANNOTATOR
        for membership in sorted(memberships, key=lambda row: (row.campaign_id, row.role != role)):
            _give_up(membership, user)
        _anonymise_imports(user)

    def erase(self, user: User) -> None:
        """Does nothing: `let_go` removes everything."""


def _give_up(membership: Membership, user: User) -> None:
    """Hands the work over to others. If no one can take it, it stays until a lead hands it over."""
    try:
        with transaction.atomic():
            remove_member(membership=membership, actor=user, begun=True)
    except Refused:
        record_event(
            verb="remove_member", subject=membership.campaign, actor=user, user=user.pk,
            role=membership.role, handed_over=0,
        )  # fmt: skip
        membership.delete()


def _anonymise_imports(user: User) -> None:
    """Removes the user's name and email from the reports of imports."""
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


def _rows(rows: QuerySet[Any], **columns: str) -> Iterator[Row]:
    """The rows by primary key; `columns` maps each name in the export to a field."""
    for values in rows.order_by("pk").values_list(*columns.values()).iterator():
        yield dict(zip(columns, values, strict=True))


def _memberships(user: User) -> Iterator[Row]:
    return _rows(
        Membership.objects.filter(user=user),
        campaign="campaign__slug",
        role="role",
        qualified="qualified_at",
        guidelines_seen="seen_guidelines",
    )


def _assignments(user: User) -> Iterator[Row]:
    """Assignments; without labels where the user may no longer open the page, whose text may be
    hidden gold.
    """
    # Two queries, so that the large one can be read in chunks.
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
    saves = Revision.objects.filter(author=user)
    return _rows(saves, assignment="assignment", save="number", note="note", at="saved_at")


def _comments(user: User) -> Iterator[Row]:
    comments = Comment.objects.filter(author=user)
    return _rows(comments, document=f"assignment__{_PAGE}", text="text", at="created_at")


def _quality_work(user: User) -> Iterator[Row]:
    """Verdicts with their reasons, without the labels: those belong to others as well."""
    decisions = Decision.objects.filter(decided_by=user)
    kinds: list[tuple[str, QuerySet[Any], str, str, str]] = [
        ("screening", Screening.objects.filter(screened_by=user), "", "verdict", "screened_at"),
        ("adjudication", decisions, "case__", "choice", "decided_at"),
        ("review", ReviewItem.objects.filter(reviewer=user), "", "verdict", "decided_at"),
    ]
    for kind, rows, path, verdict, at in kinds:
        for row in _rows(
            rows,
            campaign=f"{path}{_CAMPAIGN}",
            document=f"{path}{_PAGE}",
            verdict=verdict,
            reason="reason",
            at=at,
        ):
            yield {"kind": kind} | row


def _guidelines(user: User) -> Iterator[Row]:
    versions = GuidelinesVersion.objects.filter(author=user)
    return _rows(
        versions,
        campaign="campaign__slug",
        version="number",
        text="text",
        note="note",
        at="created_at",
    )


def _reminders(user: User) -> Iterator[Row]:
    reminders = Reminder.objects.filter(user=user)
    return _rows(reminders, campaign="campaign__slug", tasks="waiting", at="sent_at")
