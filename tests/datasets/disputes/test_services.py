"""Raising, deciding and settling disputes."""

from collections.abc import Callable

import pytest
from django.core import mail

from portal.accounts.models import User
from portal.audit.models import Event
from portal.datasets.disputes import services as service
from portal.datasets.disputes.services import (
    AlreadyDecided,
    DisputeRefused,
    raise_dispute,
    withdraw_dispute,
)
from portal.datasets.models import Dispute
from portal.datasets.releases.corrections import (
    dispute_notes,
    unsettled_disputes,
    unsettled_warning,
)
from portal.datasets.releases.gold import GoldItem
from portal.datasets.releases.services import freeze_release

from .factories import decide, item_of, make_dispute, released

pytestmark = pytest.mark.django_db


def test_raising_stores_claim_and_reason(researcher: User) -> None:
    dispute = make_dispute(released(), researcher, claim="  1,300 ")
    assert (dispute.claim, dispute.reason, dispute.state) == ("1,300", "So the page.", "open")
    assert Event.objects.get(verb="raise_dispute").actor == researcher


def test_second_click_finds_the_first_dispute(researcher: User, stranger: User) -> None:
    release = released()
    first = make_dispute(release, researcher)
    assert make_dispute(release, researcher) == first
    assert make_dispute(release, researcher, claim="1,400") != first
    assert make_dispute(release, researcher, fact=1) != first
    assert make_dispute(release, stranger) != first


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"fact": 2}, "fact"),
        ({"fact": -1}, "fact"),
        ({"claim": "  "}, "claim"),
        ({"claim": "x" * 501}, "claim"),
        ({"reason": ""}, "reason"),
        ({"reason": "x" * 4001}, "reason"),
    ],
)
def test_bad_words_and_facts_are_refused(
    researcher: User, change: dict[str, object], field: str
) -> None:
    said = {"fact": 0, "claim": "1,300", "reason": "So.", **change}
    with pytest.raises(DisputeRefused) as refusal:
        raise_dispute(item=item_of(released()), actor=researcher, **said)  # type: ignore[arg-type]
    assert refusal.value.field == field
    assert not Dispute.objects.exists()


def test_too_many_open_ones_are_refused(
    researcher: User, stranger: User, lead: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "MOST_OPEN", 2)
    release = released()
    first = make_dispute(release, researcher, claim="1")
    make_dispute(release, researcher, claim="2")
    with pytest.raises(DisputeRefused, match="2 open disputes"):
        make_dispute(release, researcher, claim="3")
    make_dispute(release, stranger, claim="3")
    decide(first, lead)
    make_dispute(release, researcher, claim="3")


@pytest.mark.parametrize(("accept", "state"), [(True, "accepted"), (False, "declined")])
def test_deciding_emails_the_raiser(
    researcher: User, lead: User, run_jobs: Callable[[], int], accept: bool, state: str
) -> None:
    dispute = decide(make_dispute(released(), researcher), lead, accept=accept, answer="Seen.")
    assert (dispute.state, dispute.answer, dispute.decided_by) == (state, "Seen.", lead)
    assert mail.outbox == []
    run_jobs()
    (email,) = mail.outbox
    assert email.to == [researcher.email]
    assert state in email.subject
    assert "Seen." in email.body
    assert f"https://factboard.example/datasets/world/disputes/{dispute.pk}/" in email.body


def test_no_email_to_an_inactive_account(
    researcher: User, lead: User, run_jobs: Callable[[], int]
) -> None:
    dispute = make_dispute(released(), researcher)
    User.objects.filter(pk=researcher.pk).update(is_active=False)
    decide(dispute, lead)
    run_jobs()
    assert mail.outbox == []


def test_first_decision_holds(researcher: User, lead: User, organiser: User) -> None:
    dispute = make_dispute(released(), researcher)
    decide(dispute, lead)
    for actor, accept, answer in (
        (organiser, False, "No."), (organiser, True, "Yes."), (lead, False, "Yes."),
        (lead, True, "No."),
    ):  # fmt: skip
        with pytest.raises(AlreadyDecided, match="was already accepted by Lea on"):
            decide(dispute, actor, accept=accept, answer=answer)
    again = decide(dispute, lead)
    assert (again.state, again.answer, again.decided_by) == ("accepted", "Yes.", lead)
    assert Event.objects.filter(verb__startswith="dispute_").count() == 1


def test_own_dispute_and_empty_answer_are_refused(lead: User, researcher: User) -> None:
    release = released()
    with pytest.raises(DisputeRefused, match="cannot decide your own"):
        decide(make_dispute(release, lead), lead)
    with pytest.raises(DisputeRefused, match="Enter a reason"):
        decide(make_dispute(release, researcher), lead, answer=" ")
    assert Dispute.objects.filter(state="open").count() == 2


def test_of_withdrawing_and_deciding_the_first_holds(researcher: User, lead: User) -> None:
    release = released()
    taken_back, decided = (make_dispute(release, researcher, claim=str(n)) for n in range(2))
    withdraw_dispute(dispute=taken_back, actor=researcher)
    with pytest.raises(AlreadyDecided, match="was already withdrawn by"):
        decide(taken_back, lead)
    assert withdraw_dispute(dispute=taken_back, actor=researcher).state == "withdrawn"
    decide(decided, lead)
    with pytest.raises(AlreadyDecided, match="was already accepted by Lea"):
        withdraw_dispute(dispute=decided, actor=researcher)
    assert Event.objects.filter(verb="withdraw_dispute").count() == 1
    # The limit of open disputes has room again, and the same claim is allowed again.
    assert make_dispute(release, researcher, claim="0").pk != taken_back.pk


def test_accepted_ones_are_settled_and_listed_by_the_next_release(
    researcher: User, lead: User
) -> None:
    release = released()
    accepted = decide(make_dispute(release, researcher, claim="1,300\n`x`"), lead)
    missing = decide(make_dispute(release, researcher, fact=None, claim="77"), lead)
    declined = decide(make_dispute(release, researcher, fact=1), lead, accept=False)
    still_open = make_dispute(release, researcher, name="b")
    new = released(version="1.1.0", number="77")
    for dispute, settled in ((accepted, new), (missing, new), (declined, None), (still_open, None)):
        dispute.refresh_from_db()
        assert dispute.settled_in == settled
    assert new.notes == (
        "### Resolved disputes\n\n"
        f"- Dispute {accepted.pk}: `a`, fact 0: `` 1,300 `x` ``\n"
        f"- Dispute {missing.pk}: `a`, whole item: `77`"
        "\n"
    )
    later = released(version="1.2.0")
    assert later.notes == ""
    accepted.refresh_from_db()
    assert accepted.settled_in == new


def test_accepted_ones_wait_as_long_as_their_gold_is_as_it_was(
    researcher: User, lead: User
) -> None:
    release = released()
    number = decide(make_dispute(release, researcher, fact=0), lead)
    date = decide(make_dispute(release, researcher, fact=1, name="b"), lead)
    missing = decide(make_dispute(release, researcher, fact=None), lead)
    assert released(version="1.1.0").notes == ""
    assert unsettled_warning(release.dataset) == (
        "These accepted disputes are not resolved, because their gold has not changed:"
        f" {number.pk} (a), {date.pk} (b), {missing.pk} (a)."
    )
    # The number of both pages changes. The date does not, although its position does.
    new = released(version="1.2.0", number="77")
    for dispute, settled in ((number, new), (date, None), (missing, new)):
        dispute.refresh_from_db()
        assert dispute.settled_in == settled
    assert f"Dispute {date.pk}:" not in new.notes
    assert f": {date.pk} (b)." in unsettled_warning(release.dataset)


def test_dispute_of_a_removed_item_is_settled(researcher: User, lead: User) -> None:
    release = released()
    dispute = decide(make_dispute(release, researcher, name="b"), lead)
    document = release.dataset.documents.get(name="a")
    freeze_release(
        dataset=release.dataset, version="2.0.0", items=[GoldItem(document, [])], labels=["Number"]
    )
    dispute.refresh_from_db()
    assert dispute.settled_in is not None
    assert unsettled_warning(release.dataset) == ""


def test_warning_names_ten_and_counts_the_others(researcher: User, lead: User) -> None:
    release = released()
    for number in range(12):
        decide(make_dispute(release, researcher, claim=f"{number}"), lead)
    warning = unsettled_warning(release.dataset)
    assert warning.count("(a)") == 10
    assert warning.endswith(" and 2 more.")


def test_notes_do_not_repeat_their_draft(researcher: User, lead: User) -> None:
    release = released()
    dispute = decide(make_dispute(release, researcher), lead)
    draft = dispute_notes(list(unsettled_disputes(release.dataset)))
    document = release.dataset.documents.get(name="a")
    new = freeze_release(
        dataset=release.dataset,
        version="2.0.0",
        items=[GoldItem(document, [])],
        labels=["Number"],
        notes=f"Better.\n\n{draft}",
    )
    assert new.notes.count(f"Dispute {dispute.pk}:") == 1
    assert new.notes.startswith("Better.")


@pytest.mark.parametrize("splits", [None, {"a": "test", "b": "dev"}])
def test_notes_say_nothing_of_hidden_gold(
    researcher: User, lead: User, splits: dict[str, str] | None
) -> None:
    release = released(visibility="gold_hidden", splits=splits)
    dispute = decide(make_dispute(release, researcher, fact=None, claim="4,711"), lead)
    if splits:
        decide(make_dispute(release, researcher, name="b", claim="1,300"), lead)
    notes = released(version="1.1.0", visibility="public", number="77").notes
    assert f"- Dispute {dispute.pk}: the gold is hidden" in notes
    assert "4,711" not in notes
    assert ("`b`, fact 0: `1,300`" in notes) is bool(splits)


def test_disputes_of_other_datasets_are_left_alone(researcher: User, lead: User) -> None:
    from tests.datasets.factories import make_release
    from tests.datasets.variants.factories import base_dataset

    dispute = decide(make_dispute(released(), researcher), lead)
    make_release(base_dataset())
    dispute.refresh_from_db()
    assert dispute.settled_in is None
