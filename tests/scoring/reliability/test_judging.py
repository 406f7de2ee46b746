"""Experts check a judge: drawn, reviewed blind, then compared, with figures by hand."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from portal.accounts.models import User
from scoring.judge.checks import page_summary
from scoring.judging.runs import store_judge_run
from scoring.judging.services import JudgingRefused
from scoring.models import Board, ExpertReview, JudgeCase, JudgeSample, Submission
from scoring.reliability.cases import (
    add_expert,
    case_page,
    close_sample,
    draw_sample,
    expert_cases,
    remove_expert,
    save_review,
    submit_review,
)
from scoring.reliability.selectors import PairLine, disagreements, reliability, samples_of
from scoring.submissions.services import publish_submission
from tests.fixture_types import ClientOf, RunJobs
from tests.scoring.factories import first_phase, make_board, make_submission

pytestmark = pytest.mark.django_db


def case_of(sample: JudgeSample, name: str) -> JudgeCase:
    return sample.cases.select_related("item", "sample__release").get(item__name=name)


def review(case: JudgeCase, expert: User, said: Mapping[int, bool], **wrong: int) -> ExpertReview:
    save_review(case=case, expert=expert, facts=said, wrong=wrong, structure="", comment="")
    return submit_review(case=case, expert=expert)


def judged(submission: Submission, said: Mapping[str, Mapping[int, bool]], model: str) -> None:
    verdicts: dict[str, Any] = {
        name: {
            "judge": page_summary(2, [], []) | {"overall_explanation": "Read.", "overruled": []},
            "facts": [
                {"n": n, "correct": right, "found": right, "matched_text": None, "why": "read"}
                for n, right in facts.items()
            ],
        }
        for name, facts in said.items()
    }
    store_judge_run(submission=submission, model=model, verdicts=verdicts, actor=None)


def pair(lines: list[PairLine], title: str) -> tuple[int, int, int, int]:
    found = next(line.confusion for line in lines if line.between == title)
    return (found.both_right, found.only_first_right, found.only_second_right, found.both_wrong)


class TestDrawing:
    def test_few_pages_are_all_drawn_once(self, sample: JudgeSample) -> None:
        names = list(sample.cases.order_by("position").values_list("item__name", flat=True))
        assert sorted(names) == ["page-1", "page-2", "page-3"]
        assert (sample.pool, sample.seed) == (3, f"{sample.release.same_gold}:1")

    def test_one_sample_is_open_at_a_time(self, sample: JudgeSample) -> None:
        with pytest.raises(JudgingRefused, match="open sample"):
            draw_sample(phase=sample.phase, percent=2, actor=None)
        close_sample(sample=sample, actor=None)
        assert draw_sample(phase=sample.phase, percent=2, actor=None).seed.endswith(":2")

    def test_nothing_published_is_nothing_to_draw(self, graded: Submission) -> None:
        with pytest.raises(JudgingRefused, match="no pages to draw"):
            draw_sample(phase=graded.phase, percent=2, actor=None)

    def test_experts_never_get_their_own_submissions(
        self, sample: JudgeSample, researcher: User, stranger: User
    ) -> None:
        add_expert(board=sample.phase.board, user=researcher, actor=None)
        assert len(expert_cases(stranger, sample)) == 3
        assert expert_cases(researcher, sample) == []


class TestReviewing:
    def test_undecided_facts_are_named(self, sample: JudgeSample, stranger: User) -> None:
        case = case_of(sample, "page-1")
        with pytest.raises(JudgingRefused, match="Missing: 1, 2"):
            review(case, stranger, {0: True})
        # The decision is kept.
        assert ExpertReview.objects.get(case=case).facts == {"0": True}

    def test_counts_left_empty_are_those_of_the_marks(
        self, sample: JudgeSample, stranger: User
    ) -> None:
        said = review(case_of(sample, "page-1"), stranger, {0: True, 1: False, 2: True}, Number=4)
        assert said.wrong == {"Number": 4, "Date": 0}

    def test_facts_that_are_none_of_the_page_are_left_out(
        self, sample: JudgeSample, stranger: User
    ) -> None:
        said = review(case_of(sample, "page-3"), stranger, {0: True, 76: False})
        assert said.facts == {"0": True}

    def test_what_is_submitted_stays(self, sample: JudgeSample, stranger: User) -> None:
        case = case_of(sample, "page-3")
        review(case, stranger, {0: True})
        with pytest.raises(JudgingRefused, match="already submitted"):
            review(case, stranger, {0: False})
        assert ExpertReview.objects.get(case=case).facts == {"0": True}

    def test_a_closed_sample_takes_nothing_and_drops_drafts(
        self, sample: JudgeSample, stranger: User
    ) -> None:
        done, begun = case_of(sample, "page-3"), case_of(sample, "page-2")
        review(done, stranger, {0: True})
        save_review(
            case=begun, expert=stranger, facts={0: True}, wrong={}, structure="", comment=""
        )
        close_sample(sample=sample, actor=None)
        assert [each.case_id for each in ExpertReview.objects.all()] == [done.pk]
        with pytest.raises(JudgingRefused, match="closed"):
            submit_review(case=begun, expert=stranger)

    def test_who_is_removed_keeps_what_they_submitted(
        self, sample: JudgeSample, stranger: User
    ) -> None:
        review(case_of(sample, "page-3"), stranger, {0: True})
        save_review(
            case=case_of(sample, "page-2"),
            expert=stranger,
            facts={},
            wrong={},
            structure="",
            comment="",
        )
        remove_expert(expert=sample.phase.board.judge_experts.get(), actor=None)
        assert ExpertReview.objects.count() == 1


class TestReliability:
    def test_figures_by_hand(
        self, sample: JudgeSample, published: Submission, stranger: User, reviewer: User
    ) -> None:
        """The matcher says: page 1 right, wrong, right; page 2 right, wrong; page 3 right."""
        add_expert(board=sample.phase.board, user=reviewer, actor=None)
        first, second = case_of(sample, "page-1"), case_of(sample, "page-2")
        review(first, stranger, {0: True, 1: True, 2: True})
        review(first, reviewer, {0: True, 1: False, 2: True})
        review(second, stranger, {0: True, 1: False}, Date=3)
        judged(published, {"page-1": {0: True, 1: True, 2: False}}, "old")
        judged(published, {"page-1": {0: True, 1: True, 2: True}, "page-2": {0: False}}, "new")

        found = reliability(sample)

        assert (found.pages, found.pages_reviewed, found.reviews, found.experts) == (3, 2, 3, 2)
        assert found.judge == "new, facts-1"
        # Page 1 against two experts: of six decisions all but one alike; page 2: fact 1 alone.
        assert pair(found.agreement, "Judge and experts") == (5, 1, 1, 0)
        # The judge did not decide fact 2 of page 2, so that it counts for no pair.
        assert pair(found.agreement, "Matcher and experts") == (5, 0, 1, 1)
        # 1.1, 1.3 both right; 1.2 the judge alone, all with two reviews; 2.1 the matcher alone.
        assert pair(found.agreement, "Judge and matcher") == (4, 2, 1, 0)
        assert pair(found.agreement, "Expert and expert") == (2, 1, 0, 0)
        coverage = [(line.covered, line.reviewed) for line in found.agreement]
        assert coverage == [(7, 8), (8, 8), (7, 8), (3, 5)]
        assert len({line.confusion.n for line in found.agreement[:3]}) == 1
        for groups in (found.fact_types, found.error_types):
            assert all(group.judge.n == group.matcher.n for group in groups)
        assert [line.name for line in found.fact_types] == ["Date", "Number"]
        assert {line.name for line in found.error_types} == {"right", "sign"}
        # Both decided page 1, where no date is wrong. The matcher alone would miss 2 on page 2.
        dates = next(line for line in found.counts if line.type == "Date")
        assert (dates.judge, dates.matcher) == (0, 0)
        assert [(line.version, line.pages) for line in found.versions] == [
            ("new, facts-1", 2),
            ("old, facts-1", 1),
        ]
        assert reliability(sample, "old, facts-1").judge == "old, facts-1"
        assert [case.item.name for case in disagreements(found)] == ["page-1", "page-2"]

    def test_queries_do_not_grow_with_reviews(
        self,
        sample: JudgeSample,
        published: Submission,
        stranger: User,
        reviewer: User,
        django_assert_num_queries: Any,
    ) -> None:
        judged(published, {"page-1": {0: True}, "page-2": {0: True}}, "judge")
        review(case_of(sample, "page-1"), stranger, {0: True, 1: True, 2: True})
        (sample,) = samples_of(sample.phase.board)
        with django_assert_num_queries(5):
            reliability(sample)
        review(case_of(sample, "page-2"), stranger, {0: True, 1: True})
        review(case_of(sample, "page-3"), stranger, {0: True})
        with django_assert_num_queries(5):
            reliability(sample)

    def test_the_page_says_that_experts_review_only_while_a_page_waits(
        self, client_of: ClientOf, sample: JudgeSample, stranger: User
    ) -> None:
        def page() -> str:
            answer = client_of(None).get(f"/boards/{sample.phase.board.slug}/judge/")
            return " ".join(answer.content.decode().split())

        review(case_of(sample, "page-1"), stranger, {0: True, 1: True, 2: True})
        review(case_of(sample, "page-2"), stranger, {0: True, 1: True})
        assert "<dd>2 of 3</dd>" in page()
        assert "The review is still in progress." in page()
        review(case_of(sample, "page-3"), stranger, {0: True})
        assert "<dd>3 of 3</dd>" in page()
        assert "still in progress" not in page()
        assert "Every page has been reviewed." in page()
        close_sample(sample=sample, actor=None)
        assert "Every page has been reviewed." not in page()

    def test_a_case_beside_each_other(
        self, sample: JudgeSample, published: Submission, stranger: User
    ) -> None:
        judged(published, {"page-1": {0: True, 1: True, 2: True}}, "judge")
        case = case_of(sample, "page-1")
        review(case, stranger, {0: True, 1: False, 2: True})
        page = case_page(case)
        assert [row.is_disputed for row in page.facts] == [False, True, False]
        assert page.facts[1].matcher is not None
        assert page.facts[1].matcher["error"] == "sign"
        assert (page.summary, page.explanations) == ([("Structure (0–2)", 2)], ["Read."])


class TestPages:
    def review_url(self, case: JudgeCase) -> str:
        return reverse("scoring:judge-review", args=["board", case.pk])

    def test_a_review_from_the_first_mark_to_the_case(
        self, client_of: ClientOf, sample: JudgeSample, stranger: User
    ) -> None:
        client, case = client_of(stranger), case_of(sample, "page-1")
        url = self.review_url(case)
        assert client.post(url, {"fact-1": "wrong", "act": "save"}).status_code == 302
        assert ExpertReview.objects.get().facts == {"1": False}
        sent = {"fact-1": "wrong", "act": "rest", "wrong-0": "2"}
        assert client.post(url, sent).status_code == 302
        said = ExpertReview.objects.get()
        assert said.facts == {"0": True, "1": False, "2": True}
        assert said.wrong == {"Number": 2}
        whole = {"fact-0": "right", "fact-1": "wrong", "fact-2": "right", "act": "submit"}
        answer = client.post(url, whole)
        assert answer["Location"] == case.get_absolute_url()
        assert "Review submitted" in client.get(answer["Location"]).content.decode()
        # The page of a submitted review leads to what was said.
        assert client.get(url)["Location"] == case.get_absolute_url()

    @pytest.mark.parametrize("sent", [{"fact-0": "maybe"}, {"wrong-0": "-1"}, {"wrong-0": "x"}])
    def test_what_cannot_be_understood_is_refused(
        self, client_of: ClientOf, sample: JudgeSample, stranger: User, sent: dict[str, str]
    ) -> None:
        answer = client_of(stranger).post(self.review_url(case_of(sample, "page-1")), sent)
        assert answer.status_code == 400
        assert 'role="alert"' in answer.content.decode()
        assert not ExpertReview.objects.exists()

    def test_an_expert_hears_nothing_before_submitting(
        self, client_of: ClientOf, sample: JudgeSample, published: Submission, stranger: User
    ) -> None:
        judged(published, {"page-1": {0: True, 1: True, 2: True}}, "the-judge")
        client, case = client_of(stranger), case_of(sample, "page-1")
        assert client.get(case.get_absolute_url()).status_code == 404
        page = client.get(self.review_url(case)).content.decode()
        frames = [
            client.get(reverse("scoring:judge-rendered", args=["board", case.pk, side]))
            for side in ("gold", "prediction")
        ]
        heard = page + "".join(frame.content.decode() for frame in frames)
        for word in ("the-judge", published.name, "sign", "✗"):
            assert word not in heard.replace("same sign and unit", "")
        assert page.count("<iframe") == page.count(" sandbox ") == 2
        assert all("default-src 'none'" in frame["Content-Security-Policy"] for frame in frames)

    def test_of_the_case_only_who_may(
        self,
        client_of: ClientOf,
        sample: JudgeSample,
        stranger: User,
        researcher: User,
        organiser: User,
        reviewer: User,
    ) -> None:
        add_expert(board=sample.phase.board, user=reviewer, actor=None)
        case = case_of(sample, "page-3")
        review(case, stranger, {0: True})
        people = [None, researcher, reviewer, stranger, organiser]
        url = case.get_absolute_url()
        assert [client_of(user).get(url).status_code for user in people] == [
            302,
            404,
            404,
            200,
            200,
        ]
        close_sample(sample=sample, actor=None)
        assert client_of(reviewer).get(url).status_code == 200
        assert client_of(researcher).get(url).status_code == 404

    def test_a_scored_phase_that_keeps_its_scores_keeps_these(
        self, client_of: ClientOf, researcher: User, run_jobs: RunJobs, stranger: User
    ) -> None:
        board = make_board(slug="late")
        submission = make_submission(board, researcher)
        run_jobs()
        publish_submission(submission=submission, actor=None)
        draw_sample(phase=first_phase(board), percent=2, actor=None)
        board.phases.update(scores_after=timezone.now() + timedelta(days=1))
        page = client_of(stranger).get("/boards/late/judge/").content.decode()
        assert "No sample yet" in page

    def test_organisers_name_experts_and_draw(
        self,
        client_of: ClientOf,
        board: Board,
        published: Submission,
        organiser: User,
        stranger: User,
    ) -> None:
        client, url = client_of(organiser), "/boards/board/judge/manage/"
        wrong = client.post(url, {"email": "nobody@example.org"})
        assert wrong.status_code == 400
        assert "There is no account" in wrong.content.decode()
        assert client.post(url, {"email": stranger.email.upper()}).status_code == 302
        phase = first_phase(board)
        drawn = client.post(
            "/boards/board/judge/samples/new/", {"phase": phase.pk, "percent": "2"}, follow=True
        )
        assert "Sample of 3 pages drawn" in drawn.content.decode()
        assert "/boards/board/judge/" in client.get("/boards/board/").content.decode()
        again = client.post(
            "/boards/board/judge/samples/new/", {"phase": phase.pk, "percent": "2"}, follow=True
        )
        assert "open sample" in again.content.decode()
        sample = JudgeSample.objects.get()
        client.post(f"/boards/board/judge/samples/{sample.pk}/close/")
        sample.refresh_from_db()
        assert not sample.is_open
        client.post(f"/boards/board/judge/experts/{board.judge_experts.get().pk}/remove/")
        assert not board.judge_experts.exists()
