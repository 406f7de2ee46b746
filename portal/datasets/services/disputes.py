"""Disputes: raised, decided or withdrawn; the accepted ones are settled in the next release."""

from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone

from portal.accounts.invitations.services import LETTER_ATTEMPTS
from portal.accounts.models import User
from portal.audit.models import record_event
from portal.datasets.models import Dataset, Dispute, Release, ReleaseItem
from portal.datasets.selectors.dispute_notes import (
    NewGold,
    dispute_mark,
    dispute_notes,
    settled_by,
    unsettled_disputes,
)
from portal.jobs.services import enqueue

from .corrections import (
    CorrectionError,
    WantedCorrection,
    claimed_correction,
    resolve_correction,
)

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
            kind="tell_raiser",
            payload={"dispute": locked.pk, "origin": origin},
            max_attempts=LETTER_ATTEMPTS,
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


def note_disputes(release: Release, rows: Sequence[ReleaseItem]) -> list[Dispute]:
    """The disputes that a release about to be frozen settles by its items; its notes name each.

    What its draft named already is not said twice. Runs in the transaction that freezes, with the
    dataset locked.
    """
    gold = {row.name: NewGold(row.sha256, row.facts) for row in rows}
    settled = settled_by(gold, unsettled_disputes(release.dataset))
    missing = [dispute for dispute in settled if dispute_mark(dispute) not in release.notes]
    if missing:
        release.notes = "\n\n".join(
            part for part in (release.notes.strip(), dispute_notes(missing)) if part
        )
    return settled


def settle_disputes(settled: Sequence[Dispute], release: Release) -> None:
    """Points them at the release, once that is stored."""
    Dispute.objects.filter(pk__in=[dispute.pk for dispute in settled]).update(settled_in=release)


def _check_words(claim: str, reason: str) -> None:
    for field, text, most in (
        ("claim", claim, CLAIM_LENGTH),
        ("reason", reason, REASON_LENGTH),
    ):
        if not text:
            raise DisputeRefused("This is needed.", field=field, code="required")
        if len(text) > most:
            raise DisputeRefused(f"At most {most:,} characters.", field=field, code="too_long")
