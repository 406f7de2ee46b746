"""What an annotator's hands do in the workbench, for browser tests."""

from playwright.sync_api import Frame, Page, expect

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


def open_task(page: Page, address: str) -> Frame:
    """Opens a task and waits until labelling is allowed; returns the document's frame."""
    page.goto(address)
    expect(page.locator("[data-workbench]")).to_have_attribute("data-ready", "true")
    expect(page.locator("[data-workbench]")).to_have_attribute("data-facts", "true")
    frame = page.frame(url="**/html/")
    assert frame is not None
    return frame


def select(frame: Frame, quote: str, occurrence: int = 0) -> None:
    """Selects a quote that lies within one text node, as dragging the mouse over it would."""
    assert frame.evaluate(SELECT, [quote, occurrence]), f"{quote!r} is not in the page"


def mark(page: Page, frame: Frame, label: str, quote: str) -> None:
    select(frame, quote)
    page.get_by_role("toolbar").get_by_role("button", name=label).click()


# Where the selection begins, in characters of the canonical text (pages of the basic plane only).
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
    """The offsets of what is selected in a page without characters beyond the basic plane."""
    found = frame.evaluate(SELECTED)
    return (found[0], found[1]) if found else None


def wait_saved(page: Page, *, seconds: float = 5) -> None:
    state = page.locator("[data-save-state]")
    expect(state).to_have_attribute("data-save-state", "saved", timeout=seconds * 1000)


# How many spans each draft holds that the browser keeps.
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
    """Waits until the browser keeps drafts with so many spans, which is a moment after an act."""
    page.wait_for_function(
        f"async (spans) => String(await ({DRAFTS})()) === String(spans)", arg=list(spans)
    )


def submit_task(page: Page) -> None:
    """Submits and waits until the page of the next task, or the list, has come."""
    before = page.url
    page.get_by_role("button", name="Submit…").click()
    dialog = page.get_by_role("dialog", name="Submit this page?")
    dialog.get_by_role("button", name="Submit", exact=True).click()
    page.wait_for_url(lambda url: url != before)
