"""Near-identical submissions are flagged for organisers only."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given, settings
from hypothesis import strategies as st

from portal.accounts.models import User
from portal.audit.models import Event
from scoring.grading.similarity import (
    FEWEST_CHARACTERS,
    FEWEST_ITEMS,
    FLAGGED_SHARE,
    answer_digest,
    flag_similar,
    write_digests,
)
from scoring.models import Board, Prediction, Similarity, Submission
from tests.accounts.teams.people import team_of
from tests.fixture_types import ApiOf, ClientOf, RunJobs
from tests.scoring.factories import first_phase, make_board, make_release, make_submission
from tests.worlds import shared

pytestmark = pytest.mark.django_db


PAGES = 10
GOLD = {
    f"p{n}": f"<p>Page {n}: net sales of <Number>{1000 + n}</Number> dollars.</p>"
    for n in range(PAGES)
}


@pytest.fixture
@shared
def board(db: None) -> Board:
    return make_board(make_release(GOLD))


def answers(reader: str, copied: int = 0) -> dict[str, str]:
    """A reader's predictions; those of the first `copied` pages are Rex's."""
    return {
        name: f"<p>{'Rex' if n < copied else reader} read on page {n} net sales of {1000 + n}.</p>"
        for n, name in enumerate(GOLD)
    }


def submit(board: Board, owner: User, predictions: dict[str, str], name: str = "Reader") -> int:
    submission = make_submission(board, owner, predictions, name=name)
    write_digests(submission.pk)
    flag_similar(submission.pk)
    return submission.pk


def flags() -> list[tuple[int, int, int, int]]:
    rows = Similarity.objects.order_by("id")
    return list(rows.values_list("submission", "counterpart", "same", "compared"))


@pytest.mark.parametrize(("copied", "is_flagged"), [(10, True), (9, True), (8, False), (0, False)])
def test_from_nine_in_ten_on_a_pair_is_flagged(
    board: Board, researcher: User, stranger: User, copied: int, is_flagged: bool
) -> None:
    assert FLAGGED_SHARE == 0.9
    first = submit(board, researcher, answers("Rex"))
    second = submit(board, stranger, answers("Sam", copied))
    assert flags() == ([(second, first, copied, PAGES)] if is_flagged else [])


def test_case_markup_and_white_space_do_not_hide_a_copy(
    board: Board, researcher: User, stranger: User
) -> None:
    submit(board, researcher, answers("Rex"))
    hidden = {
        name: html.upper().replace("<P>", "<DIV>\n ").replace("</P>", " !</DIV>")
        for name, html in answers("Rex").items()
    }
    submit(board, stranger, hidden)
    assert [row[2:] for row in flags()] == [(PAGES, PAGES)]


def test_only_items_that_both_answered_are_compared(
    board: Board, researcher: User, stranger: User
) -> None:
    submit(board, researcher, answers("Rex"))
    few = dict(list(answers("Rex").items())[:FEWEST_ITEMS])
    submit(board, stranger, few)
    assert [row[2:] for row in flags()] == [(FEWEST_ITEMS, FEWEST_ITEMS)]


def test_fewer_items_prove_nothing(board: Board, researcher: User, stranger: User) -> None:
    submit(board, researcher, answers("Rex"))
    submit(board, stranger, dict(list(answers("Rex").items())[: FEWEST_ITEMS - 1]))
    assert flags() == []


def test_empty_and_short_answers_prove_nothing(
    board: Board, researcher: User, stranger: User
) -> None:
    for text in ("", "<p></p>", f"<p>{'7' * (FEWEST_CHARACTERS - 1)}</p>"):
        for user in (researcher, stranger):
            submit(board, user, dict.fromkeys(GOLD, text))
    assert flags() == []
    assert set(Prediction.objects.values_list("digest", flat=True)) == {""}


def test_what_most_say_proves_nothing(
    board: Board, researcher: User, stranger: User, ann: User
) -> None:
    """A third owner with the same answers shows that they are what anybody would say."""
    for user in (researcher, stranger, ann):
        submit(board, user, answers("Rex"))
    assert len(flags()) == 1
    Similarity.objects.all().delete()
    for submission in Submission.objects.all():
        flag_similar(submission.pk)
    assert flags() == []


def test_three_of_many_are_not_most(
    board: Board, researcher: User, stranger: User, ann: User, ben: User, cleo: User, lead: User,
    reviewer: User,
) -> None:  # fmt: skip
    for user in (ben, cleo, lead, reviewer):
        submit(board, user, answers(user.name))
    for user in (researcher, stranger, ann):
        submit(board, user, answers("Rex"))
    assert len(flags()) == 3


def test_versions_and_team_mates_are_not_compared(
    board: Board, researcher: User, stranger: User
) -> None:
    team_of(researcher, stranger)
    for user in (researcher, researcher, stranger):
        submit(board, user, answers("Rex"))
    assert flags() == []


def test_other_phases_are_not_compared(board: Board, researcher: User, stranger: User) -> None:
    other = make_board(first_phase(board).release, slug="other")
    submit(board, researcher, answers("Rex"))
    submit(other, stranger, answers("Rex"))
    assert flags() == []


def test_the_job_after_the_grading_finds_it_once(
    board: Board, researcher: User, stranger: User, run_jobs: RunJobs
) -> None:
    make_submission(board, researcher, answers("Rex"))
    second = make_submission(board, stranger, answers("Rex"))
    assert flags() == []
    assert set(Prediction.objects.values_list("digest", flat=True)) == {None}
    run_jobs()
    assert [row[0] for row in flags()] == [second.pk]
    flag_similar(second.pk)
    assert len(flags()) == 1
    event = Event.objects.get(verb="flag_likeness")
    assert (event.subject_id, event.data["same"], event.actor_id) == (str(second.pk), PAGES, None)


@pytest.mark.parametrize("count", [1, 6])
def test_queries_do_not_grow_with_submissions(
    board: Board, researcher: User, stranger: User, count: int
) -> None:
    for number in range(count):
        submit(board, stranger, answers(f"Sam {number}"))
    newest = make_submission(board, researcher, answers("Rex"))
    write_digests(newest.pk)
    with CaptureQueriesContext(
        connection,
    ) as asked:
        flag_similar(newest.pk)
    selects = [query for query in asked if query["sql"].startswith("SELECT")]
    assert len(selects) == 3


def test_fields_that_are_left_empty_are_no_answer() -> None:
    fields = dict.fromkeys(("invoice_number", "tax_authority_name", "total_amount"), "")
    assert answer_digest({"id": "1", "fields": fields}) == ""
    assert answer_digest({"id": "1", "fields": fields | {"total_amount": "9" * 24}}) != ""


# --- who sees it ------------------------------------------------------------------------------


def test_organisers_are_told_on_both_pages_and_by_the_api(
    board: Board,
    researcher: User,
    stranger: User,
    organiser: User,
    client_of: ClientOf,
    api_of: ApiOf,
) -> None:
    first = submit(board, researcher, answers("Rex"), name="Original")
    second = submit(board, stranger, answers("Sam", 9), name="Copycat")
    client = client_of(organiser)
    for pk, other in ((first, "Copycat"), (second, "Original")):
        page = client.get(f"/submissions/{pk}/").content.decode()
        assert "Similar submissions" in page
        assert other in page
        assert "90.0" in page
    manage = client.get("/boards/board/manage/").content.decode()
    assert "Similar submissions" in manage
    [row] = api_of(organiser).get("/api/v1/boards/board/likenesses/").json()["results"]
    assert (row["submission"], row["counterpart"], row["share"]) == (second, first, 0.9)


def test_nobody_else_is_told(
    board: Board, researcher: User, stranger: User, ann: User, client_of: ClientOf, api_of: ApiOf
) -> None:
    submit(board, researcher, answers("Rex"), name="Original")
    second = submit(board, stranger, answers("Rex"), name="Copycat")
    Submission.objects.update(publication=Submission.Publication.PUBLIC)
    for user in (None, researcher, stranger, ann):
        for path in (f"/submissions/{second}/", "/boards/board/", "/"):
            page = client_of(user).get(path).content.decode()
            assert "Similar submissions" not in page
        answer = api_of(user).get(f"/api/v1/submissions/{second}/").content.decode()
        assert "similar" not in answer
        assert "likeness" not in answer
        assert api_of(user).get("/api/v1/boards/board/likenesses/").status_code in {401, 403}


# --- digests ----------------------------------------------------------------------------------

TEXT = st.text(min_size=40, alphabet=st.characters(categories=["Ll", "Nd"]))
JSON: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inside: st.lists(inside) | st.dictionaries(st.text(), inside),
    max_leaves=10,
)


@settings(max_examples=20)
@given(TEXT)
def test_the_digest_leaves_case_tags_and_spaces_aside(text: str) -> None:
    check_what_a_digest_leaves_aside(text)


@pytest.mark.slow
@given(TEXT)
def test_the_digest_leaves_them_aside_in_many_texts(text: str) -> None:
    check_what_a_digest_leaves_aside(text)


def check_what_a_digest_leaves_aside(text: str) -> None:
    plain = answer_digest({"id": "1", "html": text})
    assert plain == answer_digest({"id": "2", "html": f"<b>{' '.join(text)}</b>."})
    assert plain != answer_digest({"id": "1", "html": f"{text}x"})


@settings(max_examples=20)
@given(st.dictionaries(st.text(), JSON))
def test_every_answer_has_a_digest_that_no_order_of_keys_changes(payload: dict[str, Any]) -> None:
    check_digest_of_turned(payload)


@pytest.mark.slow
@given(st.dictionaries(st.text(), JSON))
def test_no_order_of_keys_changes_the_digest_of_many_answers(payload: dict[str, Any]) -> None:
    check_digest_of_turned(payload)


def check_digest_of_turned(payload: dict[str, Any]) -> None:
    turned = dict(reversed(payload.items()))
    assert answer_digest(payload) == answer_digest(turned)
    assert len(answer_digest(payload)) in {0, 32}
