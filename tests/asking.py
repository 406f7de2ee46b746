"""Requests without lasting changes, so that one test can request hundreds of URLs as many roles.

Each request is rolled back, so the next one finds the same rows. A failure lists all wrong
responses.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from django.db import transaction
from django.urls import URLPattern, URLResolver, path

Key = TypeVar("Key")
Wanted = int | set[int]


def flat(patterns: Iterable[URLPattern | URLResolver], prefix: str = "") -> Iterator[URLPattern]:
    """Yields each URL of a table with its whole route."""
    for pattern in patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from flat(pattern.url_patterns, route)
        else:
            yield path(route, pattern.callback, pattern.default_args, name=pattern.name)


@contextmanager
def rolled_back() -> Iterator[None]:
    """Rolls back all changes of rows. Changes of files, caches and cookies remain."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def status_of(response: Any) -> int:
    """Returns the status of a response. Reads a stream to its end, which closes its file."""
    if response.streaming:
        response.getvalue()
    return int(response.status_code)


def check_answers(wanted: Mapping[Key, Wanted], ask: Callable[[Key], Any]) -> None:
    """Calls `ask` for every key, and fails with a list of the responses with an unexpected status.

    Each request is rolled back before the next. An exception gets a note with its key.
    """
    assert wanted
    wrong = []
    for key, statuses in wanted.items():
        with _named(key), rolled_back():
            got = status_of(ask(key))
        if got not in (statuses if isinstance(statuses, set) else {statuses}):
            wrong.append(f"{key}: {got}, not {statuses}")
    # pytest shortens a long list, but not a message.
    assert not wrong, "\n".join(wrong)


@contextmanager
def _named(key: object) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        error.add_note(f"asked for {key}")
        raise


def by_role(
    roles: Sequence[str], table: Mapping[Key, Sequence[Wanted]]
) -> dict[tuple[str, Key], Wanted]:
    """Returns the expected status of each role and key. The table has one status per role."""
    return {
        (role, key): status
        for key, statuses in table.items()
        for role, status in zip(roles, statuses, strict=True)
    }


def in_turn(keys: Iterable[Key], check: Callable[[Key], object]) -> None:
    """Runs the check for each key on the same rows. A failure lists every key that fails."""
    failed, count = [], 0
    for key in keys:
        count += 1
        with _named(key), rolled_back():
            try:
                check(key)
            except AssertionError as error:
                error.add_note(f"asked for {key}")
                failed.append(error)
    assert count
    if failed:
        raise ExceptionGroup(f"{len(failed)} of {count} failed", failed)
