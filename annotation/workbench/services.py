"""Saving, submitting and remarks: what an annotator does to their own work.

A save is checked, idempotent, and never over somebody else's save. Submitting is the annotator's
last word on a document.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
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
from portal.web.prepared import Parameter, Prepared, PreparedDelete, PreparedUpdate, insert_rows

from .selectors import current_spans, spans_at, stored_spans

# Nobody saves after more than a day at the page; a larger number is a broken clock.
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
    """An accepted save: the revision it made, when, the assignment's state, and what it added."""

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
    """Makes `spans` (decoded JSON) the assignment's spans and writes one revision.

    The same `save_key` again is answered as the first time and changes nothing. The revision is the
    log of the save: it holds who, when and what, so no further event is written; `active_seconds`
    (at work since the last save) are added once with it. `digest` tells one save from another
    under the same key; by default it is that of the spans. Raises InvalidSpans, Conflict when
    `base_revision` is not the current one, AlreadySubmitted and CampaignNotOpen; nothing is saved
    then.
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
        # The key was used before: what has just been written is undone, and answered below.
        if not Revision.objects.filter(assignment=assignment.pk, save_key=save_key).exists():
            raise
    return _replayed(assignment, save_key, digest) or refuse_change(assignment, author)


def _owns_next_revision(
    assignment: Assignment, base_revision: int, author: User, active_seconds: int
) -> bool:
    """Whoever changes this one row makes the next revision; a second tab finds no row to change.

    The conditions are columns of the row itself: PostgreSQL looks at them again after waiting for
    another save, which it would not do inside a subquery.
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
        raise InvalidSpans([_save_fault("save_key", "must be 1 to 36 letters, digits, - or _")])
    if text_sha256 and text_sha256 != document.text_sha256:
        raise InvalidSpans([_save_fault("text_sha256", "the page's text is another one")])
    check_active_seconds(active_seconds)
    drafts, faults = read_spans(spans)
    if not faults:
        labels = assignment.campaign_document.campaign.labels
        faults = check_drafts(document.content.text, drafts, labels)
    if faults:
        raise InvalidSpans(faults)
    return drafts


def check_active_seconds(seconds: int) -> None:
    """Raises InvalidSpans for a time that cannot have passed since the last save."""
    if not 0 <= seconds <= MAX_ACTIVE_SECONDS:
        rule = f"must be from 0 to {MAX_ACTIVE_SECONDS}"
        raise InvalidSpans([_save_fault("active_seconds", rule)])


def _save_fault(field: str, message: str) -> dict[str, Any]:
    return {"field": field, "code": field, "message": f"{field}: {message}"}


def _replayed(assignment: Assignment, save_key: str, digest: str) -> Saved | None:
    """The answer of the first time, when this very save was accepted before."""
    known = Revision.objects.filter(assignment=assignment.pk, save_key=save_key).first()
    if known is None:
        return None
    if known.digest != digest:
        # Answering "saved" would lose what is new in this one.
        raise InvalidSpans([_save_fault("save_key", "was used for a save with other spans")])
    state = Assignment.objects.values_list("state", flat=True).get(pk=assignment.pk)
    return Saved(known.number, known.saved_at, state, known.added)


def refuse_change(assignment: Assignment, author: User) -> NoReturn:
    """Says why the assignment cannot be saved to."""
    now = Assignment.objects.select_related("campaign_document__campaign").get(pk=assignment.pk)
    require_workable(now, author)
    raise conflict_of(now)


def require_workable(assignment: Assignment, actor: User) -> None:
    """Raises Reassigned, AlreadySubmitted, CampaignNotOpen or PageExcluded unless `actor` may work
    on it now.
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
    """Replaces only the rows that differ; returns what was added and what was removed."""
    wanted = {draft.key: draft for draft in drafts}
    stored = {draft.key: draft for draft in stored_spans(assignment)}
    removed = [span for key, span in stored.items() if wanted.get(key) != span]
    added = [span for key, span in wanted.items() if stored.get(key) != span]
    # A changed span is removed and added anew, so that two spans can trade places without ever
    # colliding.
    if removed:
        _REMOVE.run_each({"assignment": assignment.pk, "key": span.key} for span in removed)
    if added:
        insert_rows(Span, _COLUMNS, [(assignment.pk, *span) for span in added])
    return _ordered(added), _ordered(removed)


def _ordered(spans: Iterable[Draft]) -> list[dict[str, Any]]:
    return [span._asdict() for span in sorted(spans, key=lambda span: span.start)]


def _digest(drafts: Iterable[Draft]) -> str:
    """SHA-256 of the spans as a set: tells a repeated save from another one under the same key.

    Only what was sent counts. What is derived from it may be read otherwise by a later version of
    the rules, and the same save is the same save then, too.
    """
    sent = sorted(draft if draft.edited else draft[: len(PLACED)] for draft in drafts)
    return hashlib.sha256(json.dumps(sent).encode()).hexdigest()


def restore_revision(
    *, assignment: Assignment, number: int, base_revision: int, save_key: str, author: User
) -> Saved:
    """Saves the spans again that were there after revision `number`, which must exist.

    Raises what `save_spans` raises.
    """
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
    """Writes a comment on the span with this key, or on the page when the key is empty.

    The span need not be saved yet: it reaches the server a moment after it was made. Raises
    InvalidSpans for an unfit key or text, and what `require_workable` raises.
    """
    _require_workable(assignment, author)
    if span_key and not KEY.fullmatch(span_key):
        raise InvalidSpans([_remark_fault("span_key", "must be 1 to 36 letters, digits, - or _")])
    return Comment.objects.create(
        assignment=assignment,
        span_key=span_key,
        text=_checked_text("text", text, MAX_COMMENT),
        author=author,
    )


@transaction.atomic
def edit_comment(*, comment: Comment, text: str, actor: User) -> Comment:
    """Replaces the text of one's own comment; raises as `add_comment` does."""
    _require_workable(comment.assignment, actor)
    comment.text = _checked_text("text", text, MAX_COMMENT)
    comment.edited_at = timezone.now()
    comment.save(update_fields=["text", "edited_at"])
    return comment


@transaction.atomic
def delete_comment(*, comment: Comment, actor: User) -> None:
    """Removes one's own comment."""
    _require_workable(comment.assignment, actor)
    record_event(verb="delete_comment", subject=comment, actor=actor)
    comment.delete()


@transaction.atomic
def set_flag(*, assignment: Assignment, kind: str, reason: str, actor: User) -> Assignment:
    """Flags the page for the lead, skips it for now, or (kind empty) takes that back.

    Raises InvalidSpans for an unknown kind, or for one without a reason, and what
    `require_workable` raises.
    """
    if kind not in Assignment.Flag.values:
        kinds = ", ".join(repr(value) for value in Assignment.Flag.values)
        raise InvalidSpans([_remark_fault("kind", f"must be one of {kinds}")])
    text = _checked_text("reason", reason, MAX_REASON) if kind else ""
    now = _require_workable(assignment, actor)
    now.flag, now.flag_reason = kind, text
    now.save(update_fields=["flag", "flag_reason"])
    # No reason: it may speak of labels, which others must not see yet.
    record_event(verb="flag_assignment", subject=now, actor=actor, kind=kind)
    return now


def _require_workable(assignment: Assignment, actor: User) -> Assignment:
    """The assignment as it is now, locked, so that no submission comes between."""
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
        raise InvalidSpans([_remark_fault(field, "must not contain NUL or half a character")])
    return plain


def _remark_fault(field: str, problem: str) -> dict[str, Any]:
    return {"field": field, "code": field, "message": f"{field} {problem}"}


Stage = CampaignDocument.Stage


@dataclass(frozen=True)
class Submitted:
    """The assignment's state, and the stage its document has reached by it."""

    state: str
    stage: str


@transaction.atomic
def submit_assignment(
    *,
    assignment: Assignment,
    base_revision: int,
    actor: User,
    active_seconds: int = 0,
    no_facts: bool = False,
) -> Submitted:
    """Makes the spans of `base_revision` final; the last submission of a document settles it.

    The first submission is kept for good, for agreement is computed from it. A qualification page
    is compared with its known gold instead. Submitting again from the same revision is answered as
    the first time. A flag stays: the lead may still want to know. `no_facts` confirms that the page
    has none; where spans exist it says nothing. Raises Conflict when the assignment is at another
    revision, NothingLabelled for an empty page that is not confirmed, Reassigned and
    CampaignNotOpen; nothing is changed then.
    """
    check_active_seconds(active_seconds)
    # The lock makes the last two annotators of a document come one after the other, so that one
    # sees both.
    campaign_document = (
        CampaignDocument.objects.select_for_update(of=("self",))
        .select_related("campaign", "document")
        .get(pk=assignment.campaign_document_id)
    )
    now = Assignment.objects.select_for_update().get(pk=assignment.pk)
    if now.annotator_id != actor.pk or now.state == Assignment.State.WITHDRAWN:
        raise Reassigned
    if now.revision != base_revision:
        raise conflict_of(now)
    if now.is_submitted:
        return Submitted(now.state, campaign_document.stage)
    now.campaign_document = campaign_document
    if not now.is_workable:
        raise PageExcluded if campaign_document.stage == Stage.EXCLUDED else CampaignNotOpen
    if not no_facts and not now.spans.exists():
        raise NothingLabelled
    now.state = Assignment.State.SUBMITTED
    now.submitted_at = timezone.now()
    now.active_seconds += active_seconds
    now.save(update_fields=["state", "submitted_at", "active_seconds"])
    # No count of spans: it would tell others about labels they may not see yet.
    record_event(verb="submit_assignment", subject=now, actor=actor, revision=now.revision)
    _freeze_first(now, now.submitted_at)
    if campaign_document.purpose == CampaignDocument.Purpose.QUALIFICATION:
        grade_qualification(assignment=now)
        return Submitted(str(now.state), campaign_document.stage)
    stage = settle_document(campaign_document=campaign_document)
    return Submitted(str(now.state), stage)


def _freeze_first(assignment: Assignment, submitted_at: datetime) -> None:
    """Keeps what was submitted first; a later submission, of work sent back, changes nothing."""
    spans = assignment.spans.order_by("start").values_list("start", "end", "label", "value", "sign")
    first = FirstSubmission(
        assignment=assignment, spans=[list(span) for span in spans], submitted_at=submitted_at
    )
    FirstSubmission.objects.bulk_create([first], ignore_conflicts=True)
