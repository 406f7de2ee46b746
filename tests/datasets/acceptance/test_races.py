"""Concurrent requests: verdicts on one field, closing, and opening batches of the same documents.

SQLite allows one writer at a time, so these tests need another database.
"""

import pytest

from portal.accounts.models import User
from portal.datasets.acceptance.services import AcceptanceRefused, close_batch, save_verdict
from portal.datasets.models import Batch, Inspection
from tests.annotation.test_races import at_once
from tests.datasets.acceptance.factories import inspect_all, make_batch, receipts, sampled_of

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.race,
]


@pytest.mark.parametrize("turn", range(3))
def test_second_of_two_different_verdicts_is_a_conflict(
    organiser: User, lead: User, turn: int
) -> None:
    batch = make_batch(receipts(1), sample=1)
    said = {"sampled": sampled_of(batch), "field": "total", "base": ""}
    results = at_once(
        lambda: save_verdict(**said, is_right=True, actor=organiser),  # type: ignore[arg-type]
        lambda: save_verdict(**said, is_right=False, actor=lead),  # type: ignore[arg-type]
    )
    refused = [one for one in results if isinstance(one, AcceptanceRefused)]
    assert [one.code for one in refused] == ["conflict"]
    assert Inspection.objects.count() == 1


@pytest.mark.parametrize("turn", range(3))
def test_same_verdict_twice_is_one(organiser: User, lead: User, turn: int) -> None:
    batch = make_batch(receipts(1), sample=1)
    said = {"sampled": sampled_of(batch), "field": "total", "base": "", "is_right": True}
    results = at_once(
        lambda: save_verdict(**said, actor=organiser),  # type: ignore[arg-type]
        lambda: save_verdict(**said, actor=lead),  # type: ignore[arg-type]
    )
    assert [type(one) for one in results] == [Inspection, Inspection]
    assert Inspection.objects.count() == 1


@pytest.mark.parametrize("turn", range(3))
def test_verdict_does_not_slip_in_while_the_batch_is_closed(
    organiser: User, lead: User, turn: int
) -> None:
    batch = make_batch(receipts(1), sample=1)
    inspect_all(batch, organiser)
    sampled = sampled_of(batch)
    at_once(
        lambda: close_batch(batch=batch, actor=organiser),
        lambda: save_verdict(sampled=sampled, field="total", is_right=False, actor=lead),
    )
    closed = Batch.objects.get()
    right = Inspection.objects.filter(is_right=True).count()
    assert closed.report["overall"]["right"] == right
    assert closed.state == ("accepted" if right == 3 else "rejected")


@pytest.mark.parametrize("turn", range(3))
def test_two_batches_share_no_document(turn: int) -> None:
    dataset = receipts(2)
    results = at_once(*[lambda: make_batch(dataset, sample=1)] * 2)
    refused = [one for one in results if isinstance(one, AcceptanceRefused)]
    assert [one.code for one in refused] in (["changed"], ["empty"])
    assert Batch.objects.get().documents.count() == 2
