"""The API of adjudication: the queue, decisions, reopening, whole pages."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.adjudication.services import decide_case
from annotation.models import Campaign, Case
from portal.accounts.models import User
from tests.annotation.factories import comment, document_of, work_of
from tests.fixture_types import ApiOf
from tests.worlds import shared

from .contested import KINDS, case_of, contested_campaign

pytestmark = pytest.mark.django_db

ROOT = "/api/v1/campaigns/spring-round/"
PAGE = f"{ROOT}adjudication/page-001/"


@pytest.fixture
@shared
def contested(ann: User, ben: User, cleo: User, lead: User) -> Campaign:
    return contested_campaign(ann, ben, cleo, lead)


def decide_address(case: Case) -> str:
    return f"{ROOT}cases/{case.pk}/decide/"


def test_cases_are_listed_with_letters(disputed: Campaign, lead: User, api_of: ApiOf) -> None:
    body = api_of(lead).get(f"{ROOT}cases/?kind=boundary").json()
    (case,) = body["results"]
    assert (case["document"], case["state"], case["difference"]) == (
        "page-001",
        "open",
        "boundary",
    )
    assert [(p["letter"], p["spans"][0]["quote"]) for p in case["proposals"]] == [
        ("A", "(310)"),
        ("B", "310"),
    ]
    assert (case["majority"], case["both"]) == (None, None)
    one = api_of(lead).get(f"{ROOT}cases/{case['id']}/").json()
    assert one == case | {"remarks": []}


def test_list_is_filtered_and_ordered(contested: Campaign, lead: User, api_of: ApiOf) -> None:
    def found(query: str) -> list[str]:
        rows = api_of(lead).get(f"{ROOT}cases/?{query}").json()["results"]
        return [row["kind"] for row in rows]

    assert tuple(found("document=page-001")) == KINDS
    assert found("document=page-002") == ["boundary"]
    assert found("label=Date") == ["label"]
    assert found("order=score")[0] == "review"
    assert found("state=decided") == []
    assert api_of(lead).get(f"{ROOT}cases/?order=odd").status_code == 400


def test_differences_say_who_marked(contested: Campaign, lead: User, api_of: ApiOf) -> None:
    rows = api_of(lead).get(f"{ROOT}cases/?document=page-001").json()["results"]
    assert {row["kind"]: (row["difference"], row["marked_by"]) for row in rows} == {
        "value": ("value", ["A", "B", "C"]),
        "boundary": ("boundary", ["A", "B", "C"]),
        "label": ("label", ["A", "B", "C"]),
        "review": ("review", []),
        "missing": ("only", ["A", "B"]),
        "extra": ("only", ["A"]),
    }
    review = next(row for row in rows if row["kind"] == "review")
    assert (review["score"], review["note"]) == (None, "Is the heading a fact?")
    assert [proposal["letter"] for proposal in review["proposals"]] == ["gold"]


@pytest.mark.parametrize(
    ("body", "quotes"),
    [
        ({"choice": "proposal", "proposal": "A", "reason": "the sign"}, ["(310)"]),
        ({"choice": "neither", "reason": "not a fact"}, []),
    ],
)
def test_case_is_decided_once(
    disputed: Campaign, lead: User, api_of: ApiOf, body: dict[str, Any], quotes: list[str]
) -> None:
    address = decide_address(case_of(disputed, "boundary"))
    response = api_of(lead).post(address, body, format="json")
    assert response.status_code == 200
    answer = response.json()
    assert (answer["stage"], answer["open_cases"], answer["next"]) == ("adjudication", 2, None)
    case = answer["case"]
    assert [span["quote"] for span in case["decision"]] == quotes
    assert (case["choice"], case["decided_by"]) == (body["choice"], "Lea")
    again = api_of(lead).post(address, body, format="json")
    assert (again.status_code, again.json()["code"]) == (409, "decided")


def test_answer_names_the_next_page(contested: Campaign, lead: User, api_of: ApiOf) -> None:
    address = decide_address(case_of(contested, "boundary"))
    answer = api_of(lead).post(f"{address}?kind=boundary", {"choice": "majority"}, format="json")
    page = "/campaigns/spring-round/adjudication/pages/page-002/?kind=boundary"
    assert answer.json()["next"] == page
    last = decide_address(case_of(contested, "boundary", 2))
    answer = api_of(lead).post(f"{last}?kind=boundary", {"choice": "majority"}, format="json")
    assert answer.json()["next"] is None


def test_edited_spans_have_values(disputed: Campaign, lead: User, api_of: ApiOf) -> None:
    case = case_of(disputed, "boundary")
    spans = [{"label": "Number", "start": case.start, "end": case.end, "value": "-310000"}]
    body = {"choice": "edit", "spans": spans, "reason": "in thousands"}
    assert api_of(lead).post(decide_address(case), body, format="json").status_code == 200
    gold = case.gold_spans.get()
    assert (gold.quote, gold.value, gold.sign) == ("(310)", "-310000", "parentheses")


SPAN = {"label": "Number", "start": 0, "end": 3}
WHY = {"reason": "By the rules."}


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({}, 400, "choice"),
        ({"choice": "Z"} | WHY, 400, "choice"),
        ({"choice": "reopened"} | WHY, 400, "choice"),
        ({"choice": "proposal"} | WHY, 400, "proposal"),
        ({"choice": "proposal", "proposal": "Z"} | WHY, 400, "proposal"),
        ({"choice": "neither", "proposal": "A"} | WHY, 400, "proposal"),
        ({"choice": "neither", "spans": [SPAN]} | WHY, 400, "spans"),
        ({"choice": "edit"} | WHY, 400, "spans"),
        ({"choice": "edit", "spans": [{"label": "Number"}]} | WHY, 400, "spans"),
        ({"choice": "edit", "spans": [SPAN] * 51} | WHY, 400, "spans"),
        ({"choice": "edit", "spans": []} | WHY, 409, "code"),
        ({"choice": "edit", "spans": [SPAN]} | WHY, 422, "errors"),
        ({"choice": "edit", "spans": [SPAN | {"label": "Money"}]} | WHY, 422, "errors"),
        ({"choice": "neither"}, 422, "errors"),
        ({"choice": "neither", "reason": "x" * 2001}, 400, "reason"),
        ({"choice": "majority"}, 409, "code"),
        ({"choice": "both"} | WHY, 409, "code"),
    ],
)
def test_refusal_names_what_is_wrong(
    disputed: Campaign,
    lead: User,
    api_of: ApiOf,
    body: dict[str, Any],
    status: int,
    field: str,
) -> None:
    case = case_of(disputed, "boundary")
    response = api_of(lead).post(decide_address(case), body, format="json")
    assert (response.status_code, field in response.json()) == (status, True), response.json()
    case.refresh_from_db()
    assert case.state == Case.State.OPEN


def test_decided_case_is_opened_again(disputed: Campaign, lead: User, api_of: ApiOf) -> None:
    case = case_of(disputed, "boundary")
    address = f"{ROOT}cases/{case.pk}/reopen/"
    early = api_of(lead).post(address, {"reason": "Why not?"}, format="json")
    assert (early.status_code, early.json()["code"]) == (409, "open")
    decide_case(case=case, choice="neither", reason="No fact.", actor=lead)
    assert api_of(lead).post(address, {"reason": " "}, format="json").status_code == 400
    answer = api_of(lead).post(address, {"reason": "It is one."}, format="json").json()
    assert (answer["state"], answer["note"], answer["choice"]) == ("open", "It is one.", "")
    assert [entry["choice"] for entry in answer["history"]] == ["neither", "reopened"]


def test_page_tells_all_that_is_decided_on_it(
    contested: Campaign, lead: User, api_of: ApiOf
) -> None:
    body = api_of(lead).get(PAGE).json()
    assert (body["document"], body["stage"], body["marks"]) == ("page-001", "adjudication", [])
    assert tuple(case["kind"] for case in body["cases"]) == KINDS
    assert body["queue"] == [case["id"] for case in body["cases"]]
    assert body["next"] == "/campaigns/spring-round/adjudication/pages/page-002/"
    assert [(r["letter"], r["text"], r["quote"]) for r in body["remarks"]] == [
        ("A", "The brackets say minus.", "(310)"),
        ("A", "The table is cut off.", ""),
    ]
    facts = [body["facts"][0][2], len(body["facts"])]
    assert facts == ["number", len(body["facts"])]
    names = ("Ann", "Ben", "Cleo", "example.org", "assignment")
    assert not [name for name in names if name in str(body)]
    one = api_of(lead).get(f"{PAGE}?kind=label&order=score").json()
    assert one["queue"] == [case_of(contested, "label").pk]
    assert one["next"] is None


def test_page_shows_agreed_gold(disputed: Campaign, lead: User, api_of: ApiOf) -> None:
    (mark,) = api_of(lead).get(PAGE).json()["marks"]
    assert (mark["quote"], mark["origin"], mark["value"]) == ("1,200", "agreed", "1200")


def test_place_is_opened_for_a_correction(disputed: Campaign, lead: User, api_of: ApiOf) -> None:
    start = document_of(disputed).document.content.text.index("1,200")
    place = {"start": start, "end": start + 5, "reason": "In millions."}
    answer = api_of(lead).post(f"{PAGE}reopen/", place, format="json")
    assert (answer.status_code, answer.json()["kind"]) == (200, "review")
    again = api_of(lead).post(f"{PAGE}reopen/", place, format="json")
    assert (again.status_code, again.json()["code"]) == (409, "open")
    far = api_of(lead).post(f"{PAGE}reopen/", place | {"end": 99_999}, format="json")
    assert far.status_code == 422


def test_readings_say_what_our_rules_read_and_save_nothing(
    disputed: Campaign, lead: User, api_of: ApiOf
) -> None:
    case = case_of(disputed, "boundary")
    span = {"key": "a", "label": "Number", "start": case.start, "end": case.end}
    body = {"spans": [span | {"quote": "(310)"}]}
    answer = api_of(lead).post(f"{PAGE}readings/", body, format="json")
    assert answer.json()["spans"][0] == {
        "key": "a",
        "value": "-310",
        "sign": "parentheses",
        "edited": False,
        "warnings": [],
    }
    wrong = api_of(lead).post(f"{PAGE}readings/", {"spans": [span | {"quote": "x"}]}, format="json")
    assert (wrong.status_code, wrong.json()["errors"][0]["code"]) == (422, "quote")
    assert document_of(disputed).gold_spans.count() == 1


def test_page_and_list_need_the_same_few_queries_for_many_cases(
    contested: Campaign, lead: User, ben: User, api_of: ApiOf
) -> None:
    def queries(address: str) -> int:
        with CaptureQueriesContext(connection) as captured:
            assert api_of(lead).get(address).status_code == 200
        return len(captured)

    queries(PAGE)  # fills the cache of the process
    before = queries(PAGE)
    one = queries(f"{ROOT}cases/?kind=review")
    for kind in ("boundary", "label", "extra"):
        decide_case(case=case_of(contested, kind), choice="majority", reason="", actor=lead)
    work = work_of(ben, contested)
    for span in work.spans.all():
        comment(work, "Is it?", span.key)
    assert queries(PAGE) == before <= 18
    assert queries(f"{ROOT}cases/") == one <= 6
