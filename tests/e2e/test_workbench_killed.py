"""No label is lost when the web server is killed during labelling and started again."""

from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from .site import Site
from .workbench import open_task, press_label, wait_kept, wait_saved

pytestmark = [pytest.mark.browser, pytest.mark.processes]

NUMBERS = [f"{number},{number * 37 % 1000:03}" for number in range(1, 31)]

CAMPAIGN = """
from pathlib import Path
from portal.accounts.models import User
from annotation.models import Assignment
from annotation.campaigns.services import create_campaign, open_campaign
from annotation.campaigns.people import add_member
from portal.datasets.models import Dataset
dataset = Dataset.objects.get(slug="pages")
campaign = create_campaign(dataset=dataset, title="Round", labels=["Number", "Date"], overlap=1,
    guidelines="", actor=None)
user = User.objects.get(email={email!r})
add_member(campaign=campaign, user=user, role="annotator", actor=None)
open_campaign(campaign=campaign, actor=None)
print(Assignment.objects.get().pk)
"""


def make_task(site: Site, email: str) -> int:
    folder = site.folder / "import" / "pages"
    folder.mkdir(parents=True)
    cells = "".join(f"<tr><td>Row</td><td>{number}</td></tr>" for number in NUMBERS)
    (folder / "page.html").write_text(f"<table>{cells}</table>", encoding="utf-8")
    site.command("import_dataset", "pages", str(folder.parent), "--create")
    return int(site.shell(CAMPAIGN.format(email=email)))


def spans_of(site: Site) -> list[Any]:
    found: list[Any] = site.shell(
        "import json\n"
        "from annotation.models import Span\n"
        "print(json.dumps(list(Span.objects.order_by('start').values_list('quote', flat=True))))"
    )
    return found


def test_nothing_is_lost_when_the_server_dies(site: Site, browser: Browser) -> None:
    email = site.add_user("Ann")
    task = make_task(site, email)
    page = site.log_in(browser, email).new_page()
    frame = open_task(page, f"{site.url}/annotate/{task}/")
    for number in NUMBERS[:10]:
        press_label("1", frame, number)
    site.kill_web()  # while a save is running or about to start
    for number in NUMBERS[10:20]:
        press_label("1", frame, number)
    expect(page.locator("[data-save-state]")).to_have_attribute("data-save-state", "offline")
    site.start_web()
    wait_saved(page, seconds=30)
    assert spans_of(site) == NUMBERS[:20]

    # The same again, but the page closes before the server is back.
    site.kill_web()
    for number in NUMBERS[20:]:
        press_label("1", frame, number)
    expect(page.locator("[data-save-state]")).to_have_attribute("data-save-state", "offline")
    wait_kept(page, len(NUMBERS))
    page.goto("about:blank")
    site.start_web()
    open_task(page, f"{site.url}/annotate/{task}/")
    wait_saved(page, seconds=30)
    expect(page.locator("[data-span-count]")).to_have_text(str(len(NUMBERS)))
    assert spans_of(site) == NUMBERS
