"""The judge of the site, which the settings describe, and that of a board with an endpoint."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings

from portal.web.fields import Unsealable
from scoring.benchmarks.base import ItemResult, Options, Payload
from scoring.benchmarks.judging import Judging
from scoring.judge.asking import Asker
from scoring.judge.budget import Budget, Prices
from scoring.judge.cache import FolderCache
from scoring.judge.endpoint import Endpoint
from scoring.judge.pacing import Backoff
from scoring.models import Board, JudgeEndpoint
from scoring.selectors.judge_endpoints import endpoint_of

from .judge_spending import MonthlyAllowance

if TYPE_CHECKING:
    from scoring.judge.client import Client


class JudgingRefused(Exception):
    """What was asked cannot be done now; the message says why."""


class JudgeUnset(JudgingRefused):
    """A setting is missing; the message names it."""


@dataclass(frozen=True)
class BoardJudge:
    """Who judges a board's pages, and what that costs."""

    endpoint: Endpoint
    prices: Prices
    is_own: bool
    """Whether the board has an endpoint of its own."""

    def check_limit(self, limit: float | None) -> None:
        """Raises JudgingRefused for a limit that prices of 0 would never reach."""
        if limit is None or self.prices.input or self.prices.output:
            return
        if self.is_own:
            raise JudgingRefused("A budget needs prices, and the board's endpoint has none.")
        raise JudgeUnset("a budget needs JUDGE_PRICE_INPUT or JUDGE_PRICE_OUTPUT")


def judge_model() -> str:
    if not settings.JUDGE_MODEL:
        raise JudgeUnset("JUDGE_MODEL is not set: the judge's name at its endpoint")
    return str(settings.JUDGE_MODEL)


def judge_model_of(board: Board) -> str:
    """The board's judge as its endpoint names it; raises JudgeUnset where there is none."""
    own = endpoint_of(board)
    return own.model if own else judge_model()


def known_judge(board: Board) -> str:
    """The board's judge as its endpoint names it, for pages; empty where none is set up."""
    try:
        return judge_model_of(board)
    except JudgeUnset:
        return ""


def judge_fault(board: Board, options: Options) -> str:
    """Why the judge that these options name cannot be asked; empty where it can, or none is."""
    wanted = board.spec.judge_model(options)
    if not wanted:
        return ""
    try:
        found = judge_of(board).endpoint.model
    except JudgingRefused as refusal:
        return str(refusal)
    return "" if found == wanted else f"The board's judge is {found}, and {wanted} is to judge."


def judge_of(board: Board) -> BoardJudge:
    """The judge of a board; raises JudgingRefused where it cannot be asked."""
    own = endpoint_of(board)
    return _own_judge(own) if own else settings_judge()


def settings_judge() -> BoardJudge:
    """Raises JudgeUnset."""
    model = judge_model()
    if not settings.JUDGE_BASE_URL:
        raise JudgeUnset("JUDGE_BASE_URL is not set: where the judge answers")
    endpoint = Endpoint(
        base_url=settings.JUDGE_BASE_URL,
        model=model,
        api_key=settings.JUDGE_API_KEY or "none",
        timeout=settings.JUDGE_TIMEOUT,
        calls_per_minute=settings.JUDGE_CALLS_PER_MINUTE,
        backoff=Backoff(attempts=settings.JUDGE_ATTEMPTS),
    )
    return BoardJudge(endpoint, _settings_prices(), is_own=False)


def _own_judge(own: JudgeEndpoint) -> BoardJudge:
    """With the board's key or none: that of the settings is for their own address alone."""
    try:
        key = own.read_key()
    except Unsealable as error:
        raise JudgingRefused(
            "The key of the board's endpoint cannot be read any more, as SECRET_KEY was changed: "
            "enter it anew."
        ) from error
    endpoint = Endpoint(
        base_url=own.base_url,
        model=own.model,
        api_key=key or "none",
        timeout=settings.JUDGE_TIMEOUT,
        calls_per_minute=own.calls_per_minute,
        backoff=Backoff(attempts=settings.JUDGE_ATTEMPTS),
    )
    return BoardJudge(endpoint, Prices(own.price_input, own.price_output), is_own=True)


def _settings_prices() -> Prices:
    return Prices(settings.JUDGE_PRICE_INPUT, settings.JUDGE_PRICE_OUTPUT)


def judge_budget(limit: float | None) -> Budget:
    """For the settings' judge; raises JudgeUnset for a limit that prices of 0 would never reach."""
    prices = _settings_prices()
    if limit is not None and not prices.input and not prices.output:
        raise JudgeUnset("a budget needs JUDGE_PRICE_INPUT or JUDGE_PRICE_OUTPUT")
    return Budget(prices, limit)


def judge_cache(folder: Path | None = None) -> FolderCache:
    return FolderCache(folder or settings.JUDGE_CACHE)


def _client(endpoint: Endpoint, budget: Budget) -> "Client":
    from scoring.judge.client import Client

    return Client(endpoint, budget)


@contextmanager
def open_judge(budget: Budget, cache: FolderCache) -> Iterator[Asker]:
    """The settings' judge; raises JudgeUnset without an endpoint."""
    client = _client(settings_judge().endpoint, budget)
    try:
        yield Asker(client, cache)
    finally:
        client.close()


def judged_result(
    asker: Asker, judging: Judging, gold: Payload, prediction: Payload | None, options: Options
) -> ItemResult:
    """One item's score with the judge asked all it needs; raises Unscored or Stopped."""
    answers = [asker.ask(each) for each in judging.questions(gold, prediction, options)]
    return judging.score_item(gold, prediction, options, answers)


@contextmanager
def open_board_judge(
    board: Board, model: str, limit: float | None = None, *, what: str = ""
) -> Iterator[tuple[Asker, Budget]]:
    """The judge of a board, and what it spends: at most `limit`, and at most what is left of the
    board's month. `what` names the work, such as the group of its jobs.

    Raises JudgingRefused where another model is set up than the one that is wanted: figures are of
    one judge. Not to be opened inside a transaction: others must see what it sets aside.
    """
    if (found := judge_model_of(board)) != model:
        place = "The board's endpoint has" if endpoint_of(board) else "JUDGE_MODEL is"
        raise JudgingRefused(f"{place} {found}, and {model} is to judge.")
    judge = judge_of(board)
    judge.check_limit(limit)
    with open_client(board, judge, limit, what) as (client, budget):
        yield Asker(client, judge_cache()), budget


@contextmanager
def open_client(
    board: Board, judge: BoardJudge, limit: float | None, what: str
) -> Iterator[tuple["Client", Budget]]:
    """Calls that count against the board's month, if it has an endpoint of its own with prices."""
    is_counted = judge.is_own and (judge.prices.input or judge.prices.output)
    allowance = MonthlyAllowance(board.pk, what) if is_counted else None
    budget = Budget(judge.prices, limit, allowance)
    client = _client(judge.endpoint, budget)
    try:
        yield client, budget
    finally:
        client.close()
        if allowance is not None:
            allowance.close(budget.spent)
