"""All figures on agreement from the labels of documents. Imports numerical libraries, as
`agreement_groups` does.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import combinations, pairwise

import numpy as np

from scoring.metrics.agreement_counts import against_rest, cohen_values, mean_values
from scoring.metrics.intervals import Floats

from .agreement_groups import (
    Group,
    LabelledDocument,
    PairSums,
    Resamples,
    cohen_figure,
    document_parts,
    figure,
    pair_sums,
    span_figures,
)
from .agreement_shapes import (
    LEVELS,
    NOT_MARKED,
    Agreement,
    AnnotatorAgreement,
    Detection,
    Figure,
    Labelling,
    Level,
    LevelAgreement,
    MatrixRow,
    PairAgreement,
    Part,
    Trend,
    TrendPoint,
)

# Fewer weeks than this make no trend.
_FEWEST_WEEKS = 3
_MOST_BATCHES = 10
_BATCH = 5


@dataclass(frozen=True)
class Names:
    """The annotators in the order of their numbers, and the campaign's labels."""

    annotators: tuple[str, ...]
    labels: tuple[str, ...]


def figures_of(documents: Sequence[LabelledDocument], names: Names, *, seed: str) -> Agreement:
    """Every figure but the texts; `waiting` and `single` are left 0.

    The same documents give the same figures in whatever order they come. `seed` is as in
    `resampling`.
    """
    if not documents:
        return nothing(names.annotators)
    resamples = Resamples(seed)
    group = Group(documents, resamples)
    pairs = tuple(_pairs(documents, len(names.annotators), resamples))
    codes = range(1, len(names.labels) + 1)
    return Agreement(
        annotators=names.annotators,
        overall=group.part(""),
        levels=tuple(_level(level, group, pairs, names) for level in LEVELS),
        detection=Detection(group.reliability("token", 0), group.spans(0)),
        labelling=Labelling(group.labelling("entity"), group.labelling("token")),
        pairs=pairs,
        people=tuple(_people(documents, names.annotators, resamples)),
        labels=tuple(group.part(names.labels[code - 1], code) for code in codes),
        doc_types=tuple(_doc_types(documents, resamples)),
        trend=_trend(documents, resamples),
        documents=tuple(_least_first(document_parts(documents))),
        texts=(),
        waiting=0,
        single=0,
    )


def nothing(annotators: tuple[str, ...]) -> Agreement:
    """No document counts yet."""
    trend = Trend("batch", ())
    return Agreement(annotators, None, (), None, None, (), (), (), (), trend, (), (), 0, 0)


def _level(
    level: Level, group: Group, pairs: Sequence[PairAgreement], names: Names
) -> LevelAgreement:
    cells: dict[tuple[int, int], Figure] = {}
    for pair in pairs:
        cell = pair.entity if level == "entity" else pair.token
        cells[pair.first, pair.second] = cells[pair.second, pair.first] = cell
    numbers = range(1, len(names.annotators) + 1)
    return LevelAgreement(
        level,
        tuple(
            MatrixRow(row, names.annotators[row - 1], tuple(cells.get((row, n)) for n in numbers))
            for row in numbers
        ),
        group.reliability(level),
        group.confusion(level, (NOT_MARKED, *names.labels)),
    )


def _pairs(
    documents: Sequence[LabelledDocument], annotators: int, resamples: Resamples
) -> Iterator[PairAgreement]:
    for first, second in combinations(range(annotators), 2):
        shared = [one for one in documents if {first, second} <= set(one.annotators)]
        if shared:
            yield _pair(pair_sums(Group(shared, resamples), first, second), first + 1, second + 1)


def _pair(sums: PairSums, first: int, second: int) -> PairAgreement:
    return PairAgreement(
        first,
        second,
        sums.documents,
        entity=cohen_figure(sums.entity, sums.documents),
        token=cohen_figure(sums.token, sums.documents),
        detection=cohen_figure(against_rest(sums.token, 0), sums.documents),
        labelling=cohen_figure(sums.entity[:, 1:, 1:], sums.documents),
        spans=span_figures(sums.spans, sums.documents),
    )


def _people(
    documents: Sequence[LabelledDocument], names: Sequence[str], resamples: Resamples
) -> Iterator[AnnotatorAgreement]:
    for place, name in enumerate(names):
        own = [one for one in documents if place in one.annotators]
        if not own:
            continue
        group = Group(own, resamples)
        others = sorted({other for one in own for other in one.annotators} - {place})
        sums = [pair_sums(group, *sorted((place, other))) for other in others]
        spans: Floats = np.sum([one.spans for one in sums], axis=0)
        yield AnnotatorAgreement(
            place + 1,
            name,
            len(own),
            entity=_mean_figure([one.entity for one in sums], len(own)),
            token=_mean_figure([one.token for one in sums], len(own)),
            spans=span_figures(spans, len(own)),
        )


def _mean_figure(tables: Sequence[Floats], documents: int) -> Figure:
    """The mean of Cohen's κ with each of the others; n counts the items of all these pairs."""
    values = mean_values([cohen_values(table) for table in tables])
    return figure(values, sum(int(table[0].sum()) for table in tables), documents)


def _doc_types(documents: Sequence[LabelledDocument], resamples: Resamples) -> Iterator[Part]:
    for doc_type in sorted({one.doc_type for one in documents}):
        yield Group([one for one in documents if one.doc_type == doc_type], resamples).part(
            doc_type
        )


def _least_first(parts: Iterable[Part]) -> list[Part]:
    """By the share of answers alike, since κ of one document rests on few items."""

    def key(part: Part) -> tuple[float, int, str]:
        observed = part.entity.alpha.observed
        return (2.0 if observed is None else observed, -part.entity.alpha.n, part.name)

    return sorted(parts, key=key)


def _trend(documents: Sequence[LabelledDocument], resamples: Resamples) -> Trend:
    ordered = sorted(documents, key=lambda one: (one.completed, one.name))
    weeks = Counter(one.completed - timedelta(one.completed.weekday()) for one in ordered)
    if len(weeks) >= _FEWEST_WEEKS:
        names = [f"{week:%Y-%m-%d}" for week in weeks]
        return Trend("week", tuple(_points(ordered, list(weeks.values()), names, resamples)))
    batches = max(min(_MOST_BATCHES, len(ordered) // _BATCH), min(3, len(ordered) // 2), 1)
    ends = [len(ordered) * batch // batches for batch in range(batches + 1)]
    names = [f"{start + 1}–{end}" for start, end in pairwise(ends)]
    sizes = [end - start for start, end in pairwise(ends)]
    return Trend("batch", tuple(_points(ordered, sizes, names, resamples)))


def _points(
    ordered: Sequence[LabelledDocument],
    sizes: Sequence[int],
    names: Sequence[str],
    resamples: Resamples,
) -> Iterator[TrendPoint]:
    start = 0
    for size, name in zip(sizes, names, strict=True):
        some = ordered[start : start + size]
        yield TrendPoint(some[0].completed, some[-1].completed, Group(some, resamples).part(name))
        start += size
