"""Tests many inputs in little more time than one input takes.

pytest runs the set-up for every test, which takes longer than most tests of one small input. A
property test draws fewer examples in the fast lane than in the slow one.
"""

import inspect
from collections.abc import Callable, Collection, Iterable
from typing import Any, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

# The fast lane draws one example for this many in the slow lane.
SHARE = 5
FEWEST = 5

# The fast lane reads every fourth of many pages, the slow lane all others.
EVERY = 4
SOME = "some"
each_part = pytest.mark.parametrize("part", [SOME, pytest.param("rest", marks=pytest.mark.slow)])

Test = Callable[..., None]
Row = TypeVar("Row")


def part_of(rows: Iterable[Row], part: str) -> list[Row]:
    """Returns every fourth row, or all the others. The two parts do not overlap."""
    return [row for n, row in enumerate(rows) if (n % EVERY == 0) == (part == SOME)]


def short_id(value: object) -> str:
    """Shortens a text for use in `ids`."""
    return str(value)[:40]


def together(names: str | Collection[str], rows: Collection[Any]) -> Callable[[Test], Test]:
    """Like `pytest.mark.parametrize`, but all rows are one test and share its fixtures.

    Every row runs. The first error is raised, with its row and the errors of later rows as notes.
    """
    assert rows, f"no rows for {names}"
    arguments = names.split() if isinstance(names, str) else list(names)

    def decorate(test: Test) -> Test:
        def run(*drawn: Any, **others: Any) -> None:
            # Hypothesis passes drawn values by position.
            others |= zip(inspect.signature(run).parameters, drawn, strict=False)
            errors: list[BaseException] = []
            for row in rows:
                values = row if len(arguments) > 1 else [row]
                try:
                    test(**others, **dict(zip(arguments, values, strict=True)))
                except (Exception, pytest.fail.Exception) as error:
                    what = f" {type(error).__name__} {error}" if errors else ""
                    (errors[0] if errors else error).add_note(
                        f"{arguments}: {row!r:.200}{what:.200}"
                    )
                    errors.append(error)
            if errors:
                raise errors[0]

        return _named_like(test, run, arguments)

    return decorate


def drawn(
    *strategies: st.SearchStrategy[Any], examples: int = 100, **named: st.SearchStrategy[Any]
) -> Callable[[Test], Test]:
    """Like `given`, for a slow test: the fast lane draws only some of the examples.

    Both lanes use the same database of Hypothesis: the fast lane starts with the failures that the
    slow lane found. The test takes no fixtures and no other parameters.
    """
    few = max(examples // SHARE, FEWEST)
    budgets = [few, pytest.param(examples, marks=pytest.mark.slow)]

    def decorate(test: Test) -> Test:
        @pytest.mark.parametrize("budget", budgets)
        def run(budget: int) -> None:
            settings(max_examples=budget)(given(*strategies, **named)(test))()

        run.__name__, run.__module__, run.__doc__ = test.__name__, test.__module__, test.__doc__
        return run

    return decorate


def _named_like(test: Test, run: Test, without: Collection[str]) -> Test:
    """Gives `run` the name of the test, and its signature without some parameters."""
    signature = inspect.signature(test)
    kept = [part for name, part in signature.parameters.items() if name not in without]
    assert len(kept) == len(signature.parameters) - len(without), f"{test.__name__} lacks a name"
    run.__name__, run.__module__, run.__doc__ = test.__name__, test.__module__, test.__doc__
    run.__dict__.update(test.__dict__)
    run.__signature__ = signature.replace(parameters=kept)  # type: ignore[attr-defined]
    return run
