"""Compute all figures on agreement from the labels of documents, with intervals.

Import this module where it is used: it loads numerical libraries, which slow down the start.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import cached_property
from itertools import combinations, pairwise

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
    mean_values,
    observed_values,
)
from scoring.metrics.intervals import Floats

from .shapes import (
    LEVELS,
    NOT_MARKED,
    Agreement,
    AnnotatorAgreement,
    Answer,
    ConfusedText,
    Confusion,
    Detection,
    Figure,
    Labelling,
    Level,
    LevelAgreement,
    MatrixRow,
    Overall,
    PairAgreement,
    Part,
    Reliability,
    SpanFigures,
    Trend,
    TrendPoint,
)


@dataclass(frozen=True, eq=False)
class LabelledDocument:
    """A document that counts: its annotators, as indexes into the list of all, and its counts."""

    name: str
    doc_type: str
    completed: date
    annotators: tuple[int, ...]
    counts: DocumentCounts

    def level(self, level: Level) -> LevelCounts:
        return self.counts.entity if level == "entity" else self.counts.token

    def pair(self, first: int, second: int) -> int | None:
        """The index of two annotators' table among those of the document, or None."""
        pairs = list(combinations(self.annotators, 2))
        return pairs.index((first, second)) if (first, second) in pairs else None


class Resamples:
    """The resamples of sets of documents, each drawn once."""

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._drawn: dict[tuple[str, ...], Draws] = {}

    def of(self, documents: Sequence[LabelledDocument]) -> Draws:
        names = tuple(document.name for document in documents)
        if names not in self._drawn:
            self._drawn[names] = Draws(names, seed=self._seed)
        return self._drawn[names]


class Group:
    """A set of documents, and the sums of their counts in every resample."""

    def __init__(self, documents: Sequence[LabelledDocument], resamples: Resamples) -> None:
        self.documents = sorted(documents, key=lambda document: document.name)
        self._resamples = resamples
        self.draws = resamples.of(self.documents)

    def part(self, name: str, code: int | None = None) -> Part:
        """All figures, or those of one label against the rest if a code is given."""
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
        """α of the labels, over spans that two or more annotators marked."""
        counts = [document.level(level) for document in self.documents]
        sums = self.draws.sums(np.stack([count.labelled for count in counts]))
        items = sum(count.labelled_items for count in counts)
        return figure(alpha_values(sums), items, len(counts), observed_values(sums))

    def spans(self, code: int | None = None) -> SpanFigures:
        """F1 of spans of one code or, without one, of all labels. Code 0 ignores labels."""
        sums = self._spans[:, 1:].sum(axis=1) if code is None else self._spans[:, code]
        return span_figures(sums, len(self.documents))

    def confusion(self, level: Level, answers: Sequence[str]) -> Confusion:
        """`answers` are the names of the codes. The first, not marked, moves to the end."""
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
        """The documents by their number of annotators, ascending."""
        sizes: defaultdict[int, list[LabelledDocument]] = defaultdict(list)
        for document in self.documents:
            sizes[len(document.annotators)].append(document)
        if len(sizes) == 1:
            return dict.fromkeys(sizes, self)
        return {size: Group(sizes[size], self._resamples) for size in sorted(sizes)}

    @cached_property
    def _coincidences(self) -> dict[Level, Floats]:
        return {
            "entity": self._sums(
                [document.counts.entity.coincidences for document in self.documents]
            ),
            "token": self._sums(
                [document.counts.token.coincidences for document in self.documents]
            ),
        }

    @cached_property
    def _spans(self) -> Floats:
        return self._sums([document.counts.spans.sum(axis=0) for document in self.documents])

    def _sums(self, tables: Sequence[Floats] | Sequence[Counts]) -> Floats:
        return self.draws.sums(np.stack(tables))


def document_parts(documents: Sequence[LabelledDocument]) -> list[Part]:
    """The figures of each document, computed together. They have no intervals."""
    reliabilities = [_of_each(documents, level) for level in LEVELS]
    spans = np.stack([document.counts.spans[:, 1:].sum(axis=(0, 1)) for document in documents])
    exact, overlap, marked = spans.T.astype(np.float64)
    f1s = [f1_values(matched, marked) for matched in (exact, overlap)]
    return [
        Part(
            document.name,
            1,
            entity,
            token,
            SpanFigures(*(_single(f1[n], int(marked[n])) for f1 in f1s)),
        )
        for n, (document, entity, token) in enumerate(zip(documents, *reliabilities, strict=True))
    ]


def _of_each(documents: Sequence[LabelledDocument], level: Level) -> list[Reliability]:
    coincidences = np.stack([document.level(level).coincidences for document in documents])
    figures = zip(
        documents,
        fleiss_values(coincidences).tolist(),
        alpha_values(coincidences).tolist(),
        observed_values(coincidences).tolist(),
        strict=True,
    )
    reliabilities = []
    for document, kappa, alpha, observed in figures:
        n = document.level(level).items
        overall = Overall(len(document.annotators), _single(kappa, n, observed))
        reliabilities.append(Reliability((overall,), _single(alpha, n, observed)))
    return reliabilities


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
    """`first` < `second` are indexes of annotators. Other documents add nothing."""
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
    """`values` and `observed` start with the value of all documents, then of every resample."""
    estimated = estimate(values)
    seen = None if observed is None else estimate(observed[:1]).value
    interval = estimated.interval
    low, high = (interval.low, interval.high) if interval else (None, None)
    return Figure(estimated.value, low, high, seen, n, documents)


_MOST_TEXTS = 50
_LONGEST_TEXT = 80


@dataclass
class _Found:
    items: int = 0
    disputed: int = 0
    answers: Counter[int] = field(default_factory=Counter)
    places: list[tuple[str, int, int]] = field(default_factory=list)


class TextCollector:
    """Collects disputed texts from documents one by one, so that few texts are in memory."""

    def __init__(self) -> None:
        self._found: dict[str, _Found] = {}

    def add(self, name: str, text: str, counts: DocumentCounts) -> None:
        codes = counts.ratings.codes
        disputed = (codes != codes[:, :1]).any(axis=1).tolist()
        rows = zip(counts.offsets.tolist(), codes.tolist(), disputed, strict=True)
        for (start, end), answers, is_disputed in rows:
            tallied = self._found.setdefault(_shown(text[start:end]), _Found())
            tallied.items += 1
            if is_disputed:
                tallied.disputed += 1
                tallied.answers.update(answers)
                tallied.places.append((name, start, end))

    def most_confused(self, labels: Sequence[str]) -> tuple[ConfusedText, ...]:
        """The most disputed first; among equals, the one with the fewest items."""
        disputed = [(text, tallied) for text, tallied in self._found.items() if tallied.disputed]
        disputed.sort(key=lambda pair: (-pair[1].disputed, pair[1].items, pair[0]))
        return tuple(_confused(text, tallied, labels) for text, tallied in disputed[:_MOST_TEXTS])


def _confused(text: str, tallied: _Found, labels: Sequence[str]) -> ConfusedText:
    answers = [
        Answer(label, tallied.answers[code])
        for code, label in [*enumerate(labels, 1), (0, NOT_MARKED)]
        if tallied.answers[code]
    ]
    document, start, end = min(tallied.places)
    return ConfusedText(text, tallied.items, tallied.disputed, tuple(answers), document, start, end)


def _shown(quote: str) -> str:
    """The text with single spaces, shortened."""
    text = " ".join(quote.split())
    return text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT - 1]}…"


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
    """All figures except the texts, with `waiting` and `single` 0.

    The result does not depend on the order of the documents. `seed` is that of the resampling.
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
    """The figures if no document counts yet."""
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
        shared = [document for document in documents if {first, second} <= set(document.annotators)]
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
        own = [document for document in documents if place in document.annotators]
        if not own:
            continue
        group = Group(own, resamples)
        others = sorted({other for document in own for other in document.annotators} - {place})
        sums = [pair_sums(group, *sorted((place, other))) for other in others]
        spans: Floats = np.sum([pair.spans for pair in sums], axis=0)
        yield AnnotatorAgreement(
            place + 1,
            name,
            len(own),
            entity=_mean_figure([pair.entity for pair in sums], len(own)),
            token=_mean_figure([pair.token for pair in sums], len(own)),
            spans=span_figures(spans, len(own)),
        )


def _mean_figure(tables: Sequence[Floats], documents: int) -> Figure:
    """The mean of Cohen's κ with each other annotator; n counts the items of all pairs."""
    values = mean_values([cohen_values(table) for table in tables])
    return figure(values, sum(int(table[0].sum()) for table in tables), documents)


def _doc_types(documents: Sequence[LabelledDocument], resamples: Resamples) -> Iterator[Part]:
    for doc_type in sorted({document.doc_type for document in documents}):
        of_type = [document for document in documents if document.doc_type == doc_type]
        yield Group(of_type, resamples).part(doc_type)


def _least_first(parts: Iterable[Part]) -> list[Part]:
    """By the share of equal answers, because κ of one document is based on few items."""

    def key(part: Part) -> tuple[float, int, str]:
        observed = part.entity.alpha.observed
        return (2.0 if observed is None else observed, -part.entity.alpha.n, part.name)

    return sorted(parts, key=key)


def _trend(documents: Sequence[LabelledDocument], resamples: Resamples) -> Trend:
    ordered = sorted(documents, key=lambda document: (document.completed, document.name))
    days = [document.completed for document in ordered]
    weeks = Counter(day - timedelta(day.weekday()) for day in days)
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
