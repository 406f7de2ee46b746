"""Judges many items at once, in order, and plans what that would take."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from .asking import kept_answer
from .budget import Usage
from .cache import AnswerCache
from .faults import Stopped, Unscored
from .questions import Question, estimated_tokens

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class Judged(Generic[T, R]):
    """An item with its result, or without one and why; `is_stopped` if no item would have fared
    better."""

    item: T
    result: R | None
    reason: str = ""
    is_stopped: bool = False


class Plan(NamedTuple):
    """Calls that would be made, tokens at most without a repaired answer, and questions whose
    answer is kept already."""

    usage: Usage
    kept: int


def judge_all(
    items: Iterable[T], judge: Callable[[T], R], concurrency: int
) -> Iterator[Judged[T, R]]:
    """Every item once, in order. After a stop the rest are still tried, since answers that are
    kept cost nothing."""

    def attempt(item: T) -> Judged[T, R]:
        try:
            return Judged(item, judge(item))
        except (Unscored, Stopped) as fault:
            return Judged(item, None, str(fault), isinstance(fault, Stopped))

    with ThreadPoolExecutor(concurrency, thread_name_prefix="judge") as pool:
        yield from pool.map(attempt, items)


def plan(questions: Iterable[Question[Any]], cache: AnswerCache, model: str) -> Plan:
    """What asking these questions would take; equal ones are asked once."""
    usage, kept = Usage(), 0
    seen: set[str] = set()
    for question in questions:
        key = question.key(model)
        if key in seen:
            continue
        seen.add(key)
        if kept_answer(cache, model, question) is not None:
            kept += 1
        else:
            tokens = estimated_tokens(question.messages())
            usage += Usage(tokens, question.most_output, calls=1)
    return Plan(usage, kept)
