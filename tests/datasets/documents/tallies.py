"""Counts documents one by one, for comparison with the figures of a dataset."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from portal.datasets.documents.statistics import FactDetails, FactTally, Tally


class DocumentCounts(NamedTuple):
    """A document with `facts` by label, or None if it is not labelled yet."""

    doc_type: str
    fiscal_year: int | None
    images: int
    facts: Mapping[str, int] | None


def tally_of(documents: Iterable[DocumentCounts]) -> Tally:
    listed = list(documents)
    labelled = [(one.doc_type, one.facts) for one in listed if one.facts is not None]
    by_label: Counter[str] = Counter()
    by_type: dict[str, tuple[int, int]] = {}
    for doc_type, facts in labelled:
        by_label.update(facts)
        documents_before, facts_before = by_type.get(doc_type, (0, 0))
        by_type[doc_type] = (documents_before + 1, facts_before + sum(facts.values()))
    return Tally(
        documents=len(listed),
        pairs=sum(one.images > 0 for one in listed),
        types=Counter(one.doc_type for one in listed),
        years=Counter(one.fiscal_year for one in listed),
        facts=FactTally(
            labelled=len(labelled),
            total=by_label.total(),
            details=FactDetails(
                by_label=by_label,
                per_document=Counter(sum(facts.values()) for _, facts in labelled),
                by_type=by_type,
            ),
        ),
    )
