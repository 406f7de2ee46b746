"""Reliability of a board's judge: agreement of judge, matcher and experts.

Verdicts of a judge come from its runs and from gradings that used it.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import combinations
from typing import Any

from scoring.access import Viewer, are_scores_shown
from scoring.benchmarks.base import Judging
from scoring.judge.reliability import Confusion, confusion, confusions, mean_absolute_difference
from scoring.models import (
    Board,
    ExpertReview,
    Grading,
    ItemScore,
    JudgeCase,
    JudgeRun,
    JudgeSample,
    JudgeVerdict,
)

Place = tuple[int, int]
"""A page of a submission: keys of submission and item."""
Result = Mapping[str, Any]


@dataclass(frozen=True)
class JudgedPage:
    """The verdict of one version of a judge on one page; `result` has its facts and `judge`."""

    version: str
    since: datetime
    is_sample: bool
    result: Result


@dataclass(frozen=True)
class GradedPage:
    """A page's result in the newest grading that counts."""

    place: Place
    options: dict[str, str]
    since: datetime
    result: dict[str, Any]


def judging_of(sample: JudgeSample) -> Judging | None:
    return sample.phase.board.spec.judging


def graded_pages(sample: JudgeSample, places: Collection[Place]) -> list[GradedPage]:
    """The graded pages at `places`, on the gold of the sample. Two queries."""
    gradings = (
        Grading.objects.in_force()
        .done()
        .filter(submission__in={submission for submission, _ in places}, release=sample.release_id)
    )
    newest = dict(gradings.order_by("id").values_list("submission", "pk"))
    scores = ItemScore.objects.filter(
        grading__in=newest.values(), item__in={item for _, item in places}
    ).values_list(
        "grading__submission", "item", "grading__options", "grading__created_at", "result"
    )
    return [
        GradedPage((submission, item), options, since, result)
        for submission, item, options, since, result in scores
        if (submission, item) in places
    ]


def by_matcher(judging: Judging | None, graded: Collection[GradedPage]) -> dict[Place, Result]:
    """The results without a judge: of the board's matcher, or of an additional one."""
    results = {
        page.place: judging.by_matcher(page.result, page.options) if judging else page.result
        for page in graded
    }
    return {place: result for place, result in results.items() if result is not None}


def by_judges(
    sample: JudgeSample, places: Collection[Place], graded: Collection[GradedPage]
) -> dict[str, dict[Place, JudgedPage]]:
    """Verdicts by version, newest first. Of several verdicts of one version on one page the newest
    counts. One query."""
    pages = [*_in_runs(sample, places), *_in_gradings(judging_of(sample), graded)]
    verdicts: dict[str, dict[Place, JudgedPage]] = {}
    for place, page in sorted(pages, key=lambda placed: placed[1].since, reverse=True):
        verdicts.setdefault(page.version, {}).setdefault(place, page)
    return verdicts


def _in_runs(sample: JudgeSample, places: Collection[Place]) -> list[tuple[Place, JudgedPage]]:
    verdicts = JudgeVerdict.objects.filter(
        run__state=JudgeRun.State.DONE,
        run__release=sample.release_id,
        run__submission__in={submission for submission, _ in places},
        item__in={item for _, item in places},
    ).select_related("run")
    placed = (((v.run.submission_id, v.item_id), v) for v in verdicts.order_by("-run_id"))
    return [(place, _of_run(verdict)) for place, verdict in placed if place in places]


def _of_run(verdict: JudgeVerdict) -> JudgedPage:
    run = verdict.run
    return JudgedPage(run.version, run.created_at, run.is_sample, verdict.result)


def _in_gradings(
    judging: Judging | None, graded: Collection[GradedPage]
) -> list[tuple[Place, JudgedPage]]:
    judged_pages = []
    for page in graded:
        result = judging.by_judge(page.result, page.options) if judging else None
        if judging and result is not None:
            version = judging.version(page.options)
            judged = JudgedPage(version, page.since, is_sample=False, result=result)
            judged_pages.append((page.place, judged))
    return judged_pages


RIGHT = "right"
"""Used instead of an error type for facts that the matcher finds right."""
Said = dict[int, bool]
"""Number of the fact to whether it is right."""


@dataclass(frozen=True)
class Decision:
    """One fact with the decisions of an expert, the matcher and the judge."""

    case: JudgeCase
    n: int
    type: str
    error: str
    """The matcher's error type, or RIGHT; empty if it has none."""
    expert: bool
    matcher: bool | None
    judge: bool | None


@dataclass(frozen=True)
class PairLine:
    """The agreement of two deciders. The confusion of every pair is over the same facts; `covered`
    of the `reviewed` facts have decisions of both.
    """

    between: str
    confusion: Confusion
    covered: int
    reviewed: int

    @property
    def coverage(self) -> float | None:
        """Share of the reviewed facts that both decided, 0 to 1; None without facts."""
        return self.covered / self.reviewed if self.reviewed else None


@dataclass(frozen=True)
class GroupLine:
    """Decisions on facts of one type or kind of error: judge and experts, matcher and experts, over
    the same facts.
    """

    name: str
    judge: Confusion
    matcher: Confusion


@dataclass(frozen=True)
class CountLine:
    """Mean absolute difference to the experts' counts of wrong facts, in facts per page, over the
    same pages.
    """

    type: str
    judge: float | None
    matcher: float | None


@dataclass(frozen=True)
class VersionLine:
    """One version of the judge, on the reviewed pages."""

    version: str
    is_sample: bool
    since: datetime
    pages: int
    confusion: Confusion
    difference: float | None
    overruled: int
    """Overruled claims of the judge."""


@dataclass(frozen=True)
class ReasoningLine:
    """Experts' opinions of a judge's verdicts, as in section 3.2.5 of FinCriticalED. Shares are of
    `opinions`, from 0 to 1, and None without any."""

    opinions: int
    pages: int
    decision: float | None
    """Opinions that the decision is right."""
    reasoning: float | None
    """Opinions that the reasoning follows the conventions of financial reporting."""
    both: float | None
    experts: Confusion
    """Two experts on the reasoning about one page."""


@dataclass(frozen=True)
class Reliability:
    """All figures of one sample; without reviews all counts are zero."""

    sample: JudgeSample
    pages: int
    pages_reviewed: int
    reviews: int
    experts: int
    judge: str
    """The version of the judge; empty if none has judged these pages."""
    agreement: list[PairLine] = field(default_factory=list)
    fact_types: list[GroupLine] = field(default_factory=list)
    error_types: list[GroupLine] = field(default_factory=list)
    counts: list[CountLine] = field(default_factory=list)
    versions: list[VersionLine] = field(default_factory=list)
    reasoning: ReasoningLine | None = None
    """None without a judge."""
    decisions: list[Decision] = field(default_factory=list)

    @property
    def is_waiting(self) -> bool:
        """Whether the sample is open and some page has no review."""
        return self.sample.is_open and self.pages_reviewed < self.pages


def samples_of(board: Board) -> list[JudgeSample]:
    """Newest first."""
    samples = JudgeSample.objects.filter(phase__board=board)
    return list(samples.select_related("phase__board", "release__dataset").order_by("-id"))


def shown_samples(user: Viewer, board: Board) -> list[JudgeSample]:
    """The samples of phases whose scores the user can see, newest first."""
    return [sample for sample in samples_of(board) if are_scores_shown(user, sample.phase)]


def reliability(sample: JudgeSample, version: str = "") -> Reliability:
    """The figures for the judge's newest version, or for `version` if it exists. Five queries, for
    a sample from `samples_of`."""
    reviews = list(
        ExpertReview.objects.filter(case__sample=sample, submitted_at__isnull=False)
        .select_related("case__item", "case__submission", "case__sample")
        .order_by("case__position", "pk")
    )
    places = {_place(review.case) for review in reviews}
    graded = graded_pages(sample, places)
    verdicts = by_judges(sample, places, graded)
    shown = version if version in verdicts else next(iter(verdicts), "")
    matched = by_matcher(judging_of(sample), graded)
    judged = {place: _said(v.result) for place, v in verdicts.get(shown, {}).items()}
    decisions = list(_decisions(reviews, matched, judged))
    shared = _shared(decisions)
    return Reliability(
        sample=sample,
        pages=sample.cases.count(),
        pages_reviewed=len({review.case_id for review in reviews}),
        reviews=len(reviews),
        experts=len({review.expert_id for review in reviews}),
        judge=shown,
        agreement=_pairs(decisions, shared, reviews),
        fact_types=_groups((d.type, d) for d in shared),
        error_types=_groups((d.error, d) for d in shared if d.error),
        counts=_counts(reviews, judged, {p: _said(r) for p, r in matched.items()}),
        versions=[_version(name, judged_pages, reviews) for name, judged_pages in verdicts.items()],
        reasoning=_reasoning(reviews, shown) if shown else None,
        decisions=decisions,
    )


def _place(case: JudgeCase) -> Place:
    return case.submission_id, case.item_id


def _said(result: Mapping[str, Any]) -> Said:
    return {fact["n"]: fact["correct"] for fact in result.get("facts", [])}


def _decisions(
    reviews: Iterable[ExpertReview],
    matched: Mapping[Place, Mapping[str, Any]],
    judged: Mapping[Place, Said],
) -> Iterable[Decision]:
    for review in reviews:
        place = _place(review.case)
        matches = {fact["n"]: fact for fact in matched.get(place, {}).get("facts", [])}
        for fact in review.case.item.facts:
            right = review.says(fact["n"])
            match = matches.get(fact["n"])
            if right is None:
                continue
            yield Decision(
                case=review.case,
                n=fact["n"],
                type=fact["type"],
                error=_kind(match) if match else "",
                expert=right,
                matcher=match["correct"] if match else None,
                judge=judged.get(place, {}).get(fact["n"]),
            )


def _kind(match: Mapping[str, Any]) -> str:
    """The kind of error; empty if the matcher is not the board's."""
    return match["error"] or (RIGHT if match["correct"] else "")


def _judge_expert(decisions: Iterable[Decision]) -> Iterable[tuple[bool, bool]]:
    return ((d.judge, d.expert) for d in decisions if d.judge is not None)


def _shared(decisions: list[Decision]) -> list[Decision]:
    """The facts that judge and matcher both decided. One that decided nothing does not count.

    Agreement over different facts is not comparable: the judge may decide only the easy ones.
    """
    has_judge = any(d.judge is not None for d in decisions)
    has_matcher = any(d.matcher is not None for d in decisions)
    return [
        d
        for d in decisions
        if (d.judge is not None or not has_judge) and (d.matcher is not None or not has_matcher)
    ]


def _pairs(
    decisions: list[Decision], shared: list[Decision], reviews: list[ExpertReview]
) -> list[PairLine]:
    matcher = ((d.matcher, d.expert) for d in shared if d.matcher is not None)
    both = ((d.judge, d.matcher) for d in shared if d.judge is not None and d.matcher is not None)
    experts = list(_between_experts(reviews))
    facts = {(d.case.pk, d.n) for d in shared}
    twice = [(first, second) for place, first, second in experts if place in facts]
    judge_covers = sum(d.judge is not None for d in decisions)
    matcher_covers = sum(d.matcher is not None for d in decisions)
    both_cover = sum(d.judge is not None and d.matcher is not None for d in decisions)
    known = len({(d.case.pk, d.n) for d in decisions})
    twice_known = len({place for place, _, _ in experts})
    n = len(decisions)
    return [
        PairLine("Judge and experts", confusion(_judge_expert(shared)), judge_covers, n),
        PairLine("Matcher and experts", confusion(matcher), matcher_covers, n),
        PairLine("Judge and matcher", confusion(both), both_cover, n),
        PairLine("Expert and expert", confusion(twice), twice_known, known),
    ]


def _between_experts(
    reviews: list[ExpertReview],
) -> Iterable[tuple[tuple[int, int], bool, bool]]:
    """Case and number of a fact with every two reviews of it, the earlier first."""
    for place, first in enumerate(reviews):
        for second in reviews[place + 1 :]:
            if second.case_id != first.case_id:
                break
            for fact in first.case.item.facts:
                said = first.says(fact["n"]), second.says(fact["n"])
                if None not in said:
                    yield (first.case_id, fact["n"]), bool(said[0]), bool(said[1])


def _reasoning(reviews: list[ExpertReview], version: str) -> ReasoningLine:
    """The opinions of this version's verdicts."""
    by_case: dict[int, list[Mapping[str, Any]]] = {}
    for review in reviews:
        if version in review.reasoning:
            by_case.setdefault(review.case_id, []).append(review.reasoning[version])
    opinions = [opinion for case_opinions in by_case.values() for opinion in case_opinions]

    def share(*keys: str) -> float | None:
        right = sum(all(opinion[key] for key in keys) for opinion in opinions)
        return right / len(opinions) if opinions else None

    pairs = (
        (first["reasoning"], second["reasoning"])
        for case_opinions in by_case.values()
        for first, second in combinations(case_opinions, 2)
    )
    return ReasoningLine(
        opinions=len(opinions),
        pages=len(by_case),
        decision=share("decision"),
        reasoning=share("reasoning"),
        both=share("decision", "reasoning"),
        experts=confusion(pairs),
    )


def _groups(grouped: Iterable[tuple[str, Decision]]) -> list[GroupLine]:
    grouped = list(grouped)
    judge = confusions((name, d.judge, d.expert) for name, d in grouped if d.judge is not None)
    matcher = confusions(
        (name, d.matcher, d.expert) for name, d in grouped if d.matcher is not None
    )
    nothing = confusion(())
    return [
        GroupLine(name, judge.get(name, nothing), matcher.get(name, nothing))
        for name in sorted({name for name, _ in grouped})
    ]


def _wrong(said: Said, review: ExpertReview, name: str) -> int:
    return sum(not said[f["n"]] for f in review.case.item.facts if f["type"] == name)


def _difference(
    reviews: Iterable[ExpertReview], said: Mapping[Place, Said], name: str
) -> float | None:
    """Over the pages with a decision on every fact."""
    pairs = [
        (_wrong(said[_place(review.case)], review, name), review.wrong[name])
        for review in reviews
        if name in review.wrong and _is_decided(review, said)
    ]
    return mean_absolute_difference(pairs)


def _is_decided(review: ExpertReview, said: Mapping[Place, Said]) -> bool:
    """Whether every fact of the page has a decision."""
    known = said.get(_place(review.case), {})
    return all(fact["n"] in known for fact in review.case.item.facts)


def _counts(
    reviews: list[ExpertReview], judged: Mapping[Place, Said], matched: Mapping[Place, Said]
) -> list[CountLine]:
    names = dict.fromkeys(name for review in reviews for name in review.wrong)
    if judged and matched:
        reviews = [r for r in reviews if _is_decided(r, judged) and _is_decided(r, matched)]
    return [
        CountLine(
            type=name,
            judge=_difference(reviews, judged, name),
            matcher=_difference(reviews, matched, name),
        )
        for name in sorted(names)
    ]


def _version(
    name: str, verdicts: Mapping[Place, JudgedPage], reviews: list[ExpertReview]
) -> VersionLine:
    judged = {place: _said(verdict.result) for place, verdict in verdicts.items()}
    fact_types = {fact_type for review in reviews for fact_type in review.wrong}
    differences = [_difference(reviews, judged, fact_type) for fact_type in fact_types]
    known = [difference for difference in differences if difference is not None]
    return VersionLine(
        version=name,
        is_sample=any(verdict.is_sample for verdict in verdicts.values()),
        since=min(verdict.since for verdict in verdicts.values()),
        pages=len(verdicts),
        confusion=confusion(_judge_expert(_decisions(reviews, {}, judged))),
        difference=sum(known) if known else None,
        overruled=sum(len(verdict.result["judge"]["overruled"]) for verdict in verdicts.values()),
    )


def disagreements(figures: Reliability) -> list[JudgeCase]:
    """Cases with facts on which decisions differ, most such facts first."""
    counts: dict[int, int] = {}
    cases = {}
    for decision in figures.decisions:
        said = {decision.expert, decision.matcher, decision.judge} - {None}
        if len(said) > 1:
            cases[decision.case.pk] = decision.case
            counts[decision.case.pk] = counts.get(decision.case.pk, 0) + 1
    return sorted(cases.values(), key=lambda case: (-counts[case.pk], case.position))
