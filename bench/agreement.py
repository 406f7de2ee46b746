"""Agreement of four annotators over a million tokens: counting, and every figure of the page."""

import random
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from typing import NamedTuple

from annotation.agreement.computing import LabelledDocument, Names, figures_of
from bench.generated import seeded
from bench.timing import best_of
from portal.facts import Span
from scoring.metrics.agreement_counts import document_counts

TOKENS = 1_000_000
PAGE = 1_000
ANNOTATORS = 4
LABELS = ("Number", "Date")
# The limit in seconds, and the largest ratio when the size doubles.
WANTED = 2.0
LINEAR = 2.2

_WORDS = ("revenue", "cost", "of", "sales", "and", "other", "income", "for", "the", "year")
# One of twenty tokens is a fact, and annotators err on one of twenty facts.
_EVERY = 20
_ERRORS = 0.05


class Page(NamedTuple):
    """A page with the spans of every annotator."""

    name: str
    text: str
    annotations: tuple[list[Span], ...]


class Measured(NamedTuple):
    """Seconds for tokens, of pages of the same size."""

    tokens: int
    counting: float
    figures: float

    @property
    def seconds(self) -> float:
        return self.counting + self.figures


def agreement_table() -> Iterator[str]:
    """The lines of the page on this part, each as soon as it is measured."""
    yield f"{ANNOTATORS} annotators on pages of {PAGE:,} tokens, one in {_EVERY} a fact: trimmed,"
    yield "compared at both levels, and every figure with its interval from 1,000 resamples."
    yield ""
    yield "| tokens | counting | figures | seconds | at most | met |"
    yield "|---:|---:|---:|---:|---:|---|"
    half, whole = (measured(tokens) for tokens in (TOKENS // 2, TOKENS))
    for one, wanted in ((half, WANTED / 2), (whole, WANTED)):
        met = "yes" if one.seconds <= wanted else "**no**"
        yield (
            f"| {one.tokens:,} | {one.counting:.2f} s | {one.figures:.2f} s | {one.seconds:.2f} "
            f"| {wanted:g} | {met} |"
        )
    growth = whole.seconds / half.seconds
    linear = "linear" if growth <= LINEAR else "**not linear**"
    yield ""
    yield f"Twice the tokens take {growth:.2f} times as long: {linear}."


def measured(tokens: int) -> Measured:
    pages = list(made_pages(tokens // PAGE))
    counting, documents = best_of(lambda: counted(pages))
    names = Names(tuple(f"Annotator {n}" for n in range(1, ANNOTATORS + 1)), LABELS)
    figures, found = best_of(lambda: figures_of(documents, names, seed="bench"))
    if found.overall is None or found.overall.token.alpha.n != tokens:
        raise ValueError(f"not all of {tokens:,} tokens were compared")
    return Measured(tokens, counting, figures)


def counted(pages: Sequence[Page]) -> list[LabelledDocument]:
    begun = date(2026, 1, 5)
    return [
        LabelledDocument(
            name=page.name,
            doc_type=f"type {place % 5}",
            completed=begun + timedelta(days=place // 10),
            annotators=tuple(range(ANNOTATORS)),
            counts=document_counts(page.text, page.annotations, LABELS),
        )
        for place, page in enumerate(pages)
    ]


def made_pages(number: int) -> Iterator[Page]:
    chance = seeded(9)
    for page in range(number):
        words, facts, place = [], [], 0
        for token in range(PAGE):
            is_fact = token % _EVERY == 0
            word = f"1,{chance.randint(100, 999)}.50" if is_fact else chance.choice(_WORDS)
            if is_fact:
                facts.append((place, place + len(word)))
            words.append(word)
            place += len(word) + 1
        marked = tuple(list(_marks(facts, chance)) for _ in range(ANNOTATORS))
        yield Page(f"page-{page:05}", " ".join(words), marked)


def _marks(facts: Sequence[tuple[int, int]], chance: random.Random) -> Iterator[Span]:
    for start, end in facts:
        luck = chance.random()
        if luck < _ERRORS:
            continue
        label = LABELS[luck < 2 * _ERRORS]
        yield Span(start, end - (luck > 1 - _ERRORS), label)
