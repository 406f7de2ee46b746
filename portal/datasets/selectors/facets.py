"""The values that documents of a dataset have, to choose a filter from.

An index is walked from one value to the next, so that the time depends on how many values there
are and not on how many documents.
"""

from dataclasses import dataclass
from typing import Any

from django.core.cache import cache
from django.db import connection

from portal.accounts.access import is_organiser
from portal.datasets.models import Dataset, Document

from .document_filters import hides_some

# More would be no choice any more; a search helps there.
MOST_VALUES = 200
# What others than organisers may choose from has to be looked for among the open documents.
KEPT_SECONDS = 300


@dataclass(frozen=True)
class Facets:
    """Values that occur, ascending, at most MOST_VALUES each; without the empty one."""

    years: list[int]
    sources: list[str]
    languages: list[str]


def document_facets(user: Any, dataset: Dataset) -> Facets:
    """What the user may choose from: a value of hidden documents alone is for organisers."""
    if is_organiser(user) or not hides_some(dataset):
        return _facets(dataset)
    key = f"datasets:facets:{dataset.pk}"
    found: Facets | None = cache.get(key)
    if found is None:
        found = _open_facets(dataset)
        cache.set(key, found, KEPT_SECONDS)
    return found


def _facets(dataset: Dataset) -> Facets:
    return Facets(
        years=_values(dataset, "fiscal_year"),
        sources=[value for value in _values(dataset, "source") if value],
        languages=[value for value in _values(dataset, "language") if value],
    )


def _open_facets(dataset: Dataset) -> Facets:
    documents = dataset.documents.filter(
        dataset.documents.all().open_condition_in(dataset)
    ).order_by()

    def values(column: str) -> list[Any]:
        found = documents.values_list(column, flat=True).distinct().order_by(column)
        return [value for value in found[:MOST_VALUES] if value not in (None, "")]

    return Facets(values("fiscal_year"), values("source"), values("language"))


def _values(dataset: Dataset, column: str) -> list[Any]:
    """The different values of a column that has an index behind the dataset."""
    quote = connection.ops.quote_name
    table, name = quote(Document._meta.db_table), quote(column)
    smallest = f"SELECT MIN({name}) FROM {table} WHERE dataset_id = %s"  # noqa: S608 - our own names
    with connection.cursor() as cursor:
        cursor.execute(
            f"WITH RECURSIVE found(value) AS ({smallest} UNION ALL"  # noqa: S608
            f" SELECT ({smallest} AND {name} > found.value) FROM found"
            " WHERE found.value IS NOT NULL)"
            " SELECT value FROM found WHERE value IS NOT NULL LIMIT %s",
            [dataset.pk, dataset.pk, MOST_VALUES],
        )
        return [value for (value,) in cursor.fetchall()]
