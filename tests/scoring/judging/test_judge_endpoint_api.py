"""The endpoint and the reliability of a board's judge by the API."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from portal.accounts.models import User
from scoring.models import Board, JudgeEndpoint, JudgeSample, JudgeSpending, Submission
from scoring.models.judging import month_of_now
from scoring.reliability.cases import add_expert, draw_sample
from scoring.submissions.services import publish_submission
from tests.fixture_types import ApiOf, RunJobs
from tests.scoring.factories import FLAWED, first_phase, make_submission
from tests.scoring.judge.server import MODEL
from tests.scoring.judges import endpoint_values
from tests.scoring.reliability.test_judging import case_of, judged, review

pytestmark = pytest.mark.django_db

URL = "/api/v1/boards/board/judge-endpoint/"
JUDGE = "/api/v1/boards/board/judge/"
ADDRESS = "https://judge.example/v1"
KEY = "sk-board-4711"


class TestEndpoint:
    def test_put_get_delete(self, api_of: ApiOf, board: Board, organiser: User) -> None:
        api = api_of(organiser)
        assert api.get(URL).status_code == 404
        values = endpoint_values(f"{ADDRESS}/", budget=5.0)
        put = api.put(URL, values | {"key": KEY})
        assert put.status_code == 200
        JudgeSpending.objects.create(board=board, month=month_of_now(), amount=2, is_open=False)
        told = api.get(URL).json()
        assert told.pop("set_at")
        assert told == {
            **values,
            "base_url": ADDRESS,
            "has_key": True,
            "is_key_lost": False,
            "extra_names": [],
            "set_by": "Olga",
            "this_month": {
                "month": month_of_now().isoformat(),
                "spent": 2,
                "ahead": 0,
                "left": 3,
            },
        }
        row = JudgeEndpoint.objects.get()
        for answer in (put, api.get(URL)):
            assert KEY not in answer.content.decode()
            assert row.sealed_key not in answer.content.decode()
        assert api.delete(URL).status_code == 204
        assert api.delete(URL).status_code == 404
        assert not JudgeEndpoint.objects.exists()

    def test_the_least_that_must_be_said(
        self, api_of: ApiOf, board: Board, organiser: User
    ) -> None:
        told = api_of(organiser).put(URL, {"base_url": ADDRESS, "model": MODEL}).json()
        assert (told["price_input"], told["budget"], told["has_key"]) == (0, None, False)

    def test_what_becomes_of_the_key(self, api_of: ApiOf, board: Board, organiser: User) -> None:
        api, values = api_of(organiser), endpoint_values(ADDRESS)

        def has_key(**changes: Any) -> bool:
            return bool(api.put(URL, values | changes).json()["has_key"])

        assert has_key(key=KEY)
        assert has_key(), "left out, it is kept"
        assert not has_key(base_url="https://other.example/v1"), "elsewhere it is dropped"
        assert not has_key(), "and does not come back"
        assert has_key(key=KEY)
        assert not has_key(key=""), "empty, it is forgotten"

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("base_url", "ftp://x"),
            ("base_url", "https://a.example/?k=ü"),
            ("model", "two words"),
            ("model", None),
            ("key", "sk ü"),
            ("key", None),
            ("price_input", -1),
            ("price_output", "nan"),
            ("price_output", "inf"),
            ("budget", "nan"),
            ("budget", 1e9),
            ("calls_per_minute", -1),
            ("calls_per_minute", 10**9),
        ],
    )
    def test_what_cannot_be_is_refused_at_its_field(
        self, api_of: ApiOf, board: Board, organiser: User, field: str, value: Any
    ) -> None:
        answer = api_of(organiser).put(URL, endpoint_values(ADDRESS) | {field: value})
        assert answer.status_code == 400
        assert list(answer.json()) == [field]
        assert not JudgeEndpoint.objects.exists()

    def test_a_budget_needs_prices(self, api_of: ApiOf, board: Board, organiser: User) -> None:
        free = endpoint_values(ADDRESS, budget=5.0, price_input=0, price_output=0)
        assert "needs prices" in str(api_of(organiser).put(URL, free).json()["budget"])

    def test_changing_it_is_for_organisers(
        self, api_of: ApiOf, board: Board, organiser: User, researcher: User, stranger: User
    ) -> None:
        people = [None, stranger, researcher, organiser]
        values = endpoint_values(ADDRESS)
        put = [api_of(user).put(URL, values).status_code for user in people]
        read = [api_of(user).get(URL).status_code for user in people]
        removed = [api_of(user).delete(URL).status_code for user in people]
        assert put == read == [401, 403, 403, 200]
        assert removed == [401, 403, 403, 204]

    def test_a_trial(self, api_of: ApiOf, board: Board, organiser: User, settings: Any) -> None:
        settings.JUDGE_MODEL = ""
        unset = api_of(organiser).post(f"{URL}try/")
        assert (unset.status_code, "JUDGE_MODEL" in unset.json()["detail"]) == (409, True)
        api_of(organiser).put(URL, endpoint_values("http://127.0.0.1:9/v1"))
        told = api_of(organiser).post(f"{URL}try/").json()
        assert told.pop("milliseconds") >= 0
        assert told == {
            "model": MODEL,
            "fault": "no answer after 1 attempts: the connection was refused; "
            "nothing listens at this host and port",
            "input_tokens": 0,
            "output_tokens": 0,
            "is_uncertain": False,
            "cost": 0,
        }


class TestReliability:
    @pytest.fixture
    def sample(
        self, board: Board, researcher: User, stranger: User, run_jobs: RunJobs
    ) -> JudgeSample:
        """The matcher says: page 1 right, wrong, right; the expert: all right."""
        submission = make_submission(board, researcher, FLAWED)
        run_jobs()
        publish_submission(submission=submission, actor=None)
        add_expert(board=board, user=stranger, actor=None)
        sample = draw_sample(phase=first_phase(board), percent=2, actor=None)
        review(case_of(sample, "page-1"), stranger, {0: True, 1: True, 2: True})
        return sample

    def test_nothing_drawn(self, api_of: ApiOf, board: Board) -> None:
        assert api_of(None).get(JUDGE).json() == {"samples": [], "reliability": None}

    def test_figures_by_hand(self, api_of: ApiOf, sample: JudgeSample) -> None:
        submission = Submission.objects.get()
        judged(submission, {"page-1": {0: True, 1: False, 2: True}}, "old")
        judged(submission, {"page-1": {0: True, 1: True, 2: False}}, "new")
        told = api_of(None).get(JUDGE).json()
        found = told["reliability"]
        assert told["samples"] == [found["sample"]]
        assert (found["sample"]["id"], found["sample"]["phase"]) == (sample.pk, "test")
        assert (found["pages"], found["pages_reviewed"], found["experts"]) == (3, 1, 1)
        assert found["judge"] == "new, facts-1"
        pairs = {line["between"]: line["confusion"] for line in found["agreement"]}
        # 2 of 3 alike; both say right by 2/3 · 1 and wrong by 1/3 · 0 of chance: κ = 0.
        assert pairs["Judge and experts"] == {
            "facts": 3,
            "agreement": pytest.approx(2 / 3),
            "kappa": pytest.approx(0),
            "both_right": 2,
            "only_first_right": 0,
            "only_second_right": 1,
            "both_wrong": 0,
        }
        # The matcher misses the sign of fact 2, the judge the date; by chance 5/9, seen 1/3.
        assert pairs["Judge and matcher"]["kappa"] == pytest.approx((1 / 3 - 5 / 9) / (4 / 9))
        assert pairs["Expert and expert"]["agreement"] is None
        types = {line["name"]: line for line in found["fact_types"]}
        assert types["Date"]["judge"]["only_second_right"] == 1
        assert types["Date"]["matcher"]["both_right"] == 1
        errors = {line["name"]: line["judge"]["facts"] for line in found["error_types"]}
        assert errors == {"right": 2, "sign": 1}
        counts = {line["type"]: (line["judge"], line["matcher"]) for line in found["counts"]}
        assert counts == {"Number": (0, 1), "Date": (1, 0)}
        versions = [(line["version"], line["pages"]) for line in found["versions"]]
        assert versions == [("new, facts-1", 1), ("old, facts-1", 1)]
        former = api_of(None).get(f"{JUDGE}?judge=old, facts-1&sample={sample.pk}").json()
        assert former["reliability"]["judge"] == "old, facts-1"

    @pytest.mark.parametrize(
        ("query", "status"),
        [
            ({"sample": "999"}, 404),
            ({"judge": "unknown"}, 404),
            ({"sample": "x"}, 400),
            ({"sample": "0"}, 400),
        ],
    )
    def test_what_is_not_there_is_not_replaced(
        self, api_of: ApiOf, sample: JudgeSample, query: dict[str, str], status: int
    ) -> None:
        assert api_of(None).get(JUDGE, query).status_code == status

    def test_a_phase_that_keeps_its_scores_keeps_these(
        self, api_of: ApiOf, board: Board, sample: JudgeSample, organiser: User
    ) -> None:
        board.phases.update(scores_after=timezone.now() + timedelta(days=1))
        assert api_of(None).get(JUDGE).json() == {"samples": [], "reliability": None}
        assert api_of(None).get(JUDGE, {"sample": sample.pk}).status_code == 404
        assert api_of(organiser).get(JUDGE).json()["reliability"]["pages_reviewed"] == 1

    def test_nothing_tells_a_page_or_its_gold(self, api_of: ApiOf, sample: JudgeSample) -> None:
        judged(Submission.objects.get(), {"page-1": {0: True, 1: False, 2: True}}, "judge")
        text = api_of(None).get(JUDGE).content.decode()
        for word in ("page-1", "1,200", "(350)", "May 27"):
            assert word not in text
