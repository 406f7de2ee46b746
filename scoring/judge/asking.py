"""Asks each question once: answers come from the cache, from a running call, or from a new one.

Answers cost money and are cached by the hash of their question. Many items are judged at once, in
order. `plan` estimates the calls in advance.
"""

import contextlib
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

from pydantic import ValidationError

from .endpoint import Reply, Stopped, Unscored, Usage
from .questions import Answer, Message, Question, estimated_tokens

if TYPE_CHECKING:
    from .client import Client


Record = dict[str, Any]


class AnswerCache(Protocol):
    """Safe for many threads and processes."""

    def get(self, key: str) -> Record | None: ...

    def put(self, key: str, record: Record) -> None: ...


class FolderCache:
    """One file per answer. A file gets its name only once it is complete, so that a killed process
    leaves only complete answers."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, key: str) -> Record | None:
        try:
            record = json.loads(self._path(key).read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            return None
        return record if isinstance(record, dict) else None

    def put(self, key: str, record: Record) -> None:
        path = self._path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, partial = tempfile.mkstemp(dir=path.parent, suffix=".partial")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(record, file)
            Path(partial).replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                Path(partial).unlink(missing_ok=True)
            raise

    def _path(self, key: str) -> Path:
        """The first two characters name a folder, because huge folders are slow to list."""
        return self._folder / key[:2] / f"{key}.json"


A = TypeVar("A", bound=Answer)
# The most problems of an answer that are sent back to the judge.
_MOST_PROBLEMS = 5


def cached_answer(cache: AnswerCache, model: str, question: Question[A]) -> A | None:
    """The cached answer, if there is a usable one."""
    record = cache.get(question.key(model))
    try:
        answer = question.schema.model_validate(record["answer"]) if record else None
    except (KeyError, ValidationError):
        return None
    return answer if answer and not question.problem(answer) else None


class Asker:
    """Answers questions of many threads, and caches each answer at once."""

    def __init__(self, client: "Client", cache: AnswerCache) -> None:
        self._client = client
        self._cache = cache
        self._under_way: dict[str, Future[Any]] = {}
        self._lock = Lock()

    @property
    def model(self) -> str:
        return self._client.model

    def ask(self, question: Question[A]) -> A:
        """The answer; raises Unscored or Stopped."""
        key = question.key(self._client.model)
        with self._lock:
            asked = self._under_way.get(key)
            own: Future[Any] | None = None
            if asked is None:
                asked = own = self._under_way[key] = Future()
        if own is not None:
            self._resolve(own, key, question)
        answer: A = asked.result()
        return answer

    def _resolve(self, own: Future[Any], key: str, question: Question[A]) -> None:
        try:
            cached = cached_answer(self._cache, self.model, question)
            own.set_result(cached or self._ask_judge(key, question))
        except BaseException as error:
            own.set_exception(error)
        finally:
            with self._lock:
                del self._under_way[key]

    def _ask_judge(self, key: str, question: Question[A]) -> A:
        """Asks the judge, and asks once more with the problem if the answer cannot be used."""
        messages = question.messages()
        reply = self._complete(messages, question)
        answer, problem = _parse(reply, question)
        if answer is None:
            reply = self._complete([*messages, *_repair(reply, problem)], question)
            answer, problem = _parse(reply, question)
        if answer is None:
            raise Unscored(f"the judge's answer cannot be used: {problem}")
        record = {
            "prompt": question.prompt.version,
            "model": self._client.model,
            "answer": answer.model_dump(),
        }
        self._cache.put(key, record)
        return answer

    def _complete(self, messages: list[Message], question: Question[A]) -> Reply:
        return self._client.complete(messages, question.schema, question.most_output)


def _parse(reply: Reply, question: Question[A]) -> tuple[A | None, str]:
    """The answer, or its problem. Some endpoints put JSON in a code block or between words."""
    if reply.is_cut_off:
        return None, "it was cut off for its length; keep explanations short"
    start, end = reply.text.find("{"), reply.text.rfind("}")
    if start < 0 or end < start:
        return None, "it contains no JSON object"
    try:
        answer = question.schema.model_validate_json(reply.text[start : end + 1])
    except ValidationError as error:
        return None, _first_problems(error)
    problem = question.problem(answer)
    return (None, problem) if problem else (answer, "")


def _first_problems(error: ValidationError) -> str:
    """The first problems with their locations, without quoting the judge."""
    problems = error.errors(include_url=False, include_context=False, include_input=False)
    return "; ".join(
        f"{'.'.join(map(str, problem['loc'])) or 'answer'}: {problem['msg']}"
        for problem in problems[:_MOST_PROBLEMS]
    )


def _repair(reply: Reply, problem: str) -> list[Message]:
    return [
        {"role": "assistant", "content": reply.text},
        {
            "role": "user",
            "content": f"This answer cannot be used: {problem}. Answer the first message again, "
            "with one complete JSON object of the form that was asked for and nothing else.",
        },
    ]


T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class Judged(Generic[T, R]):
    """An item with its result, or with the reason for having none; `is_stopped` if no other item
    can be judged either."""

    item: T
    result: R | None
    reason: str = ""
    is_stopped: bool = False


class Plan(NamedTuple):
    """The calls and tokens needed at most, without repaired answers, and the number `kept` of
    questions with cached answers."""

    usage: Usage
    kept: int


def judge_all(
    items: Iterable[T], judge: Callable[[T], R], concurrency: int
) -> Iterator[Judged[T, R]]:
    """Judges every item, in order. After a stop the rest are still tried, because cached answers
    cost nothing."""

    def attempt(item: T) -> Judged[T, R]:
        try:
            return Judged(item, judge(item))
        except (Unscored, Stopped) as fault:
            return Judged(item, None, str(fault), isinstance(fault, Stopped))

    with ThreadPoolExecutor(concurrency, thread_name_prefix="judge") as pool:
        yield from pool.map(attempt, items)


def plan(questions: Iterable[Question[Any]], cache: AnswerCache, model: str) -> Plan:
    """Estimates the calls for these questions; equal ones count once."""
    usage, kept = Usage(), 0
    seen: set[str] = set()
    for question in questions:
        key = question.key(model)
        if key in seen:
            continue
        seen.add(key)
        if cached_answer(cache, model, question) is not None:
            kept += 1
        else:
            tokens = estimated_tokens(question.messages())
            usage += Usage(tokens, question.most_output, calls=1)
    return Plan(usage, kept)
