"""No work is ever lost: no connection, a closed page, two tabs."""

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Assignment
from portal.accounts.models import User
from tests.annotation.factories import save, work_of
from tests.e2e.workbench import (
    Opened,
    marked,
    open_task,
    press_label,
    wait_kept,
    wait_saved,
)
from tests.fixture_types import PageOf

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def wait_offline(page: Page) -> None:
    expect(page.locator("[data-save-state]")).to_have_attribute("data-save-state", "offline")


def test_labels_made_without_a_connection_are_saved_when_it_returns(
    opened: Opened, work: Assignment
) -> None:
    page, frame = opened
    page.context.set_offline(True)
    press_label("1", frame, "1,200")
    wait_offline(page)
    page.context.set_offline(False)
    wait_saved(page)
    assert marked(work) == [("Number", "1,200")]


def test_labels_made_without_a_connection_outlive_the_page(
    opened: Opened, work: Assignment
) -> None:
    page, frame = opened
    page.context.set_offline(True)
    # Chromium's offline mode sometimes lets a request through while the page is being left.
    page.context.route("**/api/**", lambda route: route.abort("internetdisconnected"))
    press_label("1", frame, "1,200")
    wait_offline(page)
    press_label("2", frame, "March 31, 2025")
    wait_kept(page, 2)
    page.goto("about:blank")
    assert marked(work) == []
    page.context.unroute("**/api/**")
    page.context.set_offline(False)
    open_task(page, work.get_absolute_url())
    expect(page.locator("[data-spans] li")).to_have_count(2)
    wait_saved(page)
    assert marked(work) == [("Number", "1,200"), ("Date", "March 31, 2025")]
    wait_kept(page)


def test_a_save_whose_answer_was_lost_is_not_done_twice(opened: Opened, work: Assignment) -> None:
    page, frame = opened

    def swallow(route: object) -> None:
        route.fetch()  # type: ignore[attr-defined]
        route.abort()  # type: ignore[attr-defined]

    page.route("**/spans/", swallow)
    press_label("1", frame, "1,200")
    wait_offline(page)
    page.unroute("**/spans/")
    frame = open_task(page, work.get_absolute_url())
    wait_saved(page)
    press_label("1", frame, "(310)")
    wait_saved(page)
    assert marked(work) == [("Number", "1,200"), ("Number", "(310)")]
    assert work.revisions.count() == 2


def test_unsaved_labels_are_kept_apart_by_person(
    opened: Opened, work: Assignment, ben: User
) -> None:
    """Ben's task in the same browser does not take over Ann's work."""
    page, frame = opened
    page.context.set_offline(True)
    press_label("1", frame, "1,200")
    wait_offline(page)
    wait_kept(page, 1)
    page.context.set_offline(False)
    other = work_of(ben, work.campaign_document.campaign)
    page.evaluate(
        """([from, to]) => new Promise((resolve) => {
          const request = indexedDB.open("factboard", 1);
          request.onsuccess = () => {
            const store = request.result.transaction("drafts", "readwrite").objectStore("drafts");
            store.getAll().onsuccess = ({ target }) => {
              const draft = { ...target.result[0], id: "of-somebody-else", user: to };
              store.put(draft).onsuccess = resolve;
            };
          };
        })""",
        [work.annotator_id, other.annotator_id],
    )
    wait_saved(page)
    open_task(page, work.get_absolute_url())
    wait_kept(page, 1)
    assert marked(work) == [("Number", "1,200")]
    assert work.revisions.count() == 1


def in_conflict(page_of: PageOf, work: Assignment, ann: User) -> Page:
    """Ann's second tab relabelled a span and added one; the first removed and added others."""
    save(work, ("Number", "1,200"), ("Number", "(310)"), key="both-know")
    page = page_of(ann)
    frame = open_task(page, work.get_absolute_url())
    save(work, ("Number", "1,200"), ("Date", "March 31, 2025"), key="first-tab")
    frame.locator("b", has_text="1,200").click()
    page.keyboard.press("2")
    press_label("1", frame, "Total")
    expect(page.get_by_role("alertdialog")).to_be_visible()
    return page


def test_a_conflict_tells_what_differs(page_of: PageOf, work: Assignment, ann: User) -> None:
    page = in_conflict(page_of, work, ann)

    def told(group: str) -> list[str]:
        return page.locator(f"[data-group={group}]:not([hidden]) li").all_inner_texts()

    assert told("onlyMine") == ["Number “(310)”", "Number “Total”"]
    assert told("onlyTheirs") == ["Date “March 31, 2025”"]
    assert told("changed") == ["Date “1,200” here, Number “1,200” there"]
    assert told("dropped") == []


CHOICES = {
    "Keep both": [("Date", "1,200"), ("Date", "March 31, 2025"), ("Number", "Total")],
    "Keep my version": [("Date", "1,200"), ("Number", "(310)"), ("Number", "Total")],
    "Keep the saved version": [("Number", "1,200"), ("Date", "March 31, 2025")],
}


@pytest.mark.parametrize("choice", CHOICES)
def test_each_choice_ends_the_conflict(
    page_of: PageOf, work: Assignment, ann: User, choice: str
) -> None:
    page = in_conflict(page_of, work, ann)
    page.get_by_role("button", name=choice).click()
    wait_saved(page)
    assert marked(work) == CHOICES[choice]
    expect(page.locator("[data-spans] li")).to_have_count(len(CHOICES[choice]))
    page.keyboard.press("Control+z")
    if choice != "Keep my version":  # undo restores the other version
        expect(page.locator("[data-spans] li")).to_have_count(3)


def test_overlaps_between_two_versions_are_listed(opened: Opened, work: Assignment) -> None:
    page, frame = opened
    save(work, ("Number", "2025"), key="first-tab")
    press_label("2", frame, "March 31, 2025")
    dialog = page.get_by_role("alertdialog")
    expect(dialog.locator("[data-group=dropped] li")).to_have_text(["Number “2025”"])
    dialog.get_by_role("button", name="Keep both").click()
    wait_saved(page)
    assert marked(work) == [("Date", "March 31, 2025")]


def test_labels_made_after_the_session_ended_are_saved_after_logging_in(
    opened: Opened, work: Assignment
) -> None:
    page, frame = opened
    cookies = page.context.cookies()
    page.context.clear_cookies(name="sessionid")
    press_label("1", frame, "1,200")
    expect(page.locator("[data-hint]")).to_contain_text("You are logged out")
    wait_kept(page, 1)
    page.context.add_cookies([{**cookie} for cookie in cookies])  # type: ignore[typeddict-item]
    open_task(page, work.get_absolute_url())
    wait_saved(page)
    assert marked(work) == [("Number", "1,200")]
