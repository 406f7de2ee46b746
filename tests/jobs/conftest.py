"""Handlers that exist for one test only."""

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import pytest
from django.utils import timezone

from portal.jobs.handlers import HANDLERS, Claim, handler
from portal.jobs.models import Job


class Register(Protocol):
    def __call__(
        self,
        run: Callable[[Claim], None],
        kind: str = "test",
        *,
        is_finishing: bool = False,
        **hooks: Callable[..., None],
    ) -> None: ...


@pytest.fixture
def register() -> Iterator[Register]:
    """`register(function, kind, on_failed=…)` adds a handler until the test ends."""
    before = dict(HANDLERS)
    HANDLERS.clear()

    def add(run: Callable[[Claim], None], kind: str = "test", **hooks: Any) -> None:
        HANDLERS.pop(kind, None)
        handler(kind, **hooks)(run)

    yield add
    HANDLERS.clear()
    HANDLERS.update(before)


@pytest.fixture
def make_due() -> Callable[[], int]:
    """Ends the waiting of all queued jobs, as if their delay had passed."""

    def make() -> int:
        return Job.objects.filter(state=Job.State.QUEUED).update(not_before=timezone.now())

    return make
