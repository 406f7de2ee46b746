"""The quality workflow in a real browser, from screening to a release.

The test uses a real web server, a real worker and seven users. `quality_plan` defines who labels
what, and the expected results. Screening, adjudication and review use only the keyboard. So does
labelling of one page for each kind of difference (pages 1 and 3 to 5). The other pages are
labelled through the REST API in the sessions of their annotators, to save time.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from . import quality_plan as plan
from .quality_actions import (
    API,
    ROOT,
    accept,
    begin_review,
    case_ready,
    correct_value,
    get,
    label_by_api,
    label_by_key,
    log_in,
    review_item,
    screen_by_key,
    tasks_of,
)
from .site import Site

pytestmark = [pytest.mark.browser, pytest.mark.processes]

BY_KEY = (1, 3, 4, 5)
People = dict[str, Page]
PAINTED = """(name) => Array.from(CSS.highlights.get(name) ?? [], (range) => range.toString())"""


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    site = Site(tmp_path)
    site.prepare()
    site.add_user("Olga", is_organiser=True)
    site.add_users(*plan.NAMES, "Lea", "Rita")
    site.start()
    yield site
    site.stop()


@pytest.fixture
def people(site: Site, browser: Browser) -> People:
    return {name: log_in(browser, site, name) for name in ("Olga", "Lea", "Rita", *plan.NAMES)}


def import_pages(organiser: Page) -> None:
    organiser.goto("/datasets/new/")
    organiser.get_by_label("Title").fill("Torn pages")
    organiser.get_by_label("Short name").fill("torn")
    organiser.get_by_role("button", name="Create dataset").click()
    organiser.goto("/datasets/torn/import/")
    organiser.get_by_label("File", exact=True).set_input_files(
        {"name": "pages.zip", "mimeType": "application/zip", "buffer": plan.archive()}
    )
    organiser.get_by_role("button", name="Import", exact=True).click()
    expect(organiser.locator("#report")).to_contain_text("Imported 21", timeout=30_000)


def make_campaign(organiser: Page, title: str) -> None:
    organiser.goto("/campaigns/new/?dataset=torn")
    organiser.get_by_label("Title").fill(title)
    organiser.get_by_role("button", name="Create campaign").click()
    organiser.wait_for_url("**/people/")


def add_people(organiser: Page) -> None:
    team = "\n".join(f"{name.lower()}@example.org" for name in plan.NAMES)
    added = (("annotator", team), ("lead", "lea@example.org"), ("reviewer", "rita@example.org"))
    for role, addresses in added:
        organiser.goto(f"{ROOT}/people/")
        organiser.get_by_label("Email addresses").fill(addresses)
        organiser.get_by_label("Role").select_option(role)
        organiser.get_by_role("button", name="Invite people").click()
        expect(organiser.get_by_role("status")).to_contain_text(f"Added as {role}: ")


def set_up(organiser: Page) -> None:
    organiser.goto(f"{ROOT}/settings/")
    organiser.get_by_label("Annotators per document").fill("2")
    organiser.get_by_label("Screen documents before annotation").check()
    organiser.get_by_label("Agreement threshold").fill("0.7")
    organiser.get_by_label("Gold documents between reviews").fill("10")
    organiser.get_by_label("Facts sampled per review").fill(f"{plan.SHARE:.0%}".strip("%"))
    organiser.get_by_role("button", name="Save settings").click()
    expect(organiser.get_by_role("status")).to_contain_text("Settings saved.")


def calibrate_and_open(lead: Page) -> None:
    lead.goto(f"{ROOT}/documents/")
    for number in plan.CALIBRATION:
        lead.get_by_label(plan.name_of(number)).check()
    lead.get_by_role("button", name="Add to calibration set").press("Enter")
    expect(lead.get_by_role("status")).to_contain_text("2 documents added to the calibration set.")
    lead.goto(f"{ROOT}/")
    lead.get_by_role("button", name="Open campaign").press("Enter")
    expect(lead.get_by_role("status")).to_contain_text("after screening")


def check_teams(people: People) -> None:
    for name in plan.NAMES:
        planned = {plan.name_of(n) for n, who in plan.work() if who == name}
        assert len(planned) == 11
        assert set(tasks_of(people[name])) == planned


def check_blindness(people: People) -> None:
    """Ann has submitted page 3, Ben has not: only Ann may see her labels."""
    ann, lead, page = people["Ann"], people["Lea"], plan.name_of(3)
    task = tasks_of(ann)[page]
    for person in (people["Ben"], lead, people["Rita"], people["Olga"]):
        for path in (
            "annotate/{}/",
            "annotate/{}/gold/",
            "api/v1/assignments/{}/",
            "api/v1/assignments/{}/export/?form=json",
            "api/v1/assignments/{}/revisions/",
        ):
            assert person.request.get(f"/{path.format(task)}").status == 404, path
    assert lead.request.get(f"{ROOT}/adjudication/pages/{page}/").status == 404
    for person in (people["Ben"], people["Rita"]):
        assert person.request.get(f"{ROOT}/adjudication/").status == 403
        assert person.request.get(f"{API}/agreement/").status == 403
    agreement = get(lead, f"{API}/agreement/")
    assert (agreement["overall"], agreement["documents"]) == (None, [])
    work = lead.request.get(f"{API}/export/?form=jsonl&layer=annotations")
    assert (work.status, work.text()) == (200, "")
    ann.goto(f"/annotate/{task}/gold/")
    expect(ann.get_by_text("Not gold yet")).to_be_visible()


def label_everything(people: People) -> None:
    label_by_key(people["Ann"], 3, "Ann")
    check_blindness(people)
    done = {(3, "Ann")}
    for number, name in plan.work():
        if number in BY_KEY and (number, name) not in done:
            label_by_key(people[name], number, name)
            done.add((number, name))
    tasks = {name: tasks_of(people[name]) for name in plan.NAMES}
    for number, name in plan.work():
        if (number, name) not in done:
            label_by_api(people[name], tasks[name][plan.name_of(number)], number, name)


def check_agreement(lead: Page) -> None:
    # Worked out by hand: Ann and Ben differ in one of 22 items, which Ben missed.
    kappa, items = plan.cohen("entity", "Ann", "Ben")
    assert (round(kappa, 12), items) == (round(221 / 243, 12), 22)
    answer = get(lead, f"{API}/agreement/")
    assert (answer["waiting"], answer["single"]) == (0, 0)
    assert [level["level"] for level in answer["levels"]] == ["entity", "token"]
    lead.goto(f"{ROOT}/agreement/")
    for level in answer["levels"]:
        check_level(lead, level)


def check_level(lead: Page, answer: dict[str, Any]) -> None:
    """Compares the table with the reference figures: a row per annotator, then Fleiss' κ."""
    level = answer["level"]
    matrix = lead.get_by_role("table", name=f"{level.capitalize()} level: pairwise Cohen's κ")
    expect(matrix.get_by_role("columnheader")).to_have_text(["Annotator", "1", "2", "3", "4"])
    rows = matrix.locator("tbody tr")
    expect(rows.locator("th")).to_have_text(
        [re.compile(rf"{number}\s+{name}") for number, name in enumerate(plan.NAMES, start=1)]
    )
    for n in range(4):
        expect(rows.nth(n).locator("td").nth(n)).to_have_text("—")
    for first, second in plan.PAIRS:
        kappa, items = plan.cohen(level, first, second)
        for row, column in ((first, second), (second, first)):
            r, c = plan.NAMES.index(row), plan.NAMES.index(column)
            figure = answer["matrix"][r]["cells"][c]
            assert figure["value"] == pytest.approx(kappa, abs=1e-12)
            assert (figure["n"], figure["documents"]) == (items, 5)
            expect(rows.nth(r).locator("td").nth(c)).to_contain_text(f"{kappa:.4f}")
            expect(rows.nth(r).locator("td").nth(c)).to_contain_text(f"n = {items}")
    overall = answer["overall"]["fleiss"]
    assert [(one["annotators"], one["figure"]["documents"]) for one in overall] == [(2, 18), (4, 2)]
    for place, (size, one) in enumerate(zip((2, 4), overall, strict=True)):
        kappa = plan.fleiss(level, size)
        assert one["figure"]["value"] == pytest.approx(kappa, abs=1e-12)
        beneath = matrix.locator("tfoot tr").nth(place)
        expect(beneath.locator("th")).to_contain_text(
            re.compile(rf"Fleiss' κ.*{size} annotators per", re.S)
        )
        expect(beneath.locator("td")).to_contain_text(f"{kappa:.4f}")


def adjudicate(lead: Page) -> None:
    """Decides all cases by keyboard: four proposals, one "neither" (a page number), one edit."""
    # The majority of the four calibration annotators has decided page 1 without a lead.
    assert verdicts(lead) == [(plan.name_of(1), "majority"), (plan.name_of(1), "majority")]
    lead.goto(f"{ROOT}/adjudication/")
    lead.get_by_role("link", name="Adjudicate next case").press("Enter")
    for number, kind in plan.CASES.items():
        case_ready(lead, plan.name_of(number))
        expect(lead.locator("#case-title")).to_have_text(kind)
        if number == 6:
            lead.keyboard.press("0")
            lead.keyboard.press("3")
        elif number == 7:
            widen_by_edit(lead)
        else:
            disputed = "date" if number == 5 else "loss"
            accept(lead, f"{plan.FACTS[disputed]} · {plan.value_of(disputed, number)}")
    expect(lead.locator("[data-hint]")).to_contain_text(
        "All cases of this campaign have been decided"
    )
    choices = ["majority"] * 2 + ["proposal"] * 4 + ["neither", "edit"]
    numbers = [1, 1, *plan.CASES]
    assert verdicts(lead) == list(zip(map(plan.name_of, numbers), choices, strict=True))


def verdicts(lead: Page) -> list[tuple[str, str]]:
    """Returns document and choice of each decided case."""
    rows = get(lead, f"{API}/cases/?state=decided")["results"]
    return sorted((row["document"], row["choice"]) for row in rows)


def widen_by_edit(lead: Page) -> None:
    """No annotator marked the loss with its parentheses, and one labelled it as a date."""
    for key in ("e", "1", "Control+Alt+ArrowLeft", "Control+Shift+ArrowRight", "Enter"):
        lead.keyboard.press(key)
    asks = lead.locator("[data-reasons] [data-part=asks]")
    expect(asks).to_contain_text("Edited: “(307)” as Number")
    lead.keyboard.press("t")
    lead.keyboard.type("The parentheses say minus.")
    lead.keyboard.press("Enter")


def check_blocked(lead: Page, *reasons: str) -> None:
    lead.goto(f"{ROOT}/release/")
    for reason in reasons:
        expect(lead.locator("main")).to_contain_text(reason)
    expect(lead.get_by_role("button", name="Freeze release")).to_have_count(0)


def draw_again(site: Site, reviewer: Page, number: int) -> list[tuple[str, int]]:
    """Returns the facts of a review. The command, this test and the page must agree on them."""
    output = site.command("draw_review", "first-round", str(number)).splitlines()
    header = re.fullmatch(
        rf"# seed (\d+), share {plan.SHARE} of 40 facts in 10 documents: {plan.DRAWN} drawn",
        output[0],
    )
    assert header is not None, output
    assert output[-1] == "# identical to the stored draw"
    lines = [line.split("\t") for line in output[1:-1]]
    facts = [(document, int(start)) for document, start in lines]
    assert facts == plan.drawn(number, int(header[1]))
    reviewer.goto(f"{ROOT}/review/{number}/")
    rows = reviewer.get_by_role("table", name="Sampled facts").locator("tbody tr")
    gold = plan.gold()
    expect(rows.locator("th a")).to_have_text([gold[fact][2] for fact in facts])
    expect(rows.locator("td").nth(0)).to_contain_text(facts[0][0])
    return facts


def review(site: Site, reviewer: Page) -> tuple[tuple[str, int], str]:
    """Corrects one fact, sends one page back and accepts the rest; returns that fact and page."""
    gold = plan.gold()
    first = draw_again(site, reviewer, 1)
    draw_again(site, reviewer, 2)
    begin_review(reviewer, 1)
    review_item(reviewer, 1)
    reviewer.keyboard.press("a")
    review_item(reviewer, 2)
    correct_value(reviewer, gold[first[1]])
    review_item(reviewer, 3)
    reviewer.keyboard.press("s")
    reviewer.keyboard.type("Is it a fact at all?")
    reviewer.get_by_role("button", name="Send document back").press("Enter")
    review_item(reviewer, 4)
    reviewer.keyboard.press("a")
    expect(reviewer.get_by_role("status")).to_contain_text("Review 1 is complete")
    begin_review(reviewer, 2)
    for position in range(1, plan.DRAWN + 1):
        review_item(reviewer, position)
        reviewer.keyboard.press("a")
    expect(reviewer.get_by_role("status")).to_contain_text("Review 2 is complete")
    return first[1], first[2][0]


def decide_returned_case(lead: Page, document: str) -> None:
    lead.goto(f"{ROOT}/adjudication/")
    lead.get_by_role("link", name="Adjudicate next case").press("Enter")
    case_ready(lead, document)
    expect(lead.locator("[data-part=note]")).to_contain_text("Is it a fact at all?")
    accept(lead, "Keep the gold")
    expect(lead.locator("[data-hint]")).to_contain_text(
        "All cases of this campaign have been decided"
    )


def freeze(lead: Page) -> None:
    lead.goto(f"{ROOT}/release/")
    lead.get_by_text("1 document excluded by screening").click()
    expect(lead.locator("ul.left-out li")).to_contain_text("The table is torn.")
    summary = lead.locator("#freezing")
    for version in ("2.0.0", "1.0.0"):
        lead.get_by_label("Version").fill(version)
        expect(summary).to_contain_text(f"freeze 20 documents as version {version}.")
    lead.get_by_role("button", name="Freeze release").press("Enter")
    expect(lead.get_by_role("status")).to_contain_text("Release 1.0.0 is frozen.")
    row = lead.get_by_role("row", name=re.compile("1.0.0"))
    expect(row.locator("td.num")).to_have_text(["20", "80"])


def gold_lines(person: Page, campaign: str) -> str:
    answer = person.request.get(f"/api/v1/campaigns/{campaign}/export/?form=jsonl&layer=gold")
    assert answer.ok
    return answer.text()


def check_gold(lead: Page, changed: tuple[str, int]) -> None:
    expected = plan.gold()
    expected[changed] = plan.corrected(expected[changed])
    lines = [json.loads(line) for line in gold_lines(lead, "first-round").splitlines()]
    found = {
        (line["name"], span["start"]): (line["name"], span["label"], span["quote"], span["value"])
        for line in lines
        for span in line["spans"]
    }
    assert found == expected


def check_own_gold(annotator: Page) -> None:
    """Ben sees that he missed the loss on page 3, which did not change after adjudication."""
    annotator.goto(f"/annotate/{tasks_of(annotator)[plan.name_of(3)]}/gold/")
    expect(annotator.locator("[data-own-gold]")).to_have_attribute("data-ready", "true")
    frame = annotator.frame(url="**/html/")
    assert frame is not None
    assert frame.evaluate(PAINTED, "missed") == ["(303)"]
    assert frame.evaluate(PAINTED, "right") == ["1,203", "March 3, 2025", "43,900"]
    expect(annotator.locator("[data-facts] > li")).to_have_count(4)


def import_into_another(organiser: Page, folder: Path) -> None:
    """Exports the campaign and imports it into an empty one with the same gold and figures."""
    organiser.goto(f"{ROOT}/export/")
    organiser.get_by_role("radio", name="The whole campaign (ZIP)").check()
    with organiser.expect_download() as download:
        organiser.get_by_role("button", name="Download").click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    make_campaign(organiser, "Second home")
    organiser.goto("/campaigns/second-home/export/")
    organiser.get_by_label("File").set_input_files(path)
    organiser.locator("#import").get_by_label("Form").select_option("full")
    organiser.get_by_role("button", name="Import file").click()
    row = organiser.locator("#imports tbody tr")
    expect(row).to_contain_text("done", timeout=30_000)
    expect(row.locator("td.num").first).to_have_text("21")
    assert gold_lines(organiser, "second-home") == gold_lines(organiser, "first-round")
    first, second = (
        get(organiser, f"/api/v1/campaigns/{slug}/agreement/")
        for slug in ("first-round", "second-home")
    )
    assert second == first


def test_campaign_goes_from_screening_to_a_reviewed_release(site: Site, people: People) -> None:
    organiser, lead, reviewer = people["Olga"], people["Lea"], people["Rita"]
    import_pages(organiser)
    make_campaign(organiser, "First round")
    add_people(organiser)
    set_up(organiser)
    calibrate_and_open(lead)
    screen_by_key(lead)
    check_teams(people)
    label_everything(people)
    check_agreement(lead)
    check_blocked(lead, "Review 1 is open. Every sampled fact must be reviewed.")
    adjudicate(lead)
    check_blocked(lead, "Reviews 1 and 2 are open", "Not ready: gold, not reviewed (20)")

    changed, sent_back = review(site, reviewer)
    check_blocked(lead, "Not ready: adjudication (1)", sent_back)
    decide_returned_case(lead, sent_back)
    freeze(lead)
    check_gold(lead, changed)
    check_own_gold(people["Ben"])
    import_into_another(organiser, site.folder)
