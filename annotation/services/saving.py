"""Saving an annotator's spans: checked, idempotent, and never over somebody else's save."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NoReturn

from django.db import transaction
from django.db.models import F

from annotation.models import Assignment, Campaign, Revision, Span
from annotation.span_input import KEY, Draft, check_drafts, read_spans
from portal.accounts.models import User

from .errors import AlreadySubmitted, CampaignNotOpen, Conflict, InvalidSpans, Reassigned


@dataclass(frozen=True)
class Saved:
    """An accepted save: the revision it made, when, and the assignment's state."""

    revision: int
    saved_at: datetime
    state: str


def save_spans(
    *,
    assignment: Assignment,
    base_revision: int,
    save_key: str,
    spans: object,
    author: User,
    text_sha256: str = "",
) -> Saved:
    """Makes `spans` (decoded JSON) the assignment's spans and writes one revision.

    The same `save_key` again is answered as the first time and changes nothing. The revision is the
    log of the save: it holds who, when and what, so no further event is written. Raises
    InvalidSpans, Conflict when `base_revision` is not the current one, AlreadySubmitted and
    CampaignNotOpen; nothing is saved then.
    """
    drafts = _checked(assignment, spans, save_key, text_sha256)
    digest = _digest(drafts)
    with transaction.atomic():
        replayed = _replayed(assignment, save_key, digest)
        if replayed is None and not _owns_next_revision(assignment, base_revision, author):
            # The same save may have come twice at once; the other one has just been accepted then.
            replayed = _replayed(assignment, save_key, digest) or _refused(assignment, author)
        if replayed is not None:
            return replayed
        added, removed = _write(assignment, drafts)
        revision = Revision.objects.create(
            assignment=assignment,
            number=base_revision + 1,
            author=author,
            save_key=save_key,
            digest=digest,
            added=added,
            removed=removed,
        )
    return Saved(revision.number, revision.saved_at, str(Assignment.State.IN_PROGRESS))


def _owns_next_revision(assignment: Assignment, base_revision: int, author: User) -> bool:
    """Whoever changes this one row makes the next revision; a second tab finds no row to change.

    The conditions are columns of the row itself: PostgreSQL looks at them again after waiting for
    another save, which it would not do inside a subquery.
    """
    campaign = assignment.campaign_document.campaign_id
    if not Campaign.objects.filter(pk=campaign, state=Campaign.State.OPEN).exists():
        return False
    changed = (
        Assignment.objects.filter(pk=assignment.pk, annotator=author, revision=base_revision)
        .exclude(state=Assignment.State.SUBMITTED)
        .update(revision=F("revision") + 1, state=Assignment.State.IN_PROGRESS)
    )
    return changed == 1


def current_spans(assignment: Assignment) -> list[dict[str, Any]]:
    """The spans as saved, in text order, with the fields of the API."""
    rows = assignment.spans.order_by("start").values_list("key", "label", "start", "end", "quote")
    return [Draft(*row)._asdict() for row in rows]


def _checked(assignment: Assignment, spans: object, save_key: str, text_sha256: str) -> list[Draft]:
    document = assignment.campaign_document.document
    if not KEY.fullmatch(save_key):
        raise InvalidSpans([_save_fault("save_key", "must be 1 to 36 letters, digits, - or _")])
    if text_sha256 and text_sha256 != document.text_sha256:
        raise InvalidSpans([_save_fault("text_sha256", "the page's text is another one")])
    drafts, faults = read_spans(spans)
    if not faults:
        labels = assignment.campaign_document.campaign.labels
        faults = check_drafts(document.content.text, drafts, labels)
    if faults:
        raise InvalidSpans(faults)
    return drafts


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
    return Saved(known.number, known.saved_at, state)


def _refused(assignment: Assignment, author: User) -> NoReturn:
    """Says why the assignment cannot be saved to."""
    now = Assignment.objects.select_related("campaign_document__campaign").get(pk=assignment.pk)
    if now.annotator_id != author.pk:
        raise Reassigned
    if now.is_submitted:
        raise AlreadySubmitted
    if now.campaign_document.campaign.state != Campaign.State.OPEN:
        raise CampaignNotOpen
    raise conflict_of(now)


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
    stored = {
        row[0]: Draft(*row)
        for row in assignment.spans.values_list("key", "label", "start", "end", "quote")
    }
    removed = [span for key, span in stored.items() if wanted.get(key) != span]
    added = [span for key, span in wanted.items() if stored.get(key) != span]
    # A changed span is removed and added anew, so that two spans can trade places without ever
    # colliding.
    if removed:
        _delete(assignment, removed)
    Span.objects.bulk_create(
        (Span(assignment=assignment, **span._asdict()) for span in added), batch_size=500
    )
    return _ordered(added), _ordered(removed)


def _delete(assignment: Assignment, spans: Sequence[Draft]) -> None:
    # In batches: SQLite bounds the number of values in one statement.
    for first in range(0, len(spans), 500):
        keys = [span.key for span in spans[first : first + 500]]
        assignment.spans.filter(key__in=keys).delete()


def _ordered(spans: Iterable[Draft]) -> list[dict[str, Any]]:
    return [span._asdict() for span in sorted(spans, key=lambda span: span.start)]


def _digest(drafts: Iterable[Draft]) -> str:
    """SHA-256 of the spans as a set: tells a repeated save from another one under the same key."""
    return hashlib.sha256(json.dumps(sorted(drafts)).encode()).hexdigest()
