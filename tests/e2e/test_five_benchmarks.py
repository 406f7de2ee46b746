"""Each benchmark on the running sample site: a board is opened, bad and good files are sent, a row
is published, and its figures are those of `manage.py grade`."""

import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from scoring.benchmarks import Column, get_benchmark

from .benchmark_files import PLAYED, Played, faulty
from .site import Site, logged_in

pytestmark = [pytest.mark.browser, pytest.mark.processes]

SECONDS = 30_000
BENCHMARK = pytest.mark.parametrize("played", PLAYED, ids=lambda played: played.key)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with Site(tmp_path_factory.mktemp("five-boards")) as site:
        site.prepare(sample=True)
        site.start()
        yield site


def page_of(browser: Browser, site: Site, who: str) -> Page:
    page = logged_in(browser, site, who).new_page()
    page.set_default_timeout(SECONDS)
    return page


def open_board(organiser: Page, played: Played) -> str:
    """A board over the sample's release; returns its address."""
    organiser.goto("/boards/new/")
    organiser.get_by_label("Title", exact=True).fill(f"Played {played.key}")
    organiser.get_by_label("Slug").fill(f"played-{played.key}")
    organiser.get_by_label("Benchmark").select_option(played.key)
    organiser.get_by_label("Release").select_option(label=played.release)
    organiser.get_by_role("button", name="Create board").click()
    expect(organiser.get_by_role("status")).to_contain_text("Board created as a draft")
    organiser.get_by_role("button", name="Open board").click()
    expect(organiser.get_by_role("status")).to_contain_text("is now open")
    return f"/boards/played-{played.key}/"


def choose(researcher: Page, data: bytes, name: str) -> None:
    researcher.get_by_label("Predictions").set_input_files(
        {"name": name, "mimeType": "application/jsonl", "buffer": data}
    )


def send_bad_files(researcher: Page, board: str, played: Played) -> None:
    """Every fault is told at once, by file, line and id; a file that lacks an id is told of it."""
    researcher.goto(f"{board}submit/")
    researcher.get_by_label("Name", exact=True).fill(f"Reader of {played.key}")
    data, faults = faulty(played)
    choose(researcher, data, "bad.jsonl")
    researcher.get_by_role("button", name="Check and submit").click()
    alert = researcher.get_by_role("alert")
    expect(alert).to_contain_text("5 faults: nothing was submitted")
    told = alert.get_by_role("listitem")
    expect(told).to_have_count(len(faults))
    for line, fault in zip(told.all(), faults, strict=True):
        expect(line).to_contain_text(f"bad.jsonl:{fault.line}")
        expect(line).to_contain_text(fault.id)
        expect(line).to_contain_text(fault.message)
    choose(researcher, "\n".join(played.good_lines()[1:]).encode(), "short.jsonl")
    researcher.get_by_role("button", name="Check and submit").click()
    expect(alert).to_contain_text("without a prediction")


def send_good_file(researcher: Page, played: Played) -> None:
    """Watches the grading to its end, without loading the page again."""
    choose(researcher, "\n".join(played.good_lines()).encode(), "good.jsonl")
    researcher.get_by_role("button", name="Check and submit").click()
    researcher.wait_for_url("**/submissions/*/")
    expect(researcher.get_by_role("button", name="Publish")).to_be_visible(timeout=SECONDS)


def graded_offline(site: Site, played: Played, folder: Path) -> dict[str, Any]:
    """The figures of `manage.py grade` against the gold of the release, as it can be downloaded."""
    site.command("export_release", played.slug, "1.0.0", "--out", str(folder / "release.zip"))
    with zipfile.ZipFile(folder / "release.zip") as release:
        gold = release.extract("gold.jsonl", folder)
    sent = folder / "good.jsonl"
    sent.write_text("\n".join(played.good_lines()), encoding="utf-8")
    arguments = ("--gold", gold, "--submission", str(sent), "--json")
    report = json.loads(site.command("grade", played.key, *arguments).splitlines()[-1])
    scores: dict[str, Any] = report["scores"]
    return scores


def figures_of(row: Locator, table: Locator) -> dict[str, str]:
    """What the row shows, by the words above it; ranks, which stand several times, are left out."""
    heads = table.locator("thead tr").last.get_by_role("columnheader").all_inner_texts()
    cells = row.locator("th, td").all_inner_texts()
    named = {
        # Under a figure stands its interval.
        re.sub(r"[↓↑]", "", head).strip(): next(iter(cell.split()), "")
        for head, cell in zip(heads, cells, strict=True)
    }
    return {name: cell for name, cell in named.items() if name not in {"Model", "Size", "Rank"}}


def shown(column: Column, value: float | None, most_decimals: int | None) -> str:
    """`most_decimals` are those of the phase: on hidden gold a new phase rounds."""
    if value is None:
        return "–"
    decimals = column.decimals if most_decimals is None else min(column.decimals, most_decimals)
    return f"{value * (100 if column.unit == '%' else 1):.{decimals}f}"


@BENCHMARK
def test_a_benchmark_is_played_from_board_to_public_row(
    site: Site, browser: Browser, tmp_path: Path, played: Played
) -> None:
    board = open_board(page_of(browser, site, "organiser"), played)
    researcher = page_of(browser, site, "researcher")
    send_bad_files(researcher, board, played)
    send_good_file(researcher, played)
    public = browser.new_context(base_url=site.url).new_page()
    assert public.request.get(researcher.url).status == 404
    public.goto(board)
    row = public.get_by_role("row", name=re.compile(f"Reader of {played.key}"))
    expect(row).to_have_count(0)

    researcher.get_by_role("button", name="Publish").click()
    expect(researcher.get_by_role("button", name="Unpublish")).to_be_visible()

    public.goto(board)
    expect(row).to_have_count(1)
    scores = graded_offline(site, played, tmp_path)
    columns = [column for column in get_benchmark(played.key).columns if column.headline]
    found = figures_of(row, public.get_by_role("table", name="Graded here"))
    boards = public.request.get("/api/v1/boards/").json()["results"]
    (phases,) = [each["phases"] for each in boards if each["slug"] == f"played-{played.key}"]
    decimals = phases[0]["score_decimals"]
    assert found == {
        column.label: shown(column, scores[column.key], decimals) for column in columns
    }


@BENCHMARK
def test_the_sample_board_offers_a_file_that_it_takes(
    site: Site, browser: Browser, played: Played
) -> None:
    """What a visitor downloads there can be sent as it is."""
    researcher = page_of(browser, site, "researcher")
    researcher.goto(f"/boards/{played.slug}/")
    with researcher.expect_download() as download:
        researcher.get_by_role("link", name=f"{played.slug}-tesseract.jsonl").click()
    data = Path(download.value.path()).read_bytes()
    assert data == played.good[0].read_bytes()
    researcher.goto(f"/boards/{played.slug}/submit/")
    if len(played.good) > 1:
        # A board with one phase asks for none.
        researcher.get_by_label("Phase").select_option(label="Development")
    researcher.get_by_label("Name", exact=True).fill("The same again")
    choose(researcher, data, download.value.suggested_filename)
    researcher.get_by_role("button", name="Check only").click()
    expect(researcher.get_by_text("No faults found.", exact=True)).to_be_visible()
