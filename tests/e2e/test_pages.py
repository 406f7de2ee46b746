"""Every page of the sample site for whoever sees it: no console error, no overflow, axe content."""

from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page

from sample.people import PASSWORD
from tests.looks import in_both_looks

from .site import Site

pytestmark = [pytest.mark.browser, pytest.mark.processes, pytest.mark.xdist_group("sample-site")]

ITEM = "/submissions/1/items/sample-fs-02/"
PAGES = {
    "": """/ /boards/ /boards/sample/ /boards/sample/?view=matchers /boards/sample-fcmbench/
        /boards/sample-fcmbench/?phase=dev /boards/sample-ccocr/
        /boards/sample-ccocr/?view=multi_scene /boards/sample-receipts/
        /boards/sample-accounts/ /boards/sample/charts/ /boards/sample/changes/
        /boards/sample/compare/?entries=8,9 /boards/sample-fcmbench/tasks/ /submissions/1/
        /datasets/ /datasets/sample/ /datasets/sample/releases/1.0.0/
        /datasets/sample/documents/sample-fs-01/
        /accounts/login/ /accounts/signup/ /accounts/password/reset/ /nowhere/""".split(),
    "annotator1": "/start/ /annotate/ /campaigns/ /campaigns/sample/guidelines/".split(),
    "lead": """/start/ /campaigns/sample/ /campaigns/sample/people/ /campaigns/sample/agreement/
        /campaigns/sample/adjudication/ /campaigns/sample/adjudication/1/
        /campaigns/sample/release/""".split(),
    "researcher": f"""/start/ /submissions/ /boards/sample/submit/ /account/ /submissions/5/ {ITEM}
        {ITEM}?facts=differ /submissions/5/items/en-a-employment-inf_ext_001/
        /boards/sample/compare/?entries=8,9
        /datasets/sample/releases/1.0.0/items/sample-fs-01/dispute/?fact=0
        /datasets/sample-receipts/releases/1.0.0/""".split(),
    "organiser": """/start/ /datasets/new/ /datasets/sample/import/ /datasets/sample/edit/
        /datasets/sample/imports/1/ /campaigns/new/ /boards/new/ /boards/sample/manage/
        /datasets/sample-receipts/batches/ /datasets/sample-receipts/batches/1/
        /datasets/sample-receipts/batches/2/ /boards/sample-receipts/submit/""".split(),
}
EXPECTED_STATUS = {"/nowhere/": 404}


def logged_in(browser: Browser, site: Site, who: str, **options: object) -> BrowserContext:
    context = browser.new_context(base_url=site.url, **options)  # type: ignore[arg-type]
    if who:
        page = context.new_page()
        page.goto("/accounts/login/")
        page.get_by_label("Email").fill(f"{who}@factboard.example")
        page.get_by_label("Password", exact=True).fill(PASSWORD)
        page.get_by_role("button", name="Log in").click()
        page.wait_for_url("**/start/")
        page.close()
    return context


def faults_at(page: Page, address: str) -> list[str]:
    """What is wrong with the page at the address, as it stands on the screen."""
    found: list[str] = []
    response = page.goto(address, wait_until="networkidle")
    assert response is not None
    if response.status != EXPECTED_STATUS.get(address, 200):
        found.append(f"{address}: status {response.status}")
    overflow = page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    if overflow > 0:
        found.append(f"{address}: overflows by {overflow} px")
    results = Axe().run(page, options={"resultTypes": ["violations"]})
    found += [
        f"{address}: {violation['id']} {violation['nodes'][0]['html'][:120]}"
        for violation in results.response["violations"]
        if violation["impact"] in {"serious", "critical"}
    ]
    return found


@pytest.mark.parametrize("who", PAGES)
@in_both_looks
def test_pages_are_sound(
    sample_site: Site, browser: Browser, who: str, width: int, scheme: str
) -> None:
    options = {"viewport": {"width": width, "height": 900}, "color_scheme": scheme}
    page = logged_in(browser, sample_site, who, **options).new_page()
    faults: list[str] = []

    def note(message: ConsoleMessage) -> None:
        if message.type == "error" and "Failed to load resource" not in message.text:
            faults.append(f"{page.url}: {message.text}")

    page.on("pageerror", lambda error: faults.append(f"{page.url}: {error}"))
    page.on("console", note)
    for address in PAGES[who]:
        faults += faults_at(page, address)
    assert faults == []


def test_preparing_again_keeps_the_data_and_is_quick(sample_site: Site) -> None:
    said = sample_site.manage("prepare")
    assert "Loading the sample" not in said
    assert "Collecting" not in said


def test_a_port_in_use_is_told_before_anything_is_done(sample_site: Site, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=f"make run PORT={sample_site.port + 1}"):
        Site(tmp_path).manage("prepare", "--port", str(sample_site.port))
    assert list(tmp_path.glob("*.sqlite3")) == []
