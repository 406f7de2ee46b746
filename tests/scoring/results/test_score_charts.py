"""The distribution of a submission's item scores, and who may see it."""

import csv
import io

import pytest
from django.core.cache import cache

from portal.accounts.models import User
from portal.jobs.worker import run_due_jobs
from scoring.models import Phase, Submission
from scoring.submissions.services import publish_submission
from tests.fixture_types import ClientOf
from tests.scoring.factories import latest_grading, make_board, make_release, make_submission
from tests.worlds import shared

pytestmark = pytest.mark.django_db


# Correct facts: 2 of 3, 0 of 1, 1 of 1; page 4 has none.
GOLD = {
    "page-1": "<p><Number>1,200</Number>, <Number>(350)</Number> at <Date>May 27, 2021</Date></p>",
    "page-2": "<p>It rose to <Number>3.5%</Number></p>",
    "page-3": "<p>Total assets <Number>98,765</Number></p>",
    "page-4": "<p>No fact here.</p>",
}
READ = {
    "page-1": "<p>1,200, 350 at May 27, 2021</p>",
    "page-3": "<p>Total assets 98,765</p>",
    "page-4": "<p>No fact here.</p>",
}


@pytest.fixture(autouse=True)
def _no_cache() -> None:
    cache.clear()


@pytest.fixture
@shared
def read(researcher: User) -> Submission:
    submission = make_submission(make_board(make_release(GOLD)), researcher, READ)
    run_due_jobs()
    return submission


def test_items_are_counted_by_tenths(
    client_of: ClientOf, read: Submission, researcher: User
) -> None:
    client = client_of(researcher)
    answer = client.get(f"/submissions/{read.pk}/scores.csv")
    [heads, *lines] = csv.reader(io.StringIO(answer.content.decode()))
    assert heads == ["Item score from", "to", "Items"]
    counted = {float(low): int(count) for low, _, count in lines}
    assert counted == {each / 10: {0: 1, 6: 1, 9: 1}.get(each, 0) for each in range(10)}
    page = client.get(f"/submissions/{read.pk}/").content.decode()
    assert "Items without a score: 1." in page
    assert f'src="/submissions/{read.pk}/scores.svg?"' in page


def test_a_score_on_a_border_is_in_the_upper_tenth(
    client_of: ClientOf, read: Submission, researcher: User
) -> None:
    # As floats, neither is a multiple of a tenth: 0.1 + 0.2 is slightly above, 0.7 below.
    scores = latest_grading(read).item_scores.order_by("item__position")
    for row, score in zip(scores, (0.1 + 0.2, 0.7, 0.7, None), strict=True):
        row.score = score
        row.save()
    answer = client_of(researcher).get(f"/submissions/{read.pk}/scores.csv")
    lines = list(csv.reader(io.StringIO(answer.content.decode())))[1:]
    assert [line[2] for line in lines] == ["0", "0", "0", "1", "0", "0", "0", "2", "0", "0"]


@pytest.mark.parametrize(
    "hidden",
    [
        {"diagnostics": Phase.Diagnostics.AGGREGATES},
        {"score_decimals": 0},
        {"public_share": 50},
    ],
)
def test_hidden_items_have_no_score_chart(
    client_of: ClientOf,
    read: Submission,
    researcher: User,
    organiser: User,
    hidden: dict[str, object],
) -> None:
    Phase.objects.update(**hidden)
    for form in ("csv", "svg", "png", "vl"):
        address = f"/submissions/{read.pk}/scores.{form}"
        assert client_of(researcher).get(address).status_code == 404
    page = client_of(researcher).get(f"/submissions/{read.pk}/").content.decode()
    assert "Item scores" not in page
    # Organisers read individual items of every phase.
    assert client_of(organiser).get(f"/submissions/{read.pk}/scores.csv").status_code == 200


def test_other_readers_see_only_totals_of_a_published_submission(
    client_of: ClientOf, read: Submission, stranger: User, organiser: User
) -> None:
    publish_submission(submission=read, actor=organiser)
    for user in (None, stranger):
        assert client_of(user).get(f"/submissions/{read.pk}/").status_code == 200
        assert client_of(user).get(f"/submissions/{read.pk}/scores.csv").status_code == 404


def test_the_picture_is_as_large_as_the_page_says(
    client_of: ClientOf, read: Submission, researcher: User
) -> None:
    client = client_of(researcher)
    page = client.get(f"/submissions/{read.pk}/").content.decode()
    for size, width in (("", 1080), ("narrow", 350)):
        svg = client.get(f"/submissions/{read.pk}/scores.svg?size={size}").content.decode()
        assert f'width="{width}" height="280"' in svg
        assert f'width="{width}"' in page
