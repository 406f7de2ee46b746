"""The start page: for each role what waits."""

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from annotation.models import Assignment, Campaign, CampaignDocument, Case
from portal.accounts.models import User
from portal.home.selectors import SUBMISSIONS_SHOWN, what_waits
from tests.fixture_types import ClientOf

from .factories import (
    assign_all,
    join,
    make_board,
    make_campaign,
    make_case,
    make_phase,
    make_submission,
)

pytestmark = pytest.mark.django_db


def test_the_start_page_is_for_people_who_are_logged_in(client: Client) -> None:
    assert client.get("/start/")["Location"] == "/accounts/login/?next=/start/"


def test_a_newcomer_is_shown_how_to_take_part(client_of: ClientOf, stranger: User) -> None:
    page = client_of(stranger).get("/start/").content.decode()
    assert "Hello, Sam" in page
    assert "How to take part" in page
    assert "<h2>Annotate</h2>" not in page
    assert "<h2>Organise</h2>" not in page


def test_an_annotator_sees_the_own_open_work_and_goes_on_where_it_was_begun(
    client_of: ClientOf, ann: User, ben: User
) -> None:
    campaign = make_campaign(documents=3)
    join(campaign, ann, "annotator")
    join(campaign, ben, "annotator")
    first, second, third = assign_all(campaign, ann)
    assign_all(campaign, ben)
    _set(second, Assignment.State.IN_PROGRESS)
    _submit(third)
    work = what_waits(ann).annotation
    assert work is not None
    assert (work.open, work.untouched, work.begun, work.next) == (2, 1, 1, second)
    page = client_of(ann).get("/start/").content.decode()
    assert f'href="{second.get_absolute_url()}"' in page
    assert first.get_absolute_url() not in page


def _set(assignment: Assignment, state: str) -> None:
    Assignment.objects.filter(pk=assignment.pk).update(state=state)


def _submit(assignment: Assignment) -> None:
    Assignment.objects.filter(pk=assignment.pk).update(
        state=Assignment.State.SUBMITTED, submitted_at=timezone.now()
    )


def test_work_of_a_closed_campaign_does_not_wait(ann: User) -> None:
    campaign = make_campaign(state=Campaign.State.CLOSED)
    join(campaign, ann, "annotator")
    assign_all(campaign, ann)
    work = what_waits(ann).annotation
    assert work is not None
    assert (work.open, work.next) == (0, None)


def test_a_lead_sees_the_open_cases_of_each_own_campaign(client_of: ClientOf, lead: User) -> None:
    campaign, other = make_campaign("First", documents=3), make_campaign("Second")
    foreign = make_campaign("Foreign")
    join(campaign, lead, "lead", "reviewer")
    join(other, lead, "lead")
    documents = list(campaign.documents.all())
    for start in (1, 5):
        make_case(documents[0], start)
    make_case(documents[1], 2, state=Case.State.DECIDED, decided_at=timezone.now())
    CampaignDocument.objects.filter(pk=documents[2].pk).update(stage="gold")
    make_case(foreign.documents.get(), 1)
    first, second = what_waits(lead).duties
    counts = first.counts
    assert (counts.open_cases, counts.settled, counts.documents) == (2, 1, 3)
    assert first.roles == ("lead", "reviewer")
    assert (second.campaign, second.counts.open_cases) == (other, 0)
    page = client_of(lead).get("/start/").content.decode()
    assert "Adjudicate 2 cases" in page
    assert "Foreign" not in page


def test_a_reviewer_sees_the_campaign_without_the_way_to_decide(
    client_of: ClientOf, reviewer: User
) -> None:
    campaign = make_campaign("Reviewed")
    join(campaign, reviewer, "reviewer")
    make_case(campaign.documents.get(), 1)
    page = client_of(reviewer).get("/start/").content.decode()
    assert "Reviewed" in page
    assert "Adjudicate" not in page


def test_a_researcher_sees_the_own_submissions_with_their_newest_state(
    client_of: ClientOf, researcher: User, stranger: User
) -> None:
    phase = make_phase(make_board())
    make_submission(phase, researcher, "failed", "running", name="Mine")
    make_submission(phase, stranger, "done", name="Theirs")
    [own] = what_waits(researcher).submissions
    assert (own.name, own.state) == ("Mine", "running")
    page = client_of(researcher).get("/start/").content.decode()
    assert "Mine" in page
    assert "Theirs" not in page


def test_only_the_newest_submissions_are_listed(researcher: User) -> None:
    phase = make_phase(make_board())
    for number in range(SUBMISSIONS_SHOWN + 2):
        make_submission(phase, researcher, "done", name=f"S{number}")
    names = [own.name for own in what_waits(researcher).submissions]
    assert names == [f"S{number}" for number in range(SUBMISSIONS_SHOWN + 1, 1, -1)]


def test_an_organiser_finds_the_first_steps(client_of: ClientOf, organiser: User) -> None:
    page = client_of(organiser).get("/start/").content.decode()
    assert "<h2>Organise</h2>" in page
    assert "How to take part" not in page


@pytest.mark.parametrize("many", [1, 4])
def test_the_start_page_asks_the_database_the_same_for_little_and_for_much(
    client_of: ClientOf,
    ann: User,
    many: int,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    phase = make_phase(make_board())
    for number in range(many):
        campaign = make_campaign(f"Campaign {number}", documents=many)
        join(campaign, ann, "annotator", "lead")
        assign_all(campaign, ann)
        make_case(campaign.documents.all()[0], 1)
        make_submission(phase, ann, "done")
    client = client_of(ann)
    # session, user, membership for the navigation, memberships, counts, next, submissions, checks
    with django_assert_num_queries(8):
        client.get("/start/")
