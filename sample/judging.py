"""A scripted judge on the sample board, and two experts who check it. All of it is fictional.

Only the answers are scripted. They are processed, including overruling, like the answers of a
model.
"""

from collections.abc import Callable, Mapping
from typing import Any

from portal.accounts.models import User
from portal.datasets.models import ReleaseItem
from portal.facts import visible_text
from scoring.benchmarks import ItemResult
from scoring.benchmarks.fincriticaled import scorer as judged
from scoring.judge.items import PageAnswer
from scoring.judge.questions import FactRow
from scoring.judging.runs import store_judge_run
from scoring.models import Board, JudgeCase, JudgeRun, JudgeSample, Submission
from scoring.reliability.cases import (
    add_expert,
    draw_sample,
    save_review,
    submit_review,
)
from scoring.reliability.selectors import by_matcher, graded_pages, judging_of

from .parts import LABELS, Cast, SampleError

# One engine's submissions are enough to show the judge, and quick to load.
JUDGED = "tesseract"
PERCENT = 2
# The first expert has reviewed every page, the second one a few; the rest is for trying out.
SECOND_READ = 5
# The second expert errs on every n-th fact.
SLIP_EVERY = 17
STRUCTURE = "Headings and line order are kept; table columns are lost."

Rule = Callable[[str, str], bool]
"""Whether a value occurs in a text."""


def _anywhere(value: str, text: str) -> bool:
    return value in text


def _as_a_word(value: str, text: str) -> bool:
    return value in text.split() or (" " in value and value in text)


VERSIONS: tuple[tuple[str, Rule], ...] = (
    ("scripted-lenient", _anywhere),
    ("scripted-strict", _as_a_word),
)


def load_judging(board: Board, cast: Cast) -> None:
    """Safe to run again; later reviews are kept."""
    organiser = cast["organiser"]
    for key in ("reviewer", "lead"):
        add_expert(board=board, user=cast[key], actor=organiser)
    phase = board.phases.get(slug="dev")
    judged = Submission.objects.filter(phase=phase, is_sample=True, filename__startswith=JUDGED)
    for submission in judged.order_by("pk"):
        for version, rule in VERSIONS:
            _judge(submission, version, rule, organiser)
    sample = phase.judge_samples.first() or draw_sample(
        phase=phase, percent=PERCENT, actor=organiser
    )
    _review(sample, cast["reviewer"], cast["lead"])


def _judge(submission: Submission, version: str, rule: Rule, actor: User) -> None:
    if JudgeRun.objects.filter(submission=submission, model=version).exists():
        return
    options = judged.judge_options({"labels": ",".join(LABELS)}, version)
    predictions = submission.predictions.select_related("item").order_by("item__position")
    verdicts = {
        each.item.name: _verdict(each.item, each.payload, options, rule) for each in predictions
    }
    store_judge_run(
        submission=submission, model=version, verdicts=verdicts, actor=actor, is_sample=True
    )


def _verdict(
    item: ReleaseItem, payload: dict[str, Any], options: dict[str, str], rule: Rule
) -> ItemResult:
    text = " ".join(visible_text(payload["html"], LABELS).split())
    rows = {fact["n"]: _row(fact, is_there=rule(fact["value"], text)) for fact in item.facts}
    answer = PageAnswer(1, STRUCTURE, "Sample data: no model was called.", rows)
    return judged.score_judged(item.gold, payload, options, answer)


def _row(fact: Mapping[str, Any], *, is_there: bool) -> FactRow:
    return FactRow(
        n=fact["n"],
        found=is_there,
        correct=is_there,
        matched_text=fact["value"] if is_there else "",
        why="The value is in the text." if is_there else "The value is not in the text.",
    )


def _review(sample: JudgeSample, first: User, second: User) -> None:
    cases = list(sample.cases.select_related("item", "sample").order_by("position"))
    graded = graded_pages(sample, {(case.submission_id, case.item_id) for case in cases})
    results = by_matcher(judging_of(sample), graded)
    for case in cases:
        result = results.get((case.submission_id, case.item_id))
        if result is None:
            raise SampleError(f"{case.item.name} of {case.submission} has no result")
        facts = {fact["n"]: _sees(fact) for fact in result["facts"]}
        _submit(case, first, facts)
        if case.position <= SECOND_READ:
            _submit(case, second, {n: right != _slips(n) for n, right in facts.items()})


def _sees(fact: Mapping[str, Any]) -> bool:
    """Human readers accept separators that look similar, unlike the matcher."""
    return bool(fact["correct"]) or fact["error"] == "separator"


def _slips(n: int) -> bool:
    return n % SLIP_EVERY == SLIP_EVERY - 1


def _submit(case: JudgeCase, expert: User, facts: dict[int, bool]) -> None:
    if case.reviews.filter(expert=expert, submitted_at__isnull=False).exists():
        return
    save_review(
        case=case, expert=expert, facts=facts, wrong={}, structure=STRUCTURE, comment="Sample data."
    )
    submit_review(case=case, expert=expert)
