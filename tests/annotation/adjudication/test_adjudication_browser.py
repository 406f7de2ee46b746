"""Adjudication of a page in a real browser: marks, keys, reasons, edits, reopening."""

import re

import pytest
from playwright.sync_api import Frame, Page, expect

from annotation.adjudication.services import decide_case
from annotation.campaigns.people import add_member
from annotation.campaigns.services import edit_guidelines
from annotation.models import (
    Assignment,
    Campaign,
    CampaignDocument,
    Case,
    Decision,
    GoldSpan,
    Membership,
    SuggestionUpload,
)
from portal.accounts.models import User
from tests.annotation.factories import document_of
from tests.e2e.workbench import document_frame, select
from tests.fixture_types import PageOf
from tests.looks import faults_in_both_looks

from .contested import case_of, contested_campaign

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

ROOT = "/campaigns/spring-round/adjudication/"
FIRST = f"{ROOT}pages/page-001/"
REVIEW = Case.Kind.REVIEW.label.capitalize()
PAINTED = """(name) => Array.from(CSS.highlights.get(name) ?? [], (range) => range.toString())"""


@pytest.fixture
def contested(ann: User, ben: User, cleo: User, lead: User) -> Campaign:
    return contested_campaign(ann, ben, cleo, lead)


def open_page(page: Page, address: str = FIRST) -> Frame:
    page.goto(address)
    return ready(page)


def ready(page: Page) -> Frame:
    expect(page.locator("[data-adjudication]")).to_have_attribute("data-ready", "true")
    return document_frame(page)


def title(page: Page, text: str) -> None:
    expect(page.locator("#case-title")).to_have_text(text)


def gold(campaign: Campaign, kind: str) -> list[tuple[str, str, str]]:
    spans = GoldSpan.objects.filter(case__kind=kind, campaign_document__document__name="page-001")
    return [(span.label, span.quote, span.value) for span in spans]


def test_annotators_cannot_decide_their_own_cases(
    page_of: PageOf, contested: Campaign, ann: User
) -> None:
    Membership.objects.create(campaign=contested, user=ann, role="lead")
    open_page(page := page_of(ann))
    expect(page.locator("[data-case-card]")).to_be_visible()
    for name in ("Accept", "Reject", "Edit spans"):
        expect(page.get_by_role("button", name=name)).to_have_count(0)
    expect(page.get_by_role("button", name="Create case from selection")).to_be_disabled()
    for key in ("1", "0", "e"):
        page.keyboard.press(key)
        expect(page.locator("[data-hint]")).to_contain_text("Another lead must decide")


def test_ways_to_differ_are_told_apart_and_counted(
    page_of: PageOf, contested: Campaign, lead: User
) -> None:
    frame = open_page(page := page_of(lead))
    painted = {
        "current": ["1,200"],
        "look-boundary": ["(310)"],
        "look-label": ["March 31, 2025"],
        "look-review": ["Total"],
        "look-some": ["1,200"],
        "look-only-a": ["Page 1"],
    }
    assert {name: frame.evaluate(PAINTED, name) for name in painted} == painted
    for look in ("value", "boundary", "label", "review", "some", "only-a"):
        expect(page.locator(f"[data-look-count={look}]")).to_have_text("1")
    page.get_by_role("checkbox", name="Different start or end").uncheck()
    assert frame.evaluate(PAINTED, "look-boundary") == []


@pytest.mark.journey
def test_six_cases_of_all_kinds_are_decided_by_key(
    page_of: PageOf, contested: Campaign, lead: User
) -> None:
    page = page_of(lead)
    frame = open_page(page)
    title(page, "Different or missing value")
    page.keyboard.press("b")
    expect(page.locator("[data-reasons]")).to_contain_text(
        "Accept B: “1,200” as Number: 1200. Why?"
    )
    page.keyboard.press("6")
    title(page, "Different start or end")
    assert frame.evaluate(PAINTED, "current-first") == ["(310)"]
    assert frame.evaluate(PAINTED, "current-second") == ["310"]
    expect(page.locator("[data-part=proposals]")).to_contain_text("The brackets say minus.")
    frame.locator("body").press("1")  # the keys also work inside the page
    page.keyboard.press("2")
    title(page, "Different label")
    page.keyboard.press("m")
    title(page, REVIEW)
    expect(page.locator("[data-part=note]")).to_contain_text("Is the heading a fact?")
    page.keyboard.press("0")
    page.keyboard.press("t")
    page.keyboard.type("A heading, 1 of many; no fact")
    page.keyboard.press("Enter")
    title(page, "Missed by some annotators")
    page.keyboard.press("e")
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")  # repeats the last reason
    title(page, "Labelled by only a few annotators")
    page.keyboard.press("0")
    page.keyboard.press("3")
    page.wait_for_url(re.compile("page-002"))
    ready(page)
    title(page, "Different start or end")
    assert gold(contested, "value") == [("Number", "1,200", "1200")]
    assert gold(contested, "boundary") == [("Number", "(310)", "-310")]
    assert gold(contested, "label") == [("Date", "March 31, 2025", "2025-03-31")]
    assert (gold(contested, "review"), gold(contested, "extra")) == ([], [])
    assert gold(contested, "missing")[0][:2] == ("Date", "1,200")
    decisions = Decision.objects.filter(case__campaign_document=document_of(contested))
    assert sorted(decisions.values_list("choice", "case__kind")) == [
        ("edit", "missing"),
        ("majority", "label"),
        ("neither", "extra"),
        ("neither", "review"),
        ("proposal", "boundary"),
        ("proposal", "value"),
        ("reopened", "review"),
    ]
    edited = decisions.get(choice="edit")
    assert edited.reason == "A heading, 1 of many; no fact"
    assert document_of(contested).stage == CampaignDocument.Stage.GOLD


def test_cases_are_walked_through_by_key_and_click(
    page_of: PageOf, contested: Campaign, lead: User
) -> None:
    page = page_of(lead)
    frame = open_page(page)
    page.keyboard.press("j")
    title(page, "Different start or end")
    page.keyboard.press("k")
    page.keyboard.press("p")
    title(page, "Labelled by only a few annotators")
    page.keyboard.press("n")  # after the last case comes the next page
    page.wait_for_url(re.compile("page-002"))
    ready(page)
    page.keyboard.press("j")
    page.wait_for_url(re.compile("page-001"))
    frame = ready(page)
    frame.get_by_text("Total").click()
    title(page, REVIEW)
    page.locator("[data-case-list]").get_by_role("button", name="March 31, 2025").click()
    title(page, "Different label")
    page.reload()
    ready(page)
    title(page, "Different label")


def test_edit_moves_borders_labels_and_values(
    page_of: PageOf, contested: Campaign, lead: User
) -> None:
    page = page_of(lead)
    frame = open_page(page, f"{FIRST}#case-{case_of(contested, 'boundary').pk}")
    page.keyboard.press("e")
    assert frame.evaluate(PAINTED, "label-1") == ["(310)"]
    for direction in ("Control+Shift+ArrowLeft", "Control+Alt+ArrowRight"):
        page.keyboard.press(direction)
    assert frame.evaluate(PAINTED, "label-1") == ["310"]
    value = page.get_by_role("textbox", name="Value")
    expect(value).to_have_value("310")  # derived again from the remaining text
    page.keyboard.press("v")
    value.fill("-31O")
    value.press("Enter")
    expect(page.locator("#value-fault")).to_contain_text("Not saved")
    page.get_by_role("button", name="Use these spans").click()
    expect(page.locator("[data-edit-fault]")).to_contain_text("is invalid")
    value.fill("-310")
    page.get_by_label("Sign").select_option("parentheses")
    page.get_by_role("button", name="Use these spans").click()
    page.keyboard.press("Escape")  # goes one step back, to the edit
    expect(value).to_have_value("-310")
    page.get_by_role("button", name="Use these spans").click()
    page.get_by_role("button", name="Boundary: the span must").click()
    title(page, "Different label")
    (span,) = GoldSpan.objects.filter(case__kind="boundary")
    assert (span.quote, span.value, span.sign) == ("310", "-310", "parentheses")


def test_edit_that_cannot_be_taken_stays_with_its_fault(
    page_of: PageOf, contested: Campaign, lead: User
) -> None:
    page = page_of(lead)
    frame = open_page(page, f"{FIRST}#case-{case_of(contested, 'boundary').pk}")
    page.keyboard.press("e")
    page.keyboard.press("Delete")
    select(frame, "Page")
    page.get_by_role("group", name="Labels").get_by_role("button", name="Number").click()
    page.get_by_role("button", name="Use these spans").click()
    page.keyboard.press("1")
    expect(page.locator("[data-edit-fault]")).to_contain_text("is outside the case")
    assert frame.evaluate(PAINTED, "label-1") == ["Page"]
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Accept A")).to_be_visible()
    assert case_of(contested, "boundary").state == Case.State.OPEN


def test_typing_a_reason_decides_nothing_else(
    page_of: PageOf, contested: Campaign, lead: User
) -> None:
    page = page_of(lead)
    open_page(page)
    page.keyboard.press("1")
    page.get_by_role("button", name="Save decision", exact=True).click()
    expect(page.locator("#reason-fault")).to_contain_text("Enter a reason")
    page.keyboard.press("Escape")
    expect(page.locator("[data-reasons]")).to_be_hidden()
    page.keyboard.press("m")
    title(page, "Different start or end")  # a majority needs no reason
    page.keyboard.press("+")
    expect(page.locator("[data-hint]")).to_contain_text("No two proposals")
    assert Decision.objects.exclude(choice="reopened").count() == 1


def test_decided_case_is_opened_again_with_a_reason(
    page_of: PageOf, contested: Campaign, lead: User
) -> None:
    case = case_of(contested, "boundary", 2)
    decide_case(case=case, choice="neither", reason="No fact.", actor=lead)
    assert document_of(contested, 2).stage == CampaignDocument.Stage.GOLD
    page = page_of(lead)
    open_page(page, f"{ROOT}pages/page-002/#case-{case.pk}")
    expect(page.locator("[data-part=decision]")).to_contain_text("Reason: No fact.")
    page.keyboard.press("o")
    dialog = page.get_by_role("dialog", name="Reopen this case?")
    expect(dialog).to_contain_text("Existing releases do not change")
    dialog.get_by_label("Reason").fill("The note says otherwise.")
    dialog.get_by_role("button", name="Reopen case").click()
    expect(page.locator("[data-part=note]")).to_contain_text("The note says otherwise.")
    expect(page.locator("[data-stage]")).to_have_text("adjudication")
    page.keyboard.press("2")
    page.keyboard.press("2")
    page.wait_for_url(re.compile("page-001"))
    assert document_of(contested, 2).stage == CampaignDocument.Stage.GOLD
    assert [span.quote for span in case.gold_spans.all()] == ["310"]
    assert [one.choice for one in case.decisions.all()] == ["neither", "reopened", "proposal"]


def test_selected_text_of_a_gold_page_is_opened_for_a_correction(
    page_of: PageOf, contested: Campaign, lead: User
) -> None:
    boundary = case_of(contested, "boundary", 2)
    decide_case(case=boundary, choice="majority", reason="", actor=lead)
    page = page_of(lead)
    frame = open_page(page, f"{ROOT}pages/page-002/")
    page.get_by_role("button", name="Create case from selection…").click()
    expect(page.locator("[data-hint]")).to_contain_text("Select the text")
    frame.get_by_text("March").dblclick(position={"x": 300, "y": 8})
    page.get_by_role("button", name="Create case from selection…").click()
    dialog = page.get_by_role("dialog", name="Create a case from this text?")
    quote = dialog.locator("[data-part=what]").text_content()
    dialog.get_by_label("Reason").fill("Overlooked by all.")
    dialog.get_by_role("button", name="Create case").click()
    title(page, REVIEW)
    expect(page.locator("[data-part=proposals]")).to_contain_text("Former gold")
    case = document_of(contested, 2).cases.get(kind="review")
    text = document_of(contested, 2).document.content.text
    assert quote == f"“{text[case.start : case.end]}”"


def test_of_two_leads_the_second_is_told_what_was_decided(
    page_of: PageOf, contested: Campaign, lead: User, organiser: User
) -> None:
    add_member(campaign=contested, user=organiser, role="lead", actor=None)
    page = page_of(lead)
    open_page(page)
    case = case_of(contested, "value")
    decide_case(case=case, choice="proposal", proposal=0, reason="In millions.", actor=organiser)
    page.keyboard.press("2")
    page.keyboard.press("1")
    conflict = page.locator("[data-part=conflict]")
    expect(conflict).to_contain_text("was decided by Olga")
    expect(page.locator("[data-part=decision]")).to_contain_text("In millions.")
    page.keyboard.press("j")
    title(page, "Different start or end")
    expect(conflict).to_be_hidden()
    assert gold(contested, "value") == [("Number", "1,200", "1200000")]


def test_filter_of_the_queue_goes_along(page_of: PageOf, contested: Campaign, lead: User) -> None:
    page = page_of(lead)
    page.goto(ROOT)
    page.get_by_role("link", name="Different start or end").click()
    page.get_by_label("Order").select_option("score")
    page.get_by_role("button", name="Apply filter").click()
    expect(page.locator("table.queue tbody tr")).to_have_count(2)
    page.get_by_role("link", name="Adjudicate next case").click()
    ready(page)
    page.keyboard.press("1")
    page.keyboard.press("2")
    page.wait_for_url(re.compile("page-002/.*kind=boundary"))
    ready(page)
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    expect(page.locator("[data-hint]")).to_contain_text("No more open cases match the filter")


def test_case_is_decided_without_javascript(
    page_of: PageOf, contested: Campaign, lead: User
) -> None:
    page = page_of(lead, java_script_enabled=False)
    page.goto(FIRST)
    page.get_by_role("link", name="Different start or end").click()
    page.get_by_label("Reason").fill("By the rules.")
    page.get_by_role("button", name="Accept A").click()
    assert gold(contested, "boundary") == [("Number", "(310)", "-310")]


def test_pages_are_accessible_and_fit(page_of: PageOf, contested: Campaign, lead: User) -> None:
    page = page_of(lead)
    faults: list[str] = []
    case = case_of(contested, "boundary")
    edit_guidelines(campaign=contested, text="## Signs\nMark **no** fact.", note="L.", actor=lead)
    flag = {"flag": "flagged", "flag_reason": "The table is cut off."}
    Assignment.objects.filter(campaign_document__campaign=contested).update(**flag)
    SuggestionUpload.objects.create(
        campaign=contested, source_name="m.jsonl", faults=["m.jsonl:1: no"], fault_count=1
    )
    root = f"/campaigns/{contested.slug}/"
    for address in (
        "/campaigns/",
        "/annotate/",
        root,
        f"{root}people/",
        f"{root}guidelines/",
        f"{root}guidelines/?version=1",
        f"{root}guidelines/?edit",
        f"{root}suggestions/",
        f"{root}agreement/",
        f"{root}adjudication/",
        f"{root}adjudication/{case.pk}/",
        f"{root}release/",
    ):
        page.goto(address)
        faults += faults_in_both_looks(page, address, part="main")
    open_page(page)
    for key, state in (("", "case"), ("1", "reason"), ("Escape", "back"), ("e", "edit")):
        if key:
            page.keyboard.press(key)
        faults += faults_in_both_looks(page, state, part="main")
    assert faults == []
