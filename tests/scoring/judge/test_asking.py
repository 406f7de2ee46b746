"""The real HTTP client against a scripted endpoint: every way in which it can fail."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from scoring.judge.asking import FolderCache, Record
from scoring.judge.endpoint import Budget, Prices, Stopped, Unscored, Usage
from scoring.judge.items import page_questions
from scoring.judge.questions import FactsAnswer, Question
from scoring.metrics.facts import read_page

from .conftest import AskerOf
from .server import (
    TOKENS_IN,
    TOKENS_OUT,
    JudgeServer,
    Reply,
    Script,
    broken,
    dropped,
    fenced,
    in_turn,
    lazy,
    perfect,
    slow,
    status,
)

GOLD = "<p>Net loss of <Number>(1,200)</Number> in <Date>Q2 2023</Date></p>"


def question(prediction: str = "Net loss of (1,200) in Q2 2023") -> Question[FactsAnswer]:
    page = read_page(GOLD)
    return page_questions(GOLD, prediction, page, ("Number", "Date"))[0]


def corrects(answer: FactsAnswer) -> list[bool]:
    return [row.correct for row in answer.facts]


def test_a_question_is_asked_by_schema_at_temperature_0(
    server: JudgeServer, asker_of: AskerOf
) -> None:
    assert corrects(asker_of().ask(question())) == [True, True]
    (call,) = server.calls
    assert call.body["temperature"] == 0
    assert call.body["model"] == "scripted-1"
    assert call.headers["authorization"] == "Bearer secret-key"
    form = call.body["response_format"]["json_schema"]
    assert form["strict"]
    assert set(form["schema"]["required"]) == set(FactsAnswer.model_fields)
    assert not form["schema"]["additionalProperties"]
    assert call.facts[0] == {
        "n": 0, "type": "Number", "value": "(1,200)", "before": "Net loss of ",
        "behind": " in Q2 2023",
    }  # fmt: skip


def test_what_was_answered_is_never_asked_again(server: JudgeServer, asker_of: AskerOf) -> None:
    first = asker_of().ask(question())
    assert asker_of().ask(question()) == first
    assert len(server.calls) == 1
    asker_of().ask(question("Net loss of 1,200"))
    assert len(server.calls) == 2


def test_equal_questions_at_once_are_one_call(server: JudgeServer, asker_of: AskerOf) -> None:
    server.script = slow(0.05)
    asker = asker_of()
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: asker.ask(question()), range(8)))
    assert len(server.calls) == 1
    assert all(answer == answers[0] for answer in answers)


def test_a_kept_answer_that_is_damaged_is_asked_anew(
    server: JudgeServer, asker_of: AskerOf, cache: FolderCache
) -> None:
    key = question().key("scripted-1")
    damaged: list[Record] = [{}, {"answer": {"facts": []}}]
    for record in damaged:
        cache.put(key, record)
        assert corrects(asker_of().ask(question())) == [True, True]
    assert len(server.calls) == 2


@pytest.mark.parametrize(
    "fault", [status(429, retry_after="0"), status(500), status(503), dropped, slow(0.4)],
    ids=["429", "500", "503", "dropped", "timeout"],
)  # fmt: skip
def test_a_passing_fault_is_tried_again(
    server: JudgeServer, asker_of: AskerOf, fault: Script
) -> None:
    server.script = in_turn(fault, perfect)
    assert corrects(asker_of(timeout=0.2).ask(question())) == [True, True]
    assert len(server.calls) == 2


def test_attempts_have_an_end(server: JudgeServer, asker_of: AskerOf) -> None:
    server.script = status(500)
    with pytest.raises(Unscored, match="no answer after 3 attempts: HTTP 500"):
        asker_of().ask(question())
    assert len(server.calls) == 3


def test_an_endpoint_that_is_down_is_left_alone(server: JudgeServer, asker_of: AskerOf) -> None:
    server.script = status(500)
    asker = asker_of(attempts=1)
    for n in range(4):
        with pytest.raises(Unscored):
            asker.ask(question(f"page {n}"))
    with pytest.raises(Stopped, match="answered none of 5 questions: HTTP 500"):
        asker.ask(question("page 4"))
    with pytest.raises(Stopped):
        asker.ask(question("page 5"))
    assert len(server.calls) == 5


def test_an_answer_between_failures_counts_as_life(server: JudgeServer, asker_of: AskerOf) -> None:
    server.script = lambda call: (perfect if call.number % 4 == 0 else status(500))(call)
    asker = asker_of(attempts=1)
    for n in range(1, 13):
        if n % 4:
            with pytest.raises(Unscored):
                asker.ask(question(f"page {n}"))
        else:
            asker.ask(question(f"page {n}"))


@pytest.mark.parametrize("code", [401, 403, 404])
def test_a_refused_key_or_model_stops_everything(
    server: JudgeServer, asker_of: AskerOf, code: int
) -> None:
    server.script = status(code)
    asker = asker_of()
    for _ in range(2):
        with pytest.raises(Stopped, match=f"rejects all calls: HTTP {code}"):
            asker.ask(question())
    assert len(server.calls) == 1


def test_nobody_listening(server: JudgeServer, asker_of: AskerOf) -> None:
    budget = Budget(Prices(1, 1))
    asker = asker_of(url="http://127.0.0.1:9/v1", budget=budget)
    with pytest.raises(Unscored, match="the connection was refused"):
        asker.ask(question())
    assert budget.usage == Usage(attempts=3)


@pytest.mark.parametrize(
    ("knows", "forms"),
    [
        ({"json_object", "words"}, ["json_schema", "json_object", "json_object"]),
        ({"words"}, ["json_schema", "json_object", "words", "words"]),
    ],
)
def test_endpoints_that_know_no_schema(
    server: JudgeServer, asker_of: AskerOf, knows: set[str], forms: list[str]
) -> None:
    server.script = lambda call: (perfect if call.form in knows else status(400))(call)
    asker = asker_of()
    for page in ("Net loss of (1,200)", "Net loss"):
        asker.ask(question(page))
    assert [call.form for call in server.calls] == forms


def test_a_request_that_is_refused_in_every_form(server: JudgeServer, asker_of: AskerOf) -> None:
    server.script = status(400)
    asker = asker_of()
    with pytest.raises(Unscored, match="rejected the request: HTTP 400"):
        asker.ask(question())
    server.script = perfect
    asker.ask(question("Net loss"))
    assert server.calls[-1].form == "json_schema"


@pytest.mark.parametrize("script", [broken, lazy, lambda _: Reply("I cannot help with that.")])
def test_an_answer_that_cannot_be_used_is_repaired_once(
    server: JudgeServer, asker_of: AskerOf, script: Script
) -> None:
    server.script = in_turn(script, perfect)
    assert corrects(asker_of().ask(question())) == [True, True]
    first, second = server.calls
    assert second.body["messages"][:2] == first.body["messages"]
    assert second.is_repair


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        (broken, "JSON"),
        (lazy, "facts has no entry for n = 1"),
        (lambda call: Reply(perfect(call).text, finish_reason="length"), "cut off"),
        (lambda _: Reply("no"), "contains no JSON object"),
        (lambda _: Reply('{"structure_score": 3}'), "structure_score"),
    ],
)
def test_an_answer_that_cannot_be_repaired_is_no_verdict(
    server: JudgeServer, asker_of: AskerOf, script: Script, problem: str
) -> None:
    server.script = script
    for asked in (2, 4):  # nothing was kept
        with pytest.raises(Unscored, match=problem):
            asker_of().ask(question())
        assert len(server.calls) == asked


@pytest.mark.parametrize("raw", [b"", b"<html>busy</html>", b'{"choices": []}', b"null", b"[1]"])
def test_what_is_no_completion_is_tried_again(
    server: JudgeServer, asker_of: AskerOf, raw: bytes
) -> None:
    server.script = in_turn(lambda _: Reply(raw=raw), perfect)
    assert corrects(asker_of().ask(question())) == [True, True]
    assert len(server.calls) == 2


def test_json_in_a_fence_is_read(server: JudgeServer, asker_of: AskerOf) -> None:
    server.script = fenced
    assert corrects(asker_of().ask(question())) == [True, True]
    assert len(server.calls) == 1


def test_the_boundary_is_drawn_anew_and_in_no_key(server: JudgeServer, asker_of: AskerOf) -> None:
    first, second = question().messages(), question().messages()
    assert first != second
    assert question().key("m") == question().key("m")
    assert question().key("m") != question().key("n")


# --- tokens and money -----------------------------------------------------------------------


def test_tokens_are_those_that_the_endpoint_tells(server: JudgeServer, asker_of: AskerOf) -> None:
    budget = Budget(Prices(2, 10))
    asker_of(budget=budget).ask(question())
    assert budget.usage == Usage(TOKENS_IN, TOKENS_OUT, calls=1, attempts=1)
    assert budget.spent == pytest.approx((100 * 2 + 50 * 10) / 1_000_000)


def test_failed_attempts_cost_nothing_and_broken_ones_their_most(
    server: JudgeServer, asker_of: AskerOf
) -> None:
    free, uncertain = Budget(), Budget()
    server.script = in_turn(status(500), perfect)
    asker_of(budget=free).ask(question("one"))
    assert free.usage == Usage(TOKENS_IN, TOKENS_OUT, calls=1, attempts=2)
    server.calls.clear()
    server.script = in_turn(dropped, perfect)
    asked = question("two")
    asker_of(budget=uncertain).ask(asked)
    assert uncertain.usage.output == asked.most_output + TOKENS_OUT
    assert uncertain.usage.uncertain == 1


@pytest.mark.parametrize("usage", [None, {"prompt_tokens": "100", "completion_tokens": None}])
def test_an_endpoint_that_tells_no_tokens(
    server: JudgeServer, asker_of: AskerOf, usage: object
) -> None:
    server.script = lambda call: replace(perfect(call), usage=usage)
    budget = Budget()
    asked = question()
    asker_of(budget=budget).ask(asked)
    assert (budget.usage.output, budget.usage.uncertain) == (asked.most_output, 1)


@pytest.mark.parametrize("workers", [1, 8])
def test_the_budget_stops_within_one_call(
    server: JudgeServer, asker_of: AskerOf, workers: int
) -> None:
    most = question("page 00").most_output
    price = 1_000_000 / most  # an answer of full length costs 1, one that is given 50 / most
    budget = Budget(Prices(0, price), limit=2.0)
    asker = asker_of(budget=budget)

    def ask(n: int) -> bool:
        try:
            asker.ask(question(f"page {n:02}"))
        except Stopped:
            return False
        return True

    with ThreadPoolExecutor(workers) as pool:
        answered = sum(pool.map(ask, range(100)))
    spent = server.cost(0, price)
    assert answered == len(server.calls)
    assert 2.0 - 1.0 - 50 / most < spent <= 2.0
    assert budget.spent == pytest.approx(spent)


def test_what_is_kept_is_given_after_the_budget_is_spent(
    server: JudgeServer, asker_of: AskerOf
) -> None:
    asker_of().ask(question())
    asker = asker_of(budget=Budget(Prices(1, 1), limit=1e-9))
    assert corrects(asker.ask(question())) == [True, True]
    with pytest.raises(Stopped, match="budget of 1e-09 is used up"):
        asker.ask(question("other"))


def test_calls_are_spaced_out() -> None:
    from scoring.judge.endpoint import Pacer

    waits: list[float] = []
    pacer = Pacer(60, waits.append)
    started = time.monotonic()
    for _ in range(3):
        pacer.wait()
    assert waits == pytest.approx([1.0, 2.0], abs=0.1 + time.monotonic() - started)
    pacer.hold(10)
    pacer.wait()
    assert waits[-1] == pytest.approx(10, abs=0.2)


def test_waits_grow_and_are_bounded() -> None:
    from scoring.judge.endpoint import Backoff

    backoff = Backoff(first=1, most=10)
    waits = [backoff.wait(attempt) for attempt in range(8)]
    for wait, most in zip(waits, (1, 2, 4, 8, 10, 10, 10, 10), strict=True):
        assert most / 2 <= wait <= most
    assert 5 <= backoff.wait(0, asked=5) <= 10
    assert backoff.wait(0, asked=1000) == 10
