"""The workbench in a real browser: marking, saving, two tabs, a lost connection, a hostile page."""

import pytest
from playwright.sync_api import expect

from annotation.models import Assignment, Campaign
from portal.accounts.models import User
from tests.annotation.factories import task_over, work_of
from tests.e2e.workbench import (
    Opened,
    marked,
    open_task,
    press_label,
    select,
    submit_task,
    wait_saved,
)
from tests.fixture_types import PageOf
from tests.looks import faults_in_this_look

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_selected_text_is_marked_by_key_and_by_button_and_saved(
    opened: Opened, work: Assignment
) -> None:
    page, frame = opened
    press_label("1", frame, "1,200")
    select(frame, " March 31, 2025")
    page.get_by_role("button", name="Date").click()
    wait_saved(page)
    assert marked(work) == [("Number", "1,200"), ("Date", "March 31, 2025")]
    assert frame.evaluate("CSS.highlights.get('label-1').size") == 1


def test_marks_can_be_relabelled_removed_undone_and_redone(
    opened: Opened, work: Assignment
) -> None:
    page, frame = opened
    press_label("2", frame, "(310)")
    page.keyboard.press("1")  # the new mark is active, so this changes its label
    wait_saved(page)
    assert marked(work) == [("Number", "(310)")]
    page.get_by_role("button", name="Remove Number (310)").click()
    wait_saved(page)
    assert marked(work) == []
    page.keyboard.press("Control+z")
    wait_saved(page)
    assert marked(work) == [("Number", "(310)")]
    page.keyboard.press("Control+Shift+z")
    wait_saved(page)
    assert marked(work) == []


def test_clicking_a_mark_activates_it_and_delete_removes_it(
    opened: Opened, work: Assignment
) -> None:
    page, frame = opened
    press_label("1", frame, "1,200")
    page.keyboard.press("Escape")
    expect(page.locator("[data-spans] [aria-current=true]")).to_have_count(0)
    frame.locator("b", has_text="1,200").click()
    expect(page.locator("[data-spans] [aria-current=true]")).to_have_count(1)
    page.keyboard.press("Delete")
    wait_saved(page)
    assert marked(work) == []


def test_overlapping_mark_is_refused_with_the_reason(opened: Opened, work: Assignment) -> None:
    page, frame = opened
    press_label("2", frame, "March 31, 2025")
    press_label("1", frame, "(310) as of March 31")
    expect(page.locator("[data-hint]")).to_contain_text("overlaps the label on “March 31, 2025”")
    wait_saved(page)
    assert marked(work) == [("Date", "March 31, 2025")]


def test_marks_are_there_again_after_a_reload(opened: Opened, work: Assignment) -> None:
    page, frame = opened
    press_label("1", frame, "1,200", occurrence=1)
    wait_saved(page)
    frame = open_task(page, work.get_absolute_url())
    expect(page.locator("[data-spans] li")).to_have_count(1)
    painted = frame.evaluate("[...CSS.highlights.get('label-1')].map((range) => range.toString())")
    assert painted == ["1,200"]


@pytest.mark.journey
def test_submitting_ends_the_task_and_leads_to_the_next(
    opened: Opened, work: Assignment, campaign: Campaign, ann: User
) -> None:
    page, frame = opened
    press_label("1", frame, "1,200")
    submit_task(page)
    page.wait_for_url(f"**/annotate/{work_of(ann, campaign, 2).pk}/")
    work.refresh_from_db()
    assert work.is_submitted
    assert marked(work) == [("Number", "1,200")]
    page.goto(f"/annotate/{work.pk}/")
    expect(page.get_by_text("Submitted (read-only)")).to_be_visible()


HOSTILE = (
    "<script>window.top.pwned = 1; window.pwned = 1</script>"
    '<img src="x" onerror="window.top.pwned = 1; window.pwned = 1">'
    '<svg onload="window.top.pwned = 1; window.pwned = 1"></svg>'
    '<iframe srcdoc="<script>window.top.pwned = 1</script>"></iframe>'
    '<img src="http://tracker.invalid/pixel.png">'
)


def test_hostile_page_runs_nothing_and_calls_nobody(page_of: PageOf, ann: User) -> None:
    """The page's policy and its sandbox stop active content that cleaning missed."""
    work = task_over("<p>Total 1,200</p>", ann, uncleaned=HOSTILE)
    page = page_of(ann, ignore_console=True)
    answered: list[str] = []
    page.on("response", lambda response: answered.append(response.url))
    # A page loads after its images and frames, so any script has run by then.
    page.goto(f"/annotate/{work.pk}/html/")
    assert page.evaluate("window.pwned") is None
    page.goto(f"/annotate/{work.pk}/")
    # Its text differs from the stored one, which the page reports once the frame has loaded.
    expect(page.locator("[data-workbench]")).to_have_attribute("data-ready", "fault")
    assert page.evaluate("window.pwned") is None
    assert not [url for url in answered if "tracker.invalid" in url]
    policy = page.request.get(f"/annotate/{work.pk}/html/").headers["content-security-policy"]
    assert "default-src 'none'" in policy


def test_workbench_fits_a_narrow_screen(page_of: PageOf, work: Assignment, ann: User) -> None:
    page = page_of(ann, viewport={"width": 390, "height": 844})
    open_task(page, work.get_absolute_url())
    assert faults_in_this_look(page) == []
