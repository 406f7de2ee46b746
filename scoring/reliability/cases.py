"""The pages that experts review: drawing samples, storing reviews, showing pages.

An expert sees no verdict before the review. Afterwards, the page compares judge, matcher and
experts.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404
from django.utils import timezone

from portal.accounts.access import is_organiser
from portal.accounts.models import User
from portal.audit.models import record_event
from portal.datasets.models import PageImage
from portal.facts import visible_text
from scoring.access import Viewer
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
from scoring.results.facts import FactLine, overruled_in
from scoring.results.items import GOLD, PREDICTION, marked_html, prediction_of

from .selectors import JudgedPage, by_judges, by_matcher, graded_pages, judging_of

_NUMBERED = "color:#111;background:#e6eef8;border-bottom:2px solid #0a57a6"
_NUMBER = "color:#0a57a6;font:600 11px sans-serif;vertical-align:super"


@dataclass(frozen=True)
class GoldFact:
    """A fact of the release."""

    n: int
    type: str
    value: str
    label: int
    """1-based index of the type among those of the release, for its colour."""


def gold_facts(case: JudgeCase) -> list[GoldFact]:
    labels = list(case.sample.release.labels)
    return [
        GoldFact(
            n=fact["n"],
            type=fact["type"],
            value=fact["value"],
            label=labels.index(fact["type"]) + 1 if fact["type"] in labels else len(labels) + 1,
        )
        for fact in case.item.facts
    ]


def expert_cases(user: User, sample: JudgeSample) -> list[tuple[JudgeCase, ExpertReview | None]]:
    """The pages of a sample for this expert with their reviews, without their own submissions. Two
    queries."""
    cases = for_expert(user).filter(sample=sample).order_by("position")
    reviews = {
        review.case_id: review
        for review in ExpertReview.objects.filter(case__sample=sample, expert=user)
    }
    return [(case, reviews.get(case.pk)) for case in cases]


def for_expert(user: User) -> Any:
    """Cases of the boards that the user is an expert of, without submissions of the user and their
    teams."""
    mine = Q(submission__owner=user) | Q(submission__team__members__user=user)
    cases = JudgeCase.objects.filter(sample__phase__board__judge_experts__user=user)
    return cases.exclude(pk__in=JudgeCase.objects.filter(mine).values("pk")).select_related(
        "item__document", "sample__release", "sample__phase__board"
    )


def is_expert(user: Viewer, board: Board) -> bool:
    return user.is_authenticated and board.judge_experts.filter(user=user).exists()


def case_to_review(user: User, board: Board, pk: int) -> JudgeCase:
    """Raises Http404 if the user is not an expert of the board, or submitted the page."""
    case: JudgeCase = get_object_or_404(for_expert(user), pk=pk, sample__phase__board=board)
    return case


def next_case(user: User, case: JudgeCase) -> JudgeCase | None:
    """The expert's next page that is not submitted; after the last, the first."""
    submitted = ExpertReview.objects.filter(
        case=OuterRef("pk"), expert=user, submitted_at__isnull=False
    )
    others = for_expert(user).filter(sample=case.sample).exclude(pk=case.pk)
    waiting = others.exclude(Exists(submitted)).order_by("position")
    following: JudgeCase | None = waiting.filter(position__gt=case.position).first()
    return following or waiting.first()


def images_of(case: JudgeCase) -> list[PageImage]:
    return list(PageImage.objects.filter(document=case.item.document_id).order_by("number"))


def case_html(case: JudgeCase, side: str) -> str:
    """Gold with numbered facts, or the prediction without marks. Raises Http404 for other sides."""
    labels = list(case.sample.release.labels)
    if side == GOLD:
        return _numbered(str(case.item.gold["html"]), labels)
    phase = case.sample.phase
    prediction = prediction_of(case.submission_id, case.item.name)
    options = phase.board.spec.check_options(phase.options)
    html = (phase.board.spec.shown(case.item.gold, prediction, options) or {}).get("html")
    if side != PREDICTION or not isinstance(html, str):
        raise Http404("There is no such page.")
    return marked_html(html, visible_text(html, labels), [], _number_tags)


def _numbered(html: str, labels: Sequence[str]) -> str:
    # Imports numpy, which few pages need.
    from scoring.metrics.facts import read_page

    facts = [
        FactLine(
            n=fact.n,
            type=fact.type,
            label=0,
            value=fact.value,
            correct=True,
            found=True,
            matched_text=None,
            error=None,
            start=fact.start,
            end=fact.end,
        )
        for fact in read_page(html, labels).facts
    ]
    return marked_html(html, visible_text(html, labels), facts, _number_tags)


def _number_tags(facts: Sequence[FactLine], *, is_last: bool) -> tuple[str, str]:
    words = "; ".join(f"fact {fact.n}: {fact.type}" for fact in facts)
    numbers = ", ".join(str(fact.n) for fact in facts)
    note = f'<span style="{_NUMBER}"> {numbers}</span>' if is_last else ""
    return f'<mark style="{_NUMBERED}" title="{escape(words)}">', f"</mark>{note}"


EXPLANATIONS = ("structure_explanation", "overall_explanation")
SUMMARY = {
    "structure_score": "Structure (0–2)",
    "entity_accuracy": "Entity accuracy",
    "entity_score": "Entity score (0–5)",
    "overall_score": "Overall (0–10)",
}


@dataclass(frozen=True)
class CaseFact:
    """One fact with all decisions; None without a decision."""

    fact: GoldFact
    judge: Mapping[str, Any] | None
    matcher: Mapping[str, Any] | None
    experts: list[bool | None]
    """In the order of the page's reviews."""
    overruled: str
    """Why the judge's claim was overruled; empty if it was not."""

    @property
    def is_disputed(self) -> bool:
        said = [decision["correct"] for decision in (self.judge, self.matcher) if decision]
        return len({*said, *(right for right in self.experts if right is not None)}) > 1


@dataclass(frozen=True)
class CasePage:
    case: JudgeCase
    facts: list[CaseFact]
    verdict: JudgedPage | None
    reviews: list[ExpertReview]
    images: list[PageImage]

    @property
    def summary(self) -> list[tuple[str, Any]]:
        """The judge's figures of the page, labelled."""
        scores = self._judge
        return [(name, scores[key]) for key, name in SUMMARY.items() if scores.get(key) is not None]

    @property
    def explanations(self) -> list[str]:
        return [self._judge[name] for name in EXPLANATIONS if self._judge.get(name)]

    @property
    def _judge(self) -> dict[str, Any]:
        judge: dict[str, Any] = self.verdict.result["judge"] if self.verdict else {}
        return judge

    def opinion_form(self, user: Viewer) -> dict[str, Any] | None:
        """The opinion of this expert on the verdict, empty if there is none yet; None for users
        without a review of the page."""
        if self.verdict is None or not any(review.expert_id == user.pk for review in self.reviews):
            return None
        [own] = [review for review in self.reviews if review.expert_id == user.pk]
        opinion: dict[str, Any] = own.reasoning.get(self.verdict.version, {})
        return opinion

    @property
    def opinions(self) -> list[tuple[ExpertReview, Mapping[str, Any]]]:
        """The experts' opinions of the verdict."""
        version = self.verdict.version if self.verdict else ""
        return [(r, r.reasoning[version]) for r in self.reviews if version in r.reasoning]

    @property
    def disputed(self) -> list[CaseFact]:
        return [fact for fact in self.facts if fact.is_disputed]


def case_page(case: JudgeCase, version: str = "") -> CasePage:
    """The page of a case for users who may see all of it, with the newest judge or `version`."""
    reviews = list(
        case.reviews.filter(submitted_at__isnull=False).select_related("expert").order_by("pk")
    )
    place = case.submission_id, case.item_id
    graded = graded_pages(case.sample, {place})
    versions = by_judges(case.sample, {place}, graded)
    said = versions.get(version) if version else next(iter(versions.values()), None)
    verdict = said[place] if said else None
    judged = _by_number(verdict.result) if verdict else {}
    overruled = overruled_in(verdict.result) if verdict else {}
    matched = _by_number(by_matcher(judging_of(case.sample), graded).get(place, {}))
    return CasePage(
        case=case,
        facts=[
            CaseFact(
                fact=fact,
                judge=judged.get(fact.n),
                matcher=matched.get(fact.n),
                experts=[review.says(fact.n) for review in reviews],
                overruled=overruled.get(fact.n, ""),
            )
            for fact in gold_facts(case)
        ],
        verdict=verdict,
        reviews=reviews,
        images=images_of(case),
    )


def _by_number(result: Mapping[str, Any]) -> dict[int, Mapping[str, Any]]:
    return {fact["n"]: fact for fact in result.get("facts", [])}


def readable_cases(user: User, board: Board) -> "QuerySet[JudgeCase]":
    """Cases with visible verdicts: for organisers all of the board; for experts those they have
    submitted and all of closed samples, so that verdicts do not influence their reviews."""
    if is_organiser(user):
        cases = JudgeCase.objects.select_related(
            "item__document", "sample__release", "sample__phase__board", "submission"
        )
    else:
        submitted = ExpertReview.objects.filter(expert=user, submitted_at__isnull=False)
        cases = (
            for_expert(user)
            .filter(Q(pk__in=submitted.values("case")) | Q(sample__is_open=False))
            .select_related("submission")
        )
    return cases.filter(sample__phase__board=board)


def readable_case(user: User, board: Board, pk: int) -> JudgeCase:
    return get_object_or_404(readable_cases(user, board), pk=pk)


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
        raise JudgingRefused("This phase has an open sample. Close it before you draw a new one.")
    pool = {f"{pk}/{name}": (pk, item) for pk, name, item in _pool(phase)}
    if not pool:
        raise JudgingRefused(
            "There are no pages to draw, because no published submission has facts."
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
        raise JudgingRefused(f"Select a verdict for every fact. Missing: {numbers}{more}.")
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
        raise JudgingRefused("You have already submitted your review of this page.")
    return review
