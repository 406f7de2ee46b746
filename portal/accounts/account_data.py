"""What the site holds about a person. Each app knows its own part and registers it here when it
starts, as accounts do not know the apps above them.

A part is taken along as a file of the export, and let go when the account is deleted.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import IO, Any, Protocol

from .models import User


@dataclass(frozen=True)
class Table:
    """One file of the export: `name.jsonl`, a JSON object a line."""

    name: str
    about: str
    """One sentence for the list of contents."""
    rows: Iterable[dict[str, Any]]
    """Plain JSON, dates and decimals included. Read once."""


@dataclass(frozen=True)
class Upload:
    """A file the person gave to the site, as it came."""

    name: str
    """Path inside the export, of our own making."""
    file: IO[bytes]


@dataclass(frozen=True)
class Fate:
    """What becomes of the person’s things when the account is deleted, in sentences."""

    goes: list[str] = field(default_factory=list)
    stays: list[str] = field(default_factory=list)
    prevents: list[str] = field(default_factory=list)
    """Why the account cannot be deleted now; what to do first is part of the sentence."""


class DataSource(Protocol):
    """An app that keeps rows about people."""

    def tables(self, user: User) -> Iterator[Table]:
        """The person’s own, and nothing that tells of somebody else or that they may not read."""

    def uploads(self, user: User) -> Iterator[Upload]:
        """Opened one after the other; the caller closes each before it asks for the next."""

    def fate(self, user: User) -> Fate:
        """Said before the account is deleted. Changes nothing."""

    def let_go(self, user: User) -> None:
        """In the transaction that deletes the account, while its rights still hold: gives up roles
        and hands work over. Quick. Raises AccountKept, and then nothing is deleted."""

    def erase(self, user: User) -> None:
        """By a job, afterwards: deletes what goes. May take long, and may run again after a crash,
        so it is no transaction."""


class AccountKept(Exception):
    """Why an account cannot be deleted now. The message is for people."""


_sources: list[DataSource] = []


def register_account_data(source: DataSource) -> None:
    """Called once by each app, from its AppConfig."""
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
    """Such as “1 document” or “3 documents”."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
