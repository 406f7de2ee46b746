"""Raise, decide and withdraw disputes, and find the corrections of accepted ones."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone

from portal.accounts.invitations.services import EMAIL_ATTEMPTS
from portal.accounts.models import User
from portal.audit.models import record_event
from portal.datasets.access import own_part
from portal.datasets.models import Dataset, Dispute, DocumentContent, ReleaseItem
from portal.datasets.releases.corrections import ADD, CHANGE, REMOVE, disputed_fact, overlapping
from portal.jobs.services import enqueue
from portal.web.refusals import Refused

ACTS = (CHANGE, REMOVE, ADD)


class DisputeRefused(Refused):
    """A dispute cannot be raised or decided."""


class AlreadyDecided(DisputeRefused):
    """The dispute was already decided or withdrawn."""

    def __init__(self, dispute: Dispute) -> None:
        by = f" by {dispute.decided_by}" if dispute.decided_by else ""
        super().__init__(
            f"Dispute {dispute.pk} was already {dispute.state}{by} on "
            f"{dispute.decided_at:%Y-%m-%d %H:%M} UTC. Nothing was changed.",
            code="decided",
        )


def _invalid(field: str, message: str) -> DisputeRefused:
    return DisputeRefused(message, field=field, code="correction")


@dataclass(frozen=True)
class WantedCorrection:
    """A change of the disputed fact, or a fact to add. Empty fields do not change.

    `value` is the text on the page, and `start` its offset if the page has the text more than once.
    """

    act: str
    type: str = ""
    value: str = ""
    start: int | None = None


def claimed_correction(dispute: Dispute) -> dict[str, Any] | None:
    """Read the claim as a correction: a label, or a text of the page at the disputed fact.

    Returns None for any other claim.
    """
    was, claim = disputed_fact(dispute), dispute.claim.strip()
    if was is None or not dispute.item.release.has_pages:
        return None
    label = _label(dispute, claim)
    wanted = (
        WantedCorrection(CHANGE, type=label) if label else WantedCorrection(CHANGE, value=claim)
    )
    try:
        found = resolve_correction(dispute, wanted)
    except DisputeRefused:
        return None
    is_there = found["start"] < was["end"] and was["start"] < found["end"]
    return found if is_there and found != _as_correction(was) else None


def resolve_correction(dispute: Dispute, wanted: WantedCorrection) -> dict[str, Any]:
    """Return the correction with its offsets in the text. Raises DisputeRefused."""
    item, was = dispute.item, disputed_fact(dispute)
    if not item.release.has_pages:
        raise _invalid("act", "This gold has no facts. Correct it in the gold file.")
    if wanted.act not in ACTS:
        raise _invalid("act", f"Must be one of {', '.join(ACTS)}.")
    if (wanted.act == ADD) == (was is not None):
        reason = "Change or remove the disputed fact." if was else "Add a fact: none is disputed."
        raise _invalid("act", reason)
    if wanted.act == REMOVE:
        return {"act": REMOVE}
    label = _label(dispute, wanted.type or (was["type"] if was else ""))
    if not label:
        labels = ", ".join(item.release.labels)
        raise _invalid("type", f"Must be one of {labels}.")
    value = wanted.value.strip() or (was["value"] if was else "")
    if was and value == was["value"] and wanted.start is None:
        start = was["start"]
    else:
        start = _place(dispute, value, wanted.start)
    return {
        "act": wanted.act,
        "type": label,
        "value": value,
        "start": start,
        "end": start + len(value),
    }


def _label(dispute: Dispute, text: str) -> str:
    labels: dict[str, str] = {label.lower(): label for label in dispute.item.release.labels}
    return labels.get(text.lower(), "")


def _as_correction(fact: dict[str, Any]) -> dict[str, Any]:
    return {"act": CHANGE, **{key: fact[key] for key in ("type", "value", "start", "end")}}


def _place(dispute: Dispute, value: str, start: int | None) -> int:
    """Return the offset of the text: at `start`, at the disputed fact, or its only occurrence."""
    if not value:
        raise _invalid("value", "Enter the text exactly as it appears in the document.")
    was = disputed_fact(dispute)
    others = [fact for fact in dispute.item.facts if fact is not was]
    text = DocumentContent.objects.values_list("text", flat=True).get(
        document=dispute.item.document_id
    )
    places = [
        at for at in _occurrences(text, value) if not overlapping(others, at, at + len(value))
    ]
    if start is not None:
        places = [at for at in places if at == start]
    elif was:
        here = [at for at in places if at < was["end"] and was["start"] < at + len(value)]
        places = here or places
    if len(places) == 1:
        return places[0]
    if not places:
        raise _invalid("value", "This text is not in the document, or it overlaps another fact.")
    named = ", ".join(map(str, places[:10]))
    raise _invalid(
        "start", f"The text occurs {len(places)} times. Enter its start offset: {named}."
    )


def _occurrences(text: str, value: str) -> Iterator[int]:
    at = text.find(value)
    while at >= 0:
        yield at
        at = text.find(value, at + 1)


State = Dispute.State

CLAIM_LENGTH = 500
REASON_LENGTH = 4_000
# Open disputes of a user in one dataset.
MOST_OPEN = 50


@transaction.atomic
def raise_dispute(
    *, item: ReleaseItem, fact: int | None, claim: str, reason: str, actor: User
) -> Dispute:
    """Dispute a fact of the item, or for None a missing fact or the whole item.

    The caller must check that the actor may see the fact. The same claim again returns the same
    dispute. Raises DisputeRefused.
    """
    dataset = Dataset.objects.select_for_update().get(pk=item.release.dataset_id)
    claim, reason = claim.strip(), reason.strip()
    if dataset.derived_from_id is not None:
        raise DisputeRefused(
            "A stress variant has the gold of its original dataset. Dispute it there.",
            code="variant",
        )
    if fact is not None and not 0 <= fact < len(item.facts):
        raise DisputeRefused(f"{item.name} has no fact {fact}.", field="fact", code="no_fact")
    _check_words(claim, reason)
    mine = Dispute.objects.filter(raised_by=actor, state=State.OPEN)
    if same := mine.filter(item=item, fact=fact, claim=claim).first():
        return same
    if mine.filter(item__release__dataset=dataset).count() >= MOST_OPEN:
        raise DisputeRefused(
            f"You have {MOST_OPEN} open disputes in this dataset. Wait until some are decided.",
            code="too_many",
        )
    dispute = Dispute.objects.create(
        item=item, fact=fact, claim=claim, reason=reason, raised_by=actor
    )
    record_event(
        verb="raise_dispute", subject=dispute, actor=actor, release=item.release_id, item=item.name,
        fact=fact,
    )  # fmt: skip
    return dispute


@transaction.atomic
def decide_dispute(
    *,
    dispute: Dispute,
    accept: bool,
    answer: str,
    actor: User,
    origin: str,
    correction: WantedCorrection | None = None,
) -> Dispute:
    """Accept or decline an open dispute, and return it. Repeating a decision changes nothing.

    The user who raised it gets an email with links to `origin`. An accepted dispute stores its
    `correction`, or the correction in its claim, for the next release. The caller must check that
    the actor may decide. Raises DisputeRefused, AlreadyDecided if another decision holds.
    """
    answer = answer.strip()
    if not answer:
        raise DisputeRefused("Enter a reason.", field="answer", code="required")
    if len(answer) > REASON_LENGTH:
        message = f"Enter at most {REASON_LENGTH:,} characters."
        raise DisputeRefused(message, field="answer", code="too_long")
    # Without joins, because outer joins cannot be locked.
    locked = Dispute.objects.select_for_update().get(pk=dispute.pk)
    if own := own_part(actor, locked):
        raise DisputeRefused(own, code="own")
    wanted = State.ACCEPTED if accept else State.DECLINED
    if locked.state != State.OPEN:
        if (locked.state, locked.answer, locked.decided_by) == (wanted, answer, actor):
            return locked
        raise AlreadyDecided(locked)
    locked.state = wanted
    locked.answer, locked.decided_by, locked.decided_at = answer, actor, timezone.now()
    if accept and correction:
        locked.correction = resolve_correction(locked, correction)
    elif accept:
        locked.correction = claimed_correction(locked)
    locked.save(update_fields=["state", "answer", "decided_by", "decided_at", "correction"])
    record_event(verb=f"dispute_{locked.state}", subject=locked, actor=actor)
    if locked.raised_by_id is not None:
        enqueue(
            kind="email_raiser",
            payload={"dispute": locked.pk, "origin": origin},
            max_attempts=EMAIL_ATTEMPTS,
        )
    return locked


@transaction.atomic
def withdraw_dispute(*, dispute: Dispute, actor: User) -> Dispute:
    """Withdraw an open dispute, and return it. Withdrawing it again changes nothing.

    The caller must check that the actor raised it. Raises AlreadyDecided if it was decided.
    """
    locked = Dispute.objects.select_for_update().get(pk=dispute.pk)
    if locked.state == State.WITHDRAWN:
        return locked
    if locked.state != State.OPEN:
        raise AlreadyDecided(locked)
    locked.state, locked.decided_by, locked.decided_at = State.WITHDRAWN, actor, timezone.now()
    locked.save(update_fields=["state", "decided_by", "decided_at"])
    record_event(verb="withdraw_dispute", subject=locked, actor=actor)
    return locked


def _check_words(claim: str, reason: str) -> None:
    for field, text, most in (
        ("claim", claim, CLAIM_LENGTH),
        ("reason", reason, REASON_LENGTH),
    ):
        if not text:
            raise DisputeRefused("This field is required.", field=field, code="required")
        if len(text) > most:
            message = f"Enter at most {most:,} characters."
            raise DisputeRefused(message, field=field, code="too_long")
