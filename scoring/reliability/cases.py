"""The pages that experts review.

An expert sees no verdict before the review. Afterwards, the page compares judge, matcher and
experts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404

from portal.accounts.access import is_organiser
from portal.accounts.models import User
from portal.datasets.models import PageImage
from portal.facts import visible_text
from scoring.access import Viewer
from scoring.models import Board, ExpertReview, JudgeCase, JudgeSample
from scoring.results.facts import FactLine, overruled_in
from scoring.results.items import GOLD, PREDICTION, marked_html, prediction_of

from .selectors import JudgedPage, Result, by_judges, by_matcher, graded_pages, judging_of

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


@dataclass(frozen=True)
class CaseLine:
    """One page in an expert's list, without the submission's name, which could influence them."""

    case: JudgeCase
    state: str
    """open, begun or submitted."""
    decided: int
    facts: int


def expert_cases(user: User, sample: JudgeSample) -> list[CaseLine]:
    """The pages of a sample for this expert, without their own submissions. Two queries."""
    cases = for_expert(user).filter(sample=sample).order_by("position")
    reviews = {
        review.case_id: review
        for review in ExpertReview.objects.filter(case__sample=sample, expert=user)
    }
    return [_line(case, reviews.get(case.pk)) for case in cases]


def _line(case: JudgeCase, review: ExpertReview | None) -> CaseLine:
    if review is None:
        return CaseLine(case, "open", 0, len(case.item.facts))
    state = "submitted" if review.submitted_at else "begun"
    return CaseLine(case, state, len(review.facts), len(case.item.facts))


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


@dataclass(frozen=True)
class FactRow:
    """A fact on the expert's page, with their decision so far."""

    fact: GoldFact
    right: bool | None


@dataclass(frozen=True)
class WorkPage:
    case: JudgeCase
    rows: list[FactRow]
    counts: list[tuple[str, int | None]]
    """Fact types with the expert's counts of wrong facts."""
    review: ExpertReview | None
    images: list[PageImage]
    total: int
    next: JudgeCase | None
    """The expert's next page that is not submitted."""


def work_page(user: User, case: JudgeCase, review: ExpertReview | None = None) -> WorkPage:
    """`review` replaces the stored review, if given."""
    review = review or ExpertReview.objects.filter(case=case, expert=user).first()
    facts = gold_facts(case)
    said = review or ExpertReview()
    submitted = ExpertReview.objects.filter(
        case=OuterRef("pk"), expert=user, submitted_at__isnull=False
    )
    others = for_expert(user).filter(sample=case.sample).exclude(pk=case.pk)
    waiting = others.exclude(Exists(submitted)).order_by("position")
    following = waiting.filter(position__gt=case.position).first() or waiting.first()
    return WorkPage(
        case=case,
        rows=[FactRow(fact, said.says(fact.n)) for fact in facts],
        counts=[(name, said.wrong.get(name)) for name in dict.fromkeys(f.type for f in facts)],
        review=review,
        images=images_of(case),
        total=case.sample.cases.count(),
        next=following,
    )


def images_of(case: JudgeCase) -> list[PageImage]:
    return list(PageImage.objects.filter(document=case.item.document_id).order_by("number"))


def case_html(case: JudgeCase, side: str) -> str:
    """Gold with numbered facts, or the prediction without marks. Raises Http404 for other sides."""
    labels = list(case.sample.release.labels)
    if side == GOLD:
        return _numbered(str(case.item.gold["html"]), labels)
    html = (prediction_of(case.submission_id, case.item.name) or {}).get("html")
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
SUMMARY = ("structure_score", "entity_accuracy", "entity_score", "overall_score")


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
        said = [each["correct"] for each in (self.judge, self.matcher) if each]
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
        """The judge's figures of the page, with the paper's names."""
        return [(name, self._judge[name]) for name in SUMMARY if self._judge.get(name) is not None]

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
        if self.verdict is None or not any(each.expert_id == user.pk for each in self.reviews):
            return None
        [review] = [each for each in self.reviews if each.expert_id == user.pk]
        found: dict[str, Any] = review.reasoning.get(self.verdict.version, {})
        return found

    @property
    def opinions(self) -> list[tuple[ExpertReview, Mapping[str, Any]]]:
        """The experts' opinions of the verdict."""
        version = self.verdict.version if self.verdict else ""
        return [(r, r.reasoning[version]) for r in self.reviews if version in r.reasoning]

    @property
    def disputed(self) -> int:
        return sum(fact.is_disputed for fact in self.facts)


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


def matcher_result(case: JudgeCase) -> Result | None:
    """The matcher's result in the newest grading that counts, on the gold of the sample."""
    place = case.submission_id, case.item_id
    graded = graded_pages(case.sample, {place})
    return by_matcher(judging_of(case.sample), graded).get(place)


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
