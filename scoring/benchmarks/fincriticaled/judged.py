"""Scores one page by what a judge said of it.

Asking is not done here: the answer is data, like the prediction, and the score a pure function of
both.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, cast

from scoring.benchmarks.base import ItemResult, OptionError, Options, Payload
from scoring.benchmarks.excerpts import excerpt
from scoring.benchmarks.judging import Judging
from scoring.benchmarks.matcher_names import JUDGE
from scoring.judge.checks import Checked, Override, check_rows
from scoring.judge.facts import PageAnswer, merge, page_questions
from scoring.judge.questions import FACTS, Question
from scoring.judge.schema import FactsAnswer
from scoring.judge.summary import mean_summary, page_summary
from scoring.metrics.facts import MATCHERS, MISSING, Page, read_prediction

from .labels import labels_of
from .matchers import judge_model, main_matcher, matchers_beside
from .options import check_options as check_any
from .scorer import Matcher, gold_page, score_with

NOTHING_TO_JUDGE = "There is no text to judge."


def check_options(raw: Mapping[str, object], model: str) -> Options:
    """Complete, canonical options with this judge as the matcher. Raises OptionError.

    >>> chosen = check_options({"override": "reference"}, "gpt-4o")
    >>> chosen["matcher"], chosen["override"]
    ('judge(gpt-4o,facts-1)', 'reference')
    """
    if "matcher" in raw:
        raise OptionError("option matcher is the judge here; grade has the others")
    return check_any({**raw, "matcher": f"judge({model})"})


def questions(
    gold: Payload, prediction: Payload | None, options: Options
) -> list[Question[FactsAnswer]]:
    """What is to be asked of this page; nothing where there is no prediction, or no text in it."""
    labels = labels_of(options)
    if prediction is None or not read_prediction(prediction["html"], labels).text:
        return []
    page = gold_page(gold["html"], labels)
    return page_questions(gold["html"], prediction["html"], page, labels)


def score_judged(
    gold: Payload, prediction: Payload | None, options: Options, answer: PageAnswer | None
) -> ItemResult:
    """What `score_item` gives, with the verdicts of the judge that stand, be it the board's matcher
    or beside it.

    Each fact has the judge's reason as `why`; `judge` holds the page's scores and explanations, and
    what was `overruled`. Without an answer, as where nothing was asked, all facts are missing.
    """
    page = gold_page(gold["html"], labels_of(options))
    checked = _checked(page, prediction, options, answer)

    def matcher(name: str) -> Matcher:
        return (lambda *_: checked.verdicts) if name == JUDGE else MATCHERS[name]

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
            {**asdict(each), "said_matched_text": excerpt(each.said_matched_text)}
            for each in checked.overruled
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
    return f"{judge_model(options)}, {FACTS.version}"


def _by_judge(result: ItemResult, options: Options) -> ItemResult | None:
    return result if main_matcher(options) == JUDGE else _by(JUDGE, result)


def _by_matcher(result: ItemResult, options: Options) -> ItemResult | None:
    if main_matcher(options) != JUDGE:
        return result
    found = (_by(name, result) for name in matchers_beside(options))
    return next((each for each in found if each is not None), None)


def _by(matcher: str, result: ItemResult) -> ItemResult | None:
    """The result with the facts as a matcher beside the board's decides them: no more is kept of
    them than which are correct."""
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
    options=check_options,
    questions=questions,
    score_item=_score_item,
    summary=_summary,
    version=_version,
    by_judge=_by_judge,
    by_matcher=_by_matcher,
)
