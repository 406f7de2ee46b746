"""What single items add to the figures that have an interval, and the figures' replicates.

Every benchmark says what one result adds to which figure; with this the figures can be computed of
any documents, drawn any number of times. Source of the procedure: METRICS §9 of the design, with
the percentile bootstrap of `scoring.metrics.intervals`.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from scoring.metrics.intervals import Replicates
    from scoring.metrics.resampling import Resampling

# Where a value stands in a mean of means, from the outside in, such as ("KIE", "KIE_zh").
Part = tuple[str, ...]


class Contribution(NamedTuple):
    """What one item adds to one figure: numerator and denominator of the part it belongs to."""

    figure: str
    numerator: float
    denominator: float = 1.0
    part: Part = ()


@dataclass(frozen=True)
class Combined:
    """A figure computed from others: `function` takes an array of values of each of `figures`."""

    figures: tuple[str, ...]
    function: Callable[..., Any]


class Observation(NamedTuple):
    """A result and the document that it is of; several items may be of one document."""

    document: str
    result: Mapping[str, Any]


def resampled_documents(
    observations: Iterable[Observation],
    stratum: Callable[[Mapping[str, Any]], str],
    *,
    seed: str,
) -> "Resampling":
    """The weights of the documents, each drawn within its stratum: the strata of all its items.

    Raises ValueError without observations.
    """
    from scoring.metrics.resampling import resampling

    strata: dict[str, set[str]] = {}
    for document, result in observations:
        strata.setdefault(document, set()).add(stratum(result))
    documents = sorted(strata)
    named = ["\n".join(sorted(strata[document])) for document in documents]
    return resampling(documents, seed=seed, strata=named)


def replicated(
    observations: Iterable[Observation],
    contribute: Callable[[Mapping[str, Any]], Iterable[Contribution]],
    combined: Mapping[str, Combined],
    weights: "Resampling",
) -> "dict[str, Replicates]":
    """The replicates of every figure that any item adds to, and of those computed from them."""
    from scoring.metrics.intervals import bootstrap, combine, tally

    listed: dict[str, _Columns] = {}
    for document, result in observations:
        for each in contribute(result):
            listed.setdefault(each.figure, _Columns([], [], [], [])).add(document, each)
    found = {
        figure: bootstrap(
            tally(columns.documents, columns.sums, columns.counts, columns.parts), weights
        )
        for figure, columns in listed.items()
    }
    for figure, recipe in combined.items():
        if all(part in found for part in recipe.figures):
            found[figure] = combine(recipe.function, *(found[part] for part in recipe.figures))
    return found


@dataclass(frozen=True)
class _Columns:
    documents: list[str]
    sums: list[float]
    counts: list[float]
    parts: list[Part]

    def add(self, document: str, each: Contribution) -> None:
        self.documents.append(document)
        self.sums.append(each.numerator)
        self.counts.append(each.denominator)
        self.parts.append(each.part)


def only_stratum(result: Mapping[str, Any]) -> str:  # noqa: ARG001 - the same for every result
    """Of a benchmark whose figures are of all items together."""
    return ""
