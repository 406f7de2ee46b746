"""Typical errors: which items are chosen, what is shown of them, and to whom."""

from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser

from portal.accounts.models import User
from portal.datasets.imaging.drawing import Area
from portal.datasets.models import Dataset, ReleaseItem
from scoring.benchmarks.items import Sides
from scoring.models import Phase, Submission
from scoring.results.examples import Example, crop_around, differences, typical_errors
from scoring.results.fields import item_diff
from scoring.submissions.services import open_items, publish_submission
from tests.factories import empty_dataset
from tests.fixture_types import RunJobs
from tests.scoring.factories import (
    FLAWED,
    latest_grading,
    make_board,
    make_release,
    make_submission,
    plain,
)
from tests.scoring.results.test_linked_facts import add_image

pytestmark = pytest.mark.django_db

DEV, TEST = ReleaseItem.Split.DEV, ReleaseItem.Split.TEST


def examples(user: Any, submission: Submission) -> list[Example]:
    return typical_errors(user, submission, latest_grading(submission))


def shown(found: list[Example]) -> list[tuple[str, str, str, str, int | None]]:
    return [(each.error, each.item, each.gold, each.read, each.fact) for each in found]


def test_each_kind_of_error_has_an_example(graded: Submission, researcher: User) -> None:
    """One sign and one date are wrong: equally frequent, so in the order of their names."""
    assert shown(examples(researcher, graded)) == [
        ("date", "page-2", "2020", "2029", 1),
        ("sign", "page-1", "(350)", "350", 1),
    ]


def test_the_most_frequent_kinds_come_first_with_the_median_item(
    researcher: User, run_jobs: RunJobs
) -> None:
    """Digits are wrong on a, b and c (one, two and three of four), a sign on d."""
    values = ["1,234", "5,678", "2,468", "(9,753)"]
    gold = "".join(f"<p>Line {n} <Number>{value}</Number></p>" for n, value in enumerate(values))
    wrong = [("1,234", "1,239"), ("5,678", "5,679"), ("2,468", "2,469"), ("(9,753)", "9,753")]
    pages = {name: f"<h1>{name}</h1>{gold}" for name in "abcd"}
    read = {name: plain(page) for name, page in pages.items()}
    for name, changed in (("a", wrong[:1]), ("b", wrong[:2]), ("c", wrong[:3]), ("d", wrong[3:])):
        for value, slip in changed:
            read[name] = read[name].replace(value, slip)
    submission = make_submission(make_board(make_release(pages)), researcher, read)
    run_jobs()
    found = examples(researcher, submission)
    assert [(each.error, each.item) for each in found] == [("digit", "b"), ("sign", "d")]
    assert (found[0].gold, found[0].read, found[0].fact) == ("1,234", "1,239", 0)


def test_a_fact_with_a_place_has_a_crop(graded: Submission, researcher: User) -> None:
    image = add_image("page-1", "(350)")
    by_error = {each.error: each for each in examples(researcher, graded)}
    sign = by_error["sign"]
    assert sign.image == image
    assert sign.crop is not None
    assert sign.crop.area == Area(400, 300, 460, 320)
    assert (sign.crop.width, sign.crop.height) == (440, 110)
    assert by_error["date"].image is None


@pytest.mark.parametrize(
    ("area", "size", "part"),
    [
        # In the middle: 22 heights wide, a quarter of that high.
        (Area(500, 500, 540, 520), (1000, 1000), (300, 455, 440, 110)),
        # At the edges it stays on the image.
        (Area(0, 0, 40, 20), (1000, 1000), (0, 0, 440, 110)),
        (Area(960, 980, 1000, 1000), (1000, 1000), (560, 890, 440, 110)),
        # A long fact, and an image smaller than the part.
        (Area(100, 100, 900, 120), (1000, 1000), (20, 0, 960, 240)),
        (Area(10, 10, 20, 30), (100, 40), (0, 7.5, 100, 25)),
    ],
)
def test_a_crop_is_around_the_fact_and_on_the_image(
    area: Area, size: tuple[int, int], part: tuple[float, float, float, float]
) -> None:
    crop = crop_around(area, *size)
    assert (crop.left, crop.top, crop.width, crop.height) == part


def test_the_differences_of_an_item_without_facts() -> None:
    fields = item_diff(Sides({"a": "1", "b": "2", "c": "3"}, {"a": "1", "b": "7"}))
    assert list(differences(fields)) == [("b: 2", "7"), ("c: 3", "")]
    texts = item_diff(Sides("net loss of 1,200 in May", "net loss of 1,290 in"))
    assert list(differences(texts)) == [("1,200", "1,290"), ("May", "")]


# --- who sees them ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("visibility", "diagnostics", "is_shown"),
    [
        ("public", Phase.Diagnostics.FACTS, True),
        ("public", Phase.Diagnostics.ITEMS, False),
        ("public", Phase.Diagnostics.AGGREGATES, False),
        ("gold_hidden", Phase.Diagnostics.FACTS, False),
        ("private", Phase.Diagnostics.FACTS, False),
    ],
)
def test_examples_are_shown_where_facts_are_and_gold_is_public(
    researcher: User, run_jobs: RunJobs, visibility: str, diagnostics: str, is_shown: bool
) -> None:
    release = make_release(visibility=visibility)
    submission = make_submission(make_board(release, diagnostics=diagnostics), researcher, FLAWED)
    run_jobs()
    assert bool(examples(researcher, submission)) is is_shown


def test_hidden_gold_gives_no_examples_to_organisers_either(
    researcher: User, organiser: User, run_jobs: RunJobs
) -> None:
    release = make_release(visibility="gold_hidden")
    submission = make_submission(make_board(release), researcher, FLAWED)
    run_jobs()
    assert examples(organiser, submission) == []


def test_only_items_with_public_gold_are_chosen(
    researcher: User, organiser: User, run_jobs: RunJobs
) -> None:
    splits = {"page-1": TEST, "page-2": DEV, "page-3": TEST}
    release = make_release(visibility="gold_hidden", splits=splits)
    submission = make_submission(make_board(release), researcher, FLAWED)
    run_jobs()
    for user in (researcher, organiser):
        assert [each.item for each in examples(user, submission)] == ["page-2"]


@pytest.mark.parametrize("phase", [{"score_decimals": 1}, {"public_share": 50}])
def test_nothing_undoes_rounding_or_parts(
    researcher: User, run_jobs: RunJobs, phase: dict[str, Any]
) -> None:
    diagnostics = Phase.Diagnostics.AGGREGATES if "public_share" in phase else "facts"
    submission = make_submission(make_board(diagnostics=diagnostics, **phase), researcher, FLAWED)
    run_jobs()
    assert examples(researcher, submission) == []


def test_others_see_them_once_the_items_are_open(
    graded: Submission, researcher: User, stranger: User
) -> None:
    publish_submission(submission=graded, actor=researcher)
    for user in (AnonymousUser(), stranger):
        assert examples(user, graded) == []
    open_items(submission=graded, has_open_items=True, actor=researcher)
    graded.refresh_from_db()
    for user in (AnonymousUser(), stranger):
        assert len(examples(user, graded)) == 2


def test_images_of_a_private_dataset_are_not_shown(
    researcher: User, run_jobs: RunJobs, organiser: User
) -> None:
    dataset = empty_dataset(visibility=Dataset.Visibility.PRIVATE)
    submission = make_submission(make_board(make_release(dataset=dataset)), researcher, FLAWED)
    add_image("page-1", "(350)")
    run_jobs()
    assert [each.image for each in examples(researcher, submission)] == [None, None]
    assert any(each.image for each in examples(organiser, submission))


@pytest.mark.parametrize("count", [3, 30])
def test_the_queries_do_not_grow(
    researcher: User, run_jobs: RunJobs, count: int, django_assert_max_num_queries: Any
) -> None:
    gold = {f"p{n}": f"<p>Item {n} <Number>{n},000</Number></p>" for n in range(count)}
    submission = make_submission(make_board(make_release(gold)), researcher, {"p1": "x"})
    run_jobs()
    grading = latest_grading(submission)
    with django_assert_max_num_queries(8):
        assert typical_errors(researcher, submission, grading)
    with django_assert_max_num_queries(7):
        assert typical_errors(researcher, submission, grading)
