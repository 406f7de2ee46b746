"""Bad uploads: every fault is named with file, line and id, and nothing of gold is said."""

import gzip
import io
import json
import zipfile
from typing import Any

import pytest

from portal.accounts.models import User
from scoring.models import Board
from scoring.submissions.uploads import CheckedUpload, SubmissionRefused, check_upload
from tests.datasets.factories import zip_bytes
from tests.scoring.factories import (
    PERFECT,
    first_phase,
    lines_of,
    make_board,
    make_release,
    send_file,
    upload,
)

pytestmark = pytest.mark.django_db


def check(board: Board, content: bytes, name: str = "predictions.jsonl") -> CheckedUpload:
    return check_upload(phase=first_phase(board), file=upload(content, name), filename=name)


def only_fault(checked: CheckedUpload) -> tuple[str, int, str | None, str]:
    [fault] = checked.faults
    return fault.file, fault.line, fault.id, fault.message


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("predictions.jsonl", lines_of(PERFECT)),
        ("predictions.jsonl.gz", gzip.compress(lines_of(PERFECT), mtime=0)),
        ("predictions.zip", zip_bytes({"all.jsonl": lines_of(PERFECT)})),
        ("predictions.zip", zip_bytes({f"{name}.html": html for name, html in PERFECT.items()})),
        ("predictions.zip", zip_bytes({f"out/pred_{name}.txt": "text" for name in PERFECT})),
        # The bytes decide on the format, not the name.
        ("predictions.bin", lines_of(PERFECT)),
    ],
)
def test_every_layout_is_read(board: Board, name: str, content: bytes) -> None:
    checked = check(board, content, name)
    assert checked.faults == ()
    assert checked.missing == ()
    assert len(checked.predictions) == 3


def test_missing_ids_are_counted_and_no_fault(board: Board) -> None:
    checked = check(board, lines_of({"page-2": "x"}))
    assert checked.faults == ()
    assert checked.missing == ("page-1", "page-3")


@pytest.mark.parametrize(
    ("line", "item", "message"),
    [
        (b"{not json}", None, "not valid JSON"),
        (b"[1, 2]", None, "not a JSON object"),
        (b'{"id": "page-2"}', "page-2", "has no 'html'"),
        (b'{"html": "x"}', None, "has no 'id'"),
        (b'{"id": 7, "html": "x"}', None, "'id' must be a string"),
        (b'{"id": "page-2", "html": null}', "page-2", "'html' must be a string, not null"),
        (b'{"id": "page-2", "html": "\xff"}', None, "not valid UTF-8 (byte 0xff)"),
        (b'{"id": "nobody", "html": "x"}', "nobody", "unknown id 'nobody'"),
        (b'{"id": "page-1", "html": "x"}', "page-1", "was already used at predictions.jsonl:1"),
        (b'{"id": "page-2", "html": NaN}', None, "NaN is not a JSON value"),
        (b'{"id": "a", "id": "b", "html": "x"}', None, "occurs twice in one object"),
    ],
)
def test_a_bad_line_is_named_with_file_line_and_id(
    board: Board, line: bytes, item: str | None, message: str
) -> None:
    good = json.dumps({"id": "page-1", "html": "x"}).encode()
    file, number, named, said = only_fault(check(board, good + b"\n" + line + b"\n"))
    assert (file, number, named) == ("predictions.jsonl", 2, item)
    assert message in said


def test_every_fault_is_listed_not_only_the_first(board: Board) -> None:
    content = b'{"id": "x1", "html": ""}\nbroken\n{"id": "x2", "html": ""}\n'
    faults = check(board, content).faults
    assert [fault.line for fault in faults] == [1, 2, 3]


def test_faults_shown_are_capped_and_the_rest_is_counted(board: Board) -> None:
    checked = check(board, b"broken\n" * 1500)
    assert checked.fault_count == 1500
    assert len(checked.shown_faults) == 200
    assert checked.hidden_fault_count == 1300


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.zip", b"this is no archive", "not a readable ZIP archive"),
        ("a.zip", b"PK\x03\x04 broken", "not a readable ZIP archive"),
        ("a.jsonl.gz", b"\x1f\x8b broken", "not a readable gzip file"),
        ("a.zip", zip_bytes({"../page-1.html": "x"}), "file name not accepted"),
        ("a.zip", zip_bytes({"/etc/page-1.html": "x"}), "file name not accepted"),
        ("a.zip", zip_bytes({"run.exe": "x"}), "unexpected file"),
        ("a.zip", zip_bytes({}), "contains no files"),
        ("a.jsonl", b"", "contains no predictions"),
    ],
)
def test_a_file_that_is_no_submission(
    board: Board, name: str, content: bytes, message: str
) -> None:
    checked = check(board, content, name)
    assert any(message in fault.message for fault in checked.faults)
    assert checked.faults[0].file.startswith(name)


def test_a_bomb_is_refused_before_it_is_unpacked(board: Board) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("page-1.html", b"0" * (30 * 1024 * 1024))
    *_, message = only_fault(check(board, buffer.getvalue(), "a.zip"))
    assert "bomb" in message


def test_limits_are_those_of_the_settings(board: Board, settings: Any) -> None:
    settings.ARCHIVE_MEMBERS_LIMIT = 2
    members = {f"page-{number}.html": "x" for number in (1, 2, 3)}
    *_, message = only_fault(check(board, zip_bytes(members), "a.zip"))
    assert "more than 2 files" in message


def test_invalid_utf8_in_a_page_names_the_page_and_line(board: Board) -> None:
    file, line, item, message = only_fault(
        check(board, zip_bytes({"page-1.html": b"<p>\n\xff</p>"}), "a.zip")
    )
    assert (file, line, item) == ("a.zip/page-1.html", 2, "page-1")
    assert "not valid UTF-8" in message


def test_faults_and_missing_ids_say_nothing_of_gold(board: Board) -> None:
    """No message contains values of the gold that are not in the submission."""
    checked = check(board, b'{"id": "page-1", "html": 5}\n{"id": "page-9", "html": ""}\n')
    said = str(checked.faults) + str(checked.missing) + checked.api_detail
    for secret in ("1,200", "(350)", "98,765", "Revenue", "Total assets"):
        assert secret not in said


def test_an_upload_with_faults_is_never_stored(board: Board, researcher: User) -> None:
    with pytest.raises(SubmissionRefused, match="Errors in the file: 1"):
        send_file(first_phase(board), researcher, b"broken\n")
    assert first_phase(board).submissions.count() == 0


def test_a_thousand_items_are_checked_within_a_second(
    django_assert_max_num_queries: Any,
) -> None:
    gold = {f"p{n}": f"<p>Item {n} <Number>{n},000</Number></p>" for n in range(1000)}
    board = make_board(make_release(gold))
    content = lines_of(dict.fromkeys(gold, "<p>text</p>" * 50))
    with django_assert_max_num_queries(5):
        checked = check(board, content)
    assert len(checked.predictions) == 1000
