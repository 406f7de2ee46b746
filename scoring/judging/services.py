"""The judge of the site, from the settings, and the endpoints of boards: of their judges, and of
the models that organisers run.

A board never spends more than its monthly budget, however many workers there are. Each group of
jobs has a row with the money it has spent and reserved for the next calls. All of it counts as
spent. The row grows in a transaction that locks the board's endpoint, so that two workers cannot
both take the last of the budget. If the jobs are killed their row stays, so that a few calls too
many are counted but never too few.
"""

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone

from portal.accounts.models import User
from portal.audit.models import record_event
from portal.web.fields import Unsealable
from scoring.benchmarks.base import Judging
from scoring.benchmarks.items import ItemResult, Options, Payload
from scoring.judge.asking import Asker, FolderCache, Record
from scoring.judge.endpoint import KEY, Backoff, Budget, Endpoint, Prices, Stopped, Unscored, Usage
from scoring.judge.questions import FIELDS, FieldAnswer, Question
from scoring.models import Board, JudgeEndpoint, JudgeSpending
from scoring.models.judging import Extras, JudgeSpendingQuerySet, Purpose, month_of_now

if TYPE_CHECKING:
    from scoring.judge.client import Client


@dataclass(frozen=True)
class MonthSpent:
    """Money of one calendar month (UTC), in the currency of the prices."""

    month: date
    spent: float
    ahead: float
    """Reserved by running or killed jobs; it counts as spent."""
    budget: float | None

    @property
    def left(self) -> float | None:
        """None without a budget."""
        if self.budget is None:
            return None
        return max(self.budget - self.spent - self.ahead, 0.0)


def endpoint_of(board: Board, purpose: Purpose = Purpose.JUDGE) -> JudgeEndpoint | None:
    """The board's own endpoint. Without one, a judge is that of the settings."""
    endpoints = JudgeEndpoint.objects.filter(board=board, purpose=purpose)
    return endpoints.select_related("set_by").first()


def spent_this_month(
    board: Board, endpoint: JudgeEndpoint | None, purpose: Purpose = Purpose.JUDGE
) -> MonthSpent:
    month = month_of_now()
    rows = JudgeSpending.objects.of(board.pk, purpose, month)
    return MonthSpent(
        month=month,
        spent=rows.filter(is_open=False).total(),
        ahead=rows.filter(is_open=True).total(),
        budget=endpoint.budget if endpoint else None,
    )


# Calls for which money is reserved at once, which keeps locks rare. Killed jobs lose as many.
_AHEAD = 10


class MonthlyAllowance:
    """An `Allowance` for the board's monthly budget; without a budget it only counts.

    The threads of one job share it, and one of them opens and closes it. Never use it inside a
    transaction, because others must see reserved money at once.
    """

    def __init__(self, board_id: int, what: str, purpose: Purpose = Purpose.JUDGE) -> None:
        self.refusal = ""
        self._board_id = board_id
        self._purpose = purpose
        self._what = what[: JudgeSpending._meta.get_field("what").max_length]
        self._opener = threading.get_ident()
        self._row: JudgeSpending | None = None
        # The part of the usage that belongs to rows of earlier months.
        self._earlier = 0.0

    def covers(self, used: float, cost: float) -> bool:
        row = self._row
        if row and row.month == month_of_now() and used + cost <= self._earlier + row.amount:
            return True
        try:
            return self._grow(used, cost)
        finally:
            # Other threads have their own connections, which nothing else closes.
            if threading.get_ident() != self._opener:
                connection.close()

    @transaction.atomic
    def _grow(self, used: float, cost: float) -> bool:
        locked = JudgeEndpoint.objects.select_for_update()
        endpoint = locked.filter(board=self._board_id, purpose=self._purpose).first()
        if endpoint is None:
            self.refusal = "the board's own endpoint was removed"
            return False
        month = month_of_now()
        self._leave_month(month, used)
        needed = used - self._earlier + cost
        amount = needed + _AHEAD * cost
        if endpoint.budget is not None:
            left = endpoint.budget - self._others(month).total()
            if needed > left:
                self.refusal = self._used_up(endpoint.budget, month)
                return False
            amount = min(amount, left)
        self._write(month, amount)
        return True

    def _others(self, month: date) -> JudgeSpendingQuerySet:
        rows = JudgeSpending.objects.of(self._board_id, self._purpose, month)
        return rows.exclude(pk=self._row.pk) if self._row else rows

    def _used_up(self, budget: float, month: date) -> str:
        words = f"the board's budget of {budget:.10g} for {month:%B %Y} is used up"
        ahead = self._others(month).filter(is_open=True).total()
        return f"{words}, including money reserved by other running jobs" if ahead else words

    def _leave_month(self, month: date, used: float) -> None:
        """At the start of a new month, settles the row of the former one."""
        if self._row is None or self._row.month == month:
            return
        self._settle(self._row, used - self._earlier)
        self._earlier, self._row = used, None

    def _write(self, month: date, amount: float) -> None:
        if self._row is not None:
            JudgeSpending.objects.filter(pk=self._row.pk).update(amount=amount)
            self._row.amount = amount
            return
        if self._what:
            # Close rows of killed workers, which stay counted. For a worker that is still running
            # another job of the group, this makes no difference.
            same = JudgeSpending.objects.filter(board=self._board_id, what=self._what)
            same.filter(is_open=True).update(is_open=False)
        self._row = JudgeSpending.objects.create(
            board_id=self._board_id,
            purpose=self._purpose,
            month=month,
            what=self._what,
            amount=amount,
        )

    def close(self, used: float) -> None:
        """Settles the row when the job has ended; `used` is its total."""
        if self._row is not None:
            self._settle(self._row, used - self._earlier)

    def _settle(self, row: JudgeSpending, amount: float) -> None:
        """Writes the final amount; deletes the row if it is zero."""
        rows = JudgeSpending.objects.filter(pk=row.pk)
        if amount > 0:
            rows.update(amount=amount, is_open=False)
        else:
            rows.delete()


class JudgingRefused(Exception):
    """The request cannot be carried out now. The message gives the reason."""


class JudgeUnset(JudgingRefused):
    """A setting is missing. The message names it."""


@dataclass(frozen=True)
class BoardJudge:
    """The judge of a board and its prices."""

    endpoint: Endpoint
    prices: Prices
    is_own: bool
    """Whether the board has an endpoint of its own."""

    def check_limit(self, limit: float | None) -> None:
        """Raises JudgingRefused for a limit without prices, which would have no effect."""
        if limit is None or self.prices.input or self.prices.output:
            return
        if self.is_own:
            raise JudgingRefused("A budget needs prices. Set the prices of the board's endpoint.")
        raise JudgeUnset("a budget needs JUDGE_PRICE_INPUT or JUDGE_PRICE_OUTPUT")


def judge_model() -> str:
    if not settings.JUDGE_MODEL:
        raise JudgeUnset("JUDGE_MODEL is not set; set it to the name of the judge's model")
    return str(settings.JUDGE_MODEL)


def judge_model_of(board: Board) -> str:
    """The model of the board's judge. Raises JudgeUnset without one."""
    own = endpoint_of(board)
    return own.model if own else judge_model()


def known_judge(board: Board) -> str:
    """The model of the board's judge; empty without one."""
    own = endpoint_of(board)
    return own.model if own else str(settings.JUDGE_MODEL)


def judge_fault(board: Board, options: Options) -> str:
    """Why the judge in these options cannot be asked; empty if it can, or if there is none."""
    wanted = board.spec.judge_model(options)
    if not wanted:
        return ""
    try:
        model = judge_of(board).endpoint.model
    except JudgingRefused as refusal:
        return str(refusal)
    return "" if model == wanted else f"The board's judge is {model}, but {wanted} is required."


def judge_of(board: Board) -> BoardJudge:
    """The judge of a board. Raises JudgingRefused if it cannot be asked."""
    own = endpoint_of(board)
    return own_judge(own) if own else settings_judge()


def settings_judge() -> BoardJudge:
    """Raises JudgeUnset."""
    model = judge_model()
    if not settings.JUDGE_BASE_URL:
        raise JudgeUnset("JUDGE_BASE_URL is not set; set it to the URL of the judge's endpoint")
    endpoint = _endpoint(
        settings.JUDGE_BASE_URL, model, settings.JUDGE_API_KEY, settings.JUDGE_CALLS_PER_MINUTE
    )
    return BoardJudge(endpoint, _settings_prices(), is_own=False)


def own_judge(own: JudgeEndpoint) -> BoardJudge:
    """Uses only the board's key, because the key of the settings belongs to another endpoint.

    Raises JudgingRefused if the key is lost, or if the host is not allowed any more.
    """
    if fault := host_fault(own.base_url):
        raise JudgingRefused(fault)
    try:
        key, extras = own.read_key(), own.read_extras()
    except Unsealable as error:
        raise JudgingRefused(
            "The key of the board's endpoint cannot be read, because SECRET_KEY has changed. Enter "
            "the key again, and the query and headers if it needs any."
        ) from error
    url = f"{own.base_url}?{extras.query}" if extras.query else own.base_url
    headers = {name: value.replace(KEY, key) for name, value in extras.headers.items()}
    endpoint = replace(_endpoint(url, own.model, key, own.calls_per_minute), headers=headers)
    return BoardJudge(endpoint, Prices(own.price_input, own.price_output), is_own=True)


def host_fault(url: str) -> str:
    """Why no endpoint may have this URL; empty if it may. Without ENDPOINT_HOSTS any host may."""
    parts = urlsplit(url)
    host = (parts.hostname or "").lower()
    allowed = {name.lower() for name in settings.ENDPOINT_HOSTS}
    if not allowed or host in allowed or f"{host}:{parts.port}" in allowed:
        return ""
    return f"The site's operator does not allow endpoints at “{host}” (ENDPOINT_HOSTS)."


def _endpoint(base_url: str, model: str, key: str, calls_per_minute: int) -> Endpoint:
    return Endpoint(
        base_url=base_url,
        model=model,
        api_key=key or "none",
        timeout=settings.JUDGE_TIMEOUT,
        calls_per_minute=calls_per_minute,
        backoff=Backoff(attempts=settings.JUDGE_ATTEMPTS),
    )


def _settings_prices() -> Prices:
    return Prices(settings.JUDGE_PRICE_INPUT, settings.JUDGE_PRICE_OUTPUT)


def judge_budget(limit: float | None) -> Budget:
    """A budget for the settings' judge. Raises JudgeUnset for a limit without prices."""
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
    """The settings' judge. Raises JudgeUnset without an endpoint."""
    with closing(_client(settings_judge().endpoint, budget)) as client:
        yield Asker(client, cache)


def judged_result(
    asker: Asker, judging: Judging, gold: Payload, prediction: Payload | None, options: Options
) -> ItemResult:
    """Scores one item, asking the judge as needed. Raises Unscored or Stopped."""
    answers = [asker.ask(question) for question in judging.questions(gold, prediction, options)]
    return judging.score_item(gold, prediction, options, answers)


@contextmanager
def open_board_judge(
    board: Board, model: str, limit: float | None = None, *, what: str = ""
) -> Iterator[tuple[Asker, Budget]]:
    """The judge of a board, and its budget: at most `limit` and the rest of the board's month.
    `what` names the group of the jobs.

    Raises JudgingRefused if the board has another model than `model`, because figures must come
    from one judge. Never open it inside a transaction, because others must see reserved money.
    """
    if (own := judge_model_of(board)) != model:
        place = "The board's endpoint has" if endpoint_of(board) else "JUDGE_MODEL is"
        raise JudgingRefused(f"{place} {own}, but {model} is required.")
    judge = judge_of(board)
    judge.check_limit(limit)
    with open_client(board, judge, limit, what) as (client, budget):
        yield Asker(client, judge_cache()), budget


@contextmanager
def open_client(
    board: Board, judge: BoardJudge, limit: float | None, what: str
) -> Iterator[tuple["Client", Budget]]:
    """A client whose calls count against the board's month, if its own endpoint has prices."""
    is_counted = judge.is_own and (judge.prices.input or judge.prices.output)
    allowance = MonthlyAllowance(board.pk, what) if is_counted else None
    with (
        settled_budget(judge.prices, limit, allowance) as budget,
        closing(_client(judge.endpoint, budget)) as client,
    ):
        yield client, budget


@contextmanager
def settled_budget(
    prices: Prices, limit: float | None, allowance: MonthlyAllowance | None
) -> Iterator[Budget]:
    """A budget whose allowance is closed at the end, with what was spent."""
    budget = Budget(prices, limit, allowance)
    try:
        yield budget
    finally:
        if allowance is not None:
            allowance.close(budget.spent)


# The fields of an endpoint apart from its key.
SETTINGS = ("base_url", "model", "price_input", "price_output", "calls_per_minute", "budget")
# A user waits for the page.
_TRY_SECONDS = 30
_TRY_TOKENS = 1_000


@dataclass(frozen=True)
class Trial:
    """The result of a test question; without a `fault` it was answered."""

    model: str
    milliseconds: int
    usage: Usage
    cost: float
    fault: str = ""
    answer: str = ""
    """The model's answer about the test picture; empty for a judge."""


@transaction.atomic
def set_endpoint(
    *,
    board: Board,
    values: Mapping[str, Any],
    key: str | None,
    actor: User | None,
    purpose: Purpose = Purpose.JUDGE,
    query: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> JudgeEndpoint:
    """Sets the board's endpoint. `values` has all of SETTINGS, validated by the caller's form.

    `key`, `query` and `headers` are kept if they are None, and removed if they are empty. If the
    URL changes they are removed, so that no organiser can have them sent to their own endpoint.
    """
    # Lock the board, so that concurrent calls see each other's changes.
    Board.objects.select_for_update(no_key=True).get(pk=board.pk)
    endpoint = endpoint_of(board, purpose) or JudgeEndpoint(board=board, purpose=purpose)
    had_key, is_moved = endpoint.has_key, endpoint.base_url != values["base_url"]
    for name in SETTINGS:
        setattr(endpoint, name, values[name])
    if key is not None:
        endpoint.keep_key(key)
    elif is_moved:
        endpoint.keep_key("")
    elif not endpoint.is_key_lost:
        # Seal it again with the current SECRET_KEY.
        endpoint.keep_key(endpoint.read_key())
    _keep_extras(endpoint, query, headers, is_moved=is_moved)
    endpoint.set_by, endpoint.set_at = actor, timezone.now()
    endpoint.save()
    record_event(
        verb=f"set_{purpose}_endpoint",
        subject=board,
        actor=actor,
        **{name: values[name] for name in SETTINGS},
        key=_key_act(key, had_key=had_key, has_key=endpoint.has_key),
        extras=list(endpoint.extra_names),
    )
    return endpoint


def _keep_extras(
    endpoint: JudgeEndpoint,
    query: str | None,
    headers: Mapping[str, str] | None,
    *,
    is_moved: bool,
) -> None:
    """Seals them again with the current SECRET_KEY, unless they are lost and not given."""
    try:
        old = Extras() if is_moved else endpoint.read_extras()
    except Unsealable:
        if query is None and headers is None:
            return
        old = Extras()
    endpoint.keep_extras(
        Extras(old.query if query is None else query, old.headers if headers is None else headers)
    )


def _key_act(key: str | None, *, had_key: bool, has_key: bool) -> str:
    """The change of the key, for the log, which never contains it."""
    if key:
        return "changed" if had_key else "set"
    if had_key:
        return "kept" if has_key else "dropped"
    return "none"


@transaction.atomic
def remove_endpoint(*, board: Board, actor: User | None, purpose: Purpose = Purpose.JUDGE) -> bool:
    """Removes the board's endpoint with its key, and returns whether there was one.

    The spending of the month is kept and counts for the next endpoint too.
    """
    removed, _ = JudgeEndpoint.objects.filter(board=board, purpose=purpose).delete()
    if removed:
        record_event(verb=f"remove_{purpose}_endpoint", subject=board, actor=actor)
    return bool(removed)


def try_judge(*, board: Board, actor: User | None) -> Trial:
    """Asks the board's judge whether two amounts are the same. Raises JudgingRefused.

    The question costs money like any other. It is asked once, without the cache.
    """
    judge = judge_of(board)
    patience = min(settings.JUDGE_TIMEOUT, _TRY_SECONDS)
    endpoint = replace(judge.endpoint, timeout=patience, backoff=Backoff(attempts=1))
    fault, began = "", time.monotonic()
    with open_client(board, replace(judge, endpoint=endpoint), None, "try") as (client, budget):
        try:
            Asker(client, _NoCache()).ask(_question())
        except (Unscored, Stopped) as error:
            fault = str(error)
    milliseconds = round((time.monotonic() - began) * 1000)
    record_event(verb="try_judge_endpoint", subject=board, actor=actor, cost=budget.spent)
    return Trial(endpoint.model, milliseconds, budget.usage, budget.spent, fault)


def _question() -> Question[FieldAnswer]:
    sections = {"FIELD": "total", "REFERENCE": "1,250.00", "READING": "1 250,00"}
    return Question(FIELDS, FieldAnswer, sections, _TRY_TOKENS)


class _NoCache:
    """An empty cache, so that the endpoint is always called."""

    def get(self, key: str) -> Record | None:
        return None

    def put(self, key: str, record: Record) -> None:
        pass
