"""The document table: filters, their values, sorting and pages.

For a document with hidden content, only organisers see more than its name, type and images. For
others, a filter or order by anything else leaves such documents out.

The table is fast with many documents. An index gives the names, and only the rows of one page are
loaded. A search scans all names and companies, so it runs once and loads up to MOST_FOUND names,
which are also counted. The values of a filter are read by stepping through an index, so the time
depends on the number of values.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from django.core.cache import cache
from django.core.paginator import Page, Paginator
from django.db import connection
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import QueryDict

from portal.accounts.access import is_organiser
from portal.datasets.models import Dataset, Document, PageImage, Release, ReleaseItem
from portal.datasets.models.documents import STRATA_FIELDS
from portal.web.queries import count_by

from .selectors import PER_PAGE, first_images

# The filter for documents without a value.
UNKNOWN = "unknown"

# Each order has an index, so that a page is read without sorting, also in descending order.
SORTS: dict[str, tuple[str, ...]] = {
    "name": ("name",),
    "type": ("doc_type", "name"),
    "year": ("fiscal_year", "name"),
    "size": ("text_chars", "name"),
    "facts": ("fact_count", "name"),
}
# Hidden documents can be sorted by these.
_OPEN_SORTS = frozenset({"name", "type"})


# The fields of DocumentFilter by their names in URLs and in the API.
PARAMETERS = {
    "q": "query",
    "doc_type": "doc_type",
    "company": "company",
    "form_type": "form_type",
    "fiscal_year": "year",
    "source": "source",
    "language": "language",
    "category": "category",
    "subset": "subset",
    "condition": "condition",
    "kind": "kind",
    "state": "state",
    "facts": "facts",
    "min_facts": "min_facts",
}


# Text fields that are filtered by a complete value, and whose values are listed.
TEXTS = ("source", "language", *STRATA_FIELDS)
# Text fields that are filtered by a complete value, and have too many values for a list.
NAMES = ("company", "form_type")


@dataclass(frozen=True)
class DocumentFilter:
    """Filters for documents; empty fields are ignored.

    `query` is a part of the name or company, ignoring case. `year` is a number in digits or
    UNKNOWN; the fields of TEXTS and NAMES are complete values or UNKNOWN; `facts` is "with",
    "without" or UNKNOWN (in no release yet). `state` is for organisers only.
    """

    query: str = ""
    doc_type: str = ""
    company: str = ""
    form_type: str = ""
    year: str = ""
    source: str = ""
    language: str = ""
    category: str = ""
    subset: str = ""
    condition: str = ""
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
        """Whether a filter uses hidden information."""
        closed = ("year", "kind", *NAMES, *TEXTS)
        return self.asks_facts or any(getattr(self, name) for name in closed)

    def as_json(self) -> dict[str, Any]:
        """Return the set fields for `from_json`."""
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
    """Return the documents in order, by name if `sort` is unknown; a minus reverses the order."""
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
        # The fact count of an open document may come from a newer, hidden release.
        documents = documents.exclude(in_closed_release())
    return documents.order_by(*_order(sort))


def every_document(dataset: Dataset, wanted: DocumentFilter) -> QuerySet[Document]:
    """Return the documents of a filter by name, for organisers and for their tasks."""
    documents = dataset.documents.filter(_conditions(wanted))
    if wanted.state:
        documents = documents.filter(state=wanted.state)
    if wanted.query:
        by_name, by_company = Q(name__icontains=wanted.query), Q(company__icontains=wanted.query)
        documents = documents.filter(by_name | by_company)
    return documents.order_by("name")


def hides_some(dataset: Dataset) -> bool:
    """Whether a release of the dataset, or of its original, is not public."""
    releases = Release.objects.exclude(visibility=Release.Visibility.PUBLIC)
    sources = [dataset.pk, dataset.derived_from_id]
    return releases.filter(dataset__in=[pk for pk in sources if pk]).exists()


def in_closed_release() -> Exists:
    """The condition that the document has hidden gold in a release."""
    return Exists(closed_items(ReleaseItem.objects.filter(document=OuterRef("pk"))))


def closed_items(items: QuerySet[ReleaseItem]) -> QuerySet[ReleaseItem]:
    """Exclude items whose gold is public because of their release or split."""
    return items.exclude(release__visibility=Release.Visibility.PUBLIC).exclude(
        release__visibility=Release.Visibility.GOLD_HIDDEN, split=ReleaseItem.Split.DEV
    )


def _order(sort: str) -> tuple[str, ...]:
    columns = SORTS.get(sort.removeprefix("-"), SORTS["name"])
    return tuple(f"-{column}" for column in columns) if sort.startswith("-") else columns


def _conditions(wanted: DocumentFilter) -> Q:
    condition = Q()
    for name in ("doc_type", "kind"):
        if value := getattr(wanted, name):
            condition &= Q(**{name: value})
    for name in (*NAMES, *TEXTS):
        if value := getattr(wanted, name):
            condition &= Q(**{name: "" if value == UNKNOWN else value})
    if wanted.year == UNKNOWN:
        condition &= Q(fiscal_year=None)
    elif wanted.year:
        condition &= Q(fiscal_year=int(wanted.year))
    return condition & _fact_conditions(wanted)


def _fact_conditions(wanted: DocumentFilter) -> Q:
    condition = Q()
    if wanted.facts == UNKNOWN:
        condition &= Q(fact_count=None)
    elif wanted.facts:
        condition &= Q(fact_count__gt=0) if wanted.facts == "with" else Q(fact_count=0)
    if wanted.min_facts is not None:
        condition &= Q(fact_count__gte=wanted.min_facts)
    return condition


# A longer list of choices would not be useful.
MOST_VALUES = 200
# Values of public documents are slow to find, so they are cached.
KEPT_SECONDS = 300


@dataclass(frozen=True)
class Facets:
    """The values in a dataset, ascending, at most MOST_VALUES each, without the empty one."""

    years: list[int]
    texts: dict[str, list[str]]
    """By field of TEXTS."""


def document_facets(user: Any, dataset: Dataset) -> Facets:
    """Return the values of the filters; only organisers see those of hidden documents."""
    if is_organiser(user) or not hides_some(dataset):
        return _facets(dataset)
    key = f"datasets:facets-2:{dataset.pk}"
    facets: Facets | None = cache.get(key)
    if facets is None:
        facets = _open_facets(dataset)
        cache.set(key, facets, KEPT_SECONDS)
    return facets


def _facets(dataset: Dataset) -> Facets:
    return Facets(
        years=_values(dataset, "fiscal_year"),
        texts={name: [value for value in _values(dataset, name) if value] for name in TEXTS},
    )


def _open_facets(dataset: Dataset) -> Facets:
    documents = dataset.documents.filter(
        dataset.documents.all().open_condition_in(dataset)
    ).order_by()

    def values(column: str) -> list[Any]:
        column_values = documents.values_list(column, flat=True).distinct().order_by(column)
        return [value for value in column_values[:MOST_VALUES] if value not in (None, "")]

    return Facets(values("fiscal_year"), {name: values(name) for name in TEXTS})


def _values(dataset: Dataset, column: str) -> list[Any]:
    """Return the distinct values of a column that has an index with the dataset."""
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


@dataclass(frozen=True)
class DocumentRow:
    """A document in a table. If not `readable`, only name, type and images may be shown."""

    document: Document
    images: int
    readable: bool


def document_rows(user: Any, dataset: Dataset, documents: Iterable[Document]) -> list[DocumentRow]:
    """Return the rows of documents of one dataset, with two queries."""
    listed = list(documents)
    keys = [document.pk for document in listed]
    images = count_by(PageImage.objects.filter(document__in=keys), "document")
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
class TableRow(DocumentRow):
    """A document in the table; `facts` is None if unknown or hidden."""

    image: PageImage | None
    facts: int | None


_OPTIONAL = ("company", "form_type", "source", "language")


@dataclass(frozen=True)
class Table:
    """One `page` of names and their rows.

    `is_cut`: a search found more than MOST_FOUND documents, and only the first are available.
    `leaves_out_hidden`: hidden documents are excluded, because a filter uses hidden information.
    """

    page: Page[str]
    rows: list[TableRow]
    sort: str
    is_cut: bool
    leaves_out_hidden: bool

    @property
    def count(self) -> int:
        return self.page.paginator.count

    @property
    def columns(self) -> set[str]:
        """The optional columns in which a row of this page has a value, and that of the order:
        its heading reverses the order."""
        readable = [row.document for row in self.rows if row.readable]
        filled = {
            name for name in _OPTIONAL if any(getattr(document, name) for document in readable)
        }
        is_held = any(document.state == Document.State.HELD for document in readable)
        has_facts = self.sort.removeprefix("-") == "facts" or any(row.facts for row in self.rows)
        return filled | ({"state"} if is_held else set()) | ({"facts"} if has_facts else set())

    @property
    def closed_columns(self) -> int:
        """The number of columns that are empty for a hidden document: also year and size."""
        return len(self.columns - {"state"}) + 2


def filtered_table(
    user: Any, dataset: Dataset, wanted: DocumentFilter, *, sort: str = "name", page: str = "1"
) -> Table:
    """Return one page of the table, with a fixed number of queries."""
    names, is_cut = found_names(filter_documents(user, dataset, wanted, sort=sort), wanted)
    shown: Page[str] = Paginator(names, PER_PAGE).get_page(page)
    closed_sort = sort.removeprefix("-") in {"year", "size", "facts"}
    hides = not is_organiser(user) and hides_some(dataset)
    return Table(
        page=shown,
        rows=_rows(user, dataset, list(shown), hides=hides),
        sort=sort,
        is_cut=is_cut,
        leaves_out_hidden=hides and (wanted.asks_closed or closed_sort),
    )


def found_names(
    documents: QuerySet[Document], wanted: DocumentFilter
) -> tuple[Sequence[str] | QuerySet[Document, str], bool]:
    """Return the names in order, and whether there are more."""
    names = documents.values_list("name", flat=True)
    if not wanted.query:
        return names, False
    listed = list(names[: MOST_FOUND + 1])
    return listed[:MOST_FOUND], len(listed) > MOST_FOUND


def _rows(user: Any, dataset: Dataset, names: list[str], *, hides: bool) -> list[TableRow]:
    documents = dataset.documents.filter(name__in=names).defer("metadata", "held_reason")
    by_name = {document.name: document for document in documents}
    # A document may have been deleted since the names were read.
    listed = [by_name[name] for name in names if name in by_name]
    rows = document_rows(user, dataset, listed)
    first = first_images(listed)
    closed = _in_closed_releases(listed) if hides else set()
    return [
        TableRow(
            document=row.document,
            images=row.images,
            readable=row.readable,
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
