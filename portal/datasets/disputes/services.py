"""Disputes: raised, decided or withdrawn, with the correction that an accepted one makes.

The accepted ones are settled in the next release, see `releases.corrections`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone

from portal.accounts.invitations.services import EMAIL_ATTEMPTS
from portal.accounts.models import User
from portal.audit.models import record_event
from portal.datasets.models import Dataset, Dispute, DocumentContent, ReleaseItem
from portal.datasets.releases.corrections import ADD, CHANGE, REMOVE, disputed_fact, overlapping
from portal.jobs.services import enqueue

ACTS = (CHANGE, REMOVE, ADD)


class CorrectionError(ValueError):
    """Why a correction cannot be made; `field` is the one of the request."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True)
class WantedCorrection:
    """What is to be done to the disputed fact, or what fact is added.

    `value` is the text as the page has it, and `start` its place, where the page has it more than
    once. What is empty stays as it is.
    """

    act: str
    type: str = ""
    value: str = ""
    start: int | None = None


def claimed_correction(dispute: Dispute) -> dict[str, Any] | None:
    """What the claim itself says, where it can be read as one: a label, or a text that the page has
    at the disputed fact. Anything else is for a person to say.
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
    except CorrectionError:
        return None
    is_there = found["start"] < was["end"] and was["start"] < found["end"]
    return found if is_there and found != _as_correction(was) else None


def resolve_correction(dispute: Dispute, wanted: WantedCorrection) -> dict[str, Any]:
    """The correction with its place in the text. Raises CorrectionError."""
    item, was = dispute.item, disputed_fact(dispute)
    if not item.release.has_pages:
        raise CorrectionError("act", "This gold has no facts on a page; change it in its file.")
    if wanted.act not in ACTS:
        raise CorrectionError("act", f"Must be one of {', '.join(ACTS)}.")
    if (wanted.act == ADD) == (was is not None):
        reason = (
            "A fact is disputed: change or remove it." if was else "No fact is disputed: add one."
        )
        raise CorrectionError("act", reason)
    if wanted.act == REMOVE:
        return {"act": REMOVE}
    label = _label(dispute, wanted.type or (was["type"] if was else ""))
    if not label:
        labels = ", ".join(item.release.labels)
        raise CorrectionError("type", f"Must be one of {labels}.")
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
    """Where the text is meant: at `start`, or at the fact, or at its only place."""
    if not value:
        raise CorrectionError("value", "This is needed: the text as the page has it.")
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
        raise CorrectionError("value", "The page does not have this text free of other facts.")
    named = ", ".join(map(str, places[:10]))
    raise CorrectionError(
        "start", f"The page has this text {len(places)} times: say where it starts ({named})."
    )


def _occurrences(text: str, value: str) -> Iterator[int]:
    at = text.find(value)
    while at >= 0:
        yield at
        at = text.find(value, at + 1)


State = Dispute.State

CLAIM_LENGTH = 500
REASON_LENGTH = 4_000
# What one person may have under way in a dataset: somebody has to read them all.
MOST_OPEN = 50


class DisputeRefused(Exception):
    """Why a dispute cannot be raised or decided: the field it concerns, the reason for people."""

    def __init__(self, message: str, *, field: str = "", code: str = "refused") -> None:
        super().__init__(message)
        self.message = message
        self.field = field
        self.code = code


@transaction.atomic
def raise_dispute(
    *, item: ReleaseItem, fact: int | None, claim: str, reason: str, actor: User
) -> Dispute:
    """Challenges a fact of the item, or for None what it lacks or all of it.

    The caller has checked that the actor may see the fact. Said again in the same words it is the
    same dispute. Raises DisputeRefused.
    """
    dataset = Dataset.objects.select_for_update().get(pk=item.release.dataset_id)
    claim, reason = claim.strip(), reason.strip()
    if dataset.derived_from_id is not None:
        raise DisputeRefused(
            "The gold of a stress variant is that of its original; dispute it there.",
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
    """Accepts or declines, once: of two who decide at the same time the first one holds.

    The dispute as it stands afterwards; `decided_by` says whose decision it is. The raiser gets a
    letter, whose links begin with `origin`. An accepted one keeps its `correction`, or what its
    claim says, which the next release is given. The caller has checked that the actor may decide.
    Raises DisputeRefused.
    """
    answer = answer.strip()
    if not answer:
        raise DisputeRefused("Say why.", field="answer", code="required")
    if len(answer) > REASON_LENGTH:
        message = f"At most {REASON_LENGTH:,} characters."
        raise DisputeRefused(message, field="answer", code="too_long")
    # Not the joined rows: their outer joins cannot be locked.
    locked = Dispute.objects.select_for_update().get(pk=dispute.pk)
    if locked.raised_by_id == actor.pk:
        raise DisputeRefused("You raised this dispute: somebody else decides it.", code="own")
    if locked.state != State.OPEN:
        return locked
    locked.state = State.ACCEPTED if accept else State.DECLINED
    locked.answer, locked.decided_by, locked.decided_at = answer, actor, timezone.now()
    locked.correction = _correction(locked, correction) if accept else None
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
    """Takes an open dispute back; one that was decided meanwhile stays as it is.

    The dispute as it stands afterwards. The caller has checked that the actor raised it.
    """
    locked = Dispute.objects.select_for_update().get(pk=dispute.pk)
    if locked.state != State.OPEN:
        return locked
    locked.state, locked.decided_by, locked.decided_at = State.WITHDRAWN, actor, timezone.now()
    locked.save(update_fields=["state", "decided_by", "decided_at"])
    record_event(verb="withdraw_dispute", subject=locked, actor=actor)
    return locked


def _correction(dispute: Dispute, wanted: WantedCorrection | None) -> dict[str, Any] | None:
    if wanted is None:
        return claimed_correction(dispute)
    try:
        return resolve_correction(dispute, wanted)
    except CorrectionError as error:
        raise DisputeRefused(str(error), field=error.field, code="correction") from error


def _check_words(claim: str, reason: str) -> None:
    for field, text, most in (
        ("claim", claim, CLAIM_LENGTH),
        ("reason", reason, REASON_LENGTH),
    ):
        if not text:
            raise DisputeRefused("This is needed.", field=field, code="required")
        if len(text) > most:
            raise DisputeRefused(f"At most {most:,} characters.", field=field, code="too_long")
