"""Accepted disputes correct the gold of a release that is made from the previous one."""

import io
from dataclasses import replace
from typing import Any

import pytest
from django.core.management import call_command

from portal.accounts.models import User
from portal.datasets.disputes.services import DisputeRefused, WantedCorrection, decide_dispute
from portal.datasets.models import Dispute, Release
from portal.datasets.releases.corrections import BY_HAND, corrections_for
from portal.datasets.releases.freezing import EARLIER, FreezeOrder, freeze_order
from portal.datasets.releases.gold import ReleaseError
from tests.datasets.disputes.factories import ORIGIN, decide, item_of, make_dispute, released
from tests.fixture_types import ApiOf, ClientOf

pytestmark = pytest.mark.django_db

API = "/api/v1/datasets/world/"
FACTS = [("Number", "1,200"), ("Date", "March 31, 2025")]


@pytest.fixture
def raiser(researcher: User) -> User:
    return researcher


def accept(dispute: Dispute, actor: User, act: str = "", **fields: Any) -> Dispute:
    wanted = WantedCorrection(act, **fields) if act else None
    return decide_dispute(
        dispute=dispute, accept=True, answer="Yes.", actor=actor, origin=ORIGIN, correction=wanted
    )


def facts(release: Release, name: str = "a") -> list[tuple[str, str]]:
    return [(fact["type"], fact["value"]) for fact in item_of(release, name).facts]


def freeze_next(release: Release, version: str = "1.1.0") -> Release:
    order = FreezeOrder("", source=EARLIER, base=release.version, version=version, notes="")
    return freeze_order(dataset=release.dataset, order=order, actor=None)


def test_a_claim_that_the_page_has_at_the_fact_is_applied(raiser: User, organiser: User) -> None:
    release = released()
    dispute = decide(make_dispute(release, raiser, claim="sales 1,200"), organiser)
    assert dispute.correction == {
        "act": "change", "type": "Number", "value": "sales 1,200", "start": 8, "end": 19,
    }  # fmt: skip
    after = freeze_next(release)
    assert facts(after) == [("Number", "sales 1,200"), ("Date", "March 31, 2025")]
    assert facts(after, "b") == FACTS
    dispute.refresh_from_db()
    assert dispute.settled_in == after
    assert f"Dispute {dispute.pk}: `a`, fact 0" in after.notes


def test_a_claim_that_is_a_label_changes_the_type(raiser: User, organiser: User) -> None:
    release = released()
    decide(make_dispute(release, raiser, fact=1, claim="number"), organiser)
    assert facts(freeze_next(release))[1] == ("Number", "March 31, 2025")


@pytest.mark.parametrize("claim", ["1,300", "the sign is wrong", "77"])
def test_a_claim_in_words_is_named_and_left_to_a_person(
    claim: str, raiser: User, organiser: User
) -> None:
    release = released()
    dispute = decide(make_dispute(release, raiser, claim=claim), organiser)
    assert dispute.correction is None
    (row,) = corrections_for(release).planned
    assert (row.dispute, row.reason) == (dispute, BY_HAND)
    assert facts(freeze_next(release)) == FACTS


def test_facts_are_removed_changed_and_added(raiser: User, organiser: User) -> None:
    release = released()
    accept(make_dispute(release, raiser, claim="no fact"), organiser, "remove")
    accept(make_dispute(release, raiser, fact=1, claim="x"), organiser, "change", value="March 31")
    missing = make_dispute(release, raiser, fact=None, claim="77 shops")
    accept(missing, organiser, "add", type="Number", value="77")
    assert facts(freeze_next(release)) == [("Date", "March 31"), ("Number", "77")]


@pytest.mark.parametrize(
    ("fact", "act", "fields", "field", "message"),
    [
        (0, "change", {"value": "9,999"}, "value", "This text is not in the document"),
        (0, "change", {"value": "March 31"}, "value", "overlaps another fact"),
        (0, "change", {"type": "Money"}, "type", "Must be one of Number, Date"),
        (0, "add", {"type": "Number", "value": "77"}, "act", "Change or remove the disputed fact"),
        (None, "remove", {}, "act", "Add a fact: none is disputed"),
        (None, "add", {"type": "Number"}, "value", "Enter the text"),
        (None, "add", {"type": "Number", "value": "a"}, "start", "times. Enter its start"),
    ],
)
def test_a_correction_that_cannot_be_is_refused(
    fact: int | None,
    act: str,
    fields: dict[str, Any],
    field: str,
    message: str,
    raiser: User,
    organiser: User,
) -> None:
    dispute = make_dispute(released(), raiser, fact=fact)
    with pytest.raises(DisputeRefused, match=message) as caught:
        accept(dispute, organiser, act, **fields)
    assert caught.value.field == field
    dispute.refresh_from_db()
    assert dispute.state == "open"


def test_of_two_for_one_fact_the_second_is_not_applied(raiser: User, organiser: User) -> None:
    release = released()
    first = make_dispute(release, raiser, claim="sales 1,200")
    second = make_dispute(release, raiser, claim="remove it")
    decide(first, organiser)
    accept(second, organiser, "remove")
    reasons = [row.reason for row in corrections_for(release).planned]
    assert reasons == ["", "the disputed fact is no longer in the gold"]
    assert facts(freeze_next(release))[0] == ("Number", "sales 1,200")


def test_the_form_lists_them_and_the_page_freezes_them(
    raiser: User, organiser: User, client_of: ClientOf
) -> None:
    release = released()
    decide(make_dispute(release, raiser, claim="sales 1,200"), organiser)
    decide(make_dispute(release, raiser, name="b", claim="wrong"), organiser)
    client = client_of(organiser)
    shown = client.get("/datasets/world/releases/new/").content.decode()
    assert "change Number `1,200` to Number `sales 1,200`" in shown
    assert BY_HAND in shown
    form = {"source": "release:1.0.0", "version": "1.1.0", "visibility": "public", "split": "none"}
    answer = client.post("/datasets/world/releases/new/", form)
    assert answer.status_code == 302
    assert facts(Release.objects.get(version="1.1.0"))[0] == ("Number", "sales 1,200")


def test_the_dispute_page_takes_a_correction(
    raiser: User, organiser: User, client_of: ClientOf
) -> None:
    dispute = make_dispute(released(), raiser)
    client = client_of(organiser)
    path = f"/datasets/world/disputes/{dispute.pk}/"
    form = {"answer": "Yes.", "decision": "accept", "act": "change", "value": "9,999"}
    refused = client.post(f"{path}decide/", form)
    assert refused.status_code == 400
    assert "This text is not in the document" in refused.content.decode()
    client.post(f"{path}decide/", form | {"value": "sales 1,200"})
    assert "Correction to the newest release: change Number" in client.get(path).content.decode()


def test_the_api_takes_lists_and_freezes_them(raiser: User, organiser: User, api_of: ApiOf) -> None:
    dispute = make_dispute(released(), raiser)
    api = api_of(organiser)
    body = {"accept": True, "answer": "Yes.", "correction": {"act": "remove"}}
    decided = api.post(f"{API}disputes/{dispute.pk}/decide/", body, format="json").json()
    assert decided["correction"] == {"act": "remove"}
    assert api.get(f"{API}corrections/").json() == [
        {
            "dispute": dispute.pk, "item": "a", "fact": 0, "correction": {"act": "remove"},
            "applies": True, "reason": "",
        }
    ]  # fmt: skip
    assert api_of(raiser).get(f"{API}corrections/").status_code == 403
    answer = api.post(f"{API}releases/", {"from_release": "1.0.0"}, format="json")
    assert answer.status_code == 201
    assert facts(Release.objects.get(version="1.0.1")) == FACTS[1:]
    answer = api.post(f"{API}releases/", {"from_release": "9.0.0"}, format="json")
    assert answer.json() == {"gold": ["this dataset has no release 9.0.0"]}
    assert api.post(f"{API}releases/", {}, format="json").json() == {
        "benchmark": ["This field is required."]
    }


def test_the_command_names_and_freezes_them(raiser: User, organiser: User) -> None:
    release = released()
    dispute = decide(make_dispute(release, raiser, claim="sales 1,200"), organiser)
    out = io.StringIO()
    call_command("freeze_release", "world", "1.1.0", "--from-release", "1.0.0", stdout=out)
    assert f"dispute {dispute.pk}, a: change Number `1,200`" in out.getvalue()
    assert facts(Release.objects.get(version="1.1.0"))[0] == ("Number", "sales 1,200")


def test_splits_and_documents_that_are_held_back(raiser: User) -> None:
    release = released(visibility="gold_hidden", splits={"a": "dev", "b": "test"})
    order = FreezeOrder("", source=EARLIER, base="1.0.0", version="1.1.0", split_by="column")
    again = freeze_order(dataset=release.dataset, order=order, actor=None)
    assert dict(again.items.values_list("name", "split")) == {"a": "dev", "b": "test"}
    release.dataset.documents.filter(name="b").update(state="held", held_reason="a copy")
    order = FreezeOrder("", source=EARLIER, base="1.0.0", version="1.2.0")
    with pytest.raises(ReleaseError, match="no gold would be hidden"):
        freeze_order(dataset=release.dataset, order=order, actor=None)
    order = replace(order, visibility="public")
    last = freeze_order(dataset=release.dataset, order=order, actor=None)
    assert list(last.items.values_list("name", flat=True)) == ["a"]
