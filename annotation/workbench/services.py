"""An annotator's changes to their own work: saving, submitting, comments and flags.

A save is validated and idempotent, and never overwrites another save. Submitted labels cannot be
changed until the submission is withdrawn or returned.
"""

import hashlib
import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NoReturn

from django.db import IntegrityError, transaction
from django.db.models import F, IntegerField
from django.utils import timezone

from annotation.adjudication.settling import settle_document
from annotation.errors import (
    AlreadySubmitted,
    CampaignNotOpen,
    Conflict,
    InvalidSpans,
    NothingLabelled,
    PageExcluded,
    Reassigned,
)
from annotation.models import (
    Assignment,
    Campaign,
    CampaignDocument,
    Comment,
    FirstSubmission,
    Revision,
    Span,
)
from annotation.qualification.services import grade_qualification
from annotation.spans import KEY, PLACED, Draft, check_drafts, read_spans
from portal.accounts.models import User
from portal.audit.models import record_event
from portal.web.queries import Parameter, Prepared, PreparedDelete, PreparedUpdate, insert_rows

from .offers import Mark, keep_outcomes
from .selectors import current_spans, spans_at, stored_spans

KEY_RULE = "must have 1 to 36 characters: letters or digits, “-” or “_”"
# A larger number comes from a wrong clock.
MAX_ACTIVE_SECONDS = 86_400

_OPEN = Prepared(
    lambda: CampaignDocument.objects.filter(
        pk=Parameter("page"),
        stage=CampaignDocument.Stage.ANNOTATION,
        campaign__state=Campaign.State.OPEN,
    ).values_list("pk")
)
_NEXT_REVISION = PreparedUpdate(
    lambda: Assignment.objects.filter(
        pk=Parameter("assignment"), annotator=Parameter("author"), revision=Parameter("revision")
    ).filter(state__in=[Assignment.State.ASSIGNED, Assignment.State.IN_PROGRESS]),
    revision=F("revision") + 1,
    state=Assignment.State.IN_PROGRESS,
    active_seconds=F("active_seconds") + Parameter("seconds", IntegerField()),
)
_REMOVE = PreparedDelete(
    lambda: Span.objects.filter(assignment=Parameter("assignment"), key=Parameter("key"))
)
_COLUMNS = ("assignment_id", *Draft._fields)


@dataclass(frozen=True)
class Saved:
    """An accepted save: its revision and time, the assignment's state, and the added spans."""

    revision: int
    saved_at: datetime
    state: str
    added: Sequence[dict[str, Any]]


def save_spans(
    *,
    assignment: Assignment,
    base_revision: int,
    save_key: str,
    spans: object,
    author: User,
    text_sha256: str = "",
    active_seconds: int = 0,
    note: str = "",
    digest: str = "",
) -> Saved:
    """Replaces the assignment's spans by `spans` (decoded JSON) and creates one revision.

    A repeated `save_key` returns the first result and changes nothing. The revision logs the save,
    so no event is recorded. `active_seconds` (of work since the last save) are added once.
    `digest` distinguishes saves with the same key; by default it is computed from the spans.
    Saves nothing and raises InvalidSpans, Conflict if `base_revision` is not the current one,
    AlreadySubmitted or CampaignNotOpen.
    """
    drafts = _checked(assignment, spans, save_key, text_sha256, active_seconds)
    digest = digest or _digest(drafts)
    try:
        with transaction.atomic():
            if _owns_next_revision(assignment, base_revision, author, active_seconds):
                added, removed = _write(assignment, drafts)
                revision = Revision.objects.create(
                    assignment=assignment,
                    number=base_revision + 1,
                    author=author,
                    save_key=save_key,
                    digest=digest,
                    added=added,
                    removed=removed,
                    active_seconds=active_seconds,
                    note=note,
                )
                state = str(Assignment.State.IN_PROGRESS)
                return Saved(revision.number, revision.saved_at, state, added)
    except IntegrityError:
        # The key was used before. The transaction is rolled back; the first result is returned.
        if not Revision.objects.filter(assignment=assignment.pk, save_key=save_key).exists():
            raise
    return _replayed(assignment, save_key, digest) or refuse_change(assignment, author)


def _owns_next_revision(
    assignment: Assignment, base_revision: int, author: User, active_seconds: int
) -> bool:
    """Claims the next revision by a conditional update of one row, which only one save can do.

    The conditions use columns of the row, because PostgreSQL checks those again after waiting for
    another save, but not a subquery.
    """
    if not _OPEN.rows(page=assignment.campaign_document_id):
        return False
    changed = _NEXT_REVISION.run(
        assignment=assignment.pk, author=author.pk, revision=base_revision, seconds=active_seconds
    )
    return changed == 1


def _checked(
    assignment: Assignment, spans: object, save_key: str, text_sha256: str, active_seconds: int
) -> list[Draft]:
    document = assignment.campaign_document.document
    if not KEY.fullmatch(save_key):
        raise InvalidSpans([_save_fault("save_key", KEY_RULE)])
    if text_sha256 and text_sha256 != document.text_sha256:
        raise InvalidSpans([_save_fault("text_sha256", "does not match the document's text")])
    check_active_seconds(active_seconds)
    drafts, faults = read_spans(spans)
    if not faults:
        labels = assignment.campaign_document.campaign.labels
        faults = check_drafts(document.content.text, drafts, labels)
    if faults:
        raise InvalidSpans(faults)
    return drafts


def check_active_seconds(seconds: int) -> None:
    """Raises InvalidSpans for an impossible time since the last save."""
    if not 0 <= seconds <= MAX_ACTIVE_SECONDS:
        rule = f"must be from 0 to {MAX_ACTIVE_SECONDS}"
        raise InvalidSpans([_save_fault("active_seconds", rule)])


def _save_fault(field: str, message: str) -> dict[str, Any]:
    return {"field": field, "code": field, "message": f"{field}: {message}"}


def _replayed(assignment: Assignment, save_key: str, digest: str) -> Saved | None:
    """The result of the first save with this key, or None."""
    known = Revision.objects.filter(assignment=assignment.pk, save_key=save_key).first()
    if known is None:
        return None
    if known.digest != digest:
        # Returning the first result would lose the new spans.
        raise InvalidSpans([_save_fault("save_key", "was used for a save with other spans")])
    state = Assignment.objects.values_list("state", flat=True).get(pk=assignment.pk)
    return Saved(known.number, known.saved_at, state, known.added)


def refuse_change(assignment: Assignment, author: User) -> NoReturn:
    """Raises the reason for which the assignment cannot be saved."""
    now = Assignment.objects.select_related("campaign_document__campaign").get(pk=assignment.pk)
    require_workable(now, author)
    raise conflict_of(now)


def require_workable(assignment: Assignment, actor: User) -> None:
    """Raises Reassigned, AlreadySubmitted, CampaignNotOpen or PageExcluded unless `actor` may work
    on the assignment.
    """
    if assignment.annotator_id != actor.pk or assignment.state == Assignment.State.WITHDRAWN:
        raise Reassigned
    if assignment.is_submitted:
        raise AlreadySubmitted
    if assignment.campaign_document.campaign.state != Campaign.State.OPEN:
        raise CampaignNotOpen
    if assignment.campaign_document.stage == CampaignDocument.Stage.EXCLUDED:
        raise PageExcluded


def conflict_of(assignment: Assignment) -> Conflict:
    last = Revision.objects.filter(assignment=assignment).order_by("-number").first()
    return Conflict(
        revision=assignment.revision,
        saved_at=last.saved_at if last else None,
        spans=current_spans(assignment),
    )


def _write(
    assignment: Assignment, drafts: Iterable[Draft]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Replaces only the rows that differ; returns the added and the removed spans."""
    wanted = {draft.key: draft for draft in drafts}
    stored = {draft.key: draft for draft in stored_spans(assignment)}
    removed = [span for key, span in stored.items() if wanted.get(key) != span]
    added = [span for key, span in wanted.items() if stored.get(key) != span]
    # A changed span is removed and inserted again, so that two spans can swap places.
    if removed:
        _REMOVE.run_each({"assignment": assignment.pk, "key": span.key} for span in removed)
    if added:
        insert_rows(Span, _COLUMNS, [(assignment.pk, *span) for span in added])
    return _ordered(added), _ordered(removed)


def _ordered(spans: Iterable[Draft]) -> list[dict[str, Any]]:
    return [span._asdict() for span in sorted(spans, key=lambda span: span.start)]


def _digest(drafts: Iterable[Draft]) -> str:
    """SHA-256 of the spans as a set, which identifies a repeated save.

    Derived values are excluded, because a later version of the rules may derive other ones.
    """
    sent = sorted(draft if draft.edited else draft[: len(PLACED)] for draft in drafts)
    return hashlib.sha256(json.dumps(sent).encode()).hexdigest()


def restore_revision(
    *, assignment: Assignment, number: int, base_revision: int, save_key: str, author: User
) -> Saved:
    """Saves the spans of revision `number`, which must exist. Raises as `save_spans` does."""
    return save_spans(
        assignment=assignment,
        base_revision=base_revision,
        save_key=save_key,
        spans=[draft._asdict() for draft in spans_at(assignment, number)],
        author=author,
        note=f"restored revision {number}",
    )


MAX_COMMENT = 5_000
MAX_REASON = 500


@transaction.atomic
def add_comment(*, assignment: Assignment, span_key: str, text: str, author: User) -> Comment:
    """Adds a comment on the span with this key, or on the page if the key is empty.

    The span need not be saved yet. Raises InvalidSpans for an invalid key or text, and as
    `require_workable` does.
    """
    _require_workable(assignment, author)
    if span_key and not KEY.fullmatch(span_key):
        raise InvalidSpans([_remark_fault("span_key", KEY_RULE)])
    return Comment.objects.create(
        assignment=assignment,
        span_key=span_key,
        text=_checked_text("text", text, MAX_COMMENT),
        author=author,
    )


@transaction.atomic
def edit_comment(*, comment: Comment, text: str, actor: User) -> Comment:
    """Replaces the text of a comment; raises as `add_comment` does."""
    _require_workable(comment.assignment, actor)
    comment.text = _checked_text("text", text, MAX_COMMENT)
    comment.edited_at = timezone.now()
    comment.save(update_fields=["text", "edited_at"])
    return comment


@transaction.atomic
def delete_comment(*, comment: Comment, actor: User) -> None:
    _require_workable(comment.assignment, actor)
    record_event(verb="delete_comment", subject=comment, actor=actor)
    comment.delete()


@transaction.atomic
def set_flag(*, assignment: Assignment, kind: str, reason: str, actor: User) -> Assignment:
    """Flags the page for the lead, skips it for now, or (with an empty kind) removes the flag.

    Raises InvalidSpans for an unknown kind or a missing reason, and as `require_workable` does.
    """
    if kind not in Assignment.Flag.values:
        kinds = ", ".join(repr(value) for value in Assignment.Flag.values)
        raise InvalidSpans([_remark_fault("kind", f"must be one of {kinds}")])
    text = _checked_text("reason", reason, MAX_REASON) if kind else ""
    now = _require_workable(assignment, actor)
    now.flag, now.flag_reason = kind, text
    now.save(update_fields=["flag", "flag_reason"])
    # The event omits the reason, which may reveal labels that are still blind.
    record_event(verb="flag_assignment", subject=now, actor=actor, kind=kind)
    return now


def _require_workable(assignment: Assignment, actor: User) -> Assignment:
    """The current assignment, locked against a submission at the same time."""
    locked = Assignment.objects.select_for_update(of=("self",))
    now = locked.select_related("campaign_document__campaign").get(pk=assignment.pk)
    require_workable(now, actor)
    return now


def _checked_text(field: str, text: str, longest: int) -> str:
    plain = text.strip()
    if not plain:
        raise InvalidSpans([_remark_fault(field, "must not be empty")])
    if len(plain) > longest:
        raise InvalidSpans([_remark_fault(field, f"must be at most {longest} characters")])
    if "\x00" in plain or any("\ud800" <= character <= "\udfff" for character in plain):
        raise InvalidSpans([_remark_fault(field, "contains a NUL or an incomplete character")])
    return plain


def _remark_fault(field: str, problem: str) -> dict[str, Any]:
    return {"field": field, "code": field, "message": f"{field} {problem}"}


Stage = CampaignDocument.Stage


@transaction.atomic
def submit_assignment(
    *,
    assignment: Assignment,
    base_revision: int,
    actor: User,
    active_seconds: int = 0,
    no_facts: bool = False,
    dismissed: Collection[Mark] = (),
) -> Assignment:
    """Makes the spans of `base_revision` final; the last submission of a document settles it.

    The first submission is kept for agreement. A qualification page is graded instead of settled.
    A repeated submission of the same revision returns the same result. Flags are kept for the
    lead. `no_facts` confirms that an empty page has no facts. `dismissed` are suggestions that the
    annotator dismissed, which only statistics use. Raises, without any change, Conflict
    if the assignment is at another revision, NothingLabelled for an unconfirmed empty page,
    Reassigned and CampaignNotOpen.
    """
    check_active_seconds(active_seconds)
    # The lock serializes the last two submissions of a document, so that one sees both.
    campaign_document = CampaignDocument.objects.locked().get(pk=assignment.campaign_document_id)
    now = Assignment.objects.select_for_update().get(pk=assignment.pk)
    if now.annotator_id != actor.pk or now.state == Assignment.State.WITHDRAWN:
        raise Reassigned
    if now.revision != base_revision:
        raise conflict_of(now)
    now.campaign_document = campaign_document
    if now.is_submitted:
        return now
    if not now.is_workable:
        raise PageExcluded if campaign_document.stage == Stage.EXCLUDED else CampaignNotOpen
    if not no_facts and not now.spans.exists():
        raise NothingLabelled
    now.state = Assignment.State.SUBMITTED
    now.submitted_at = timezone.now()
    now.active_seconds += active_seconds
    now.save(update_fields=["state", "submitted_at", "active_seconds"])
    # The event omits the number of spans, which would reveal labels that are still blind.
    record_event(verb="submit_assignment", subject=now, actor=actor, revision=now.revision)
    _freeze_first(now, now.submitted_at)
    keep_outcomes(now, dismissed)
    if campaign_document.purpose == CampaignDocument.Purpose.QUALIFICATION:
        grade_qualification(assignment=now)
    else:
        settle_document(campaign_document=campaign_document)
    return now


def _freeze_first(assignment: Assignment, submitted_at: datetime) -> None:
    """Stores the first submission. Later ones, of work that was sent back, are not stored."""
    spans = assignment.spans.order_by("start").values_list("start", "end", "label", "value", "sign")
    first = FirstSubmission(
        assignment=assignment, spans=[list(span) for span in spans], submitted_at=submitted_at
    )
    FirstSubmission.objects.bulk_create([first], ignore_conflicts=True)
