"""Reminders: letters that tell people what waits for them. At most one a day and campaign."""

from dataclasses import dataclass

from django.db import transaction

from annotation.models import Campaign, Reminder
from annotation.selectors.waiting import PersonWaiting, campaign_waiting, person_waiting
from portal.accounts.invitations.services import LETTER_ATTEMPTS
from portal.accounts.models import User
from portal.audit.models import record_event
from portal.jobs.services import enqueue

from .errors import Refused


@dataclass(frozen=True)
class Reminded:
    """Names of those whom a letter goes to, and of those who were reminded within a day before."""

    sent: tuple[str, ...]
    lately: tuple[str, ...]


@transaction.atomic
def remind_person(*, campaign: Campaign, user: User, actor: User, origin: str) -> Reminder:
    """Orders a letter to one member; `origin` is the address of the site for its links.

    Raises Refused when nothing waits for them, when they were reminded within a day, and for
    oneself.
    """
    # Of two who press the button at once the second sees the first one's reminder.
    locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
    person = person_waiting(locked, user.pk)
    if person is None or not person.work:
        raise Refused(f"Nothing waits for {user} now.", code="nothing")
    if user.pk == actor.pk:
        raise Refused("That is you: you need no letter.", code="oneself")
    if not user.is_active:
        raise Refused(f"The account of {user} is switched off.", code="switched_off")
    if person.reminded_at and person.was_just_reminded:
        raise Refused(
            f"{user} was reminded on {person.reminded_at:%Y-%m-%d at %H:%M} UTC. One letter a day "
            "is enough.",
            code="reminded",
        )
    return _remind(locked, person, actor, origin)


@transaction.atomic
def remind_waiting(*, campaign: Campaign, days: int, actor: User, origin: str) -> Reminded:
    """Orders letters to all for whom something has waited for at least so many whole days."""
    locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
    late = [
        person
        for person in campaign_waiting(locked).people
        if person.work
        and person.days >= days
        and person.user.is_active
        and person.user.pk != actor.pk
    ]
    now = [person for person in late if person.can_be_reminded]
    for person in now:
        _remind(locked, person, actor, origin)
    return Reminded(
        sent=tuple(person.name for person in now),
        lately=tuple(person.name for person in late if person.was_just_reminded),
    )


def _remind(campaign: Campaign, person: PersonWaiting, actor: User, origin: str) -> Reminder:
    reminder = Reminder.objects.create(
        campaign=campaign, user=person.user, waiting=person.total, sent_by=actor
    )
    record_event(
        verb="remind_member", subject=campaign, actor=actor, user=person.user.pk,
        waiting=person.total,
    )  # fmt: skip
    enqueue(
        kind="send_reminder",
        payload={"reminder": reminder.pk, "origin": origin},
        max_attempts=LETTER_ATTEMPTS,
    )
    return reminder
