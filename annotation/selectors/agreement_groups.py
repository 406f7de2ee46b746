"""Figures of a group of documents, each with its interval: the numbers behind `agreement`.

Imports numerical libraries, which take as long to load as the rest of the site: nothing that is
imported at its start may import this.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from itertools import combinations

import numpy as np

from scoring.metrics.agreement_counts import (
    Counts,
    DocumentCounts,
    Draws,
    LevelCounts,
    against_rest,
    alpha_values,
    cohen_values,
    estimate,
    f1_values,
    fleiss_values,
    observed_values,
)
from scoring.metrics.intervals import Floats

from .agreement_shapes import (
    LEVELS,
    Confusion,
    Figure,
    Level,
    Overall,
    Part,
    Reliability,
    SpanFigures,
)


@dataclass(frozen=True, eq=False)
class LabelledDocument:
    """A document that counts: its annotators, as places in the list of all, and its counts."""

    name: str
    doc_type: str
    completed: date
    annotators: tuple[int, ...]
    counts: DocumentCounts

    def level(self, level: Level) -> LevelCounts:
        return self.counts.entity if level == "entity" else self.counts.token

    def pair(self, first: int, second: int) -> int | None:
        """The place of two annotators' table among those of the document."""
        pairs = list(combinations(self.annotators, 2))
        return pairs.index((first, second)) if (first, second) in pairs else None


class Resamples:
    """The resamples of any documents, drawn once however often they are asked for."""

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._drawn: dict[tuple[str, ...], Draws] = {}

    def of(self, documents: Sequence[LabelledDocument]) -> Draws:
        names = tuple(document.name for document in documents)
        if names not in self._drawn:
            self._drawn[names] = Draws(names, seed=self._seed)
        return self._drawn[names]


class Group:
    """Some documents, and the sums of their counts in every resample."""

    def __init__(self, documents: Sequence[LabelledDocument], resamples: Resamples) -> None:
        self.documents = sorted(documents, key=lambda document: document.name)
        self._resamples = resamples
        self.draws = resamples.of(self.documents)

    def part(self, name: str, code: int | None = None) -> Part:
        """All figures; of one label against the rest where a code is given."""
        return Part(
            name,
            len(self.documents),
            self.reliability("entity", code),
            self.reliability("token", code),
            self.spans(code),
        )

    def reliability(self, level: Level, code: int | None = None) -> Reliability:
        alpha = self._of_coincidences(level, code, is_fleiss=False)
        return Reliability(
            tuple(
                Overall(size, group._of_coincidences(level, code, is_fleiss=True))
                for size, group in self._by_size.items()
            ),
            alpha,
        )

    def labelling(self, level: Level) -> Figure:
        """α of the labels alone, over what two annotators or more marked."""
        counts = [document.level(level) for document in self.documents]
        sums = self.draws.sums(np.stack([one.labelled for one in counts]))
        items = sum(one.labelled_items for one in counts)
        return figure(alpha_values(sums), items, len(counts), observed_values(sums))

    def spans(self, code: int | None = None) -> SpanFigures:
        """F1 of spans of one code or, without one, of all labels; code 0 disregards the label."""
        sums = self._spans[:, 1:].sum(axis=1) if code is None else self._spans[:, code]
        return span_figures(sums, len(self.documents))

    def confusion(self, level: Level, answers: Sequence[str]) -> Confusion:
        """`answers` name the codes; the first of them, not marked, is put last."""
        joint = sum(document.level(level).tables.sum(axis=0) for document in self.documents)
        order = [*range(1, len(answers)), 0]
        both = np.asarray(joint) + np.asarray(joint).T
        np.fill_diagonal(both, both.diagonal() // 2)
        rows = both[np.ix_(order, order)].tolist()
        return Confusion(tuple(answers[code] for code in order), tuple(map(tuple, rows)))

    def _of_coincidences(self, level: Level, code: int | None, *, is_fleiss: bool) -> Figure:
        sums = self._coincidences[level]
        if code is not None:
            sums = against_rest(sums, code)
        items = sum(document.level(level).items for document in self.documents)
        values = fleiss_values(sums) if is_fleiss else alpha_values(sums)
        return figure(values, items, len(self.documents), observed_values(sums))

    @cached_property
    def _by_size(self) -> "dict[int, Group]":
        """The documents that equally many people labelled, the fewest first."""
        sizes: defaultdict[int, list[LabelledDocument]] = defaultdict(list)
        for document in self.documents:
            sizes[len(document.annotators)].append(document)
        if len(sizes) == 1:
            return dict.fromkeys(sizes, self)
        return {size: Group(sizes[size], self._resamples) for size in sorted(sizes)}

    @cached_property
    def _coincidences(self) -> dict[Level, Floats]:
        return {
            "entity": self._sums([one.counts.entity.coincidences for one in self.documents]),
            "token": self._sums([one.counts.token.coincidences for one in self.documents]),
        }

    @cached_property
    def _spans(self) -> Floats:
        return self._sums([one.counts.spans.sum(axis=0) for one in self.documents])

    def _sums(self, tables: Sequence[Floats] | Sequence[Counts]) -> Floats:
        return self.draws.sums(np.stack(tables))


def document_parts(documents: Sequence[LabelledDocument]) -> list[Part]:
    """The figures of each document by itself, all at once; a single one has no intervals."""
    reliabilities = [_of_each(documents, level) for level in LEVELS]
    spans = np.stack([one.counts.spans[:, 1:].sum(axis=(0, 1)) for one in documents])
    exact, overlap, marked = spans.T.astype(np.float64)
    f1s = [f1_values(matched, marked) for matched in (exact, overlap)]
    return [
        Part(
            one.name, 1, entity, token, SpanFigures(*(_single(f1[n], int(marked[n])) for f1 in f1s))
        )
        for n, (one, entity, token) in enumerate(zip(documents, *reliabilities, strict=True))
    ]


def _of_each(documents: Sequence[LabelledDocument], level: Level) -> list[Reliability]:
    coincidences = np.stack([one.level(level).coincidences for one in documents])
    figures = zip(
        documents,
        fleiss_values(coincidences).tolist(),
        alpha_values(coincidences).tolist(),
        observed_values(coincidences).tolist(),
        strict=True,
    )
    return [
        Reliability(
            (Overall(len(one.annotators), _single(kappa, one.level(level).items, observed)),),
            _single(alpha, one.level(level).items, observed),
        )
        for one, kappa, alpha, observed in figures
    ]


def _single(value: float, n: int, observed: float | None = None) -> Figure:
    seen = observed if observed is not None and np.isfinite(observed) else None
    return Figure(float(value) if np.isfinite(value) else None, None, None, seen, n, 1)


@dataclass(frozen=True, eq=False)
class PairSums:
    """Two annotators' tables and spans, summed over the documents of a group that both labelled."""

    documents: int
    entity: Floats
    token: Floats
    spans: Floats


def pair_sums(group: Group, first: int, second: int) -> PairSums:
    """`first` and `second` are places, the smaller one first; other documents add nothing."""
    places = [document.pair(first, second) for document in group.documents]

    def summed(tables: Sequence[Counts]) -> Floats:
        picked = [
            np.zeros_like(table[0]) if place is None else table[place]
            for table, place in zip(tables, places, strict=True)
        ]
        return group.draws.sums(np.stack(picked))

    return PairSums(
        sum(place is not None for place in places),
        summed([document.counts.entity.tables for document in group.documents]),
        summed([document.counts.token.tables for document in group.documents]),
        summed([document.counts.spans for document in group.documents])[:, 1:].sum(axis=1),
    )


def cohen_figure(tables: Floats, documents: int) -> Figure:
    """Cohen's κ of sums of tables."""
    return figure(cohen_values(tables), int(tables[0].sum()), documents, observed_values(tables))


def span_figures(sums: Floats, documents: int) -> SpanFigures:
    """F1 of sums of shape (…, 3): matched exactly, matched by overlap, marked by either."""
    exact, overlap, marked = np.moveaxis(sums, -1, 0)
    n = int(marked[0])
    return SpanFigures(
        figure(f1_values(exact, marked), n, documents),
        figure(f1_values(overlap, marked), n, documents),
    )


def figure(values: Floats, n: int, documents: int, observed: Floats | None = None) -> Figure:
    """`values` and `observed` as the sums are: of all documents first, then of every resample."""
    found = estimate(values)
    seen = None if observed is None else estimate(observed[:1]).value
    low, high = (found.interval.low, found.interval.high) if found.interval else (None, None)
    return Figure(found.value, low, high, seen, n, documents)
