"""The page in its frame: wider than its pane, below overlays, and with a wrong label."""

import pytest
from playwright.sync_api import expect

from annotation.workbench.selectors import current_spans
from portal.accounts.models import User
from tests.annotation.factories import task_over
from tests.e2e.workbench import open_task, press_label, select, wait_saved
from tests.fixture_types import PageOf

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

WIDE = (
    '<div style="width:1600px"><p>Net revenue 1,200 as of March 31, 2025</p>'
    '<p style="text-align:right">Total 2,400</p></div>'
)
# As documents were stored before cleaning dropped such styles.
COVERS = (
    '<div style="position:fixed;inset:0;z-index:99"></div>'
    '<div style="position:absolute;top:0;left:0;width:900px;height:900px;z-index:99"></div>'
    '<div style="width:900px;height:900px;transform:translateY(-900px)"></div>'
)


@pytest.mark.parametrize("width", [1440, 1024, 390])
def test_wide_page_says_where_it_goes_on_and_its_marks_stay_in_place(
    page_of: PageOf, ann: User, width: int
) -> None:
    work = task_over(WIDE, ann)
    page = page_of(ann)
    page.set_viewport_size({"width": width, "height": 900})
    frame = open_task(page, work.get_absolute_url())
    pane = page.locator("[data-page-pane]")
    expect(pane).to_have_attribute("data-more", "right")
    select(frame, "2,400")
    page.get_by_role("toolbar").get_by_role("button", name="Number").click()
    page.locator("[data-spans] li", has_text="2,400").get_by_role("button").first.click()
    expect(pane).to_have_attribute("data-more", "left")
    # The mark is painted over its text, which is in view now.
    text, mark = frame.evaluate(
        """() => {
          const [range] = CSS.highlights.get("active");
          const box = range.getBoundingClientRect();
          return [range.toString(), box.left >= 0 && box.right <= innerWidth];
        }"""
    )
    assert (text, mark) == ("2,400", True)


def test_nothing_lies_over_the_text_and_takes_its_clicks(page_of: PageOf, ann: User) -> None:
    work = task_over("<p>Net revenue 1,200 in 2025</p>", ann, uncleaned=COVERS)
    page = page_of(ann)
    frame = open_task(page, work.get_absolute_url())
    place = frame.evaluate(
        """() => {
          const range = document.createRange();
          const node = document.querySelector("p").firstChild;
          range.setStart(node, 12);
          range.setEnd(node, 17);
          const box = range.getBoundingClientRect();
          return [box.left + box.width / 2, box.top + box.height / 2];
        }"""
    )
    around = frame.frame_element().bounding_box()
    assert around is not None
    page.mouse.dblclick(around["x"] + place[0], around["y"] + place[1])
    page.keyboard.press("1")
    wait_saved(page)
    assert [span["quote"] for span in current_spans(work)] == ["1,200"]


def test_a_date_labelled_as_number_is_mended_with_one_click(page_of: PageOf, ann: User) -> None:
    work = task_over(WIDE, ann)
    page = page_of(ann)
    frame = open_task(page, work.get_absolute_url())
    press_label("1", frame, "March 31, 2025")
    wait_saved(page)
    card = page.locator("[data-card]")
    expect(card).to_contain_text("labelled as a number")
    page.keyboard.press("Control+Enter")
    dialog = page.get_by_role("dialog", name="Submit this document?")
    expect(dialog).to_contain_text("March 31, 2025 (Number): The span is a date or duration")
    dialog.get_by_role("button", name="Continue labelling").click()
    card.get_by_role("button", name="Change label to Date").click()
    wait_saved(page)
    expect(card).not_to_contain_text("labelled as a number")
    (span,) = current_spans(work)
    assert (span["label"], span["value"]) == ("Date", "2025-03-31")
