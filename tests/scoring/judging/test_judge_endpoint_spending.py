"""The budget of a board's month: by hand, over months, kills, threads and real processes."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from portal.accounts.models import User
from scoring.judge.endpoint import Budget, Prices, Stopped, Usage
from scoring.judge.questions import FIELDS, FieldAnswer, Question, estimated_tokens
from scoring.judging.runs import judging_of, start_judge_run
from scoring.judging.services import (
    MonthlyAllowance,
    endpoint_of,
    open_board_judge,
    remove_endpoint,
    set_endpoint,
    spent_this_month,
)
from scoring.models import Board, JudgeEndpoint, JudgeSpending, Submission
from scoring.models.judging import month_of_now
from scoring.submissions.services import publish_submission
from tests.fixture_types import RunJobs
from tests.scoring.factories import FLAWED, make_submission
from tests.scoring.grading.test_regrade_races import at_once
from tests.scoring.judge.server import MODEL, JudgeServer, Reply, perfect
from tests.scoring.judges import COST, endpoint_values

pytestmark = pytest.mark.django_db(transaction=True)

NOVEMBER, DECEMBER = date(2026, 11, 1), date(2026, 12, 1)


@pytest.fixture(autouse=True)
def _settings(settings: Any, tmp_path: Path) -> None:
    settings.JUDGE_CACHE, settings.JUDGE_ATTEMPTS = tmp_path / "answers", 1
    settings.JUDGE_CONCURRENCY = 2


@pytest.fixture
def month(monkeypatch: pytest.MonkeyPatch) -> Callable[[date], None]:
    def turn(first: date) -> None:
        monkeypatch.setattr("scoring.judging.services.month_of_now", lambda: first)

    turn(NOVEMBER)
    return turn


def give(board: Board, budget: float | None, url: str = "http://127.0.0.1:9/v1") -> JudgeEndpoint:
    return set_endpoint(board=board, values=endpoint_values(url, budget=budget), key="", actor=None)


class Work:
    """Calls that cost 1 at most each."""

    def __init__(self, board: Board, what: str = "", limit: float | None = None) -> None:
        self.allowance = MonthlyAllowance(board.pk, what)
        self.budget = Budget(Prices(0, 1_000_000), limit, self.allowance)

    def spend(self, *costs: float) -> None:
        """A call for each; raises Stopped where one cannot begin."""
        for cost in costs:
            with self.budget.call(Usage(output=1)) as ticket:
                ticket.answered(Usage(output=cost))  # type: ignore[arg-type]

    def spend_all(self, cost: float = 1) -> str:
        """As many calls as there may be; why there are no more."""
        while True:
            try:
                self.spend(cost)
            except Stopped as stopped:
                return str(stopped)

    def end(self) -> None:
        self.allowance.close(self.budget.spent)


def rows() -> list[tuple[float, bool]]:
    return list(JudgeSpending.objects.order_by("id").values_list("amount", "is_open"))


@pytest.mark.usefixtures("month")
class TestByHand:
    def test_a_few_calls_are_set_aside_and_what_was_not_needed_is_given_back(
        self, board: Board
    ) -> None:
        give(board, None)
        work = Work(board)
        work.spend(0.25)
        assert rows() == [(11, True)], "the call and ten more"
        work.spend(*[0.25] * 3)
        assert rows() == [(11, True)]
        work.end()
        assert rows() == [(1, False)]

    @pytest.mark.parametrize(("cost", "calls"), [(1, 5), (0.25, 17)])
    def test_no_call_begins_that_could_go_beyond(
        self, board: Board, cost: float, calls: int
    ) -> None:
        """Of calls that may cost 1 and cost a quarter, the last begins with 4 of 5 spent."""
        give(board, 5)
        work = Work(board)
        assert work.spend_all(cost) == "the board's budget of 5 for November 2026 is used up"
        work.end()
        assert rows() == [(calls * cost, False)]
        assert work.budget.usage.calls == calls

    def test_others_see_what_is_set_aside(self, board: Board) -> None:
        give(board, 24.5)
        first, second, third = Work(board, "a"), Work(board, "b"), Work(board, "c")
        first.spend(1)
        second.spend(1)
        third.spend(1, 1)
        assert rows() == [(11, True), (11, True), (2.5, True)]
        told = third.spend_all()
        assert told.endswith("is used up, including money reserved by other running jobs")
        first.end()
        third.spend(1)
        assert [amount for amount, _ in rows()] == [1, 11, 12.5]
        second.end()
        assert third.spend_all() == "the board's budget of 24.5 for November 2026 is used up"
        third.end()
        assert JudgeSpending.objects.total() == 1 + 1 + 22

    def test_its_own_limit_ends_the_work_before_the_month(self, board: Board) -> None:
        give(board, 5)
        work = Work(board, limit=2)
        assert work.spend_all() == "the budget of 2 is used up"
        work.end()
        assert rows() == [(2, False)]

    def test_work_that_asked_nothing_leaves_nothing(self, board: Board) -> None:
        give(board, 0)
        work = Work(board)
        assert "the board's budget of 0 for" in work.spend_all()
        work.end()
        assert rows() == []

    def test_killed_work_counts_as_what_it_had_set_aside(self, board: Board) -> None:
        give(board, 20)
        Work(board, "judge:1").spend(1)
        Work(board, "judge:2").spend(1)
        assert rows() == [(11, True), (9, True)]
        # The first is taken up again, and then the budget is raised.
        again = Work(board, "judge:1")
        assert "used up" in again.spend_all()
        give(board, 23)
        assert again.spend_all().endswith("other running jobs")
        assert rows() == [(11, False), (9, True), (3, True)]
        again.end()
        assert JudgeSpending.objects.total() == 23

    def test_what_was_used_before_midnight_stays_in_its_month(
        self, board: Board, month: Callable[[date], None]
    ) -> None:
        give(board, 5)
        work = Work(board)
        work.spend(1, 1, 0.5)
        month(DECEMBER)
        assert work.spend_all() == "the board's budget of 5 for December 2026 is used up"
        work.end()
        spent = JudgeSpending.objects.order_by("month").values_list("month", "amount", "is_open")
        assert list(spent) == [(NOVEMBER, 2.5, False), (DECEMBER, 5, False)]

    def test_a_new_month_begins_with_all_of_the_budget(
        self, board: Board, month: Callable[[date], None]
    ) -> None:
        give(board, 2)
        for first in (NOVEMBER, DECEMBER):
            month(first)
            work = Work(board)
            assert f"{first:%B}" in work.spend_all()
            work.end()
        assert rows() == [(2, False), (2, False)]

    def test_removing_the_endpoint_does_not_begin_the_month_anew(self, board: Board) -> None:
        give(board, 2)
        work = Work(board)
        work.spend_all()
        work.end()
        remove_endpoint(board=board, actor=None)
        give(board, 3)
        work = Work(board)
        work.spend_all()
        assert work.budget.usage.calls == 1

    def test_an_endpoint_taken_away_ends_the_work_with_its_next_reservation(
        self, board: Board
    ) -> None:
        give(board, 100)
        work = Work(board)
        work.spend(1)
        remove_endpoint(board=board, actor=None)
        assert work.spend_all() == "the board's own endpoint was removed"
        assert work.budget.usage.calls == 11

    def test_what_the_page_tells(self, board: Board) -> None:
        give(board, 20)
        done, under_way = Work(board), Work(board)
        done.spend(1, 0.5)
        done.end()
        under_way.spend(1)
        found = spent_this_month(board, endpoint_of(board))
        assert (found.spent, found.ahead, found.left) == (1.5, 11, 7.5)


def test_threads_at_once_never_go_beyond(board: Board) -> None:
    """Two pieces of work with four threads each, on a budget for 37 calls."""
    give(board, 37.5)
    works = [Work(board, name) for name in "ab"]
    stopped: list[str] = []

    def ask(work: Work) -> None:
        stopped.append(work.spend_all())

    assert at_once(*[lambda work=work: ask(work) for work in works * 4]) == []
    assert sum(work.budget.spent for work in works) <= 37.5
    assert JudgeSpending.objects.total() <= 37.5
    for work in works:
        work.end()
    calls = sum(work.budget.usage.calls for work in works)
    assert JudgeSpending.objects.total() == calls
    # Who is refused holds less than a call in reserve, and so the other could take the rest.
    assert 36 <= calls <= 37
    assert len(stopped) == 8


def test_two_workers_at_once_take_the_last_call_once(board: Board) -> None:
    """Room for one reservation of two: both look at the same moment."""
    give(board, 1)
    spent: list[int] = []

    def take() -> None:
        work = Work(board, str(threading.get_ident()))
        work.spend_all()
        work.end()
        spent.append(work.budget.usage.calls)
        connection.close()

    assert at_once(*[take] * 4) == []
    assert sorted(spent) == [0, 0, 0, 1]
    assert rows() == [(1, False)]


def questions(count: int) -> list[Question[FieldAnswer]]:
    return [
        Question(FIELDS, FieldAnswer, {"FIELD": "total", "REFERENCE": "1", "READING": str(n)}, 50)
        for n in range(count)
    ]


@contextmanager
def asked(board: Board, what: str) -> Iterator[tuple[list[str], Budget]]:
    """Ten questions, each by a thread of its own; why there was no answer."""
    reasons: list[str] = []
    with open_board_judge(board, MODEL, what=what) as (asker, budget):

        def ask(question: Question[FieldAnswer]) -> None:
            try:
                asker.ask(question)
            except Stopped as stopped:
                reasons.append(str(stopped))
            finally:
                connection.close()

        assert at_once(*[lambda each=each: ask(each) for each in questions(10)]) == []
        yield reasons, budget


def test_calls_that_are_really_made_are_what_is_noted(board: Board, server: JudgeServer) -> None:
    server.script = lambda _: Reply('{"same": true, "why": ""}')
    give(board, 10 * COST, server.url)
    with asked(board, "work") as (reasons, budget):
        assert reasons
        assert set(reasons) == {f"the board's budget of 2 for {month_of_now():%B %Y} is used up"}
    assert 0 < len(server.calls) < 10
    [(amount, is_open)] = rows()
    assert not is_open
    assert amount == pytest.approx(len(server.calls) * COST)
    assert server.cost(1_000, 2_000) == pytest.approx(budget.spent)
    assert budget.spent < 10 * COST


def test_a_run_that_stops_for_the_budget_keeps_what_is_judged_and_names_the_rest(
    board: Board, researcher: User, server: JudgeServer, run_jobs: RunJobs, settings: Any
) -> None:
    """The endpoint reports no tokens, so that the first page counts with its highest cost."""
    settings.JUDGE_CONCURRENCY = 1
    server.script = lambda call: replace(perfect(call), usage=None)
    submission = published(board, researcher, run_jobs)
    most = most_of_page_1(submission)
    give(board, most + COST, server.url)
    run = start_judge_run(submission=submission, budget=None, actor=None)
    run_jobs()
    run.refresh_from_db()
    assert (run.state, run.verdicts.count(), len(server.calls)) == ("done", 1, 1)
    assert list(run.unscored) == ["page-2", "page-3"]
    assert all("the board's budget of" in reason for reason in run.unscored.values())
    spent = JudgeSpending.objects.get()
    assert (spent.what, spent.is_open) == (f"judge:{run.pk}", False)
    assert spent.amount == pytest.approx(most)
    # With more money it goes on; what was judged costs nothing.
    give(board, 1_000, server.url)
    again = start_judge_run(submission=submission, budget=None, actor=None)
    run_jobs()
    again.refresh_from_db()
    assert (again.verdicts.count(), again.unscored, len(server.calls)) == (3, {}, 3)


def published(board: Board, owner: User, run_jobs: RunJobs) -> Submission:
    submission = make_submission(board, owner, FLAWED)
    run_jobs()
    publish_submission(submission=submission, actor=None)
    return submission


def most_of_page_1(submission: Submission) -> float:
    judging = judging_of(submission.phase)
    options = judging.options({"labels": "Number,Date"}, MODEL)
    item = submission.phase.release.items.get(name="page-1")
    payload = submission.predictions.get(item=item).payload
    [question] = judging.questions(item.gold, payload, options)
    tokens = estimated_tokens(question.messages())
    return (tokens * 1_000 + question.most_output * 2_000) / 1_000_000
