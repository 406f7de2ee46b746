"""Verdicts on fields: saved once, replaced on purpose, final when the batch is closed."""

from typing import Any

import pytest

from portal.accounts.models import User
from portal.audit.models import Event
from portal.datasets.acceptance.selectors import inspected_fields, inspection_page, verdict_version
from portal.datasets.acceptance.services import (
    AcceptanceRefused,
    clear_verdict,
    close_batch,
    save_verdict,
)
from portal.datasets.models import Inspection
from tests.datasets.acceptance.factories import (
    inspect_all,
    make_batch,
    make_receipt,
    receipts,
    sampled_of,
)

pytestmark = pytest.mark.django_db


def test_same_verdict_again_changes_nothing(organiser: User, lead: User) -> None:
    sampled = sampled_of(make_batch(receipts(1), sample=1))
    first = save_verdict(sampled=sampled, field="total", is_right=True, base="", actor=organiser)
    again = save_verdict(sampled=sampled, field="total", is_right=True, base="", actor=lead)
    assert (again.pk, again.inspector, verdict_version(again)) == (
        first.pk,
        organiser,
        verdict_version(first),
    )
    assert not Event.objects.filter(verb="change_inspection").exists()


def test_verdict_of_another_inspector_is_replaced_on_purpose(organiser: User, lead: User) -> None:
    sampled = sampled_of(make_batch(receipts(1), sample=1))
    said: dict[str, Any] = {"sampled": sampled, "field": "total"}
    first = save_verdict(**said, is_right=True, base="", actor=organiser)
    with pytest.raises(AcceptanceRefused, match="Olga marked this field as correct") as refusal:
        save_verdict(**said, is_right=False, base="", actor=lead)
    assert refusal.value.code == "conflict"
    save_verdict(**said, is_right=False, base=verdict_version(first), actor=lead)
    stored = Inspection.objects.get()
    assert (stored.is_right, stored.inspector) == (False, lead)
    assert Event.objects.get(verb="change_inspection").data["was_right"] is True
    with pytest.raises(AcceptanceRefused, match="Lea marked this field as wrong"):
        clear_verdict(**said, base=verdict_version(first), actor=organiser)
    clear_verdict(**said, base=verdict_version(stored), actor=organiser)
    assert not Inspection.objects.exists()
    with pytest.raises(AcceptanceRefused, match="cleared the result of this field"):
        save_verdict(**said, is_right=True, base=verdict_version(stored), actor=lead)


def test_wrong_value_is_corrected_step_by_step(organiser: User) -> None:
    sampled = sampled_of(make_batch(receipts(1), sample=1))
    said: dict[str, Any] = {"sampled": sampled, "field": "total", "actor": organiser}
    first = save_verdict(**said, is_right=False)
    assert first.correct_value is None
    save_verdict(**said, is_right=False, correct_value="8.00", base=verdict_version(first))
    assert Inspection.objects.get().correct_value == "8.00"
    save_verdict(**said, is_right=False, correct_value="")
    field = next(one for one in inspected_fields(sampled.batch, sampled) if one.name == "total")
    assert (field.said, field.should_be_empty) == ("wrong", True)
    save_verdict(**said, is_right=True, correct_value="8.00")
    assert Inspection.objects.get().correct_value is None


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"field": "tip"}, "unknown"),
        ({"correct_value": "3.00"}, "invalid"),
        ({"correct_value": "\0"}, "invalid"),
        ({"correct_value": float("nan")}, "invalid"),
    ],
)
def test_invalid_verdicts_are_refused(organiser: User, changes: dict[str, Any], code: str) -> None:
    sampled = sampled_of(make_batch(receipts(1), sample=1))
    said = {"sampled": sampled, "field": "total", "is_right": False, "actor": organiser}
    with pytest.raises(AcceptanceRefused) as refusal:
        save_verdict(**{**said, **changes})
    assert refusal.value.code == code
    assert not Inspection.objects.exists()


def test_documents_outside_the_sample_are_not_inspected(organiser: User) -> None:
    batch = make_batch(receipts(2), sample=1)
    other = batch.documents.get(is_sampled=False)
    with pytest.raises(AcceptanceRefused, match="not in the sample"):
        save_verdict(sampled=other, field="total", is_right=True, actor=organiser)


def test_verdicts_of_a_closed_batch_are_final(organiser: User) -> None:
    batch = make_batch(receipts(1), sample=1)
    inspect_all(batch, organiser)
    sampled = sampled_of(batch)
    close_batch(batch=batch, actor=organiser)
    for act in (
        lambda: save_verdict(sampled=sampled, field="total", is_right=False, actor=organiser),
        lambda: clear_verdict(sampled=sampled, field="total", actor=organiser),
    ):
        with pytest.raises(AcceptanceRefused, match="can no longer change") as refusal:
            act()
        assert refusal.value.code == "closed"
    assert Inspection.objects.filter(is_right=True).count() == 3


def test_fields_are_shown_as_they_are() -> None:
    dataset = receipts(0)
    items = [{"what": "tea", "amount": 3, "extra": True}, {"amount": "1.00"}]
    make_receipt(dataset, "r1", seller=None, items=items, total=["3.00", "4.00"])
    sampled = sampled_of(make_batch(dataset, sample=1))
    del sampled.document.record.gold["fields"]["seller"]
    seller, total, listed = inspected_fields(sampled.batch, sampled)
    assert seller.value.missing == "absent"
    assert total.value.lines == ("3.00", "4.00")
    assert listed.value.columns == ("what", "amount", "extra")
    assert listed.value.rows == (("tea", "3", "true"), ("", "1.00", ""))
    assert seller.faults == ("seller is empty",)


def test_page_leads_from_document_to_document(organiser: User) -> None:
    batch = make_batch(receipts(3), sample=3)
    inspect_all(batch, organiser, but=2)
    page = inspection_page(batch, sampled_of(batch, 1))
    assert (page.position, page.previous, page.following) == (2, "r001", "r003")
    assert (page.next_open, page.said) == ("r003", 0)
    assert inspection_page(batch, sampled_of(batch, 2)).next_open == "r002"
