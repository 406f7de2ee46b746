"""Looking for documents: the filters, the values to choose from, and a page of the table.

Of a document whose content is hidden, people other than organisers know name, type and images.
Nothing else finds it for them or sorts it: such a filter or order leaves it out.

The table is quick however many documents there are. Names are looked for first, which an index
gives without the rows, and only the rows of one page are read. A search goes through all names
and companies, so it is done once: its first MOST_FOUND names are taken, which is the count as
well. For the values, an index is walked from one value to the next, so that the time depends on
how many values there are.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from django.core.cache import cache
from django.core.paginator import Page, Paginator
from django.db import connection
from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.http import QueryDict

from portal.accounts.access import is_organiser
from portal.datasets.models import Dataset, Document, PageImage, Release, ReleaseItem

from .selectors import first_images

# Of a field that has no value.
UNKNOWN = "unknown"

# Each is an index of the documents, so that a page of them is read in order and none is sorted.
# A descending order is the same index read from its end.
SORTS: dict[str, tuple[str, ...]] = {
    "name": ("name",),
    "type": ("doc_type", "name"),
    "year": ("fiscal_year", "name"),
    "size": ("text_chars", "name"),
    "facts": ("fact_count", "name"),
}
# What is known of a hidden document, too.
_OPEN_SORTS = frozenset({"name", "type"})


# The fields of a filter by their names in a URL and in the API.
PARAMETERS = {
    "q": "query",
    "type": "doc_type",
    "year": "year",
    "source": "source",
    "language": "language",
    "kind": "kind",
    "state": "state",
    "facts": "facts",
    "min_facts": "min_facts",
}


@dataclass(frozen=True)
class DocumentFilter:
    """What is looked for; an empty field filters nothing.

    `query` is a part of the name or company, ignoring case. `year` is a number in digits or
    UNKNOWN; `source` and `language` are whole values or UNKNOWN; `facts` is "with", "without" or
    UNKNOWN (in no release yet). `state` is of use to organisers alone.
    """

    query: str = ""
    doc_type: str = ""
    year: str = ""
    source: str = ""
    language: str = ""
    kind: str = ""
    state: str = ""
    facts: str = ""
    min_facts: int | None = None

    @property
    def is_set(self) -> bool:
        return self != DocumentFilter()

    @property
    def asks_facts(self) -> bool:
        return bool(self.facts) or self.min_facts is not None

    @property
    def asks_closed(self) -> bool:
        """Whether it asks for anything that is not known of a hidden document."""
        return self.asks_facts or any((self.year, self.source, self.language, self.kind))

    def as_json(self) -> dict[str, Any]:
        """What is set; `from_json` reads it again."""
        empty = DocumentFilter()
        return {
            name: value for name, value in asdict(self).items() if value != getattr(empty, name)
        }

    def as_parameters(self) -> QueryDict:
        """The filter as a query string."""
        query = QueryDict(mutable=True)
        set_here = self.as_json()
        for parameter, field in PARAMETERS.items():
            if field in set_here:
                query[parameter] = str(set_here[field])
        return query

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "DocumentFilter":
        known = {field.name for field in fields(cls)}
        return cls(**{name: value for name, value in values.items() if name in known})


def filter_documents(
    user: Any, dataset: Dataset, wanted: DocumentFilter, *, sort: str = "name"
) -> QuerySet[Document]:
    """The documents in order; an unknown `sort` is by name. A minus before it turns it round."""
    if is_organiser(user):
        return every_document(dataset, wanted).order_by(*_order(sort))
    documents = dataset.documents.filter(_conditions(wanted))
    open_only = hides_some(dataset)
    if wanted.query:
        by_company = Q(company__icontains=wanted.query)
        if open_only:
            by_company &= documents.open_condition_in(dataset)
        documents = documents.filter(Q(name__icontains=wanted.query) | by_company)
    key = sort.removeprefix("-")
    if open_only and (wanted.asks_closed or key in SORTS.keys() - _OPEN_SORTS):
        documents = documents.filter(documents.open_condition_in(dataset))
    if open_only and (wanted.asks_facts or key == "facts"):
        # An open document may be in a newer release that is hidden, and has its number.
        documents = documents.exclude(in_closed_release())
    return documents.order_by(*_order(sort))


def every_document(dataset: Dataset, wanted: DocumentFilter) -> QuerySet[Document]:
    """What a filter finds for organisers, and for work that they started; by name."""
    documents = dataset.documents.filter(_conditions(wanted))
    if wanted.state:
        documents = documents.filter(state=wanted.state)
    if wanted.query:
        by_name, by_company = Q(name__icontains=wanted.query), Q(company__icontains=wanted.query)
        documents = documents.filter(by_name | by_company)
    return documents.order_by("name")


def hides_some(dataset: Dataset) -> bool:
    """Whether any document of it can be hidden: a release of it, or of what it is made from, is."""
    releases = Release.objects.exclude(visibility=Release.Visibility.PUBLIC)
    sources = [dataset.pk, dataset.derived_from_id]
    return releases.filter(dataset__in=[pk for pk in sources if pk]).exists()


def in_closed_release() -> Exists:
    """The condition that a part of a release whose gold is hidden holds the document."""
    return Exists(closed_items(ReleaseItem.objects.filter(document=OuterRef("pk"))))


def closed_items(items: QuerySet[ReleaseItem]) -> QuerySet[ReleaseItem]:
    """Those whose gold is not open to everybody, by their release or their split."""
    return items.exclude(release__visibility=Release.Visibility.PUBLIC).exclude(
        release__visibility=Release.Visibility.GOLD_HIDDEN, split=ReleaseItem.Split.DEV
    )


def _order(sort: str) -> tuple[str, ...]:
    columns = SORTS.get(sort.removeprefix("-"), SORTS["name"])
    return tuple(f"-{column}" for column in columns) if sort.startswith("-") else columns


def _conditions(wanted: DocumentFilter) -> Q:
    found = Q()
    for name in ("doc_type", "kind"):
        if value := getattr(wanted, name):
            found &= Q(**{name: value})
    for name in ("source", "language"):
        if value := getattr(wanted, name):
            found &= Q(**{name: "" if value == UNKNOWN else value})
    if wanted.year == UNKNOWN:
        found &= Q(fiscal_year=None)
    elif wanted.year:
        found &= Q(fiscal_year=int(wanted.year))
    return found & _fact_conditions(wanted)


def _fact_conditions(wanted: DocumentFilter) -> Q:
    found = Q()
    if wanted.facts == UNKNOWN:
        found &= Q(fact_count=None)
    elif wanted.facts:
        found &= Q(fact_count__gt=0) if wanted.facts == "with" else Q(fact_count=0)
    if wanted.min_facts is not None:
        found &= Q(fact_count__gte=wanted.min_facts)
    return found


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


PER_PAGE = 50


@dataclass(frozen=True)
class DocumentRow:
    """A document in a table. `readable`: whether more than name, type and images may be shown."""

    document: Document
    images: int
    readable: bool


@dataclass(frozen=True)
class DocumentTable:
    """One page of the table: `page` of the paginator, and its rows."""

    page: Page[Document]
    rows: list[DocumentRow]


def document_table(
    user: Any, dataset: Dataset, wanted: DocumentFilter, *, page: str = "1"
) -> DocumentTable:
    """One page of what is found, by name."""
    found = filter_documents(user, dataset, wanted).defer("metadata")
    shown = Paginator(found, PER_PAGE).get_page(page)
    return DocumentTable(shown, document_rows(user, dataset, shown))


def document_rows(user: Any, dataset: Dataset, documents: Iterable[Document]) -> list[DocumentRow]:
    """Rows for documents of one dataset: two queries, however many they are."""
    listed = list(documents)
    keys = [document.pk for document in listed]
    images = dict(
        PageImage.objects.filter(document__in=keys)
        .order_by()
        .values_list("document")
        .annotate(Count("id"))
    )
    hidden: set[int] = set()
    if not is_organiser(user):
        hidden = set(Document.objects.filter(pk__in=keys).hidden().values_list("pk", flat=True))
    for document in listed:
        document.dataset = dataset
    return [
        DocumentRow(document, images.get(document.pk, 0), document.pk not in hidden)
        for document in listed
    ]


MOST_FOUND = 10_000


@dataclass(frozen=True)
class TableRow:
    """A document in the table; `facts` is None where unknown or not to be shown."""

    row: DocumentRow
    image: PageImage | None
    facts: int | None

    @property
    def document(self) -> Document:
        return self.row.document


@dataclass(frozen=True)
class Table:
    """One page: `page` of the paginator over names, and its rows.

    `is_cut`: a search found more than MOST_FOUND documents, and only the first can be paged to.
    `leaves_out_hidden`: hidden documents are not among them, for what is asked is hidden.
    """

    page: Page[str]
    rows: list[TableRow]
    is_cut: bool
    leaves_out_hidden: bool

    @property
    def count(self) -> int:
        return self.page.paginator.count


def filtered_table(
    user: Any, dataset: Dataset, wanted: DocumentFilter, *, sort: str = "name", page: str = "1"
) -> Table:
    """The number of queries does not depend on how many documents there are or are found."""
    names, is_cut = found_names(filter_documents(user, dataset, wanted, sort=sort), wanted)
    shown: Page[str] = Paginator(names, PER_PAGE).get_page(page)
    closed_sort = sort.removeprefix("-") in {"year", "size", "facts"}
    hides = not is_organiser(user) and hides_some(dataset)
    return Table(
        page=shown,
        rows=_rows(user, dataset, list(shown), hides=hides),
        is_cut=is_cut,
        leaves_out_hidden=hides and (wanted.asks_closed or closed_sort),
    )


def found_names(
    found: QuerySet[Document], wanted: DocumentFilter
) -> tuple[Sequence[str] | QuerySet[Document, str], bool]:
    """The names that are found, in order, and whether there are more than these."""
    names = found.values_list("name", flat=True)
    if not wanted.query:
        return names, False
    listed = list(names[: MOST_FOUND + 1])
    return listed[:MOST_FOUND], len(listed) > MOST_FOUND


def _rows(user: Any, dataset: Dataset, names: list[str], *, hides: bool) -> list[TableRow]:
    documents = dataset.documents.filter(name__in=names).defer("metadata", "held_reason")
    by_name = {document.name: document for document in documents}
    # One that was renamed or removed since the names were read is not there.
    listed = [by_name[name] for name in names if name in by_name]
    rows = document_rows(user, dataset, listed)
    first = first_images(listed)
    closed = _in_closed_releases(listed) if hides else set()
    return [
        TableRow(
            row=row,
            image=first.get(row.document.pk),
            facts=row.document.fact_count
            if row.readable and row.document.pk not in closed
            else None,
        )
        for row in rows
    ]


def _in_closed_releases(documents: list[Document]) -> set[int]:
    closed = closed_items(ReleaseItem.objects.filter(document__in=documents))
    return {pk for pk in closed.values_list("document", flat=True) if pk is not None}
