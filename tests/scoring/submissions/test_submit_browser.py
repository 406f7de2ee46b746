"""The submit page in a real browser: a file looked at before it is sent, and teams."""

import gzip
from pathlib import Path

import pytest
from playwright.sync_api import JSHandle, Page, expect

from portal.accounts.models import User
from portal.jobs.worker import run_due_jobs
from scoring.models import Board, Submission
from tests.accounts.teams.people import team_of
from tests.fixture_types import PageOf
from tests.looks import faults_in_both_looks
from tests.scoring.factories import PERFECT, lines_of, make_board, make_release

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

URL = "/boards/board/submit/"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "predictions.jsonl"


def test_every_error_is_shown_before_the_upload(
    page_of: PageOf, board: Board, researcher: User, file: Path
) -> None:
    good = lines_of(PERFECT).splitlines(keepends=True)
    file.write_bytes(
        good[0] + b"broken\n" + b'{"id": "page-9", "html": ""}\n' + good[0] + b'{"id": "\xff"}\n'
    )
    page = page_of(researcher)
    page.goto(URL)
    page.get_by_label("Predictions").set_input_files(file)
    check = page.get_by_role("status")
    expect(check).to_contain_text("4 errors in 2 predictions")
    expect(check.get_by_role("listitem")).to_have_text(
        [
            "line 2: not valid JSON",
            "line 3: “page-9”: unknown id",
            "line 4: “page-1”: the id was already used on line 1",
            "line 5: not valid UTF-8",
        ]
    )
    expect(check).to_contain_text("2 items without a prediction: page-2, page-3.")
    # The browser does not block the upload: the site reports the faults, and more.
    page.get_by_label("Name").fill("Reader")
    page.get_by_role("button", name="Submit", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("4 errors. Nothing was submitted")


def test_a_valid_file_has_no_errors_gzipped_or_not(
    page_of: PageOf, board: Board, researcher: User, file: Path
) -> None:
    page = page_of(researcher)
    page.goto(URL)
    check = page.get_by_role("status")
    file.write_bytes(lines_of(PERFECT))
    page.get_by_label("Predictions").set_input_files(file)
    expect(check).to_contain_text("3 predictions, no errors found")
    packed = file.with_name("packed.jsonl.gz")
    packed.write_bytes(gzip.compress(lines_of(PERFECT)))
    page.get_by_label("Predictions").set_input_files(packed)
    expect(check).to_contain_text("packed.jsonl.gz")
    expect(check).to_contain_text("3 predictions, no errors found")
    broken = file.with_name("broken.jsonl.gz")
    broken.write_bytes(gzip.compress(lines_of(PERFECT))[:30])
    page.get_by_label("Predictions").set_input_files(broken)
    expect(check).to_contain_text("not a readable gzip file")
    zipped = file.with_name("pages.zip")
    zipped.write_bytes(b"PK")
    page.get_by_label("Predictions").set_input_files(zipped)
    expect(check).to_contain_text("A ZIP file is checked after the upload")


def test_ids_of_a_private_release_are_not_checked(
    page_of: PageOf, researcher: User, file: Path
) -> None:
    make_board(make_release(visibility="private"))
    file.write_bytes(b'{"id": "page-9", "html": ""}\n')
    page = page_of(researcher)
    page.goto(URL)
    page.get_by_label("Predictions").set_input_files(file)
    expect(page.get_by_role("status")).to_contain_text("1 prediction, no errors found")


def test_a_wrong_answer_key_and_an_image_are_errors_before_the_upload(
    page_of: PageOf, board: Board, researcher: User, file: Path
) -> None:
    page = page_of(researcher)
    page.goto(URL)
    check = page.get_by_role("status")
    file.write_bytes(b'{"id": "page-1", "text": "350"}\n')
    page.get_by_label("Predictions").set_input_files(file)
    expect(check).to_contain_text("line 1: “page-1”: has no 'html'")
    image = file.with_name("page.png")
    image.write_bytes(b"\x89PNG\r\n\x1a\n" + b"\n" * 50)
    page.get_by_label("Predictions").set_input_files(image)
    expect(check).to_contain_text("page.png, 58 bytes: looks like a PNG image.")
    expect(check).not_to_contain_text("error")


def dragged(page: Page, *texts: str) -> JSHandle:
    """The data of dragging these files."""
    return page.evaluate_handle(
        """(texts) => {
          const held = new DataTransfer();
          texts.forEach((text, n) => held.items.add(new File([text], `dropped-${n}.jsonl`)));
          return held;
        }""",
        list(texts),
    )


def test_a_file_is_taken_by_dropping_it(page_of: PageOf, board: Board, researcher: User) -> None:
    page = page_of(researcher)
    page.goto(URL)
    zone = page.locator("[data-drop-zone]")
    expect(zone).to_contain_text("Or drop the file here")
    held = dragged(page, lines_of(PERFECT).decode())
    zone.dispatch_event("dragenter", {"dataTransfer": held})
    expect(zone).to_have_class("drop-zone is-over")
    zone.dispatch_event("drop", {"dataTransfer": held})
    expect(zone).to_have_class("drop-zone")
    expect(page.get_by_role("status")).to_contain_text("dropped-0.jsonl")
    expect(page.get_by_role("status")).to_contain_text("no errors found")
    # Two are one too many, and the first stays.
    zone.dispatch_event("drop", {"dataTransfer": dragged(page, "{}", "{}")})
    expect(page.get_by_role("status")).to_contain_text("Drop only one file")
    page.get_by_label("Name").fill("Reader")
    page.get_by_role("button", name="Submit", exact=True).click()
    page.wait_for_url("**/submissions/*/")
    assert Submission.objects.get().filename == "dropped-0.jsonl"


def test_without_javascript_nothing_is_promised(
    page_of: PageOf, board: Board, researcher: User
) -> None:
    page = page_of(researcher, java_script_enabled=False)
    page.goto(URL)
    expect(page.get_by_text("Or drop the file here")).to_be_hidden()
    expect(page.get_by_label("Predictions")).to_be_visible()


def test_the_faults_are_accessible_and_do_not_overflow(
    page_of: PageOf, board: Board, researcher: User, file: Path
) -> None:
    team_of(researcher, name="The Association for the Careful Reading of Statements")
    file.write_bytes(b'{"id": "' + b"x" * 150 + b'"}\n' + b"broken\n" * 40)
    page = page_of(researcher)
    page.goto(URL)
    page.get_by_label("Predictions").set_input_files(file)
    expect(page.get_by_role("status")).to_contain_text("and 22 more")
    assert faults_in_both_looks(page) == []


def test_a_team_submits_together_until_its_limit(
    page_of: PageOf, researcher: User, ann: User, file: Path
) -> None:
    make_board(in_total=1)
    team_of(ann, researcher, name="Ledger Lab")
    file.write_bytes(lines_of(PERFECT))

    def submit(page: Page, *, name: str) -> None:
        page.goto(URL)
        page.get_by_label("Submit for").select_option("Ledger Lab")
        page.get_by_label("Name").fill(name)
        page.get_by_label("Predictions").set_input_files(file)
        expect(page.get_by_role("status")).to_contain_text("3 predictions, no errors found")
        page.get_by_role("button", name="Submit", exact=True).click()

    first = page_of(researcher)
    submit(first, name="Reader of Rex")
    first.wait_for_url("**/submissions/*/")
    run_due_jobs()
    expect(first.get_by_role("heading", name="Fact-level")).to_be_visible()

    # The other member sees it, reads its result, and cannot send another for the team.
    second = page_of(ann)
    second.goto("/submissions/")
    expect(second.get_by_role("row", name="Reader of Rex")).to_contain_text("Ledger Lab, by Rex")
    submit(second, name="Reader of Ann")
    expect(second.get_by_role("alert")).to_contain_text(
        "The team “Ledger Lab” has reached its limit of 1 scored submission in “Test”."
    )
    second.get_by_label("Submit for").select_option("Myself")
    second.get_by_role("button", name="Submit", exact=True).click()
    second.wait_for_url("**/submissions/*/")
    assert [each.team for each in Submission.objects.filter(owner=ann)] == [None]

    second.goto("/submissions/")
    second.get_by_role("link", name="Reader of Rex").click()
    expect(second.get_by_role("heading", name="Fact-level")).to_be_visible()
    second.get_by_role("button", name="Publish").click()
    expect(second.locator(".messages")).to_contain_text("Result published")
    second.goto("/boards/board/")
    second.get_by_role("row", name="Reader of Rex").locator("summary").click()
    expect(second.get_by_role("link", name="Ledger Lab")).to_be_visible()
