"""The public and a researcher use the five sample boards, with and without JavaScript.

The tests go from the leaderboard to a dispute. No page may fail, no URL may be missing, and there
may be no console error. test_five_benchmarks.py compares figures with `manage.py grade`; these
tests compare the pages with each other.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Locator, Page, Response, expect

from .site import Site, logged_in

pytestmark = [pytest.mark.browser, pytest.mark.processes]


@dataclass(frozen=True)
class Sample:
    """A sample board: two rows of its open phase, its main figure, and another of its tables."""

    key: str
    slug: str
    first: str
    second: str
    figure: str
    view: str
    items: int

    @property
    def board(self) -> str:
        return f"/boards/{self.slug}/?phase=dev&view=scores"


RULES, COARSE = "Tesseract 5 + rules", "Tesseract 5 + rules, 72 dpi"
LAYOUT, BLOCK = "Tesseract 5, layout", "Tesseract 5, plain text"
RAPID = "RapidOCR (PP-OCRv4)"
SAMPLES = (
    Sample("fincriticaled", "sample", LAYOUT, BLOCK, "FFA", "By document type", 30),
    Sample("fcmbench", "sample-fcmbench", RULES, COARSE, "Overall", "Chinese", 39),
    Sample("ccocr", "sample-ccocr", RULES, COARSE, "Overall", "Multi-scene", 30),
    Sample("receiptbench", "sample-receipts", RULES, COARSE, "Overall", "By language", 12),
    Sample("findoc", "sample-accounts", "Tesseract 5", "Tesseract 5, 72 dpi", "Final", "", 6),
)
# Every other board is read without JavaScript, so that each kind of page is read both ways.
ODD_WITH_SCRIPT, EVEN_WITH_SCRIPT = (
    pytest.mark.parametrize(
        ("sample", "script"),
        [(sample, place % 2 == turn) for place, sample in enumerate(SAMPLES, start=1)],
        ids=[sample.key for sample in SAMPLES],
    )
    for turn in (1, 0)
)
SCRIPT = pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
HIDDEN = ("sample-fcmbench", "sample-receipts")

Open = Callable[..., Page]


@pytest.fixture(scope="module")
def researcher(sample_site: Site, browser: Browser) -> dict[str, object]:
    """Returns the storage state of a browser that is logged in as the researcher."""
    return {"storage_state": logged_in(browser, sample_site, "researcher").storage_state()}


@pytest.fixture
def page_at(sample_site: Site, browser: Browser) -> Iterator[Open]:
    """Opens pages in separate browser contexts. Fails at the end if any page had an error."""
    faults: list[str] = []
    contexts = []

    def note(message: ConsoleMessage) -> None:
        if message.type == "error":
            faults.append(message.text)

    def check(response: Response) -> None:
        if response.status >= 400:
            faults.append(f"{response.status} {response.url}")

    def make(script: bool, **options: object) -> Page:
        context = browser.new_context(
            base_url=sample_site.url,
            java_script_enabled=script,
            **options,  # type: ignore[arg-type]
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("console", note)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("response", check)
        return page

    yield make
    for context in contexts:
        context.close()
    assert faults == []


def graded_table(page: Page) -> Locator:
    return page.get_by_role("table", name="Graded by Factboard")


def link_of(page: Page, name: str) -> Locator:
    """Returns the link from a row to its submission."""
    return graded_table(page).get_by_role("link", name=name, exact=True)


def row_of(page: Page, name: str) -> Locator:
    link = page.get_by_role("link", name=name, exact=True)
    return graded_table(page).get_by_role("row").filter(has=link)


def names_of(page: Page) -> list[str]:
    return graded_table(page).locator("tbody th[scope=row] > a").all_inner_texts()


def column_of(page: Page, label: str, nth: int = 0) -> int:
    """Returns the index of the column, from 0."""
    heads = graded_table(page).locator("thead tr").last.get_by_role("columnheader")
    words = [re.sub(r"[↓↑]", "", head).strip() for head in heads.all_inner_texts()]
    return [place for place, word in enumerate(words) if word == label][nth]


def cell_of(page: Page, name: str, label: str, nth: int = 0) -> str:
    """Returns the figure without its interval."""
    cell = row_of(page, name).locator("th, td").nth(column_of(page, label, nth))
    return cell.inner_text().split()[0]


def sort_and_filter(page: Page, sample: Sample) -> None:
    """Sorts the rows by the figure, filters one row, and opens the link to this view."""
    head = graded_table(page).get_by_role("columnheader", name=re.compile(f"^{sample.figure}"))
    head.get_by_role("link").click()
    expect(head).to_have_attribute("aria-sort", "descending")
    figures = [float(cell_of(page, name, sample.figure)) for name in names_of(page)]
    assert figures == sorted(figures, reverse=True)
    search = page.get_by_role("search", name="Rows").get_by_label("Search")
    search.fill(sample.second)
    search.press("Enter")
    expect(page.get_by_text(re.compile(r"^Showing 1 of \d+ rows"))).to_be_visible()
    assert names_of(page) == [sample.second]
    page.goto(page.locator("#view-link").get_attribute("href") or "")
    assert names_of(page) == [sample.second]
    page.locator("#results").get_by_role("link", name="Show all rows").click()
    expect(row_of(page, sample.first)).to_be_visible()


def download_files(page: Page, sample: Sample) -> None:
    for link in ("Download CSV", "Download LaTeX"):
        url = page.get_by_role("link", name=link, exact=True).get_attribute("href") or ""
        answer = page.request.get(url)
        assert answer.ok, url
        for name in (sample.first, sample.second):
            assert name in answer.text(), url


def see_charts(page: Page, sample: Sample) -> None:
    """Each chart has an image, a table of its figures, and both as files."""
    page.goto(f"/boards/{sample.slug}/charts/?phase=dev")
    chart = page.locator(".chart-section").first
    expect(chart.get_by_role("heading")).to_be_visible()
    expect(chart.locator("table").first.locator("tbody tr").first).to_be_attached()
    for link, start in (("SVG", b"<svg"), ("PNG", b"\x89PNG"), ("CSV", b"")):
        url = chart.get_by_role("link", name=re.compile(f"^{link}")).get_attribute("href")
        answer = page.request.get(url or "")
        while answer.status == 503:  # a worker draws it
            page.wait_for_timeout(1000 * int(answer.headers["retry-after"]))
            answer = page.request.get(url or "")
        assert answer.ok, url
        assert answer.body().startswith(start), url
        assert len(answer.body()) > 50, url


def compare(page: Page, sample: Sample) -> None:
    """Compares two rows. The difference must match their figures, and all items must be counted."""
    page.goto(sample.board)
    figures = [cell_of(page, name, sample.figure) for name in (sample.first, sample.second)]
    for name in (sample.first, sample.second):
        page.get_by_label(f"Compare {name}", exact=True).check()
    page.get_by_role("button", name="Compare selected models").click()
    # The main score is first; its name can be a part of others, as FFA is of N-FFA.
    row = page.get_by_role("table", name="Scores").locator("tbody tr").first
    expect(row.get_by_role("rowheader")).to_contain_text(sample.figure)
    cells = row.get_by_role("cell")
    shown = [cells.nth(place).inner_text().split()[0] for place in range(2)]
    assert sorted(shown) == sorted(figures)
    difference = cells.nth(1).locator(".difference").inner_text().rstrip("*").replace("−", "-")
    expected = float(shown[1]) - float(shown[0])
    assert float(difference) == pytest.approx(expected, abs=0.011)
    pair = page.get_by_role("table", name="Pairwise comparison").locator("tbody td")
    assert sum(int(text) for text in pair.all_inner_texts()[-3:]) == sample.items


@ODD_WITH_SCRIPT
def test_the_public_reads_a_board(page_at: Open, sample: Sample, script: bool) -> None:
    page = page_at(script)
    page.goto(sample.board)
    figure = cell_of(page, sample.first, sample.figure)
    sort_and_filter(page, sample)
    download_files(page, sample)
    if sample.view:
        tables = page.get_by_role("navigation", name="Views")
        tables.get_by_role("link", name=sample.view).click()
        current = tables.get_by_role("link", name=sample.view)
        expect(current).to_have_attribute("aria-current", "true")
        expect(row_of(page, sample.first)).to_be_visible()
    see_charts(page, sample)
    compare(page, sample)
    expect(page.get_by_role("table", name="Largest disagreements")).to_be_visible()

    # The submission page shows the figure of its row.
    page.get_by_role("link", name=sample.first, exact=True).click()
    page.wait_for_url("**/submissions/*/")
    shown = page.get_by_role("main").locator("td, dd").all_inner_texts()
    assert figure in [text.split()[0].rstrip("%") for text in shown if text.strip()]
    page.get_by_role("link", name="Cite and export").click()
    page.wait_for_url("**/cite/?*")
    expect(page.get_by_role("img", name=sample.first)).to_be_visible()
    file = page.get_by_role("link", name="Download BibTeX").get_attribute("href") or ""
    assert sample.first in page.request.get(file).text()
    page.goto(sample.board)
    page.get_by_role("link", name="Change log").click()
    expect(page.get_by_text("No re-grades yet")).to_be_visible()


def test_the_public_reads_items_that_were_opened(page_at: Open) -> None:
    page = page_at(False)
    for sample in SAMPLES:
        name = open_hardest_item(page, sample)
        see_gold_next_to_prediction(page, name)


def test_the_public_reads_no_item_of_a_hidden_phase(page_at: Open) -> None:
    page = page_at(False)
    for slug in HIDDEN:
        page.goto(f"/boards/{slug}/?phase=test")
        link_of(page, RULES).click()
        expect(page.get_by_role("heading", level=2, name="Model card")).to_be_visible()
        expect(page.get_by_role("table", name="Items")).to_have_count(0)


@SCRIPT
def test_the_public_follows_the_task_tree(page_at: Open, script: bool) -> None:
    page = page_at(script)
    page.goto("/boards/sample-fcmbench/")
    page.get_by_role("link", name=re.compile("^Tasks with examples")).click()
    page.get_by_role("link", name="Key Information Extraction (KIE)").click()
    expect(page).to_have_url(re.compile("#"))
    page.get_by_role("link", name="en-a-employment-inf_ext_001", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("en-a-employment-inf_ext_001")


def open_hardest_item(page: Page, sample: Sample) -> str:
    """Sorts the items by difficulty, searches for the first one, and opens it."""
    page.goto(sample.board)
    link_of(page, sample.first).click()
    form = page.get_by_role("search", name="Items")
    form.get_by_label("Order").select_option("hardest")
    form.get_by_label("Show").select_option("wrong")
    form.get_by_role("button", name="Apply filters").click()
    page.wait_for_url(re.compile("hardest"))
    rows = page.get_by_role("table", name="Items").locator("tbody tr")
    scores = [float(row.locator("td").first.inner_text()) for row in rows.all()]
    assert scores == sorted(scores)
    assert scores[0] < 100
    name = rows.first.get_by_role("link").inner_text()
    form.get_by_label("Id").fill(name)
    form.get_by_role("button", name="Apply filters").click()
    expect(rows).to_have_count(1)
    rows.first.get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(name)
    return name


def see_gold_next_to_prediction(page: Page, name: str) -> None:
    """Gold that is a page is rendered in frames. Other gold is shown as fields."""
    if page.locator("iframe").count():
        for title in (f"Gold of {name}", f"Prediction for {name}"):
            page.get_by_title(title).scroll_into_view_if_needed()
            expect(page.frame_locator(f"iframe[title='{title}']").locator("body")).to_be_visible()
    else:
        payloads = page.get_by_text("Show raw gold and prediction")
        if not page.get_by_role("table", name="Gold", exact=True).is_visible():
            payloads.click()
        tables = [
            page.get_by_role("table", name=side, exact=True) for side in ("Gold", "Prediction")
        ]
        gold, prediction = (table.bounding_box() for table in tables)
        assert gold is not None
        assert prediction is not None
        assert gold["x"] + gold["width"] <= prediction["x"]


def dispute(page: Page, name: str, claim: str) -> None:
    # By keyboard: after scrolling, Chromium may send a click to a sandboxed frame.
    facts = page.locator("tr[data-fact]")
    if facts.count():
        facts.first.get_by_role("link").press("Enter")
    page.get_by_role("link", name=re.compile(r"^Dispute (fact \d+|this gold)$")).press("Enter")
    page.get_by_label(re.compile("^Correct (fact|gold)")).fill(claim)
    page.get_by_label("Reason").fill("The picture shows it otherwise.")
    page.get_by_role("button", name="Raise dispute").click()
    expect(page.get_by_role("status")).to_contain_text("Dispute raised")
    expect(page.get_by_text(claim)).to_be_visible()
    expect(page.get_by_role("link", name=name, exact=True)).to_be_visible()


@EVEN_WITH_SCRIPT
def test_a_researcher_inspects_a_submission(
    page_at: Open, researcher: dict[str, object], sample: Sample, script: bool
) -> None:
    page = page_at(script, **researcher)
    name = open_hardest_item(page, sample)
    see_gold_next_to_prediction(page, name)
    dispute(page, name, f"something else, {'with' if script else 'without'} a script")
    compare(page, sample)
    cells = page.get_by_role("table", name="Largest disagreements").locator("tbody tr").first
    disputed = cells.get_by_role("rowheader").inner_text()
    cells.get_by_role("link").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text(disputed)


@SCRIPT
def test_a_researcher_reads_where_matchers_disagree(
    page_at: Open, researcher: dict[str, object], script: bool
) -> None:
    """Opens the matchers view, the facts of a page by both, and the filter of differing ones."""
    page = page_at(script, **researcher)
    page.goto("/boards/sample/?view=matchers")
    by_substring, by_aligned = (
        float(cell_of(page, BLOCK, matcher)) for matcher in ("Substring", "Aligned")
    )
    assert by_substring > by_aligned
    link_of(page, BLOCK).click()
    page.get_by_role("table", name="Items").get_by_role("link", name="sample-fl-02").click()
    facts = page.get_by_role("table", name="Facts").locator("tbody tr[data-fact]")
    expect(facts.first).to_be_visible()
    whole, differing = facts.count(), facts.filter(has_text="≠").count()
    assert 0 < differing < whole
    choice = page.get_by_role("navigation", name="Filter facts")
    choice.get_by_role("link", name=f"Matchers disagree {differing}").click()
    expect(facts).to_have_count(differing)
    expect(facts.filter(has_text="≠")).to_have_count(differing)
    page.get_by_role("link", name="Next item", exact=True).click()
    current = choice.get_by_role("link", name="Matchers disagree")
    expect(current).to_have_attribute("aria-current", "true")
    expect(page.get_by_role("heading", level=1)).to_have_text("sample-fl-03")


def test_a_hidden_phase_of_few_items_shows_its_submitter_no_scores(
    page_at: Open, researcher: dict[str, object]
) -> None:
    page = page_at(True, **researcher)
    for slug in HIDDEN:
        page.goto(f"/boards/{slug}/?phase=test")
        link_of(page, RULES).click()
        expect(page.get_by_text("The gold is hidden and has too few items")).to_be_visible()
        expect(page.get_by_role("table", name="Items")).to_have_count(0)


def test_ranks_by_text_and_by_facts_differ_on_real_readings(page_at: Open) -> None:
    """The point of FinCriticalED: a model that reads text better may get more facts wrong."""
    page = page_at(False)
    page.goto("/boards/sample/?view=scores")
    by_text, by_facts = (
        {name: int(cell_of(page, name, "Rank", nth)) for name in (LAYOUT, BLOCK, RAPID)}
        for nth in (0, 1)
    )
    assert by_text[LAYOUT] == by_text[RAPID] < by_text[BLOCK]
    assert by_facts[RAPID] < by_facts[BLOCK] <= by_facts[LAYOUT]


def test_rows_are_chosen_and_compared_by_keyboard(page_at: Open) -> None:
    """Tab moves through the rows in page order, and then to the button."""
    page = page_at(True)
    page.goto("/boards/sample/")
    names = names_of(page)
    boxes = [page.get_by_label(f"Compare {name}", exact=True) for name in names]
    boxes[0].focus()
    for place, name in enumerate(names):
        expect(boxes[place]).to_be_focused()
        if place < 2:
            page.keyboard.press("Space")
        page.keyboard.press("Tab")
        expect(link_of(page, name)).to_be_focused()
        page.keyboard.press("Tab")
        # Opens the row to the rest.
        expect(row_of(page, name).locator("summary")).to_be_focused()
        page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Compare selected models")).to_be_focused()
    page.keyboard.press("Enter")
    heads = page.get_by_role("table", name="Scores").get_by_role("columnheader")
    expect(heads).to_have_text(
        ["Metric", *(re.compile(f"^{re.escape(name)} rank 1$") for name in names[:2])]
    )
    links = heads.get_by_role("link")
    links.first.focus()
    page.keyboard.press("Tab")
    expect(links.last).to_be_focused()
