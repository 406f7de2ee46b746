"""`manage.py grade` and uploads report what is wrong with a file."""

import gzip
import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import pytest
from django.core.management import call_command
from django.test import Client

from portal.accounts.models import User
from scoring.benchmarks import BENCHMARKS
from scoring.models import Submission
from scoring.submissions.uploads import check_upload
from tests.many import together
from tests.scoring.benchmarks.samples import SAMPLES, as_json, as_lines, as_tar, as_zip
from tests.scoring.factories import first_phase, make_board, upload

BAD_INPUT = 2
each_benchmark = together("key", BENCHMARKS)

# A file's name, its content, the name in the message after it, the line, and the message.
FILES: dict[str, tuple[str, bytes, str, int, str]] = {
    "truncated": ("x.jsonl", b'{"id": "a', "", 1, "not valid JSON"),
    "not UTF-8": ("x.jsonl", b'\n\n{"id": "\xe9"}', "", 3, "not valid UTF-8 (byte 0xe9)"),
    "UTF-16": ("x.jsonl", '{"id": "a"}'.encode("utf-16"), "", 0, "looks like text in UTF-16; acc"),
    "a tar": ("x.jsonl", as_tar({"a.jsonl": b"{}"}), "", 0, "looks like a tar archive; accepted"),
    "a PDF": ("x.zip", b"%PDF-1.7\n%", "", 0, "looks like a PDF; a ZIP archive is required"),
    "a page": ("x.jsonl", b"<html>\n<p>1</p>", "", 0, "looks like an HTML or XML page; accepted"),
    "a sheet": (
        "x.zip",
        as_zip({"[Content_Types].xml": b"<a/>"}),
        "",
        0,
        "looks like an Office document",
    ),
    "too deep": ("x.jsonl", b'{"id": ' + b"[" * 100_000, "", 1, "nested more than 200 deep"),
    "too many digits": ("x.jsonl", b'{"id": %s}' % (b"9" * 5000), "", 1, "too many digits"),
    "not finite": ("x.jsonl", b'\n{"id": NaN}', "", 2, "NaN is not a JSON value"),
    "a key twice": ("x.jsonl", b'{"id": 1, "id": 1}', "", 1, "the key 'id' occurs twice"),
    "no object": ("x.jsonl", b"7", "", 1, "not a JSON object"),
    "an array": ("x.jsonl", b"[]", "", 1, "this is a JSON array"),
    "without an id": ("x.jsonl", b"{}", "", 1, "has no 'id'"),
    "empty": ("x.jsonl", b"\xef\xbb\xbf \n", "", 0, "contains no"),
    "half of gzip": ("x.jsonl.gz", gzip.compress(b"{}" * 99)[:-9], "", 0, "not a readable gzip"),
    "half a ZIP": ("x.zip", as_zip({"a.jsonl": b"{}"})[:-9], "", 0, "not a readable ZIP"),
    "names that climb": ("x.zip", as_zip({"../a.jsonl": b"{}"}), "", 0, "file name not accepted"),
    "a stranger": ("x.zip", as_zip({"a.exe": b"MZ"}), "/a.exe", 0, "unexpected file"),
}
each_file = together("name", FILES)


class Graded(NamedTuple):
    """The exit status and output of a command."""

    code: object
    output: str
    errors: str


def grade(key: str, gold: Path, submission: Path) -> Graded:
    output, errors = io.StringIO(), io.StringIO()
    arguments = ["--gold", str(gold), "--submission", str(submission), "--json", "--jobs", "1"]
    code: object = 0
    try:
        call_command("grade", key, *arguments, stdout=output, stderr=errors)
    except SystemExit as ended:
        code = ended.code
    return Graded(code, output.getvalue(), errors.getvalue())


@pytest.fixture
def good(tmp_path: Path) -> SimpleNamespace:
    """Paths for gold and submission; `write(key)` fills them with the sample."""
    gold, submission = tmp_path / "gold.jsonl", tmp_path / "submission.jsonl"

    def write(key: str) -> None:
        gold.write_bytes(as_lines(SAMPLES[key].gold))
        submission.write_bytes(as_lines(SAMPLES[key].predictions))

    return SimpleNamespace(gold=gold, submission=submission, write=write)


@each_benchmark
def test_grade_takes_the_sample(key: str, good: SimpleNamespace) -> None:
    good.write(key)
    done = grade(key, good.gold, good.submission)
    assert (done.code, done.errors) == (0, "")
    assert json.loads(done.output)["items"] == len(SAMPLES[key].gold)


@each_benchmark
@each_file
@together("side", ["gold", "submission"])
def test_grade_names_file_and_line(
    key: str, name: str, side: str, good: SimpleNamespace, tmp_path: Path
) -> None:
    good.write(key)
    file, data, member, line, message = FILES[name]
    path = tmp_path / file
    path.write_bytes(data)
    paths = {"gold": good.gold, "submission": good.submission, side: path}
    done = grade(key, paths["gold"], paths["submission"])
    assert (done.code, done.output) == (BAD_INPUT, "")
    assert done.errors.startswith(f"{path}{member}:{line}: ")
    assert message in done.errors.splitlines()[0]


@pytest.mark.django_db
@pytest.mark.parametrize("key", BENCHMARKS)
def test_an_upload_is_checked_by_file_and_line(key: str) -> None:
    phase = first_phase(make_board())
    phase.board.benchmark = key  # The release has other items, but only their ids matter.
    for file, data, member, line, message in FILES.values():
        checked = check_upload(phase=phase, file=upload(data, file), filename=file)
        assert (checked.predictions, checked.fault_count) == ({}, 1)
        (fault,) = checked.faults
        assert str(fault).startswith(f"{file}{member}:{line}: ")
        assert message in fault.message


@pytest.mark.django_db
def test_the_page_shows_faults_of_any_file(client: Client, organiser: User) -> None:
    board = make_board()
    client.force_login(organiser)
    long = as_json({"id": "<b>\0" * 50_000, "html": 1})
    for content in (*(data for _, data, *_ in FILES.values()), long):
        data = {"phase": first_phase(board).pk, "name": "Reader 7B", "category": "ocr_model"}
        form = {**data, "form_key": "key-1", "size": "7B", "file": upload(content)}
        response = client.post(f"/boards/{board.slug}/submit/", form)
        assert "1 error. Nothing was submitted" in response.content.decode()
        assert len(response.content) < 100_000
    assert not Submission.objects.exists()
