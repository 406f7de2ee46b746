"""Verdicts of other matchers and of the judge on each fact of an item."""

import html
import tomllib
from pathlib import Path
from typing import Any

import pytest

from portal.accounts.models import User
from portal.datasets.models import Release
from scoring.metrics.facts import ERROR_TYPES
from scoring.models import ItemScore, Phase
from tests.fixture_types import ApiOf, ClientOf, RunJobs
from tests.pages import text_of
from tests.scoring.factories import FLAWED, make_board, make_release, make_submission

pytestmark = pytest.mark.django_db

# "3.5%" is inside "13.5%": correct as a substring, but a wrong digit in its place.
READ = FLAWED | {"page-2": "<p>The margin rose to 13.5% in 2029.</p>"}


def graded(owner: User, run_jobs: RunJobs, *, release: Release | None = None, **phase: Any) -> str:
    """The URL of page-2 of a submission."""
    board = make_board(release, options={"beside": "substring"}, **phase)
    submission = make_submission(board, owner, READ)
    run_jobs()
    return f"/submissions/{submission.pk}/items/page-2/"


def rows_of(text: str) -> list[str]:
    return text.split('<tr id="fact-')[1:]


def test_a_fact_shows_the_verdicts_of_other_matchers_and_disagreement(
    client_of: ClientOf, researcher: User, run_jobs: RunJobs
) -> None:
    text = text_of(client_of(researcher), graded(researcher, run_jobs))
    number, date = rows_of(text)
    assert '<span class="verdict-wrong">digit</span>' in number
    assert 'aria-label="another matcher disagrees">≠<' in number
    assert "Aligned: wrong · Substring: correct" in number
    assert "≠" not in date.partition("</tr>")[0]
    assert "Aligned: wrong · Substring: wrong" in date


def test_the_types_of_errors_are_explained(
    client_of: ClientOf, researcher: User, run_jobs: RunJobs
) -> None:
    url = graded(researcher, run_jobs)
    text = text_of(client_of(researcher), url)
    assert "<dt>Digit</dt><dd>digits are missing, added or changed" in text
    assert "<dt>Date</dt>" in text
    assert "<dt>Merged</dt>" not in text, "only those on the page"
    assert "<dt>Digit</dt>" not in text_of(client_of(researcher), url.replace("page-2", "page-3"))


def test_every_type_of_error_has_an_explanation() -> None:
    words = tomllib.loads(Path("scoring/results/result_words.toml").read_text(encoding="utf-8"))
    assert list(words["errors"]) == list(ERROR_TYPES)


@pytest.mark.parametrize(
    ("wanted", "shown", "current"),
    [
        ("", ["0", "1"], "All"),
        ("wrong", ["0", "1"], "Wrong"),
        ("differ", ["0"], "Matchers disagree"),
        ("nonsense", ["0", "1"], "All"),
    ],
)
def test_facts_on_which_matchers_disagree_can_be_chosen(
    client_of: ClientOf,
    researcher: User,
    run_jobs: RunJobs,
    wanted: str,
    shown: list[str],
    current: str,
) -> None:
    url = graded(researcher, run_jobs)
    text = text_of(client_of(researcher), f"{url}?facts={wanted}")
    assert [row.partition('"')[0] for row in rows_of(text)] == shown
    assert f'aria-current="true">{current} <span' in text
    # The choice is kept when moving to other items.
    kept = f"?facts={wanted}" if wanted in {"wrong", "differ"} else ""
    assert f'/items/page-3/{kept}"' in text


def test_where_all_agree_the_choice_says_so(
    client_of: ClientOf, researcher: User, run_jobs: RunJobs
) -> None:
    url = graded(researcher, run_jobs).replace("page-2", "page-3")
    client = client_of(researcher)
    assert "All matchers agree on this item" in text_of(client, f"{url}?facts=differ")
    assert "All facts of this item are correct" in text_of(client, f"{url}?facts=wrong")


def test_without_other_matchers_there_is_nothing_to_compare(
    client_of: ClientOf, researcher: User, run_jobs: RunJobs
) -> None:
    submission = make_submission(make_board(), researcher, READ)
    run_jobs()
    url = f"/submissions/{submission.pk}/items/page-2/?facts=differ"
    client = client_of(researcher)
    for older in (False, True):
        if older:
            for score in ItemScore.objects.all():
                del score.result["beside"]
                score.save()
        text = text_of(client, url)
        assert len(rows_of(text)) == 2
        assert "Matchers disagree" not in text
        assert "Aligned" not in text.partition("<h1")[2]


def test_the_api_returns_the_same(api_of: ApiOf, researcher: User, run_jobs: RunJobs) -> None:
    url = f"/api/v1{graded(researcher, run_jobs)}"
    api = api_of(researcher)
    facts = api.get(url).json()["facts"]
    assert [(fact["correct"], fact["beside"]) for fact in facts] == [
        (False, {"substring": True}),
        (False, {"substring": False}),
    ]
    for score in ItemScore.objects.all():
        del score.result["beside"]
        score.save()
    assert [fact["beside"] for fact in api.get(url).json()["facts"]] == [None, None]


def judged(why: str) -> None:
    """Store a judge's verdicts, with a reason for each fact."""
    for score in ItemScore.objects.filter(item__name="page-2"):
        score.result["facts"][0]["why"] = why
        score.save()


WHY = "The text has 13.5% where the page has 3.5%."


@pytest.mark.parametrize(
    ("diagnostics", "is_shown"),
    [
        (Phase.Diagnostics.AGGREGATES, False),
        (Phase.Diagnostics.ITEMS, False),
        (Phase.Diagnostics.FACTS, True),
    ],
)
def test_reasons_and_matchers_are_shown_with_facts(
    client_of: ClientOf,
    researcher: User,
    stranger: User,
    run_jobs: RunJobs,
    diagnostics: str,
    is_shown: bool,
) -> None:
    release = make_release(visibility=Release.Visibility.GOLD_HIDDEN)
    url = graded(researcher, run_jobs, release=release, diagnostics=diagnostics)
    judged(WHY)
    for address in (url, f"{url}?facts=differ", f"/api/v1{url}"):
        said = html.unescape(client_of(researcher).get(address).content.decode())
        assert (WHY in said) is is_shown, address
        assert ("ubstring" in said) is is_shown, address
        for user in (None, stranger):
            assert WHY not in client_of(user).get(address).content.decode()


def test_only_facts_with_a_reason_show_one(
    client_of: ClientOf, researcher: User, run_jobs: RunJobs
) -> None:
    url = graded(researcher, run_jobs)
    judged("")
    assert "Judge:" not in text_of(client_of(researcher), url)
    judged(WHY)
    number, date = rows_of(text_of(client_of(researcher), url))
    assert f"Judge: {WHY}" in number
    assert "Judge:" not in date


def test_page_gold_and_prediction_come_before_the_facts(
    client_of: ClientOf, researcher: User, run_jobs: RunJobs
) -> None:
    text = text_of(client_of(researcher), graded(researcher, run_jobs))
    targets = ("gold", "prediction", "facts", "compared")
    places = [text.index(f'id="{target}"') for target in targets]
    assert places == sorted(places)
