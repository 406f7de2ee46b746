"""Concurrent requests: deciding and raising the same dispute twice."""

import pytest

from portal.accounts.models import User
from portal.audit.models import Event
from portal.datasets.disputes.services import AlreadyDecided
from portal.datasets.models import Dispute
from tests.annotation.test_races import at_once

from .factories import decide, make_dispute, released

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.race,
]


@pytest.mark.parametrize("turn", range(3))
def test_of_two_decisions_the_first_holds(
    researcher: User, lead: User, organiser: User, turn: int
) -> None:
    dispute = make_dispute(released(), researcher)
    results = at_once(
        lambda: decide(dispute, lead, accept=True, answer="Yes."),
        lambda: decide(dispute, organiser, accept=False, answer="No."),
    )
    stored = Dispute.objects.get()
    (first,) = [found for found in results if isinstance(found, Dispute)]
    assert (first.state, first.answer, first.decided_by) == (
        *(stored.state, stored.answer, stored.decided_by),
    )
    (second,) = [found for found in results if not isinstance(found, Dispute)]
    assert isinstance(second, AlreadyDecided)
    assert Event.objects.filter(verb__startswith="dispute_").count() == 1


@pytest.mark.parametrize("turn", range(3))
def test_two_clicks_raise_one_dispute(researcher: User, turn: int) -> None:
    release = released()
    at_once(*[lambda: make_dispute(release, researcher)] * 2)
    assert Dispute.objects.count() == 1
