"""The workbench by keyboard: a whole page, and each group of keys."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Dialog, Frame, Route, expect

from annotation.models import Assignment, Campaign
from annotation.workbench.selectors import current_spans
from portal.accounts.models import User
from tests.annotation.factories import make_campaign, save, task_over, work_of
from tests.e2e.workbench import Opened, marked, open_task, press, selected, wait_saved
from tests.fixture_types import PageOf
from tests.shared import REALDATA, needs_realdata

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


# A cash flow statement with its reconciliation: figures in parentheses, and dates.
REAL_PAGE = "nflx_10q_p022"


def real_gold() -> list[dict[str, Any]]:
    lines = (REALDATA / "gold.jsonl").read_text(encoding="utf-8").splitlines()
    found: list[dict[str, Any]] = next(
        page["facts"] for page in map(json.loads, lines) if page["id"] == REAL_PAGE
    )
    return found


@needs_realdata
def test_a_real_page_labelled_by_keyboard_alone_equals_its_gold(page_of: PageOf, ann: User) -> None:
    """Goes from fact to fact with j, labels with 1 or 2, and submits with Ctrl and Enter."""
    html = (REALDATA / "pages" / f"{REAL_PAGE}.html").read_text(encoding="utf-8")
    work = task_over(html, ann)
    gold = {(fact["start"], fact["end"]): fact["type"] for fact in real_gold()}
    assert 35 <= len(gold) <= 45
    page = page_of(ann)
    frame = open_task(page, work.get_absolute_url())
    keys = {"Number": "1", "Date": "2"}
    passed: set[tuple[int, int]] = set()
    while True:
        page.keyboard.press("j")
        place = selected(frame)
        if place is None or place in passed:
            break  # wrapped around: the remaining facts have no label in the gold
        if place in gold:
            page.keyboard.press(keys[gold[place]])
        else:
            passed.add(place)
    wait_saved(page)
    marked = {(span["start"], span["end"]): span["label"] for span in current_spans(work)}
    assert marked == gold
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("dialog", name="Submit this document?")).to_be_visible()
    page.keyboard.press("Enter")
    page.wait_for_url("**/annotate/")
    work.refresh_from_db()
    assert work.is_submitted


def picked(frame: Frame) -> str:
    return str(frame.evaluate("document.getSelection().toString()"))


def test_words_are_walked_and_borders_moved(opened: Opened, work: Assignment) -> None:
    page, frame = opened
    press(page, "ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight")
    assert picked(frame) == "1,200"
    press(page, "ArrowLeft")
    assert picked(frame) == "was"
    press(page, "Shift+ArrowRight")
    assert picked(frame) == "was 1,200"
    press(page, "Alt+Shift+ArrowRight", "1")  # starts one word later
    press(page, "Shift+ArrowRight", "Control+Shift+ArrowLeft")
    wait_saved(page)
    assert marked(work) == [("Number", "1,200 an")]
    press(page, "Control+z", "Control+z")
    wait_saved(page)
    assert marked(work) == [("Number", "1,200")]


def test_lines_are_walked_with_up_and_down(opened: Opened) -> None:
    page, frame = opened
    press(page, "ArrowRight", "ArrowDown")
    assert picked(frame) == "Total"
    press(page, "ArrowDown")
    assert picked(frame) == "Page"
    press(page, "ArrowUp", "ArrowUp")
    assert picked(frame) == "Net"


def test_spans_and_open_facts_are_found_in_turn(opened: Opened) -> None:
    page, frame = opened
    press(page, "j", "1", "j", "1")
    active = page.locator("[data-spans] [aria-current=true] [data-part=pick]")
    expect(active).to_have_text("(310)")
    press(page, "p")
    expect(active).to_have_text("1,200")
    press(page, "n")
    expect(active).to_have_text("(310)")
    press(page, "j")
    assert picked(frame) == "March 31, 2025"
    press(page, "k")  # wraps around the start: both previous facts have labels
    assert picked(frame) != "March 31, 2025"
    press(page, "Escape")
    expect(page.locator("[data-place]")).to_have_text("")


def test_all_equal_are_labelled_after_a_preview(opened: Opened, work: Assignment) -> None:
    page, _ = opened
    press(page, "j", "1", "e")
    dialog = page.get_by_role("dialog", name="Label all matches of “1,200”")
    expect(dialog.get_by_role("listitem")).to_have_count(1)
    expect(dialog.get_by_role("listitem")).to_contain_text("Total1,200")
    dialog.get_by_role("listitem").get_by_role("checkbox").uncheck()
    expect(dialog.get_by_role("button", name="Label 0")).to_be_disabled()
    dialog.get_by_role("listitem").get_by_role("checkbox").check()
    dialog.get_by_role("button", name="Label 1").click()
    expect(page.locator("[data-spans] li")).to_have_count(2)
    wait_saved(page)
    assert marked(work) == [("Number", "1,200"), ("Number", "1,200")]
    press(page, "Control+z")
    wait_saved(page)
    assert marked(work) == [("Number", "1,200")]


def test_keys_of_one_character_are_switched_off_and_stay_off(
    opened: Opened, work: Assignment
) -> None:
    page, _ = opened
    press(page, "?")
    dialog = page.get_by_role("dialog", name="Keyboard shortcuts")
    dialog.get_by_role("checkbox", name="Enable single-character shortcuts").uncheck()
    press(page, "Escape")
    frame = open_task(page, work.get_absolute_url())
    press(page, "j", "1", "?")
    assert picked(frame) == ""
    expect(dialog).to_be_hidden()
    press(page, "ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight")
    assert picked(frame) == "1,200"
    page.get_by_role("toolbar").get_by_role("button", name="Number").click()
    wait_saved(page)
    assert marked(work) == [("Number", "1,200")]
    page.get_by_role("button", name="Keyboard shortcuts", exact=True).click()
    dialog.get_by_role("checkbox", name="Enable single-character shortcuts").check()
    press(page, "Escape", "h")
    expect(page.get_by_role("tab", name="History")).to_have_attribute("aria-selected", "true")


def test_the_list_of_keys_is_the_map_itself(opened: Opened) -> None:
    page, _ = opened
    press(page, "?")
    dialog = page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(dialog.locator("dt")).not_to_have_count(0)
    count = page.evaluate(
        "import('/static/js/lib/keymap.js').then("
        "({ KEYMAP }) => KEYMAP.flatMap((group) => group.bindings).length)"
    )
    expect(dialog.locator("dt")).to_have_count(count)
    press(page, "Escape")
    expect(dialog).to_be_hidden()


def test_comment_is_saved_and_left_by_keyboard(opened: Opened, work: Assignment) -> None:
    page, frame = opened
    press(page, "c")
    page.keyboard.type("Is this")
    asked: list[str] = []

    def stay(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    page.once("dialog", stay)
    page.evaluate("setTimeout(() => location.reload())")
    page.wait_for_timeout(300)
    assert asked == ["beforeunload"]
    press(page, "Escape", "j")
    assert picked(frame) == "1,200"
    press(page, "c")
    page.keyboard.type(" audited?")
    press(page, "Control+Enter")
    expect(page.locator("[data-comment-count]")).to_have_text("1")
    assert work.comments.get().text == "Is this audited?"
    expect(page.get_by_role("dialog", name="Submit this document?")).to_be_hidden()
    page.reload()  # asks nothing


@pytest.mark.journey
def test_comments_flag_and_next_task(opened: Opened, work: Assignment) -> None:
    page, _ = opened
    press(page, "j", "1", "c")
    page.keyboard.type("Is this audited?")
    page.get_by_role("button", name="Save comment").click()
    expect(page.locator("[data-comment-count]")).to_have_text("1")
    wait_saved(page)
    comment = work.comments.get()
    assert (comment.text, comment.span_key) == ("Is this audited?", work.spans.get().key)
    page.get_by_role("tab", name="Facts").click()
    expect(page.locator("[data-spans] li")).to_contain_text("1 comment")
    press(page, "f")
    page.keyboard.press("Tab")
    page.keyboard.type("The table is cut off")
    page.get_by_role("dialog", name="Flag or skip").get_by_role("button", name="Save").click()
    expect(page.get_by_text("Flagged for the lead: The table is cut off")).to_be_visible()
    work.refresh_from_db()
    assert work.flag == "flagged"
    press(page, "t")
    page.wait_for_url(lambda url: f"/annotate/{work.pk}/" not in url)


def test_history_tells_of_every_save_and_restores_any(
    page_of: PageOf, work: Assignment, ann: User
) -> None:
    save(work, ("Number", "1,200"))
    save(work, ("Number", "(310)"))
    page = page_of(ann)
    open_task(page, work.get_absolute_url())
    press(page, "h")
    rows = page.locator("[data-revisions] > li")
    expect(rows).to_have_count(2)
    rows.nth(1).get_by_role("button", name="Show changes").click()
    expect(rows.nth(1)).to_contain_text("+ Number “1,200”")
    rows.nth(1).get_by_role("button", name="Restore").click()
    expect(rows).to_have_count(3)
    assert marked(work) == [("Number", "1,200")]
    page.get_by_role("tab", name="Facts").click()
    expect(page.locator("[data-spans] li")).to_contain_text("1,200")


def campaign_suggesting(work: Assignment) -> Campaign:
    campaign = work.campaign_document.campaign
    campaign.suggestion_sources = ["rules"]
    campaign.save(update_fields=["suggestion_sources"])
    return campaign


def test_suggestions_count_only_once_accepted(page_of: PageOf, work: Assignment, ann: User) -> None:
    campaign_suggesting(work)
    page = page_of(ann)
    frame = open_task(page, work.get_absolute_url())
    assert frame.evaluate("CSS.highlights.get('suggested').size") >= 4
    assert marked(work) == []
    press(page, "j", "Enter")
    wait_saved(page)
    assert marked(work) == [("Number", "1,200")]
    press(page, "j", "Delete")  # (310) is dismissed
    press(page, "a")
    dialog = page.get_by_role("dialog", name="Accept all suggestions in view")
    listed = dialog.get_by_role("listitem").locator("mark").all_inner_texts()
    assert listed[:2] == ["March 31, 2025", "1,200"]
    press(page, "Enter")
    expect(page.locator("[data-spans]")).to_contain_text("March 31, 2025")
    wait_saved(page)
    found = marked(work)
    assert ("Date", "March 31, 2025") in found
    assert ("Number", "(310)") not in found
    frame = open_task(page, work.get_absolute_url())
    suggested = "CSS.highlights.get('suggested')?.size ?? 0"
    assert frame.evaluate(suggested) == 0  # dismissed suggestions stay dismissed


@pytest.mark.journey
def test_a_new_annotator_labels_within_six_acts(
    page_of: PageOf, work: Assignment, ann: User, live_server: Any
) -> None:
    """From the log-in page to the first saved label."""
    page = page_of(None)
    # The server sends the facts late, after the double click.
    held: list[Route] = []
    page.route("**/facts/", lambda route: held.append(route))  # noqa: PLW0108 - no bound builtin
    page.goto("/accounts/login/?next=/annotate/")
    acts: list[Callable[[], object]] = [
        lambda: page.get_by_label("Email").fill(ann.email),
        lambda: page.get_by_label("Password", exact=True).fill("correct horse"),
        lambda: page.keyboard.press("Enter"),
        page.locator("main a.button.primary, main a[href^='/annotate/']").first.click,
    ]
    for act in acts:
        act()
    expect(page.locator("[data-workbench]")).to_have_attribute("data-ready", "true")
    page.frame_locator("iframe").locator("b", has_text="1,200").dblclick()
    expect(page.locator("[data-workbench]")).not_to_have_attribute("data-facts", "true")
    while not held:
        page.wait_for_timeout(20)
    held[0].continue_()
    expect(page.locator("[data-spans] li")).to_contain_text("1,200")
    wait_saved(page)
    assert work.spans.count() == 1
    assert len(acts) + 1 <= 6


def test_the_key_that_submits_does_not_submit_an_empty_page(
    page_of: PageOf, ann: User, ben: User
) -> None:
    work = work_of(ann, make_campaign([ann, ben]))
    page = page_of(ann)
    open_task(page, work.get_absolute_url())
    dialog = page.get_by_role("dialog", name="Submit this document?")
    for _ in range(2):
        page.keyboard.press("Control+Enter")
        expect(dialog.get_by_text("You have not labelled any facts")).to_be_visible()
        expect(dialog.get_by_role("button", name="Submit")).to_be_disabled()
        page.keyboard.press("Enter")
        expect(dialog).to_be_hidden()
    work.refresh_from_db()
    assert not work.is_submitted
    page.keyboard.press("Control+Enter")
    dialog.get_by_label("This document has no facts").check()
    dialog.get_by_role("button", name="Submit").click()
    page.wait_for_url("**/annotate/")
    assert Assignment.objects.get(pk=work.pk).is_submitted
    page.goto(page.url + f"{work.pk}/")
    page.get_by_role("button", name="Withdraw submission").click()
    expect(page.get_by_role("button", name="Submit…")).to_be_visible()
