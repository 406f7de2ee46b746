"""Who may decide about disputes of a dataset, besides organisers.

Datasets know of no campaigns. An app whose people answer for gold registers here when it starts.
"""

from dataclasses import dataclass
from typing import Any, Protocol

from portal.accounts.access import is_organiser

from .models import Dataset, Document


@dataclass(frozen=True)
class Workplace:
    """Where gold is changed: the name of the place and the path of its page."""

    title: str
    url: str


class DeciderSource(Protocol):
    """An app with people who answer for the gold of datasets."""

    def may_decide(self, user: Any, dataset: Dataset) -> bool:
        """Whether this person, who is logged in, is one of them."""

    def workplaces(self, user: Any, dataset: Dataset, document: Document | None) -> list[Workplace]:
        """Where this person can change the gold of the document, or find out how."""


_sources: list[DeciderSource] = []


def register(source: DeciderSource) -> None:
    """Called once by each app, from its AppConfig."""
    _sources.append(source)


def may_decide(user: Any, dataset: Dataset) -> bool:
    """Organisers always; others where an app says so."""
    if not user.is_authenticated:
        return False
    return is_organiser(user) or any(source.may_decide(user, dataset) for source in _sources)


def workplaces(user: Any, dataset: Dataset, document: Document | None) -> list[Workplace]:
    return [place for source in _sources for place in source.workplaces(user, dataset, document)]
