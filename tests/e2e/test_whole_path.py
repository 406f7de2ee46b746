"""A document's path in a real browser: import, two blind annotators, release, leaderboard.

The test uses a real web server, a real worker and six users. The pages are small, so that the
figure on the leaderboard can be worked out by hand.
"""

import io
import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image, ImageDraw
from playwright.sync_api import Browser, Page, expect

from .site import PASSWORD, Site
from .workbench import mark, open_task, submit_task

pytestmark = [pytest.mark.browser, pytest.mark.processes]

PAGES = {
    "income": (
        "<h1>Statement of income</h1><table>"
        "<tr><th></th><th>2025</th></tr>"
        "<tr><td>Revenue</td><td>1,204</td></tr>"
        "<tr><td>Net loss</td><td>(310)</td></tr></table>"
        "<p>Figures as of March 31, 2025.</p>"
    ),
    "notes": "<p>The rate rose to 4.25% on June 30, 2025.</p>",
}
# Both annotators should find 1,204 · (310) · March 31, 2025 · 4.25% · June 30, 2025.
FACTS = {
    "income": [("Number", "1,204"), ("Number", "(310)"), ("Date", "March 31, 2025")],
    "notes": [("Number", "4.25%"), ("Date", "June 30, 2025")],
}
# The model drops the parentheses of the loss and reads everything else: 4 of 5 are correct.
PREDICTIONS = {
    "income": PAGES["income"].replace("(310)", "310"),
    "notes": PAGES["notes"],
}


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    site = Site(tmp_path)
    site.prepare()
    site.add_user("Olga", is_organiser=True)
    site.add_users("Lea", "Ann", "Ben", "Rex", "Rita")
    site.start()
    yield site
    site.stop()


def page_image(text: str) -> bytes:
    image = Image.new("L", (500, 200), 255)
    ImageDraw.Draw(image).text((20, 20), text, fill=0)
    stream = io.BytesIO()
    image.save(stream, "PNG")
    return stream.getvalue()


def archive() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as bundle:
        for name, html in PAGES.items():
            bundle.writestr(f"pages/{name}.html", html)
            bundle.writestr(f"images/{name}.png", page_image(re.sub("<[^>]*>", " ", html)))
        meta = [
            {"id": name, "doc_type": "financial_statement", "company": "Acme"} for name in PAGES
        ]
        bundle.writestr("meta.jsonl", "\n".join(json.dumps(line) for line in meta))
    return stream.getvalue()


def page_of(browser: Browser, site: Site, name: str) -> Page:
    page = site.log_in(browser, f"{name.lower()}@example.org").new_page()
    page.set_default_timeout(15_000)
    return page


def log_in(browser: Browser, site: Site, name: str) -> Page:
    """Logs in with the login form."""
    page = browser.new_context(base_url=site.url).new_page()
    page.set_default_timeout(15_000)
    page.goto("/accounts/login/")
    page.get_by_label("Email").fill(f"{name.lower()}@example.org")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url("**/start/")
    return page


def import_dataset(organiser: Page) -> None:
    organiser.goto("/datasets/new/")
    organiser.get_by_label("Title").fill("Quarterly pages")
    organiser.get_by_label("Short name").fill("quarterly")
    organiser.get_by_role("button", name="Create dataset").click()
    organiser.goto("/datasets/quarterly/import/")
    organiser.get_by_label("File", exact=True).set_input_files(
        {"name": "pages.zip", "mimeType": "application/zip", "buffer": archive()}
    )
    organiser.get_by_role("button", name="Import", exact=True).click()
    # The worker imports the file, and the report refreshes itself.
    expect(organiser.get_by_role("link", name="Create a campaign")).to_be_visible()
    expect(organiser.locator("#report")).to_contain_text("Imported 2")


def open_campaign(organiser: Page) -> None:
    organiser.get_by_role("link", name="Create a campaign").click()
    organiser.get_by_label("Title").fill("First round")
    organiser.get_by_role("button", name="Create campaign").click()
    people = [("lea", "lead"), ("ann", "annotator"), ("ben", "annotator"), ("rita", "reviewer")]
    for name, role in people:
        organiser.goto("/campaigns/first-round/people/")
        organiser.get_by_label("Email addresses").fill(f"{name}@example.org")
        organiser.get_by_label("Role").select_option(role)
        organiser.get_by_role("button", name="Invite people", exact=True).click()
        expect(organiser.get_by_role("table").first).to_contain_text(f"{name}@example.org")
    organiser.goto("/campaigns/first-round/")
    organiser.get_by_role("button", name="Open campaign").click()


def annotate(page: Page, *, skip: str = "") -> None:
    """Labels every task of an annotator except the quote `skip`."""
    page.goto("/annotate/")
    tasks = page.locator("a[href^='/annotate/']").evaluate_all(
        "links => links.map(a => a.pathname)"
    )
    for task in sorted(set(tasks) - {"/annotate/"}):
        frame = open_task(page, task)
        name = page.locator("h1").inner_text()
        for label, quote in FACTS[name]:
            if quote != skip:
                mark(page, frame, label, quote)
        submit_task(page)


def adjudicate(lead: Page) -> None:
    lead.goto("/campaigns/first-round/agreement/")
    expect(lead.get_by_role("heading", level=1)).to_have_text("Agreement")
    lead.goto("/campaigns/first-round/adjudication/")
    lead.get_by_role("link", name=re.compile("income")).first.click()
    expect(lead.locator("[data-adjudication]")).to_have_attribute("data-ready", "true")
    expect(lead.get_by_text("No label.")).to_be_visible()
    # Ann marked the loss and Ben missed it. Either of them may be shown as A.
    proposal = lead.locator(".proposal", has_text="(310)")
    proposal.get_by_role("button", name=re.compile("Accept")).click()
    lead.get_by_role("button", name="4 A fact according to the guidelines.", exact=True).click()
    expect(lead.locator("[data-hint]")).to_contain_text(
        "All cases of this campaign have been decided"
    )


def review(lead: Page, reviewer: Page) -> None:
    """All pages are gold, so the last review is due: one fact of five."""
    lead.goto("/campaigns/first-round/release/")
    expect(lead.get_by_role("main")).to_contain_text("Review 1 is open")
    reviewer.goto("/campaigns/first-round/review/1/1/")
    reviewer.get_by_role("button", name="Accept").click()
    expect(reviewer.get_by_role("status")).to_be_visible()


def freeze(lead: Page) -> None:
    lead.goto("/campaigns/first-round/release/")
    lead.get_by_label("Version").fill("1.0.0")
    lead.get_by_role("button", name="Freeze release").click()
    expect(lead.get_by_role("status")).to_contain_text("1.0.0")


def open_board(organiser: Page) -> None:
    organiser.goto("/boards/new/")
    organiser.get_by_label("Title", exact=True).fill("Quarterly board")
    organiser.get_by_label("Slug").fill("quarterly-board")
    organiser.get_by_label("Release").select_option(label="Quarterly pages 1.0.0")
    organiser.get_by_role("button", name="Create board").click()
    organiser.goto("/boards/quarterly-board/")
    organiser.get_by_role("button", name="Open board").click()
    # The dataset is private, so opening lists what becomes public and asks for confirmation.
    expect(organiser.get_by_text("This board uses a private release.")).to_be_visible()
    organiser.get_by_label("Status").select_option("open")
    organiser.get_by_label("Make this information public").check()
    organiser.get_by_role("button", name="Change status").click()
    expect(organiser.get_by_role("status")).to_contain_text("is now open")


def submit(researcher: Page) -> None:
    """Uploads predictions and waits until the worker has graded them, without reloading."""
    lines = [json.dumps({"id": name, "html": html}) for name, html in PREDICTIONS.items()]
    researcher.goto("/boards/quarterly-board/submit/")
    researcher.get_by_label("Name").fill("Parenthesis eater")
    researcher.get_by_label("Predictions").set_input_files(
        {
            "name": "predictions.jsonl",
            "mimeType": "application/jsonl",
            "buffer": "\n".join(lines).encode(),
        }
    )
    researcher.get_by_role("button", name="Submit", exact=True).click()
    # Three pages are too few for scores on hidden gold.
    expect(researcher.get_by_text("withheld").first).to_be_visible(timeout=30_000)


def test_document_goes_from_import_to_leaderboard(site: Site, browser: Browser) -> None:
    organiser = log_in(browser, site, "Olga")
    import_dataset(organiser)
    open_campaign(organiser)

    ann, ben = page_of(browser, site, "Ann"), page_of(browser, site, "Ben")
    annotate(ann)
    # Ann has submitted, Ben has not: only Ann may see her labels.
    for person in (ben, organiser):
        assert person.request.get("/annotate/1/").status == 404
        assert person.request.get("/api/v1/assignments/1/").status == 404
    annotate(ben, skip="(310)")

    lead = page_of(browser, site, "Lea")
    adjudicate(lead)
    review(lead, page_of(browser, site, "Rita"))
    freeze(lead)

    open_board(organiser)
    researcher = page_of(browser, site, "Rex")
    submit(researcher)
    submission = researcher.url
    public = browser.new_context(base_url=site.url).new_page()
    assert public.request.get(submission).status == 404

    organiser.goto(submission)
    organiser.get_by_role("button", name=re.compile("Publish")).click()
    public.goto("/boards/quarterly-board/")
    row = public.get_by_role("row", name=re.compile("Parenthesis eater"))
    expect(row.get_by_role("cell").first).to_have_text("1")
    # N-FFA 2 of 3, T-FFA 2 of 2, FFA 4 of 5: only organisers see them.
    for figure in ("66.67", "100.00", "80.00"):
        expect(organiser.get_by_text(figure).first).to_be_visible()
        expect(row).not_to_contain_text(figure)
