"""Offsets in the browser and on the server agree for any page."""

import pytest
from playwright.sync_api import expect

from annotation.workbench.selectors import current_spans
from portal.accounts.models import User
from tests.annotation.factories import make_campaign, task_over, text_of, work_of
from tests.e2e.workbench import open_task, wait_saved
from tests.fixture_types import PageOf
from tests.looks import faults_in_this_look, in_both_looks

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


# HTML that complicates offsets, followed by the fact to label.
AWKWARD = {
    "astral": "<p>😀 𝟚𝟛 rose &#x1F4B0; to 1,234 then</p>",
    "combining": "<p>Mu\u0308ller Cafe\u0301 e\u0301\u0323 paid 1,234 to all</p>",
    "entities": "<p>A &amp; B &lt;net&gt; &nbsp;&mdash;&thinsp;1,234 &copy;</p>",
    "nested tables": "<table><tr><td>Sum<table><tr><td>5</td><td>1,234</td></tr></table></td>"
    "<td>7</td></tr></table>",
    "pre": "<pre>\n\n  Total\t\t  1,234\n  Net  \n</pre>",
    "parts": "<p>x <b>1</b>,<i>2</i><span>34</span> y</p>",
    "right to left": "<p dir='rtl'>\u05e1\u05db\u05d5\u05dd 1,234 \u05e9\u05e7\u05dc</p>",
}


@pytest.mark.parametrize("name", AWKWARD)
def test_a_fact_behind_awkward_text_is_labelled_in_its_place(
    page_of: PageOf, ann: User, name: str
) -> None:
    work = task_over(AWKWARD[name], ann)
    page = page_of(ann)
    frame = open_task(page, work.get_absolute_url())
    for _ in range(6):  # skips the facts before it
        page.keyboard.press("j")
        if frame.evaluate("document.getSelection().toString()") == "1,234":
            break
    page.keyboard.press("1")
    wait_saved(page)
    (span,) = current_spans(work)
    assert text_of(work)[span["start"] : span["end"]] == span["quote"] == "1,234"
    painted = frame.evaluate("[...CSS.highlights.get('label-1')].map((range) => range.toString())")
    assert painted == ["1,234"]


EVERY_OFFSET = """async () => {
  const { Page } = await import("/static/js/lib/page.js");
  const { slice } = await import("/static/js/lib/offsets.js");
  const page = new Page(document.querySelector("iframe"));
  const characters = Array.from(page.text);
  const wrong = [];
  for (let start = 0; start < characters.length; start += 1) {
    for (const length of [1, 3, 11]) {
      const end = Math.min(characters.length, start + length);
      const text = characters.slice(start, end).join("");
      const range = page.range(start, end);
      if (range.toString() !== text) wrong.push([start, end, "range"]);
      if (slice(page.index, start, end) !== text) wrong.push([start, end, "slice"]);
      page.document.getSelection().setBaseAndExtent(
        range.startContainer, range.startOffset, range.endContainer, range.endOffset);
      const found = page.selection();
      const chosen = found ? slice(page.index, found.start, found.end) : "";
      if (chosen !== text.trim()) wrong.push([start, end, "selection"]);
    }
  }
  return wrong;
}"""


def test_every_range_of_awkward_pages_goes_there_and_back(page_of: PageOf, ann: User) -> None:
    work = task_over("".join(AWKWARD.values()), ann)
    page = page_of(ann)
    open_task(page, work.get_absolute_url())
    assert page.evaluate(EVERY_OFFSET) == []


@in_both_looks
def test_every_part_of_the_workbench_is_accessible(
    page_of: PageOf, ann: User, ben: User, scheme: str, width: int
) -> None:
    work = work_of(ann, make_campaign([ann, ben]))
    page = page_of(ann, color_scheme=scheme, viewport={"width": width, "height": 900})
    open_task(page, work.get_absolute_url())
    for key in ("j", "1", "j", "1"):
        page.keyboard.press(key)
    wait_saved(page)
    faults = faults_in_this_look(page, every=False)
    for key in ("g", "h", "c"):
        page.keyboard.press(key)
        expect(page.locator("[role=tabpanel]:not([hidden])")).to_have_count(1)
        faults += faults_in_this_look(page, every=False)
        page.get_by_role("tab", name="Facts").click()
    for key in ("?", "f", "e", "Control+Enter"):
        page.keyboard.press(key)
        if page.locator("dialog[open]").count():
            faults += faults_in_this_look(page, every=False)
            page.keyboard.press("Escape")
    assert faults == []
