"""Database fixtures that are created once per module, not once per test.

Most tests of a module start from the same rows: a campaign, a graded submission. A fixture marked
`shared` writes such rows. Before a test starts, each shared fixture it uses is in the database, in
nested savepoints. The next test keeps the savepoints it also uses, and the others are rolled back.
So a test finds the same rows as if it had created them itself, whatever ran before, and gets its
own copies of the objects. Django's `setUpTestData` does the same for classes.

A conftest module enables this for its folder:

    from tests.worlds import _worlds_end, pytest_fixture_setup
"""

import pickle
import shutil
import unittest
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import chain
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, NamedTuple, TypeVar
from unittest.mock import patch

import pytest
from django.conf import settings
from django.core import mail
from django.core.cache import caches
from django.db import transaction
from django.test import override_settings

from portal.jobs.worker import SWEEPS

Function = TypeVar("Function", bound=Callable[..., Any])
Fixture = pytest.FixtureDef[Any]


class _Layer(NamedTuple):
    fixture: Fixture
    block: transaction.Atomic
    # The files that the fixture stored.
    files: Path
    # The values of all fixtures up to this one, by name. Pickled, so that tests change only copies.
    values: bytes


_layers: list[_Layer] = []
_objects = pytest.StashKey[dict[str, Any]]()


def shared(function: Function) -> Function:
    """Marks a fixture that depends only on shared fixtures and only writes rows and files."""
    function.is_shared = True  # type: ignore[attr-defined]
    return function


@pytest.hookimpl(tryfirst=True)
def pytest_fixture_setup(fixturedef: Fixture, request: Any) -> Any:
    """Creates shared fixtures before the transaction of the test, and returns copies of them."""
    item = request.node
    if fixturedef.argname == "_django_db_helper":
        blocker = request.getfixturevalue("django_db_blocker")
        with blocker.unblock():
            item.stash[_objects] = _prepare(_wanted(item))
    for layer in _layers:
        if layer.fixture is fixturedef:
            if layer.files.exists():
                shutil.copytree(layer.files, settings.MEDIA_ROOT, dirs_exist_ok=True)
            found = item.stash[_objects][fixturedef.argname]
            fixturedef.cached_result = (found, fixturedef.cache_key(request), None)
            return found
    return None


@pytest.fixture(scope="module", autouse=True)
def _worlds_end(django_db_blocker: Any) -> Iterator[None]:
    """Rolls back all shared fixtures at the end of a module."""
    yield
    with django_db_blocker.unblock():
        _roll_back(to=0)


def _prepare(wanted: Sequence[Fixture]) -> dict[str, Any]:
    """Makes the database hold only the wanted fixtures; returns copies of their values by name."""
    kept = 0
    for layer, fixture in zip(_layers, wanted, strict=False):
        if layer.fixture is not fixture:
            break
        kept += 1
    _roll_back(to=kept)
    for fixture in wanted[kept:]:
        _add(fixture)
    # Cache keys contain primary keys, which are used again after a rollback.
    for each in caches.all():
        each.clear()
    return _values()


def _values() -> dict[str, Any]:
    values: dict[str, Any] = pickle.loads(_layers[-1].values) if _layers else {}
    return values


def _add(fixture: Fixture) -> None:
    values = _values() | {"db": None}
    files = Path(mkdtemp()) / "media"
    block = transaction.atomic()
    block.__enter__()
    try:
        with _as_in_a_test(files):
            arguments = {name: values[name] for name in fixture.argnames}
            values[fixture.argname] = fixture.func(**arguments)
    except BaseException as error:
        block.__exit__(type(error), error, error.__traceback__)
        raise
    _layers.append(_Layer(fixture, block, files, pickle.dumps(values)))


@contextmanager
def _as_in_a_test(files: Path) -> Iterator[None]:
    """Applies the settings that `tests.conftest` sets for every test."""
    sweeps = [sweep for sweep in SWEEPS if sweep.__name__ != "queue_undrawn"]
    with override_settings(MEDIA_ROOT=files), patch("portal.jobs.worker.SWEEPS", sweeps):
        yield
    # Emails are not rolled back: otherwise only the first test would find them.
    mail.outbox.clear()


def _roll_back(to: int) -> None:
    while len(_layers) > to:
        transaction.set_rollback(True)
        layer = _layers.pop()
        layer.block.__exit__(None, None, None)
        shutil.rmtree(layer.files.parent)


def _wanted(item: pytest.Item) -> list[Fixture]:
    """Returns the shared fixtures of the test, each after its dependencies.

    The fixture with the most dependencies comes first: most tests of a module use it.
    """
    if not _shares(item.session, item.path) or _commits(item):
        return []
    fixtures = _fixtures(item)
    stacks = [_stack(fixture, fixtures) for fixture in fixtures.values()]
    stacks.sort(key=lambda stack: (-len(stack), stack[-1].argname if stack else ""))
    return list(dict.fromkeys(chain.from_iterable(stacks)))


def _fixtures(item: pytest.Item) -> dict[str, Fixture]:
    """Returns the fixtures of the test, by name."""
    known: dict[str, Sequence[Fixture]] = item._fixtureinfo.name2fixturedefs  # type: ignore[attr-defined]
    return {name: definitions[-1] for name, definitions in known.items()}


def _stack(fixture: Fixture, fixtures: dict[str, Fixture]) -> list[Fixture]:
    """Returns the fixture after its dependencies, or an empty list if one is not shared."""
    if not _is_shared(fixture):
        return []
    below = [_stack(fixtures[name], fixtures) for name in fixture.argnames if name != "db"]
    return [*chain.from_iterable(below), fixture] if all(below) else []


def _is_shared(fixture: Fixture) -> bool:
    # A fixture that overrides another of its name requests that one, which is not in the values.
    overrides = fixture.argname in fixture.argnames
    return getattr(fixture.func, "is_shared", False) and not overrides


@cache
def _shares(session: pytest.Session, path: Any) -> bool:
    """Returns False if classes or fixtures of the module open transactions around its tests."""
    items = [item for item in session.items if item.path == path]
    if any(issubclass(getattr(item, "cls", None) or object, unittest.TestCase) for item in items):
        return False
    return not any(
        fixture.scope in ("class", "module")
        and fixture.argname not in ("_worlds_end", "_django_setup_unittest")
        and "django_db_blocker" in fixture.argnames
        for item in items
        for fixture in _fixtures(item).values()
    )


def _commits(item: pytest.Item) -> bool:
    marker = item.get_closest_marker("django_db")
    asked = {"transactional_db", "live_server"} & set(getattr(item, "fixturenames", ()))
    return bool(asked or (marker and (marker.kwargs.get("transaction") or marker.args)))
