"""The queue, a whole page, and one case without JavaScript."""

from typing import Any

import pytest
from django.test import Client

from annotation.adjudication.selectors import quick_reasons
from annotation.adjudication.services import decide_case
from annotation.models import Campaign, CampaignDocument, Case
from portal.accounts.models import User
from tests.annotation.factories import comment, document_of, work_of
from tests.fixture_types import ClientOf
from tests.worlds import shared

from .contested import case_of, contested_campaign

pytestmark = pytest.mark.django_db

Stage = CampaignDocument.Stage
QUEUE = "/campaigns/spring-round/adjudication/"
WHY = {"reason": "By the rules."}


def page(case: Case) -> str:
    return f"{QUEUE}{case.pk}/"


def edit(*rows: tuple[Any, Any, str], **fields: Any) -> dict[str, Any]:
    """The edit form as a browser sends it."""
    data: dict[str, Any] = {"choice": "edit", "spans-TOTAL_FORMS": len(rows)} | WHY
    data["spans-INITIAL_FORMS"] = 1
    for number, (start, end, label) in enumerate(rows):
        data |= {
            f"spans-{number}-start": start,
            f"spans-{number}-end": end,
            f"spans-{number}-label": label,
        }
    return data | fields


def gold_of(case: Case) -> list[tuple[str, str, str]]:
    return [(gold.label, gold.quote, gold.value) for gold in case.gold_spans.all()]


@pytest.fixture
@shared
def contested(ann: User, ben: User, cleo: User, lead: User) -> Campaign:
    return contested_campaign(ann, ben, cleo, lead)


# --- the queue ---------------------------------------------------------------------------------


def kinds(client: Client, **query: str) -> list[str]:
    return [row.kind for row in client.get(QUEUE, query).context["page"]]


def test_queue_filters_and_counts(disputed: Campaign, lead: User, client_of: ClientOf) -> None:
    client = client_of(lead)
    case = case_of(disputed, "label")
    decide_case(case=case, choice="neither", reason="No fact.", actor=lead)
    everything = client.get(QUEUE)
    assert everything.context["open"] == 2
    assert kinds(client) == ["boundary", "missing"]
    assert kinds(client, kind="missing") == ["missing"]
    assert kinds(client, state="decided") == ["label"]
    assert kinds(client, kind="x", state="y", page="z", order="w") == ["boundary", "missing"]


def test_queue_is_filtered_by_label_and_document(
    contested: Campaign, lead: User, client_of: ClientOf
) -> None:
    client = client_of(lead)
    assert kinds(client, label="Date") == ["label"]
    assert "label" in kinds(client, label="Number")
    assert kinds(client, label="Money") == kinds(client)
    assert kinds(client, document="page-002") == ["boundary"]
    assert kinds(client, document="page-003") == []
    assert kinds(client, document="page-001", label="Date", kind="boundary") == []


def test_queue_can_begin_with_the_lowest_agreement(
    contested: Campaign, lead: User, client_of: ClientOf
) -> None:
    client = client_of(lead)
    rows = client.get(QUEUE, {"order": "score"}).context["page"].object_list
    scores = [row.score for row in rows]
    assert scores == sorted(scores)
    assert rows[0].kind == "review"
    assert rows[len(rows) - 1].kind == "value"
    first = client.get(QUEUE, {"order": "score", "kind": "missing"}).context["first"]
    missing = case_of(contested, "missing")
    assert first == f"{QUEUE}pages/page-001/?kind=missing&order=score#case-{missing.pk}"


def test_queue_is_told_apart_from_no_cases(
    campaign: Campaign, lead: User, client_of: ClientOf
) -> None:
    html = client_of(lead).get(QUEUE).content.decode()
    assert "No cases" in html


# --- a whole page ------------------------------------------------------------------------------


@pytest.mark.parametrize("part", ["", "html/"])
def test_page_is_shown_only_once_all_have_submitted(
    disputed: Campaign, lead: User, client_of: ClientOf, part: str
) -> None:
    client = client_of(lead)
    assert client.get(f"{QUEUE}pages/page-001/{part}").status_code == 200
    assert client.get(f"{QUEUE}pages/page-002/{part}").status_code == 404
    assert client.get(f"{QUEUE}pages/page-003/{part}").status_code == 404
    for stage in (Stage.VALIDATION, Stage.EXCLUDED, Stage.SCREENING):
        CampaignDocument.objects.filter(pk=document_of(disputed).pk).update(stage=stage)
        assert client.get(f"{QUEUE}pages/page-001/{part}").status_code == 404
    CampaignDocument.objects.update(stage=Stage.GOLD)
    CampaignDocument.objects.update(purpose=CampaignDocument.Purpose.QUALIFICATION)
    assert client.get(f"{QUEUE}pages/page-001/{part}").status_code == 404


def test_page_of_the_document_is_served_sandboxed(
    disputed: Campaign, lead: User, client_of: ClientOf
) -> None:
    response = client_of(lead).get(f"{QUEUE}pages/page-001/html/")
    assert response["Content-Security-Policy"].startswith("default-src 'none'")


def test_page_links_its_cases_for_who_has_no_javascript(
    disputed: Campaign, lead: User, client_of: ClientOf
) -> None:
    html = client_of(lead).get(f"{QUEUE}pages/page-001/").content.decode()
    for case in document_of(disputed).cases.all():
        assert f'href="{page(case)}"' in html
    assert "Decisions do not affect existing releases." in html


def test_guideline_sections_are_reasons() -> None:
    text = "# Signs #\n\nMark.\n```\n# not one\n```\n### Dates\n#### too deep\n#none"
    assert quick_reasons(text)[-2:] == ["Guidelines, “Signs”.", "Guidelines, “Dates”."]
    assert len(quick_reasons("# A\n" * 50)) < 25


# --- one case ----------------------------------------------------------------------------------


def test_case_shows_proposals_in_context_and_no_names(
    disputed: Campaign, lead: User, ann: User, client_of: ClientOf
) -> None:
    case = case_of(disputed, "boundary")
    work = work_of(ann, disputed)
    key = work.spans.get(quote="(310)").key
    comment(work, "Minus, I think.", key)
    html = client_of(lead).get(page(case)).content.decode()
    assert "Annotator A" in html
    assert "Annotator B" in html
    assert '<mark class="label-1">(310)</mark>' in html
    assert "and the loss " in html
    assert html.count("Minus, I think.") == 1
    assert "Ann</" not in html
    assert "Ben</" not in html


def test_choice_leads_to_the_next_open_case(
    disputed: Campaign, lead: User, client_of: ClientOf
) -> None:
    first, second, third = document_of(disputed).cases.all()
    client = client_of(lead)
    assert client.post(page(first), {"choice": "1"} | WHY)["Location"] == page(second)
    assert client.post(page(third), {"choice": "neither"} | WHY)["Location"] == page(second)
    last = client.post(page(second), {"choice": "2"} | WHY)
    assert last["Location"] == QUEUE
    assert document_of(disputed).stage == Stage.GOLD
    assert [gold.quote for gold in document_of(disputed).gold_spans.all()] == [
        "1,200",
        "(310)",
        "March 31, 2025",
    ]


def test_majority_is_offered_and_needs_no_reason(
    contested: Campaign, lead: User, client_of: ClientOf
) -> None:
    case = case_of(contested, "boundary")
    client = client_of(lead)
    assert 'value="majority"' in client.get(page(case)).content.decode()
    assert client.post(page(case), {"choice": "majority"}).status_code == 302
    assert gold_of(case) == [("Number", "310", "310")]


def test_second_click_is_told_and_doubles_nothing(
    disputed: Campaign, lead: User, client_of: ClientOf
) -> None:
    case = case_of(disputed, "boundary")
    client = client_of(lead)
    client.post(page(case), {"choice": "1"} | WHY)
    again = client.post(page(case), {"choice": "2"} | WHY, follow=True)
    assert "was decided by Lea" in again.content.decode()
    assert gold_of(case) == [("Number", "(310)", "-310")]


def test_edit_by_form(disputed: Campaign, lead: User, client_of: ClientOf) -> None:
    case = case_of(disputed, "boundary")
    data = edit((case.start + 1, case.end - 2, "Number"), ("", "", "Number"))
    data |= {"spans-0-value": "-31", "spans-0-sign": "parentheses"}
    assert client_of(lead).post(page(case), data).status_code == 302
    assert gold_of(case) == [("Number", "31", "-31")]


def test_emptied_row_counts_for_nothing(
    disputed: Campaign, lead: User, client_of: ClientOf
) -> None:
    case = case_of(disputed, "boundary")
    data = edit(("", "", "Number"), (case.start, case.end, "Number"))
    assert client_of(lead).post(page(case), data).status_code == 302
    assert gold_of(case) == [("Number", "(310)", "-310")]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("", "", "Number")], "at least one span"),
        ([(5, "", "Number")], "needs a start, an end and a label"),
        ([("a", 7, "Number")], "needs a start, an end and a label"),
        ([(0, 3, "Number")], "outside the case"),
        ([(0, 99_999, "Number")], "is not a valid range"),
    ],
)
def test_wrong_edit_is_shown_again_with_the_reason(
    disputed: Campaign,
    lead: User,
    client_of: ClientOf,
    rows: list[tuple[Any, Any, str]],
    message: str,
) -> None:
    case = case_of(disputed, "boundary")
    response = client_of(lead).post(page(case), edit(*rows))
    assert response.status_code == 200
    assert message in response.content.decode()
    case.refresh_from_db()
    assert case.state == Case.State.OPEN


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"choice": choice} | WHY, "Accept a proposal, reject all, or enter spans manually.")
        for choice in ("", "0", "3", "9" * 5000, "²", "a", "reopened")
    ]
    + [
        ({"choice": "1"}, "This field is required"),
        ({"choice": "neither", "reason": "x" * 2001}, "at most 2000 characters"),
        ({"choice": "majority"}, "no majority"),
        ({"choice": "both"} | WHY, "can be combined"),
    ],
)
def test_wrong_choice_is_refused(
    disputed: Campaign, lead: User, client_of: ClientOf, data: dict[str, str], message: str
) -> None:
    case = case_of(disputed, "boundary")
    response = client_of(lead).post(page(case), data)
    assert message in response.content.decode()
    case.refresh_from_db()
    assert case.state == Case.State.OPEN


def test_decided_case_shows_its_decision_and_is_opened_again(
    disputed: Campaign, lead: User, client_of: ClientOf
) -> None:
    case = case_of(disputed, "boundary")
    client = client_of(lead)
    client.post(page(case), {"choice": "1", "reason": "the sign belongs to it"})
    html = client.get(page(case)).content.decode()
    assert "the sign belongs to it" in html
    assert 'name="choice"' not in html
    empty = client.post(f"{page(case)}reopen/", {"reason": ""})
    assert "This field is required" in empty.content.decode()
    opened = client.post(f"{page(case)}reopen/", {"reason": "it does not"}, follow=True)
    html = opened.content.decode()
    assert "Opened because: it does not" in html
    assert 'name="choice"' in html
    again = client.post(f"{page(case)}reopen/", {"reason": "twice"}, follow=True)
    assert "already open" in again.content.decode()
