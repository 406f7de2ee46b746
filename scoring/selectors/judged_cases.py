"""A case after its review: what judge, matcher and experts say beside each other."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet
from django.shortcuts import get_object_or_404

from portal.accounts.access import is_organiser
from portal.accounts.models import User
from portal.datasets.models import PageImage
from scoring.models import Board, ExpertReview, JudgeCase

from .item_facts import overruled_in
from .judge_cases import GoldFact, for_expert, gold_facts, images_of
from .judged_results import (
    JudgedPage,
    Result,
    by_judges,
    by_matcher,
    graded_pages,
    judging_of,
)

EXPLANATIONS = ("structure_explanation", "overall_explanation")
SUMMARY = ("structure_score", "entity_accuracy", "entity_score", "overall_score")


@dataclass(frozen=True)
class CaseFact:
    """One fact as everybody saw it; None where somebody has not said."""

    fact: GoldFact
    judge: Mapping[str, Any] | None
    matcher: Mapping[str, Any] | None
    experts: list[bool | None]
    """In the order of the page's reviews."""
    overruled: str
    """Why what the judge said does not stand; empty where it does."""

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
        """The judge's figures of the page, in the paper's words."""
        return [(name, self._judge[name]) for name in SUMMARY if self._judge.get(name) is not None]

    @property
    def explanations(self) -> list[str]:
        return [self._judge[name] for name in EXPLANATIONS if self._judge.get(name)]

    @property
    def _judge(self) -> dict[str, Any]:
        judge: dict[str, Any] = self.verdict.result["judge"] if self.verdict else {}
        return judge

    @property
    def disputed(self) -> int:
        return sum(fact.is_disputed for fact in self.facts)


def case_page(case: JudgeCase, version: str = "") -> CasePage:
    """For readers to whom everything of the case is open. The judge is the newest, or `version`."""
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
    """Of the newest grading that counts, on the gold of the sample."""
    place = case.submission_id, case.item_id
    graded = graded_pages(case.sample, {place})
    return by_matcher(judging_of(case.sample), graded).get(place)


def _by_number(result: Mapping[str, Any]) -> dict[int, Mapping[str, Any]]:
    return {fact["n"]: fact for fact in result.get("facts", [])}


def readable_cases(user: User, board: Board) -> "QuerySet[JudgeCase]":
    """All of a board's for organisers; for its experts those they have submitted, and all of a
    closed sample: before, they must not hear what others say."""
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
