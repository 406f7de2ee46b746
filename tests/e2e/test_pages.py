"""Pages of the sample site by role: no console errors, no overflow, no axe violations."""

import json
from pathlib import Path
from urllib.request import urlopen

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page

from tests.looks import faults_in_both_looks

from .site import Site, logged_in

pytestmark = [pytest.mark.browser, pytest.mark.processes]

# {sample} and {fcmbench}: the id of the first submission on that board.
ITEM = "/submissions/{sample}/items/sample-fs-02/"
PAGES = {
    "": """/ /boards/ /boards/sample/ /boards/sample/?view=matchers /boards/sample-fcmbench/
        /boards/sample-fcmbench/?phase=dev /boards/sample-ccocr/
        /boards/sample-ccocr/?view=multi_scene /boards/sample-receipts/
        /boards/sample-accounts/ /boards/sample/charts/ /boards/sample/changes/
        /boards/sample/compare/?entries=8,9 /boards/sample-fcmbench/tasks/ /submissions/{sample}/
        /datasets/ /datasets/sample/ /datasets/sample/releases/1.0.0/
        /datasets/sample/documents/sample-fs-01/ /nowhere/""".split(),
    "annotator1": "/start/ /annotate/ /campaigns/ /campaigns/sample/guidelines/".split(),
    "lead": """/start/ /campaigns/sample/ /campaigns/sample/people/ /campaigns/sample/agreement/
        /campaigns/sample/adjudication/ /campaigns/sample/adjudication/1/
        /campaigns/sample/release/""".split(),
    "researcher": f"""/start/ /submissions/ /boards/sample/submit/
        {ITEM} {ITEM}?facts=differ {ITEM}?fact=1 /submissions/{{fcmbench}}/
        /submissions/{{fcmbench}}/items/en-a-employment-inf_ext_001/
        /boards/sample/compare/?entries=8,9 /boards/sample/compare/facts/?entries=8,9
        /datasets/sample/releases/1.0.0/items/sample-fs-01/dispute/?fact=0
        /datasets/sample-receipts/releases/1.0.0/""".split(),
    "organiser": """/start/ /datasets/new/ /datasets/sample/import/ /datasets/sample/edit/
        /datasets/sample/imports/1/ /campaigns/new/ /boards/sample/manage/
        /datasets/sample-receipts/batches/ /datasets/sample-receipts/batches/1/
        /datasets/sample-receipts/batches/2/ /boards/sample-receipts/submit/""".split(),
}
EXPECTED_STATUS = {"/nowhere/": 404}


def first_submission(site: Site, board: str) -> int:
    """The submission of the first graded row."""
    with urlopen(f"{site.url}/api/v1/boards/{board}/leaderboard/?phase=dev") as answer:
        found: int = json.load(answer)["sections"][0]["rows"][0]["submission"]
    return found


def faults_at(page: Page, url: str) -> list[str]:
    """Returns the problems of the page at this URL."""
    response = page.goto(url)
    assert response is not None
    found = faults_in_both_looks(page, url)
    if response.status != EXPECTED_STATUS.get(url, 200):
        found.append(f"{url}: status {response.status}")
    return found


@pytest.mark.parametrize("who", PAGES)
def test_pages_are_sound(sample_site: Site, browser: Browser, who: str) -> None:
    page = logged_in(browser, sample_site, who).new_page()
    faults: list[str] = []

    def note(message: ConsoleMessage) -> None:
        if message.type == "error" and "Failed to load resource" not in message.text:
            faults.append(f"{page.url}: {message.text}")

    page.on("pageerror", lambda error: faults.append(f"{page.url}: {error}"))
    page.on("console", note)
    ids = {
        name: first_submission(sample_site, board)
        for name, board in (("sample", "sample"), ("fcmbench", "sample-fcmbench"))
    }
    for url in PAGES[who]:
        faults += faults_at(page, url.format(**ids))
    assert faults == []


def test_preparing_again_keeps_the_data_and_is_quick(sample_site: Site) -> None:
    output = sample_site.manage("prepare")
    assert "Loading the sample" not in output
    assert "Collecting" not in output


def test_a_port_in_use_is_reported_before_any_work(sample_site: Site, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=f"make run PORT={sample_site.port + 1}"):
        Site(tmp_path).manage("prepare", "--port", str(sample_site.port))
    assert list(tmp_path.glob("*.sqlite3")) == []
