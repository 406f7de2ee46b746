"""The registry of personal data, for exports and account deletion.

Each app registers its own data source when it starts, because `portal.accounts` cannot import the
apps above it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import IO, Any, Protocol

from portal.web.refusals import Refused

from .models import User


@dataclass(frozen=True)
class Table:
    """One file of the export: `name.jsonl`, with one JSON object per line."""

    name: str
    about: str
    """One sentence for the export's list of contents."""
    rows: Iterable[dict[str, Any]]
    """JSON values, dates or decimals. The iterable is read once."""


@dataclass(frozen=True)
class Upload:
    """A file that the user uploaded, unchanged."""

    name: str
    """A generated path inside the export."""
    file: IO[bytes]


@dataclass(frozen=True)
class Fate:
    """Sentences that explain what deleting the account does."""

    goes: list[str] = field(default_factory=list)
    stays: list[str] = field(default_factory=list)
    prevents: list[str] = field(default_factory=list)
    """Reasons why the account cannot be deleted yet, and what to do first."""


class DataSource(Protocol):
    """An app that stores personal data."""

    def tables(self, user: User) -> Iterator[Table]:
        """Return the user's own data, without other users' data or anything they may not read."""

    def uploads(self, user: User) -> Iterator[Upload]:
        """Open the uploads one by one; the caller closes each before requesting the next."""
        yield from ()

    def fate(self, user: User) -> Fate:
        """Describe what deleting the account would do, without changing anything."""

    def let_go(self, user: User) -> None:
        """Give up roles and hand over work, in the transaction that deletes the account.

        The user's permissions still apply here. Must be quick. Raises AccountKept to cancel the
        deletion.
        """

    def erase(self, user: User) -> None:
        """Delete the remaining data, in a job that follows the deletion.

        May be slow, and may run again after a crash, so it is not one transaction.
        """


class AccountKept(Refused):
    """The account cannot be deleted yet. The message is shown to the user."""


_sources: list[DataSource] = []


def register_account_data(source: DataSource) -> None:
    """Register an app's data source. Called once, from its AppConfig."""
    _sources.append(source)


def sources() -> list[DataSource]:
    return list(_sources)


def fate_of(user: User) -> Fate:
    parts = [source.fate(user) for source in _sources]
    return Fate(
        goes=[line for part in parts for line in part.goes],
        stays=[line for part in parts for line in part.stays],
        prevents=[line for part in parts for line in part.prevents],
    )


def counted(number: int, one: str, many: str = "") -> str:
    """Format a count with its noun, such as “1 document” or “3 documents”."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
