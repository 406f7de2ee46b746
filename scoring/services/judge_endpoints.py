"""A board's endpoint of the judge: set, taken away, tried."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from portal.accounts.models import User
from portal.audit.models import record_event
from scoring.judge.asking import Asker
from scoring.judge.budget import Usage
from scoring.judge.cache import Record
from scoring.judge.faults import Stopped, Unscored
from scoring.judge.pacing import Backoff
from scoring.judge.questions import FIELDS, Question
from scoring.judge.schema import FieldAnswer
from scoring.models import Board, JudgeEndpoint

from .judging import judge_of, open_client

# Of the endpoint, besides the key.
SETTINGS = ("base_url", "model", "price_input", "price_output", "calls_per_minute", "budget")
# Somebody waits before a page.
_TRY_SECONDS = 30
_TRY_TOKENS = 1_000


@dataclass(frozen=True)
class Trial:
    """What came of one tiny question; without a fault it was answered as it should be."""

    model: str
    milliseconds: int
    usage: Usage
    cost: float
    fault: str = ""


@transaction.atomic
def set_endpoint(
    *, board: Board, values: Mapping[str, Any], key: str | None, actor: User | None
) -> JudgeEndpoint:
    """Gives the board the endpoint, checked by the caller's form; `values` has all of SETTINGS.

    `key`: None keeps the one that is there, and an empty text forgets it. At another address no key
    is kept: whoever may change the address could have it sent to one of their own.
    """
    # Two at once: the second sees what the first has set.
    Board.objects.select_for_update(no_key=True).get(pk=board.pk)
    endpoint = JudgeEndpoint.objects.filter(board=board).first() or JudgeEndpoint(board=board)
    had_key, is_moved = endpoint.has_key, endpoint.base_url != values["base_url"]
    for name in SETTINGS:
        setattr(endpoint, name, values[name])
    if key is not None:
        endpoint.keep_key(key)
    elif is_moved:
        endpoint.keep_key("")
    elif not endpoint.is_key_lost:
        # Sealed anew, and so under the present SECRET_KEY.
        endpoint.keep_key(endpoint.read_key())
    endpoint.set_by, endpoint.set_at = actor, timezone.now()
    endpoint.save()
    record_event(
        verb="set_judge_endpoint",
        subject=board,
        actor=actor,
        **{name: values[name] for name in SETTINGS},
        key=_key_act(key, had_key=had_key, has_key=endpoint.has_key),
    )
    return endpoint


def _key_act(key: str | None, *, had_key: bool, has_key: bool) -> str:
    """What became of the key, for the log, which never holds it."""
    if key:
        return "changed" if had_key else "set"
    if had_key:
        return "kept" if has_key else "dropped"
    return "none"


@transaction.atomic
def remove_endpoint(*, board: Board, actor: User | None) -> bool:
    """Back to the judge of the settings, with the key gone; whether there was an endpoint.

    What was spent stays noted: with another endpoint the month does not begin anew.
    """
    removed, _ = JudgeEndpoint.objects.filter(board=board).delete()
    if removed:
        record_event(verb="remove_judge_endpoint", subject=board, actor=actor)
    return bool(removed)


def try_judge(*, board: Board, actor: User | None) -> Trial:
    """Asks the board's judge whether two amounts are the same. Raises JudgingRefused.

    It is paid for as any other question, and asked once: nothing is kept.
    """
    judge = judge_of(board)
    patience = min(settings.JUDGE_TIMEOUT, _TRY_SECONDS)
    endpoint = replace(judge.endpoint, timeout=patience, backoff=Backoff(attempts=1))
    fault, began = "", time.monotonic()
    with open_client(board, replace(judge, endpoint=endpoint), None, "try") as (client, budget):
        try:
            Asker(client, _Nothing()).ask(_question())
        except (Unscored, Stopped) as error:
            fault = str(error)
    milliseconds = round((time.monotonic() - began) * 1000)
    record_event(verb="try_judge_endpoint", subject=board, actor=actor, cost=budget.spent)
    return Trial(endpoint.model, milliseconds, budget.usage, budget.spent, fault)


def _question() -> Question[FieldAnswer]:
    sections = {"FIELD": "total", "REFERENCE": "1,250.00", "READING": "1 250,00"}
    return Question(FIELDS, FieldAnswer, sections, _TRY_TOKENS)


class _Nothing:
    """Keeps no answer, and has none: it is the endpoint that is asked about."""

    def get(self, key: str) -> Record | None:
        return None

    def put(self, key: str, record: Record) -> None:
        pass
