"""Individual items that their owner makes public."""

from typing import Any

import pytest
from django.test import Client

from portal.accounts.models import User
from portal.audit.models import Event
from portal.datasets.models import Dataset, Release
from portal.jobs.worker import run_due_jobs
from scoring.access import may_open_items
from scoring.models import Entry, Phase, Submission
from scoring.submissions.services import (
    PublicationRefused,
    open_items,
    publish_submission,
    unpublish_submission,
)
from tests.fixture_types import ApiOf, ClientOf, RunJobs
from tests.scoring.factories import FLAWED, PERFECT, make_board, make_release, make_submission
from tests.worlds import shared

pytestmark = pytest.mark.django_db


READ = [
    "/submissions/{}/items/page-1/",
    "/submissions/{}/items/page-1/gold/",
    "/submissions/{}/items/page-1/prediction/",
    "/submissions/{}/scores.csv",
    "/api/v1/submissions/{}/items/",
    "/api/v1/submissions/{}/items/page-1/",
]
KEPT = ["/submissions/{}/file/", "/api/v1/submissions/{}/file/"]


def statuses(client: Client, submission: Submission, paths: list[str]) -> list[int]:
    return [client.get(path.format(submission.pk)).status_code for path in paths]


def read_by_nobody(client_of: ClientOf, submission: Submission) -> list[int]:
    return statuses(client_of(None), submission, READ)


@pytest.fixture
@shared
def opened(graded: Submission, researcher: User) -> Submission:
    """Published, with its items."""
    publish_submission(submission=graded, actor=researcher)
    graded.refresh_from_db()
    return open_items(submission=graded, has_open_items=True, actor=researcher)


def test_opened_items_are_read_by_everybody(client_of: ClientOf, opened: Submission) -> None:
    assert read_by_nobody(client_of, opened) == [200] * 6
    page = client_of(None).get(opened.get_absolute_url()).content.decode()
    assert f"/submissions/{opened.pk}/items/page-3/" in page


def test_the_file_stays_with_its_keepers(client_of: ClientOf, opened: Submission) -> None:
    assert statuses(client_of(None), opened, KEPT) == [302, 401]


def test_items_of_what_is_private_stay_private(
    client_of: ClientOf, graded: Submission, researcher: User
) -> None:
    open_items(submission=graded, has_open_items=True, actor=researcher)
    assert read_by_nobody(client_of, graded) == [404] * 6
    publish_submission(submission=graded, actor=researcher)
    assert read_by_nobody(client_of, graded) == [200] * 6
    unpublish_submission(submission=graded, actor=researcher)
    assert read_by_nobody(client_of, graded) == [404] * 6


def test_closed_again_they_are_read_by_their_keepers_alone(
    client_of: ClientOf, opened: Submission, researcher: User
) -> None:
    open_items(submission=opened, has_open_items=False, actor=researcher)
    assert read_by_nobody(client_of, opened) == [404] * 6
    assert statuses(client_of(researcher), opened, READ) == [200] * 6


def test_opening_twice_is_noted_once(opened: Submission, researcher: User) -> None:
    open_items(submission=opened, has_open_items=True, actor=researcher)
    assert Event.objects.filter(verb="open_items").count() == 1


@pytest.mark.parametrize(
    "changed",
    [
        {"diagnostics": "aggregates"},
        {"score_decimals": 0},
        {"public_share": 50},
    ],
    ids=str,
)
def test_what_a_phase_keeps_back_stays_back(
    client_of: ClientOf, opened: Submission, changed: dict[str, Any]
) -> None:
    """Also where the phase was changed after the items were opened."""
    Phase.objects.update(**changed)
    assert read_by_nobody(client_of, opened) == [404] * 6
    phase = Phase.objects.get()
    assert not may_open_items(phase, phase.release)


def test_a_private_dataset_keeps_its_items(client_of: ClientOf, opened: Submission) -> None:
    Dataset.objects.update(visibility=Dataset.Visibility.PRIVATE)
    assert read_by_nobody(client_of, opened) == [404] * 6


@pytest.fixture
@shared
def hidden(researcher: User) -> Submission:
    release = make_release(visibility=Release.Visibility.GOLD_HIDDEN)
    submission = make_submission(make_board(release), researcher, FLAWED)
    run_due_jobs()
    publish_submission(submission=submission, actor=researcher)
    return submission


def test_items_with_hidden_gold_cannot_be_opened(
    client_of: ClientOf, api_of: ApiOf, hidden: Submission, researcher: User
) -> None:
    with pytest.raises(PublicationRefused, match="its gold is not public"):
        open_items(submission=hidden, has_open_items=True, actor=researcher)
    url = f"/api/v1/submissions/{hidden.pk}/open-items/"
    answer = api_of(researcher).post(url, {"has_open_items": True}, format="json")
    assert answer.status_code == 409
    page = client_of(researcher).post(
        f"/submissions/{hidden.pk}/open-items/", {"open": "1"}, follow=True
    )
    text = page.content.decode()
    assert "its gold is not public" in text
    assert "Make individual items public" not in text
    assert read_by_nobody(client_of, hidden) == [404] * 6


def test_the_page_opens_and_closes(
    client_of: ClientOf, graded: Submission, researcher: User
) -> None:
    client, url = client_of(researcher), f"/submissions/{graded.pk}/open-items/"
    assert "Make individual items public" in client.get(graded.get_absolute_url()).content.decode()
    text = client.post(url, {"open": "1"}, follow=True).content.decode()
    assert "The individual items are public" in text
    assert "Make individual items private" in text
    client.post(url, {"open": "0"})
    graded.refresh_from_db()
    assert not graded.has_open_items


def test_the_api_opens_and_closes(api_of: ApiOf, graded: Submission, researcher: User) -> None:
    api, url = api_of(researcher), f"/api/v1/submissions/{graded.pk}/open-items/"
    assert api.post(url, {"has_open_items": True}, format="json").json()["has_open_items"] is True
    assert api.post(url, {"has_open_items": False}, format="json").json()["has_open_items"] is False
    assert list(api.post(url, {}, format="json").json()) == ["has_open_items"]


def test_readers_see_the_published_result_not_a_newer_one(
    client_of: ClientOf, opened: Submission
) -> None:
    """A newer grading counts for its keepers, and for others once it is published."""
    newer = opened.gradings.get()
    newer.pk = None
    newer.save()
    items = client_of(None).get(f"/api/v1/submissions/{opened.pk}/items/").json()
    assert items["count"] == 3


def test_everybody_compares_items_that_are_open(
    client_of: ClientOf, opened: Submission, researcher: User, run_jobs: RunJobs
) -> None:
    other = make_submission(opened.phase.board, researcher, PERFECT)
    run_jobs()
    publish_submission(submission=other, actor=researcher)
    numbers = ",".join(str(number) for number in Entry.objects.values_list("pk", flat=True))
    url = f"/boards/board/compare/?entries={numbers}"
    item = f"/submissions/{opened.pk}/items/page-2/"
    assert item not in client_of(None).get(url).content.decode()
    open_items(
        submission=Submission.objects.get(pk=other.pk), has_open_items=True, actor=researcher
    )
    assert item in client_of(None).get(url).content.decode()
