"""Simultaneous requests: saving tabs, last submissions, decisions of the same case.

SQLite allows a single writer, and threads cannot share its in-memory database. These tests run only
on databases where they can fail.
"""

import threading
from collections.abc import Callable

import pytest
from django.db import connection

from annotation.adjudication.services import AlreadyDecided, decide_case
from annotation.campaigns.services import edit_guidelines
from annotation.errors import AlreadySubmitted, Conflict
from annotation.models import (
    Assignment,
    Campaign,
    CampaignDocument,
    Case,
    Comment,
    GoldSpan,
    Revision,
)
from annotation.workbench.services import (
    add_comment,
    restore_revision,
    save_spans,
    submit_assignment,
)
from portal.accounts.models import User
from portal.audit.models import Event

from .factories import document_of, save, spans_in, text_of, work_of

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.race,
]


def at_once(*works: Callable[[], object]) -> list[object]:
    """Runs the works in threads that start together; returns their results or exceptions."""
    barrier = threading.Barrier(len(works))
    results: list[object] = [None] * len(works)

    def run(place: int, work: Callable[[], object]) -> None:
        barrier.wait()
        try:
            results[place] = work()
        except Exception as error:  # the test looks at it
            results[place] = error
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=item) for item in enumerate(works)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def kinds(results: list[object]) -> list[str]:
    return sorted(type(result).__name__ for result in results)


@pytest.mark.parametrize("turn", range(5))
def test_of_tabs_saving_at_once_one_wins(campaign: Campaign, ann: User, turn: int) -> None:
    work = work_of(ann, campaign)
    spans = spans_in(text_of(work), ("Number", "1,200"))

    def tab(number: int) -> Callable[[], object]:
        return lambda: save_spans(
            assignment=work,
            base_revision=0,
            save_key=f"tab-{number}",
            spans=spans if number % 2 else [],
            author=ann,
        )

    results = at_once(*(tab(number) for number in range(4)))
    assert kinds(results) == [Conflict.__name__] * 3 + ["Saved"]
    work.refresh_from_db()
    revision = Revision.objects.get()
    assert work.revision == revision.number == 1
    assert work.spans.count() == len(revision.added)


def test_same_save_arriving_twice_at_once_is_one_save(campaign: Campaign, ann: User) -> None:
    work = work_of(ann, campaign)

    def send() -> object:
        return save_spans(assignment=work, base_revision=0, save_key="same", spans=[], author=ann)

    assert kinds(at_once(send, send, send)) == ["Saved"] * 3
    assert Revision.objects.count() == 1


@pytest.mark.parametrize("turn", range(5))
def test_last_two_submissions_at_once_settle_the_document_once(
    campaign: Campaign, ann: User, ben: User, turn: int
) -> None:
    save(work_of(ann, campaign), ("Number", "(310)"), ("Number", "1,200"))
    save(work_of(ben, campaign), ("Number", "310"), ("Number", "1,200"))

    def submission(user: User) -> Callable[[], object]:
        work = work_of(user, campaign)
        return lambda: submit_assignment(assignment=work, base_revision=1, actor=user)

    assert kinds(at_once(submission(ann), submission(ben))) == ["Assignment", "Assignment"]
    assert document_of(campaign).stage == CampaignDocument.Stage.ADJUDICATION
    assert (Case.objects.count(), GoldSpan.objects.count()) == (1, 1)
    assert Event.objects.filter(verb="settle_document").count() == 1


@pytest.mark.parametrize("turn", range(5))
def test_of_two_leads_deciding_at_once_one_decides(
    disputed: Campaign, lead: User, cleo: User, turn: int
) -> None:
    case = document_of(disputed).cases.get(kind="boundary")

    def decision(user: User, proposal: int) -> Callable[[], object]:
        return lambda: decide_case(
            case=case, choice="proposal", proposal=proposal, reason="By the rules.", actor=user
        )

    results = at_once(decision(lead, 0), decision(cleo, 1))
    assert kinds(results) == [AlreadyDecided.__name__, "Case"]
    assert case.gold_spans.count() == 1


def test_last_two_cases_decided_at_once_make_the_document_gold(
    disputed: Campaign, lead: User, cleo: User
) -> None:
    first, *rest = document_of(disputed).cases.all()
    decide_case(case=first, choice="neither", reason="No fact.", actor=lead)

    def decision(case: Case, user: User) -> Callable[[], object]:
        return lambda: decide_case(case=case, choice="neither", reason="No fact.", actor=user)

    at_once(*(decision(case, user) for case, user in zip(rest, (lead, cleo), strict=True)))
    assert document_of(disputed).stage == CampaignDocument.Stage.GOLD


def test_same_restore_arriving_twice_at_once_is_one_revision(campaign: Campaign, ann: User) -> None:
    work = work_of(ann, campaign)
    save(work, ("Number", "1,200"))
    save(work, ("Number", "(310)"))

    def restore() -> object:
        return restore_revision(
            assignment=work, number=1, base_revision=2, save_key="back", author=ann
        )

    assert kinds(at_once(restore, restore, restore)) == ["Saved"] * 3
    assert Revision.objects.count() == 3
    assert work.spans.get().quote == "1,200"


def test_time_of_a_save_arriving_twice_at_once_counts_once(campaign: Campaign, ann: User) -> None:
    work = work_of(ann, campaign)

    def send() -> object:
        return save_spans(
            assignment=work,
            base_revision=0,
            save_key="same",
            spans=[],
            author=ann,
            active_seconds=30,
        )

    at_once(send, send, send)
    work.refresh_from_db()
    assert work.active_seconds == 30


@pytest.mark.parametrize("turn", range(3))
def test_guidelines_edited_at_once_are_two_versions(
    campaign: Campaign, lead: User, turn: int
) -> None:
    def edit(text: str) -> Callable[[], object]:
        return lambda: edit_guidelines(campaign=campaign, text=text, actor=lead)

    assert kinds(at_once(edit("One."), edit("Two."))) == ["Campaign", "Campaign"]
    campaign.refresh_from_db()
    assert campaign.guidelines_version == 3
    numbers = campaign.guidelines_versions.values_list("number", flat=True)
    assert sorted(numbers) == [1, 2, 3]
    assert campaign.guidelines_versions.get(number=3).text == campaign.guidelines


@pytest.mark.parametrize("turn", range(3))
def test_comment_and_submission_at_once_come_one_after_the_other(
    campaign: Campaign, ann: User, turn: int
) -> None:
    work = work_of(ann, campaign)
    save(work, ("Number", "1,200"))

    def write() -> object:
        return add_comment(assignment=work, span_key="", text="Odd.", author=ann)

    def hand_in() -> object:
        return submit_assignment(assignment=work, base_revision=1, actor=ann)

    first, submitted = at_once(write, hand_in)
    assert isinstance(submitted, Assignment)
    assert isinstance(first, AlreadySubmitted) == (Comment.objects.count() == 0)
