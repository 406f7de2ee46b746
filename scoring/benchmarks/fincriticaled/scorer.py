"""Scores one page."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict
from functools import lru_cache

from portal.facts.markup import Kind, tokens
from scoring.benchmarks.base import ItemResult, OptionError, Options, Payload
from scoring.metrics.facts import (
    ERROR_TYPES,
    MATCHERS,
    MISSING,
    Fact,
    Page,
    Verdict,
    read_page,
    read_prediction,
)
from scoring.metrics.facts.hallucinated import NOTHING_READ, hallucinated
from scoring.metrics.text import NO_PREDICTION, TextScores, text_scores

from .labels import labels_of
from .matchers import main_matcher, matchers_beside
from .views import document_type

COUNTS = ("facts", "found", "correct")
Matcher = Callable[[Page, Page], list[Verdict]]


def score_item(gold: Payload, prediction: Payload | None, options: Options) -> ItemResult:
    """The scores of one page, as plain JSON.

    `facts` has one entry per gold fact in document order: `n`, `type`, `value`, `correct`,
    `found`, `matched_text`, `start` and `end` (in the prediction's visible text), `error`,
    `confidence`. `text` has R1, RL and the edit distance, `types` the counts per fact type,
    `errors` those per error type. `hallucinated` counts the number-like and date-like tokens of the
    prediction (`tokens`) and those that match nothing in the gold page (`count`), of which it lists
    the first (`shown`). `doc_type` is one of DOCUMENT_TYPES. `beside` has, for each matcher beside
    the board's, the numbers of the facts that are correct by it. Raises FactTagError for gold with
    unusable tags, and OptionError where a judge decides, whose answers are not here.
    """
    return score_with(_matcher, gold, prediction, options)


def _matcher(name: str) -> Matcher:
    if name not in MATCHERS:
        raise OptionError("a judge must be asked first: manage.py judge does")
    return MATCHERS[name]


def score_with(
    matcher: Callable[[str], Matcher], gold: Payload, prediction: Payload | None, options: Options
) -> ItemResult:
    """The same with matchers of any kind, by their short names."""
    labels = labels_of(options)
    page = gold_page(gold["html"], labels)
    beside = {name: matcher(name) for name in matchers_beside(options)}
    match = matcher(main_matcher(options))
    if prediction is None:
        verdicts, text, extra = [MISSING] * len(page.facts), NO_PREDICTION, NOTHING_READ
        others: dict[str, list[Verdict]] = dict.fromkeys(beside, verdicts)
    else:
        other = read_prediction(prediction["html"], labels)
        verdicts = match(page, other)
        others = {name: also(page, other) for name, also in beside.items()}
        text = _text_scores(gold["html"], prediction["html"], page, other, options)
        extra = hallucinated(page.normalised.text, other.normalised.text)
    errors = Counter(verdict.error for verdict in verdicts if verdict.error)
    return {
        "id": gold["id"],
        "missing": prediction is None,
        "doc_type": document_type(gold.get("doc_type", "")),
        "text": asdict(text),
        "types": _type_counts(page.facts, verdicts, labels),
        "errors": {error: errors[error] for error in ERROR_TYPES if errors[error]},
        "hallucinated": {**asdict(extra), "shown": list(extra.shown)},
        "facts": [
            {"n": fact.n, "type": fact.type, "value": fact.value, **vars(verdict)}
            for fact, verdict in zip(page.facts, verdicts, strict=True)
        ],
        "beside": {name: _correct(page.facts, found) for name, found in others.items()},
    }


def _correct(facts: Iterable[Fact], verdicts: Iterable[Verdict]) -> list[int]:
    return [fact.n for fact, verdict in zip(facts, verdicts, strict=True) if verdict.correct]


@lru_cache(maxsize=64)
def gold_page(html: str, labels: tuple[str, ...]) -> Page:
    """The gold page; remembered, since the entries of a board are often graded one after the
    other."""
    return read_page(html, labels)


def _text_scores(
    gold: str, prediction: str, page: Page, other: Page, options: Options
) -> TextScores:
    if options["text"] == "visible":
        return text_scores(page.text, other.text)
    labels = frozenset(label.lower() for label in labels_of(options))
    return text_scores(_without_tags(gold, labels), _without_tags(prediction, labels))


def _without_tags(html: str, labels: frozenset[str]) -> str:
    """The markup as it is, but for the fact tags, which no model is asked to write."""
    return "".join(
        html[token.start : token.end]
        for token in tokens(html)
        if not (token.name in labels and token.kind in {Kind.START, Kind.END})
    )


def _type_counts(
    facts: Iterable[Fact], verdicts: Iterable[Verdict], labels: tuple[str, ...]
) -> dict[str, dict[str, int]]:
    counts = {label: dict.fromkeys(COUNTS, 0) for label in labels}
    for fact, verdict in zip(facts, verdicts, strict=True):
        counts[fact.type]["facts"] += 1
        counts[fact.type]["found"] += verdict.found
        counts[fact.type]["correct"] += verdict.correct
    return counts
