"""Adds judge experts, draws samples for them, and stores their reviews."""

from collections.abc import Iterable, Mapping

from django.db import transaction
from django.utils import timezone

from portal.accounts.models import User
from portal.audit.models import record_event
from scoring.judge.reliability import draw, sample_size
from scoring.judging.services import JudgingRefused
from scoring.leaderboard.services import bump_board
from scoring.models import (
    Board,
    Entry,
    ExpertReview,
    JudgeCase,
    JudgeExpert,
    JudgeSample,
    Phase,
    Prediction,
    Submission,
)

from .cases import gold_facts
from .selectors import by_judges, graded_pages

AT_LEAST = 10
"""The fewest pages of a sample. With fewer, the agreement means little."""


@transaction.atomic
def add_expert(*, board: Board, user: User, actor: User | None) -> JudgeExpert:
    """Adds an expert to the board. Repeating it changes nothing."""
    expert, is_new = JudgeExpert.objects.get_or_create(board=board, user=user)
    if is_new:
        record_event(verb="add_judge_expert", subject=board, actor=actor, user=user.pk)
    return expert


@transaction.atomic
def remove_expert(*, expert: JudgeExpert, actor: User | None) -> None:
    """Removes an expert and their drafts. Submitted reviews are kept and count."""
    drafts = ExpertReview.objects.filter(
        case__sample__phase__board=expert.board_id, expert=expert.user_id, submitted_at=None
    )
    drafts.delete()
    record_event(verb="remove_judge_expert", subject=expert.board, actor=actor, user=expert.user_id)
    expert.delete()


@transaction.atomic
def draw_sample(*, phase: Phase, percent: int, actor: User | None) -> JudgeSample:
    """Draws pages from the submissions on the phase's leaderboard.

    The seed is the release's hash and the sample's number in the phase. Raises JudgingRefused if a
    sample is open or there are no pages.
    """
    phase = Phase.objects.select_for_update(no_key=True).get(pk=phase.pk)
    if phase.judge_samples.filter(is_open=True).exists():
        raise JudgingRefused("This phase has an open sample. Close it before you draw another.")
    pool = {f"{pk}/{name}": (pk, item) for pk, name, item in _pool(phase)}
    if not pool:
        raise JudgingRefused(
            "The leaderboard has no submission with facts, so there are no pages to draw."
        )
    size = sample_size(len(pool), percent / 100, AT_LEAST)
    seed = f"{phase.release.same_gold}:{phase.judge_samples.count() + 1}"
    sample = JudgeSample.objects.create(
        phase=phase,
        release=phase.release,
        seed=seed,
        percent=percent,
        pool=len(pool),
        created_by=actor,
    )
    JudgeCase.objects.bulk_create(
        JudgeCase(sample=sample, position=place, submission_id=pool[key][0], item_id=pool[key][1])
        for place, key in enumerate(draw(pool, size, seed), start=1)
    )
    Board.objects.filter(pk=phase.board_id).update(has_judge=True)
    bump_board(phase.board_id)
    record_event(verb="draw_judge_sample", subject=sample, actor=actor, cases=size, pool=len(pool))
    return sample


def _pool(phase: Phase) -> Iterable[tuple[int, str, int]]:
    """Submission, name and item of every page with facts and a prediction."""
    entries = Entry.objects.filter(phase=phase, kind=Entry.Kind.GRADED)
    submissions = entries.exclude(verdict=Submission.Verdict.DISQUALIFIED).values(
        "grading__submission"
    )
    items = {
        name: pk
        for pk, name, facts in phase.items_of(phase.release_id).values_list("pk", "name", "facts")
        if facts
    }
    predicted = Prediction.objects.filter(submission__in=submissions, item__name__in=items)
    for submission, name in predicted.values_list("submission", "item__name"):
        yield submission, name, items[name]


@transaction.atomic
def close_sample(*, sample: JudgeSample, actor: User | None) -> None:
    """Closes the sample for reviews and deletes drafts. Repeating it changes nothing."""
    if not JudgeSample.objects.filter(pk=sample.pk, is_open=True).update(is_open=False):
        return
    ExpertReview.objects.filter(case__sample=sample, submitted_at=None).delete()
    record_event(verb="close_judge_sample", subject=sample, actor=actor)


@transaction.atomic
def save_review(
    *,
    case: JudgeCase,
    expert: User,
    facts: Mapping[int, bool],
    wrong: Mapping[str, int],
    structure: str,
    comment: str,
) -> ExpertReview:
    """Saves a draft. Raises JudgingRefused if it was submitted or the sample is closed."""
    review = _open_review(case, expert)
    known = {fact.n for fact in gold_facts(case)}
    review.facts = {str(n): right for n, right in sorted(facts.items()) if n in known}
    review.wrong = dict(wrong)
    review.structure, review.comment = structure, comment
    review.save()
    return review


@transaction.atomic
def submit_review(*, case: JudgeCase, expert: User) -> ExpertReview:
    """Submits the draft, which makes it final. Raises JudgingRefused if facts are undecided."""
    review = _open_review(case, expert)
    facts = gold_facts(case)
    undecided = [fact.n for fact in facts if review.says(fact.n) is None]
    if undecided:
        more = f" and {len(undecided) - 5} more" if len(undecided) > 5 else ""
        numbers = ", ".join(map(str, undecided[:5]))
        raise JudgingRefused(f"Decide on every fact. Undecided: {numbers}{more}.")
    counted = dict.fromkeys((fact.type for fact in facts), 0)
    for fact in facts:
        counted[fact.type] += not review.says(fact.n)
    # Empty counts are filled from the decisions.
    review.wrong = counted | review.wrong
    review.submitted_at = timezone.now()
    review.save()
    record_event(verb="submit_expert_review", subject=review, actor=expert, case=case.pk)
    return review


@transaction.atomic
def save_opinion(
    *,
    case: JudgeCase,
    expert: User,
    version: str,
    decision: bool,
    reasoning: bool,
    comment: str = "",
) -> ExpertReview:
    """Saves an expert's opinion of a judge's verdict, after their own review: whether its decision
    is right, and whether its reasoning follows the conventions of financial reporting.

    Repeating it replaces the opinion. Raises JudgingRefused.
    """
    reviews = ExpertReview.objects.select_for_update(no_key=True)
    review = reviews.filter(case=case, expert=expert, submitted_at__isnull=False).first()
    if review is None:
        raise JudgingRefused("Submit your review of this page first.")
    place = case.submission_id, case.item_id
    if version not in by_judges(case.sample, {place}, graded_pages(case.sample, {place})):
        raise JudgingRefused("This version of the judge has not judged this page.")
    opinion = {"decision": decision, "reasoning": reasoning, "comment": comment}
    review.reasoning = {**review.reasoning, version: opinion}
    review.save(update_fields=["reasoning"])
    record_event(verb="save_judge_opinion", subject=review, actor=expert, version=version)
    return review


def _open_review(case: JudgeCase, expert: User) -> ExpertReview:
    sample = JudgeSample.objects.select_for_update(no_key=True).get(pk=case.sample_id)
    if not sample.is_open:
        raise JudgingRefused("This sample is closed and can no longer be reviewed.")
    review, _ = ExpertReview.objects.get_or_create(case=case, expert=expert)
    if review.submitted_at is not None:
        raise JudgingRefused("You have already submitted this page.")
    return review
