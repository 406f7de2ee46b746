"""The charts of a dataset's statistics."""

from collections.abc import Sequence

from portal.datasets.curation.statistics import Bin, DatasetStatistics, TypeCount, YearCount
from portal.datasets.models import DocumentType
from portal.web.charts import Amount, BarChart, column_chart, row_chart

# So many years have a column each; what is older shares one.
MOST_YEARS = 40


def statistics_charts(statistics: DatasetStatistics, title: str) -> list[BarChart]:
    """Facts per page, types and years; those with nothing to draw are left out.

    The keys, by which a chart is asked for as a file, are facts, types and years.
    """
    facts = statistics.facts_per_document
    made = [
        _facts(facts, title) if facts else None,
        _types(statistics.types, title) if statistics.types else None,
        _years(statistics.years, title) if statistics.years else None,
    ]
    return [chart for chart in made if chart is not None]


def type_name(doc_type: str) -> str:
    """What people call a type of document."""
    return str(dict(DocumentType.choices).get(doc_type, doc_type))


def _facts(bins: Sequence[Bin], title: str) -> BarChart:
    amounts = [
        Amount(str(one.low) if one.low == one.high else f"{one.low}–{one.high}", one.documents)
        for one in bins
    ]
    return column_chart(
        "facts", f"Facts per page in {title}", amounts, axis="facts on the page", unit="pages"
    )


def _types(types: Sequence[TypeCount], title: str) -> BarChart:
    amounts = [Amount(type_name(one.doc_type), one.documents) for one in types]
    return row_chart(
        "types", f"Documents by type in {title}", amounts, axis="type", unit="documents"
    )


def _years(years: Sequence[YearCount], title: str) -> BarChart:
    amounts = _known_years({one.year: one.documents for one in years if one.year is not None})
    amounts += [Amount("unknown", one.documents) for one in years if one.year is None]
    return column_chart(
        "years",
        f"Documents by fiscal year in {title}",
        amounts,
        axis="fiscal year",
        unit="documents",
    )


def _known_years(documents: dict[int, int]) -> list[Amount]:
    """Every year up to the last has its column, those without documents too."""
    if not documents:
        return []
    last = max(documents)
    first = max(min(documents), last - MOST_YEARS + 1)
    before = sum(count for year, count in documents.items() if year < first)
    older = [Amount(f"before {first}", before)] if before else []
    return older + [Amount(str(year), documents.get(year, 0)) for year in range(first, last + 1)]
