"""Scores one page, by matchers or by the answers of a judge, summarises it, and returns its
contributions to the figures with intervals.

This module sends no requests to a judge: the answer is data, like the prediction, and the score a
pure function of both.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache, partial
from typing import Any, cast

from portal.facts import KNOWN_LABELS, visible_text
from portal.facts.markup import ELEMENT_NAMES, KEPT_ELEMENTS, Kind, tokens
from portal.facts.page_text import HIDDEN_NESTING, HIDDEN_RAW
from scoring.benchmarks.base import Judging
from scoring.benchmarks.items import (
    Combined,
    Contribution,
    ItemResult,
    ItemSummary,
    Options,
    Payload,
    Sides,
    excerpt,
    own_score,
)
from scoring.benchmarks.options import JUDGE, OptionError
from scoring.judge.checks import Checked, Override, check_rows, mean_summary, page_summary
from scoring.judge.items import PageAnswer, merge, page_questions
from scoring.judge.questions import FACT_PROMPTS, FactsAnswer, Question
from scoring.metrics.facts import (
    ERROR_TYPES,
    MATCHERS,
    MISSING,
    Fact,
    Page,
    Verdict,
    match_aligned,
    read_page,
    read_prediction,
)
from scoring.metrics.facts.normalise import NOTHING_READ, hallucinated
from scoring.metrics.forms import plain_text
from scoring.metrics.text import (
    NO_PREDICTION,
    TextScores,
    general_score,
    text_scores,
    word_tokens,
)

from .options import (
    FIRST_FFA,
    MATCHER,
    PAGE_SCORES,
    REFERENCE,
    accuracy_of,
    check_options,
    first_labels,
    judge_model,
    judge_version,
    labels_of,
    main_matcher,
    matcher_key,
    other_matchers,
)

# The paper's five document types, with the words used in gold and datasets; all others are "other".
OTHER = "other"
DOCUMENT_TYPES = {
    "financial_statement": "Financial statement",
    "supplemental_report": "Supplemental report",
    "tax_form": "Tax form",
    "securities_transaction": "Securities transaction",
    "financial_legal": "Financial legal document",
    OTHER: "Other or not stated",
}
COUNTS = ("facts", "found", "correct")
Matcher = Callable[[Page, Page], list[Verdict]]


def document_type(stated: str) -> str:
    """Return the document type that gold states, as a key of DOCUMENT_TYPES.

    >>> document_type("tax_form"), document_type("Tax form"), document_type("poem")
    ('tax_form', 'tax_form', 'other')
    """
    key = stated.strip().lower().replace(" ", "_")
    return key if key in DOCUMENT_TYPES else OTHER


def score_item(gold: Payload, prediction: Payload | None, options: Options) -> ItemResult:
    """Return the scores of one page, as plain JSON.

    `facts` has one entry per gold fact in document order: `n`, `type`, `value`, `correct`, `found`,
    `matched_text`, `start` and `end` (in the prediction's visible text), `error`, `confidence`.
    `text` has R1, RL and the edit distance, `types` the counts per fact type, `errors` those per
    error type. `hallucinated` counts the number-like and date-like tokens of the prediction
    (`tokens`) and those that match nothing in the gold page (`count`), of which it lists the first
    (`shown`). `doc_type` is one of DOCUMENT_TYPES. `beside` has, for each of the other matchers,
    the numbers of the facts that are correct by it. Raises FactTagError for gold with unusable
    tags, and OptionError if a judge decides, whose answers are not available here.
    """
    return score_with(partial(_matcher, options), gold, prediction, options)


def _matcher(options: Options, name: str) -> Matcher:
    if name not in MATCHERS:
        raise OptionError("a judge must be asked first: manage.py judge does")
    match = MATCHERS[name]
    return partial(match_aligned, unit=options["unit"]) if match is match_aligned else match


def score_with(
    matcher: Callable[[str], Matcher], gold: Payload, prediction: Payload | None, options: Options
) -> ItemResult:
    """Score a page with matchers of any kind, by their short names."""
    labels = labels_of(options)
    page = gold_page(gold["html"], labels)
    beside = {name: matcher(name) for name in other_matchers(options)}
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
        "beside": {name: _correct(page.facts, verdicts) for name, verdicts in others.items()},
    }


def _correct(facts: Iterable[Fact], verdicts: Iterable[Verdict]) -> list[int]:
    return [fact.n for fact, verdict in zip(facts, verdicts, strict=True) if verdict.correct]


@lru_cache(maxsize=64)
def gold_page(html: str, labels: tuple[str, ...]) -> Page:
    """Return the gold page. Cached, since the entries of a board are often graded one after the
    other."""
    return read_page(html, labels)


def _text_scores(
    gold: str, prediction: str, page: Page, other: Page, options: Options
) -> TextScores:
    if options["text"] == "visible":
        if options.get("text_rules", REFERENCE) == REFERENCE:
            return text_scores(page.text, other.text)
        names = labels_of(options)
        read = plain_text(_joined_text(prediction, other, names))
        return text_scores(_plain_gold(gold, names), read, word_tokens)
    labels = frozenset(label.lower() for label in labels_of(options))
    return text_scores(_without_tags(gold, labels), _without_tags(prediction, labels))


# Releases keep gold without the tags of these elements, so that the text on both sides is joined.
_JOINING = ELEMENT_NAMES - KEPT_ELEMENTS - HIDDEN_NESTING - HIDDEN_RAW - {"html", "head", "body"}
_TAG_NAME = re.compile(r"</?([a-z]+)", re.IGNORECASE)


def _joined_text(html: str, page: Page, labels: tuple[str, ...]) -> str:
    """Return the visible text of a page as that of its frozen form."""
    joining = _JOINING.intersection(map(str.lower, set(_TAG_NAME.findall(html))))
    return visible_text(html, (*KNOWN_LABELS, *labels, *joining)) if joining else page.text


@lru_cache(maxsize=64)
def _plain_gold(html: str, labels: tuple[str, ...]) -> str:
    """Return the text of a gold page without markup. Cached like the page."""
    return plain_text(_joined_text(html, gold_page(html, labels), labels))


def _without_tags(html: str, labels: frozenset[str]) -> str:
    """Remove the fact tags, which no model is asked to write, and keep other markup."""
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


TEXT_FIGURES = ("r1", "rl", "edit_distance")

COMBINED = {"general": Combined(TEXT_FIGURES, general_score)}


def contributions(result: Mapping[str, Any], options: Mapping[str, str]) -> Iterator[Contribution]:
    if result["missing"] and options["missing"] == "skip":
        return
    for key in TEXT_FIGURES:
        yield Contribution(key, result["text"][key])
    first = first_labels(dict(options))
    for label, counts in result["types"].items():
        for figure in (accuracy_of(label)[0], "ffa", *([FIRST_FFA] if label in first else [])):
            yield Contribution(figure, counts["correct"], counts["facts"], facts=counts["facts"])
    for matcher, correct in result.get("beside", {}).items():
        facts = len(result["facts"])
        yield Contribution(matcher_key(matcher), len(correct), facts, facts=facts)
    for figure, value in page_scores(result).items():
        yield Contribution(figure, value)


def page_scores(result: Mapping[str, Any]) -> dict[str, float]:
    """Return the judge's scores of the whole page, if a judge was used. A page without facts has no
    overall score."""
    said = result.get("judge", {})
    scores = {figure: said.get(name) for figure, name in PAGE_SCORES.items()}
    return {figure: value for figure, value in scores.items() if value is not None}


def summarise(result: Mapping[str, Any], options: Mapping[str, str]) -> ItemSummary:
    """Return its share of correct facts, its document type and the error types of its facts."""
    kind = DOCUMENT_TYPES.get(result.get("doc_type", ""), "")
    score = own_score(contributions(result, options), "ffa")
    return ItemSummary(score, kind, tuple(sorted(result["errors"])))


def sides(gold: Payload, prediction: Payload | None, options: Mapping[str, str]) -> Sides:
    labels = labels_of(dict(options))
    read = None if prediction is None else visible_text(prediction["html"], labels)
    return Sides(visible_text(gold["html"], labels), read)


NOTHING_TO_JUDGE = "There is no text to judge."


def judge_options(raw: Mapping[str, object], model: str) -> Options:
    """Return complete, canonical options with this judge as the matcher; `prompt` in `raw` is the
    version of its prompt. Raises OptionError.

    >>> chosen = judge_options({"override": "reference"}, "gpt-4o")
    >>> chosen["matcher"], chosen["override"]
    ('judge(gpt-4o,facts-1)', 'reference')
    """
    return check_options(MATCHER.with_judge(raw, model))


def questions(
    gold: Payload, prediction: Payload | None, options: Options
) -> list[Question[FactsAnswer]]:
    """Return the questions about this page; none without a prediction, or without text in it."""
    labels = labels_of(options)
    if prediction is None or not read_prediction(prediction["html"], labels).text:
        return []
    page = gold_page(gold["html"], labels)
    prompt = FACT_PROMPTS.get(judge_version(options))
    return page_questions(gold["html"], prediction["html"], page, labels, prompt=prompt)


def score_judged(
    gold: Payload, prediction: Payload | None, options: Options, answer: PageAnswer | None
) -> ItemResult:
    """Return the same as `score_item`, with the valid verdicts of the judge, whether it is the
    board's matcher or one of the others.

    Each fact has the judge's reason as `why`; `judge` holds the page's scores and explanations, and
    the `overruled` claims. Without an answer, for example if nothing was asked, all facts are
    missing.
    """
    page = gold_page(gold["html"], labels_of(options))
    checked = _checked(page, prediction, options, answer)

    def matcher(name: str) -> Matcher:
        return (lambda *_: checked.verdicts) if name == JUDGE else _matcher(options, name)

    result = score_with(matcher, gold, prediction, options)
    rows = answer.rows if answer else {}
    for fact in result["facts"]:
        fact["why"] = excerpt(rows[fact["n"]].why) if rows else ""
    structure = answer.structure_score if answer else 0
    result["judge"] = {
        **page_summary(structure, page.facts, checked.verdicts),
        "structure_explanation": excerpt(answer.structure_explanation if answer else ""),
        "overall_explanation": excerpt(answer.overall_explanation if answer else NOTHING_TO_JUDGE),
        "overruled": [
            {**asdict(overrule), "said_matched_text": excerpt(overrule.said_matched_text)}
            for overrule in checked.overruled
        ],
    }
    return result


def _checked(
    page: Page, prediction: Payload | None, options: Options, answer: PageAnswer | None
) -> Checked:
    if prediction is None or answer is None:
        return Checked([MISSING] * len(page.facts), [])
    other = read_prediction(prediction["html"], labels_of(options))
    return check_rows(page, other, answer.rows, cast("Override", options["override"]))


def _score_item(
    gold: Payload, prediction: Payload | None, options: Options, answers: Sequence[Any]
) -> ItemResult:
    return score_judged(gold, prediction, options, merge(answers) if answers else None)


def _summary(results: Iterable[ItemResult]) -> dict[str, Any]:
    return mean_summary([result["judge"] for result in results])


def _version(options: Options) -> str:
    return f"{judge_model(options)}, {judge_version(options)}"


def _by_judge(result: ItemResult, options: Options) -> ItemResult | None:
    return result if main_matcher(options) == JUDGE else _by(JUDGE, result)


def _by_matcher(result: ItemResult, options: Options) -> ItemResult | None:
    if main_matcher(options) != JUDGE:
        return result
    results = (_by(name, result) for name in other_matchers(options))
    return next((other for other in results if other is not None), None)


def _by(matcher: str, result: ItemResult) -> ItemResult | None:
    """Return the result with the facts as decided by one of the other matchers. Only the
    correctness of the facts is stored for them."""
    correct = result.get("beside", {}).get(matcher)
    if correct is None:
        return None
    facts = [
        {"n": f["n"], "type": f["type"], "value": f["value"], "why": f.get("why", "")}
        | {"correct": f["n"] in correct, "error": None}
        for f in result["facts"]
    ]
    return {**result, "facts": facts}


JUDGING = Judging(
    model=judge_model,
    options=judge_options,
    questions=questions,
    score_item=_score_item,
    summary=_summary,
    version=_version,
    by_judge=_by_judge,
    by_matcher=_by_matcher,
)
