"""Actions of an annotator in the workbench, for browser tests."""

from playwright.sync_api import Frame, Page, expect

from annotation.models import Assignment
from annotation.workbench.selectors import current_spans

# A page with a task, and the frame of its document.
Opened = tuple[Page, Frame]

SELECT = """([quote, occurrence]) => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let left = occurrence;
  while (walker.nextNode()) {
    const at = walker.currentNode.data.indexOf(quote);
    if (at < 0 || left-- > 0) continue;
    const node = walker.currentNode;
    document.getSelection().setBaseAndExtent(node, at, node, at + quote.length);
    return true;
  }
  return false;
}"""


def open_task(page: Page, url: str) -> Frame:
    """Opens a task, waits until labelling is possible, and returns the document's frame."""
    page.goto(url)
    expect(page.locator("[data-workbench]")).to_have_attribute("data-ready", "true")
    expect(page.locator("[data-workbench]")).to_have_attribute("data-facts", "true")
    return document_frame(page)


def document_frame(page: Page) -> Frame:
    frame = page.frame(url="**/html/")
    assert frame is not None
    return frame


def select(frame: Frame, quote: str, occurrence: int = 0) -> None:
    """Selects a quote within one text node, as dragging the mouse does."""
    assert frame.evaluate(SELECT, [quote, occurrence]), f"{quote!r} is not in the page"


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def press_label(key: str, frame: Frame, quote: str, occurrence: int = 0) -> None:
    """Selects a quote and presses the key of a label."""
    select(frame, quote, occurrence)
    press(frame.page, key)


def marked(work: Assignment) -> list[tuple[str, str]]:
    """Returns the label and quote of each saved span."""
    return [(span["label"], span["quote"]) for span in current_spans(work)]


def mark(page: Page, frame: Frame, label: str, quote: str) -> None:
    select(frame, quote)
    page.get_by_role("toolbar").get_by_role("button", name=label).click()


# Offsets of the selection in the canonical text (only for characters of the basic plane).
SELECTED = """() => {
  const selection = document.getSelection();
  if (!selection.rangeCount || selection.isCollapsed) return null;
  const chosen = selection.getRangeAt(0);
  const before = document.createRange();
  before.setStart(document.body, 0);
  before.setEnd(chosen.startContainer, chosen.startOffset);
  const start = before.toString().length;
  return [start, start + chosen.toString().length];
}"""


def selected(frame: Frame) -> tuple[int, int] | None:
    """Returns the selection's offsets. The page must have only characters of the basic plane."""
    found = frame.evaluate(SELECTED)
    return (found[0], found[1]) if found else None


def wait_saved(page: Page, *, seconds: float = 5) -> None:
    state = page.locator("[data-save-state]")
    expect(state).to_have_attribute("data-save-state", "saved", timeout=seconds * 1000)


# The number of spans in each draft that the browser stores.
DRAFTS = """() => new Promise((resolve) => {
  const request = indexedDB.open("factboard", 1);
  request.onsuccess = () => {
    const all = request.result.transaction("drafts").objectStore("drafts").getAll();
    all.onsuccess = () => {
      request.result.close();
      resolve(all.result.map((draft) => (draft.spans ?? draft.pending.spans).length));
    };
  };
})"""


def wait_kept(page: Page, *spans: int) -> None:
    """Waits until the browser has stored drafts with these numbers of spans."""
    page.wait_for_function(
        f"async (spans) => String(await ({DRAFTS})()) === String(spans)", arg=list(spans)
    )


def submit_task(page: Page) -> None:
    """Submits and waits for the page of the next task, or the list."""
    before = page.url
    page.get_by_role("button", name="Submit…").click()
    dialog = page.get_by_role("dialog", name="Submit this document?")
    dialog.get_by_role("button", name="Submit", exact=True).click()
    page.wait_for_url(lambda url: url != before)
