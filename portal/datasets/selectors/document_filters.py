"""Looking for documents: what can be asked for, and the query that answers it.

Of a document whose content is hidden, people other than organisers know name, type and images.
Everything else neither finds it for them nor sorts it: such a filter or order leaves it out.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from portal.accounts.access import is_organiser
from portal.datasets.models import Dataset, Document, Release, ReleaseItem

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
