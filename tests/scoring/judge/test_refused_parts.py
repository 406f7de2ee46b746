"""Models that refuse a part of the request by name are asked without it, and only once wrongly."""

import json
from typing import Any

import pytest

from scoring.judge.asking import Asker
from scoring.judge.endpoint import Budget, Prices, Unscored
from scoring.judge.items import Pair, field_question

from .conftest import AskerOf
from .server import Call, JudgeServer, Reply, Script

ANSWER = Reply('{"same": true, "why": "equal"}')


def refusing(*parts: str) -> Script:
    def script(call: Call) -> Reply:
        for part in parts:
            if part in call.body:
                error = {"message": f"'{part}' is not supported", "param": part}
                return Reply(json.dumps({"error": error}), 400)
        return ANSWER

    return script


def ask(asker: Asker, number: int) -> Any:
    return asker.ask(field_question(Pair("total", "1", str(number))))


@pytest.mark.parametrize(
    "parts", [("max_tokens",), ("temperature",), ("max_tokens", "temperature")]
)
def test_what_is_refused_is_left_out_from_then_on(
    server: JudgeServer, asker_of: AskerOf, parts: tuple[str, ...]
) -> None:
    server.script = refusing(*parts)
    asker = asker_of()
    assert ask(asker, 1).same
    assert len(server.calls) == 1 + len(parts)
    assert ask(asker, 2).same
    assert len(server.calls) == 2 + len(parts)
    last = server.calls[-1]
    assert last.form == "json_schema", "the form is not to blame"
    assert ("temperature" in last.body) == ("temperature" not in parts)
    most = last.body["max_completion_tokens" if "max_tokens" in parts else "max_tokens"]
    assert most == 200


def test_a_part_that_cannot_be_left_out_is_told(server: JudgeServer, asker_of: AskerOf) -> None:
    server.script = refusing("messages")
    with pytest.raises(Unscored, match="rejected the request: HTTP 400"):
        ask(asker_of(), 1)
    assert len(server.calls) == 3, "once in each form"


def test_an_endpoint_that_goes_on_refusing_is_not_asked_for_ever(
    server: JudgeServer, asker_of: AskerOf
) -> None:
    error = {"message": "no", "param": "max_tokens"}
    server.script = lambda _: Reply(json.dumps({"error": error}), 400)
    with pytest.raises(Unscored, match="rejected the request"):
        ask(asker_of(), 1)
    assert len(server.calls) == 4


def test_the_budget_counts_the_same_under_either_name(
    server: JudgeServer, asker_of: AskerOf
) -> None:
    server.script = refusing("max_tokens")
    budget = Budget(Prices(0, 1_000_000), limit=199)
    with pytest.raises(Exception, match="the budget of 199 is used up"):
        ask(asker_of(budget=budget), 1)
    assert server.calls == []
