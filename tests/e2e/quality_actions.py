"""Keyboard actions of annotators, leads and reviewers for the quality workflow test."""

import re
from typing import Any

from playwright.sync_api import Browser, Frame, Page, expect

from . import quality_plan as plan
from .site import Site
from .workbench import open_task, selected, wait_saved

ROOT = "/campaigns/first-round"
API = f"/api/v1{ROOT}"
KEYS = {"Number": "1", "Date": "2"}


def log_in(browser: Browser, site: Site, name: str) -> Page:
    page = site.log_in(browser, f"{name.lower()}@example.org").new_page()
    page.set_default_timeout(15_000)
    page.goto("/start/")  # sets the cookie that `send` needs
    return page


def get(page: Page, path: str) -> Any:
    """Returns the API response in this user's session."""
    answer = page.request.get(path)
    assert answer.ok, f"{path}: {answer.status} {answer.text()}"
    return answer.json()


def send(page: Page, method: str, path: str, body: dict[str, Any]) -> Any:
    cookies = {cookie["name"]: cookie["value"] for cookie in page.context.cookies()}
    headers = {"X-CSRFToken": cookies["csrftoken"]}
    answer = page.request.fetch(path, method=method, data=body, headers=headers)
    assert answer.ok, f"{path}: {answer.status} {answer.text()}"
    return answer.json()


def tasks_of(page: Page) -> dict[str, int]:
    """Returns the ids of the annotator's assignments, by document."""
    rows = get(page, "/api/v1/assignments/")["results"]
    return {row["document"]: row["id"] for row in rows}


def label_by_api(page: Page, task: int, number: int, name: str) -> None:
    url = f"/api/v1/assignments/{task}/"
    body = {"base_revision": 0, "save_key": "all", "spans": plan.spans_of(number, name)}
    saved = send(page, "PUT", f"{url}spans/", body)
    send(page, "POST", f"{url}submit/", {"base_revision": saved["revision"]})


def label_by_key(page: Page, number: int, name: str) -> None:
    """Labels the planned facts, moving with `j` from one suggested fact to the next.

    `j` does not stop at page numbers: they are reached word by word.
    """
    frame = open_task(page, f"/annotate/{tasks_of(page)[plan.name_of(number)]}/")
    labels = plan.labels_of(number, name)
    for part in plan.TOKENS:
        if part == "bare loss" or (part == "page" and part not in labels):
            continue
        for key in ("ArrowRight", "ArrowRight") if part == "page" else ("j",):
            page.keyboard.press(key)
        assert selected(frame) == plan.offsets_of(part, number), part
        if part == "loss" and "bare loss" in labels:
            page.keyboard.press(KEYS[labels["bare loss"]])
            page.keyboard.press("Control+Alt+ArrowRight")  # without its parentheses
            page.keyboard.press("Control+Shift+ArrowLeft")
        elif part in labels:
            page.keyboard.press(KEYS[labels[part]])
    wait_saved(page)
    before = page.url
    page.keyboard.press("Control+Enter")
    dialog = page.get_by_role("dialog", name="Submit this document?")
    dialog.get_by_role("button", name="Submit", exact=True).press("Enter")
    page.wait_for_url(lambda url: url != before)


def screen_by_key(page: Page) -> None:
    """Marks all pages as intact except the last."""
    page.goto(f"{ROOT}/screening/")
    page.get_by_role("link", name="Screen next document").press("Enter")
    for number in (*plan.WORK, plan.EXCLUDED):
        expect(page.get_by_role("heading", level=1)).to_have_text(plan.name_of(number))
        expect(page.locator("[data-screening]")).to_have_attribute("data-ready", "true")
        if number != plan.EXCLUDED:
            page.keyboard.press("i")
    page.keyboard.press("f")
    page.keyboard.press("1")
    page.keyboard.press("Control+Enter")
    page.keyboard.type("The table is torn.")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("status")).to_contain_text("All documents have been screened.")


def case_ready(page: Page, document: str) -> Frame:
    page.wait_for_url(re.compile(f"/pages/{document}/"))
    expect(page.locator("[data-adjudication]")).to_have_attribute("data-ready", "true")
    frame = page.frame(url="**/html/")
    assert frame is not None
    return frame


def accept(page: Page, words: str, reason: str = "1") -> None:
    """Accepts the first proposal with this text by its number, and gives the reason `reason`."""
    proposal = page.locator(".proposal", has_text=words).first
    page.keyboard.press(proposal.locator("button kbd").inner_text())
    expect(page.locator("[data-reasons]")).to_be_visible()
    page.keyboard.press(reason)


def review_item(page: Page, position: int) -> None:
    expect(page.get_by_role("heading", level=1)).to_contain_text(f"Fact {position}:")
    expect(page.locator("[data-review]")).to_have_attribute("data-ready", "true")


def correct_value(page: Page, fact: plan.Fact) -> None:
    page.keyboard.press("c")
    value = page.get_by_label("Value")
    expect(value).to_have_value(fact[3])
    value.fill(plan.corrected(fact)[3])
    page.get_by_label("Reason").first.fill("The heading says otherwise.")
    page.get_by_role("button", name="Save as gold").press("Enter")


def begin_review(page: Page, number: int) -> None:
    page.goto(f"{ROOT}/review/{number}/")
    page.get_by_role("link", name="Start with fact 1").press("Enter")
