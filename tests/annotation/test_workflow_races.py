"""Simultaneous requests in the workflow: screening, handing over, submitting.

Like the other race tests these need PostgreSQL: SQLite allows a single writer.
"""

from collections import Counter
from collections.abc import Callable

import pytest

from annotation.assignments.handing_over import hand_over
from annotation.assignments.sharing import choose_calibration
from annotation.campaigns.services import open_campaign
from annotation.errors import AlreadySubmitted, Reassigned, Refused
from annotation.models import Assignment, Campaign, CampaignDocument, Screening
from annotation.screening.services import screen_document
from annotation.workbench.services import submit_assignment
from portal.accounts.models import User

from .factories import document_of, make_campaign, save, submit, work_of
from .test_races import at_once, kinds

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.race,
]

State = Assignment.State
Stage = CampaignDocument.Stage


@pytest.fixture
def screened(ann: User, ben: User, cleo: User, lead: User) -> Campaign:
    campaign = make_campaign([ann, ben, cleo], lead=lead, documents=6, opened=False, screening=True)
    return open_campaign(campaign=campaign, actor=lead)


def screening(campaign: Campaign, number: int, verdict: str, actor: User) -> Callable[[], object]:
    page = document_of(campaign, number)
    given = {"faults": ["ocr"], "reason": "Garbled."} if verdict == "faulty" else {}
    return lambda: screen_document(campaign_document=page, verdict=verdict, actor=actor, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize("turn", range(3))
def test_of_two_verdicts_at_once_one_holds(
    screened: Campaign, ann: User, ben: User, turn: int
) -> None:
    results = at_once(screening(screened, 1, "intact", ann), screening(screened, 1, "faulty", ben))
    assert kinds(results) == ["CampaignDocument", "ScreenedMeanwhile"]
    verdict = Screening.objects.get().verdict
    page = document_of(screened)
    assert page.stage == (Stage.ANNOTATION if verdict == "intact" else Stage.EXCLUDED)
    assert page.assignments.count() == (2 if verdict == "intact" else 0)


def test_pages_that_pass_at_once_are_shared_out_evenly(screened: Campaign, ann: User) -> None:
    results = at_once(*(screening(screened, number, "intact", ann) for number in range(1, 7)))
    assert kinds(results) == ["CampaignDocument"] * 6
    loads = Counter(Assignment.objects.values_list("annotator__name", flat=True))
    assert loads == {"Ann": 4, "Ben": 4, "Cleo": 4}


@pytest.fixture
def work(ann: User, ben: User, cleo: User, lead: User) -> Assignment:
    """Ann's, which she has begun; Ben has the same page, and Cleo none."""
    work = work_of(ann, make_campaign([ann, ben, cleo], lead=lead, documents=1))
    save(work, ("Number", "1,200"))
    return work


@pytest.mark.parametrize("turn", range(3))
def test_handing_over_twice_at_once_is_once(work: Assignment, lead: User, turn: int) -> None:
    campaign = work.campaign_document.campaign
    results = at_once(*[lambda: hand_over(assignment=work, heir=None, actor=lead)] * 2)
    assert kinds(results) == ["HandedOver", "Refused"]
    assert document_of(campaign).assignments.active().count() == 2


@pytest.mark.parametrize("turn", range(3))
def test_submission_and_hand_over_at_once_do_not_both_happen(
    work: Assignment, ann: User, ben: User, lead: User, turn: int
) -> None:
    campaign = work.campaign_document.campaign
    submit(work_of(ben, campaign), ("Number", "1,200"))
    results = at_once(
        lambda: hand_over(assignment=work, heir=None, actor=lead),
        lambda: submit_assignment(assignment=work, base_revision=1, actor=ann),
    )
    refused = [result for result in results if isinstance(result, Refused)]
    assert len(refused) == 1
    work.refresh_from_db()
    page = document_of(campaign)
    if isinstance(refused[0], Reassigned):
        assert (work.state, page.stage) == (State.WITHDRAWN, Stage.ANNOTATION)
    else:
        assert (work.state, page.stage) == (State.SUBMITTED, Stage.GOLD)


@pytest.mark.parametrize("turn", range(3))
def test_save_and_hand_over_at_once_keep_the_work_withdrawn(
    work: Assignment, ann: User, lead: User, turn: int
) -> None:
    campaign = work.campaign_document.campaign
    results = at_once(
        lambda: hand_over(assignment=work, heir=None, actor=lead),
        lambda: save(work_of(ann, campaign), ("Number", "(310)"), key="late"),
    )
    work.refresh_from_db()
    assert "HandedOver" in kinds(results)
    assert work.state == State.WITHDRAWN
    assert not any(isinstance(result, AlreadySubmitted) for result in results)


@pytest.mark.parametrize("turn", range(3))
def test_calibration_chosen_while_the_last_one_submits(
    ann: User, ben: User, cleo: User, lead: User, turn: int
) -> None:
    campaign = make_campaign([ann, ben, cleo], lead=lead, documents=1)
    for user in (ann, ben):
        save(work_of(user, campaign), ("Number", "1,200"))
    submit(work_of(ben, campaign))
    results = at_once(
        lambda: submit_assignment(assignment=work_of(ann, campaign), base_revision=1, actor=ann),
        lambda: choose_calibration(campaign=campaign, names=["page-001"], actor=lead),
    )
    page = document_of(campaign)
    team = page.assignments.active()
    if page.stage == Stage.GOLD:
        assert (team.count(), kinds(results)) == (2, ["Assignment", "Refused"])
    else:
        assert (team.count(), kinds(results)) == (3, ["Assignment", "list"])
        assert page.stage == Stage.ANNOTATION
