"""The statistics page of a dataset: figures, charts and files.

The database counts without loading documents. If the gold of a release is hidden, only organisers
see more than its totals, and only public documents count by year.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.cache import cache
from django.db.models import Count, Exists, OuterRef, QuerySet, Sum
from django.http import Http404
from django.template.loader import render_to_string

from portal.accounts.access import is_organiser
from portal.datasets.access import gold_splits_for, visible_releases
from portal.datasets.models import (
    Dataset,
    Document,
    DocumentType,
    PageImage,
    Release,
    ReleaseItem,
)
from portal.datasets.models.releases import JsonLength
from portal.datasets.responses import TextFile
from portal.web.charts import Amount, BarChart, column_chart, row_chart
from portal.web.queries import count_by

from .statistics import (
    Amounts,
    Bin,
    DatasetStatistics,
    FactDetails,
    FactTally,
    StratumCount,
    Tally,
    TypeCount,
    YearCount,
    dataset_statistics,
    statistics_csv,
    statistics_latex,
)

# Releases never change, so their counts stay in the cache until it is full.
_FOR_EVER = None
_AT_ONCE = 500


@dataclass(frozen=True)
class StatisticsPage:
    """The figures of a dataset and of `release`, which is None without a visible one.

    `details` is false if only totals of facts are shown, and `partial` is true if only a part of
    the release is counted. `without_year` is the number of hidden documents without a year.
    """

    dataset: Dataset
    release: Release | None
    releases: list[Release]
    statistics: DatasetStatistics
    details: bool
    partial: bool
    without_year: int
    may_manage: bool


def statistics_page(user: Any, dataset: Dataset, version: str = "") -> StatisticsPage:
    """Return the page for a version of a release, by default the newest one.

    Raises Http404 for a version that the user may not see.
    """
    releases = list(visible_releases(user, dataset).order_by("-frozen_at", "-id"))
    release = releases[0] if releases else None
    if version:
        release = next((candidate for candidate in releases if candidate.version == version), None)
        if release is None:
            raise Http404("This release does not exist.")
    facts = release_tally(user, release) if release and release.has_pages else None
    tally = documents_tally(user, dataset)._replace(facts=facts)
    labels = release.labels if release else []
    return StatisticsPage(
        dataset=dataset,
        release=release,
        releases=releases,
        statistics=dataset_statistics(tally, labels),
        details=bool(facts and facts.details),
        partial=bool(release and facts and facts.labelled < release.item_count),
        without_year=tally.documents - sum(tally.years.values()),
        may_manage=is_organiser(user),
    )


def documents_tally(user: Any, dataset: Dataset) -> Tally:
    """Count the documents of a dataset by type and year, and those with images."""
    documents = dataset.documents.all()
    types = count_by(documents, "doc_type")
    dated = documents
    if not is_organiser(user):
        dated = documents.filter(dataset.documents.all().open_condition_in(dataset))
    with_images = documents.filter(Exists(PageImage.objects.filter(document=OuterRef("pk"))))
    return Tally(
        documents=sum(types.values()),
        pairs=with_images.count(),
        types=types,
        years=count_by(dated, "fiscal_year"),
        strata={name: amounts for name in STRATA if (amounts := _amounts(dated, name))},
    )


# Fields of the papers' tables, with their headings.
STRATA = {
    "category": "Categories (tasks or tracks)",
    "subset": "Subsets (receipt types or subtasks)",
    "condition": "Capture conditions",
    "language": "Languages",
}


def _amounts(documents: QuerySet[Document], field: str) -> dict[str, Amounts]:
    """Documents and different images by value; empty if no document has a value."""
    counted = documents.values_list(field).annotate(
        Count("id", distinct=True), Count("images__sha256", distinct=True)
    )
    amounts = {value: Amounts(*counts) for value, *counts in counted}
    return amounts if any(amounts) else {}


@dataclass(frozen=True)
class StrataTable:
    """The table of one field. `key` is its name in files and that of its chart."""

    key: str
    title: str
    rows: list[StratumCount]


def strata_tables(statistics: DatasetStatistics) -> list[StrataTable]:
    """The tables of the fields that have values."""
    rows: dict[str, list[StratumCount]] = {}
    for stratum in statistics.strata:
        rows.setdefault(stratum.field, []).append(stratum)
    return [StrataTable(name, STRATA[name], listed) for name, listed in rows.items()]


def release_tally(user: Any, release: Release) -> FactTally | None:
    """Count the facts of a release, or of the splits that the user may see; None without any."""
    seen = gold_splits_for(user, release)
    items = release.items.order_by()
    if seen is not None:
        items = items.filter(split__in=seen)
        if not items.exists():
            return None
    part = "all" if seen is None else "+".join(sorted(seen))
    per_document, by_label = _fact_counts(items, f"{release.pk}:{release.sha256}:{part}")
    return FactTally(
        labelled=sum(per_document.values()),
        total=sum(by_label.values()),
        details=FactDetails(by_label, per_document, _facts_by_type(items)),
    )


def _fact_counts(
    items: QuerySet[ReleaseItem], key: str
) -> tuple[Mapping[int, int], Mapping[str, int]]:
    """Count documents by number of facts, and facts by label; the result is cached."""
    stored: tuple[dict[int, int], dict[str, int]] | None = cache.get(f"release-facts:{key}")
    if stored is not None:
        return stored
    per_document: Counter[int] = Counter()
    by_label: Counter[str] = Counter()
    for facts in items.values_list("facts", flat=True).iterator(chunk_size=_AT_ONCE):
        per_document[len(facts)] += 1
        by_label.update(fact["type"] for fact in facts)
    cache.set(f"release-facts:{key}", (dict(per_document), dict(by_label)), _FOR_EVER)
    return per_document, by_label


def _facts_by_type(items: QuerySet[ReleaseItem]) -> dict[str, tuple[int, int]]:
    """Count labelled documents and facts by type. Not cached, because a type may change."""
    counted = (
        items.filter(document__isnull=False)
        .values_list("document__doc_type")
        .annotate(documents=Count("id"), counted=Sum(JsonLength("facts")))
    )
    return {doc_type: (documents, facts or 0) for doc_type, documents, facts in counted}


# Years with a column of their own; older ones share one.
MOST_YEARS = 40


def statistics_charts(statistics: DatasetStatistics, title: str) -> list[BarChart]:
    """Return the charts with the keys facts, types, years and those of STRATA, without empty
    ones."""
    facts = statistics.facts_per_document
    made = [
        _facts(facts, title) if facts else None,
        _types(statistics.types, title) if statistics.types else None,
        _years(statistics.years, title) if statistics.years else None,
    ]
    charts = [chart for chart in made if chart is not None]
    return charts + [_stratum(table, title) for table in strata_tables(statistics)]


def type_name(doc_type: str) -> str:
    return str(dict(DocumentType.choices).get(doc_type, doc_type))


def _facts(bins: Sequence[Bin], title: str) -> BarChart:
    amounts = [
        Amount(str(row.low) if row.low == row.high else f"{row.low}–{row.high}", row.documents)
        for row in bins
    ]
    return column_chart(
        "facts",
        f"Facts per document in {title}",
        amounts,
        axis="facts in the document",
        unit="documents",
    )


def _types(types: Sequence[TypeCount], title: str) -> BarChart:
    amounts = [Amount(type_name(row.doc_type), row.documents) for row in types]
    return row_chart(
        "types", f"Documents by type in {title}", amounts, axis="type", unit="documents"
    )


def _stratum(table: StrataTable, title: str) -> BarChart:
    amounts = [Amount(row.value or "unknown", row.documents) for row in table.rows]
    heading = f"{table.title} in {title}"
    return row_chart(table.key, heading, amounts, axis=table.key, unit="documents")


def _years(years: Sequence[YearCount], title: str) -> BarChart:
    amounts = _known_years({row.year: row.documents for row in years if row.year is not None})
    amounts += [Amount("unknown", row.documents) for row in years if row.year is None]
    return column_chart(
        "years",
        f"Documents by fiscal year in {title}",
        amounts,
        axis="fiscal year",
        unit="documents",
    )


def _known_years(documents: dict[int, int]) -> list[Amount]:
    """Return a column for every year up to the last, including years without documents."""
    if not documents:
        return []
    last = max(documents)
    first = max(min(documents), last - MOST_YEARS + 1)
    before = sum(count for year, count in documents.items() if year < first)
    older = [Amount(f"before {first}", before)] if before else []
    return older + [Amount(str(year), documents.get(year, 0)) for year in range(first, last + 1)]


FORMS = ("csv", "latex", "facts", "types", "years", *STRATA)

SVG = "image/svg+xml"


def statistics_file(page: StatisticsPage, form: str) -> TextFile:
    """Return figures, table or chart as a file. Raises Http404 for a chart without figures."""
    version = f"-{page.release.version}" if page.release else ""
    stem = f"statistics-{page.dataset.slug}{version}"
    title = f"{page.dataset.title} {page.release.version}" if page.release else page.dataset.title
    if form == "csv":
        return TextFile(f"{stem}.csv", "text/csv", statistics_csv(page.statistics))
    if form == "latex":
        text = statistics_latex(page.statistics, title)
        return TextFile(f"{stem}.tex", "application/x-tex", text)
    for chart in statistics_charts(page.statistics, title):
        if chart.key == form:
            drawn = render_to_string("charts/bars.svg", {"chart": chart})
            return TextFile(f"{stem}-{form}.svg", SVG, drawn)
    raise Http404("There is no data for this chart.")
