"""What an annotator tells the lead beside the labels: comments, and a flag on the page."""

from typing import Any

from django.db import transaction
from django.utils import timezone

from annotation.models import Assignment, Comment
from annotation.span_input import KEY
from portal.accounts.models import User
from portal.audit.models import record_event

from .errors import InvalidSpans
from .saving import require_workable

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
        raise InvalidSpans([_fault("span_key", "must be 1 to 36 letters, digits, - or _")])
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
        raise InvalidSpans([_fault("kind", f"must be one of {kinds}")])
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
        raise InvalidSpans([_fault(field, "must not be empty")])
    if len(plain) > longest:
        raise InvalidSpans([_fault(field, f"must be at most {longest} characters")])
    if "\x00" in plain or any("\ud800" <= character <= "\udfff" for character in plain):
        raise InvalidSpans([_fault(field, "must not contain NUL or half a character")])
    return plain


def _fault(field: str, problem: str) -> dict[str, Any]:
    return {"field": field, "code": field, "message": f"{field} {problem}"}
