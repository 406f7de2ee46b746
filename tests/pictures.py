"""`python -m tests.pictures URL`: takes the pictures of the documentation from a sample site."""

import shutil
import sys
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "images"
PASSWORD = "sample-facts"


def leaderboard(page: Page) -> None:
    page.goto("/boards/sample/")


def workbench(page: Page) -> None:
    log_in(page, "annotator1")
    page.goto("/annotate/")
    page.get_by_role("link", name="sample-tf-03", exact=True).click()
    page.locator("[data-ready=true]").wait_for()


def adjudication(page: Page) -> None:
    log_in(page, "lead")
    page.goto("/campaigns/sample/adjudication/")
    page.get_by_role("link", name="sample-fs-01").first.click()
    page.wait_for_url("**/adjudication/pages/**")


def campaign(page: Page) -> None:
    log_in(page, "lead")
    page.goto("/campaigns/sample/")


def item(page: Page) -> None:
    page.goto("/boards/sample/")
    rows = page.get_by_role("table", name="Graded by Factboard")
    rows.get_by_role("link", name="Tesseract 5, layout", exact=True).click()
    page.get_by_role("table", name="Items").get_by_role("link", name="sample-fs-01").click()
    facts = page.get_by_role("table", name="Facts")
    facts.locator("tr[data-fact]").first.get_by_role("link").click()


PICTURES: tuple[Callable[[Page], None], ...] = (
    leaderboard, workbench, adjudication, campaign, item,
)  # fmt: skip


def log_in(page: Page, name: str) -> None:
    page.goto("/accounts/login/")
    page.get_by_label("Email").fill(f"{name}@factboard.example")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("main").get_by_role("button", name="Log in").click()


def take(browser: Browser, url: str, go: Callable[[Page], None]) -> Path:
    """Save the page that `go` opens under its name, 1280 by 900 pixels and half as many again."""
    context = browser.new_context(
        base_url=url,
        viewport={"width": 1280, "height": 900},
        device_scale_factor=1.5,
        color_scheme="light",
    )
    page = context.new_page()
    go(page)
    page.wait_for_load_state("networkidle")
    path = FOLDER / f"{go.__name__}.png"
    # 256 colours are enough for the interface, in a third of the bytes.
    Image.open(BytesIO(page.screenshot())).quantize(256).save(path, optimize=True)
    context.close()
    return path


def main(url: str) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"))
        for go in PICTURES:
            sys.stdout.write(f"{take(browser, url, go)}\n")
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
