"""Concurrent reviews: verdicts on one fact, the last two verdicts, the last two pages.

SQLite lets one writer in at a time from the beginning of a transaction; so these run where they can
fail.
"""

from collections.abc import Callable

import pytest

from annotation.errors import Refused
from annotation.models import Campaign, ReviewRound
from annotation.review.services import AlreadyReviewed, decide_item, open_round_now
from annotation.workbench.services import submit_assignment
from portal.accounts.models import User
from portal.audit.models import Event
from tests.annotation.factories import save, work_of
from tests.annotation.test_races import at_once, kinds

from .review_factories import MARKS, gold_of, item_of, make_gold, reviewed_campaign, round_of

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.race,
]

Work = Callable[[], object]


@pytest.fixture
def campaign(ann: User, ben: User, lead: User, reviewer: User) -> Campaign:
    """Two pages, and a review of all their facts when both are gold."""
    return reviewed_campaign([ann, ben], lead=lead, reviewer=reviewer, documents=2, review_share=1)


def verdict(campaign: Campaign, position: int, user: User, given: str) -> Work:
    item = item_of(campaign, position)
    return lambda: decide_item(item=item, verdict=given, reason="So.", actor=user)


@pytest.mark.parametrize("turn", range(3))
@pytest.mark.parametrize("given", ["accepted", "corrected", "sent_back"])
def test_of_two_verdicts_on_one_fact_one_counts(
    campaign: Campaign, reviewer: User, cleo: User, given: str, turn: int
) -> None:
    for number in (1, 2):
        make_gold(campaign, number)
    results = at_once(
        verdict(campaign, 1, reviewer, given), verdict(campaign, 1, cleo, "corrected")
    )
    assert kinds(results) == [AlreadyReviewed.__name__, "ReviewItem"]
    item = item_of(campaign)
    assert Event.objects.filter(verb="decide_review_item").count() == 1
    assert len(gold_of(item)) == (4 if item.verdict == "accepted" else 3)


@pytest.mark.parametrize("turn", range(3))
@pytest.mark.parametrize("last", [(1, 2), (1, 5)], ids=["same page", "two pages"])
def test_last_two_verdicts_close_the_round_once(
    campaign: Campaign, reviewer: User, cleo: User, last: tuple[int, int], turn: int
) -> None:
    for number in (1, 2):
        make_gold(campaign, number)
    for position in set(range(1, 9)) - set(last):
        decide_item(item=item_of(campaign, position), verdict="accepted", actor=reviewer)
    first, second = last
    at_once(
        verdict(campaign, first, reviewer, "accepted"), verdict(campaign, second, cleo, "accepted")
    )
    assert round_of(campaign).state == "done"
    assert Event.objects.filter(verb="close_review_round").count() == 1


@pytest.mark.parametrize("turn", range(3))
def test_last_two_pages_gold_at_once_are_in_one_round(
    campaign: Campaign, ann: User, ben: User, turn: int
) -> None:
    """Each must see the other, or no one opens the last round."""
    for number in (1, 2):
        save(work_of(ann, campaign, number), *MARKS)
        save(work_of(ben, campaign, number), *MARKS)
        submit_assignment(assignment=work_of(ann, campaign, number), base_revision=1, actor=ann)

    def last(number: int) -> Work:
        work = work_of(ben, campaign, number)
        return lambda: submit_assignment(assignment=work, base_revision=1, actor=ben)

    assert kinds(at_once(last(1), last(2))) == ["Assignment", "Assignment"]
    assert [found.pages for found in ReviewRound.objects.all()] == [2]
    assert campaign.documents.filter(review_round=None).count() == 0


@pytest.mark.parametrize("turn", range(3))
def test_of_two_leads_opening_a_round_one_does(
    campaign: Campaign, lead: User, cleo: User, turn: int
) -> None:
    make_gold(campaign, 1)

    def opening(user: User) -> Work:
        return lambda: open_round_now(campaign=campaign, actor=user)

    assert kinds(at_once(opening(lead), opening(cleo))) == [Refused.__name__, "ReviewRound"]
    assert ReviewRound.objects.count() == 1
