"""Run manifests: what is refused, what is stored, and the card that they fill."""

from decimal import Decimal
from io import BytesIO
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from rest_framework.test import APIClient

from portal.accounts.models import User
from portal.datasets.models import Release
from scoring.answering.manifest import MOST_BYTES
from scoring.boards.services import edit_board
from scoring.models import Board, Manifest, Submission
from scoring.submissions.manifests import (
    ManifestRefused,
    check_manifest,
    filled_card,
    read_manifest,
)
from scoring.submissions.selectors import for_lists, submission_lines
from tests.fixture_types import ApiOf, ClientOf
from tests.scoring.factories import (
    PERFECT,
    first_phase,
    lines_of,
    make_board,
    make_release,
    upload,
)

from .manifest_files import PROMPT, manifest_file, manifest_of

pytestmark = pytest.mark.django_db

API = "/api/v1/boards/board/submissions/"
PAGE = "/boards/board/submit/"
CONTENT = lines_of(PERFECT)
ITEM = {"id": "page-1", "state": "answered"}


def send(api: APIClient, manifest: Any, **extra: Any) -> Any:
    data = {"file": upload(CONTENT), "manifest": manifest_file(manifest), **extra}
    return api.post(API, data, format="multipart")


def faults_of(**changes: Any) -> str:
    with pytest.raises(ManifestRefused) as refused:
        read_manifest(manifest_file(manifest_of(CONTENT, **changes)))
    return str(refused.value)


def test_a_manifest_is_stored_with_the_submission(
    board: Board, researcher: User, api_of: ApiOf
) -> None:
    answer = send(api_of(researcher), manifest_of(CONTENT))
    assert answer.status_code == 201, answer.json()
    kept = Manifest.objects.get(submission=answer.json()["id"])
    assert kept.about["engine"] == "openai"
    assert "items" not in kept.about
    assert [item["id"] for item in kept.items] == ["page-1", "page-2", "page-3"]
    assert kept.states == {"answered": 3}
    assert kept.warnings == []


def test_it_fills_the_empty_fields_of_the_card(
    board: Board, researcher: User, api_of: ApiOf
) -> None:
    send(api_of(researcher), manifest_of(CONTENT), decoding="as in the paper", size="7B")
    row = Submission.objects.get()
    assert (row.name, row.size, row.prompt) == ("reader-7b", "7B", PROMPT)
    assert (row.decoding, row.output_tokens) == ("as in the paper", 1200)
    assert row.cost == Decimal("0.0123")


@pytest.mark.parametrize(
    ("changes", "field", "value"),
    [
        ({}, "decoding", "max_tokens 2048, stream false, temperature 0"),
        ({"tokens": {"output": 9, "uncertain": 1}}, "output_tokens", None),
        ({"tokens": {"output": 0}}, "output_tokens", None),
        ({"cost": None}, "cost", None),
        ({"tokens": {"output": 9, "uncertain": 1}}, "cost", None),
        ({"cost": 0}, "cost", Decimal("0.0000")),
        ({"cost": 1e300}, "cost", None),
        ({"prompts": []}, "prompt", None),
        ({"model": "m" * 200}, "name", "m" * 120),
    ],
)
def test_the_card_has_only_what_the_manifest_knows(
    changes: dict[str, Any], field: str, value: Any
) -> None:
    manifest = read_manifest(manifest_file(manifest_of(CONTENT, **changes)))
    assert filled_card({}, manifest).get(field) == value


def test_the_card_keeps_what_it_says() -> None:
    manifest = read_manifest(manifest_file(manifest_of(CONTENT)))
    card = {"name": "Mine", "prompt": "", "output_tokens": 0, "cost": None}
    filled = filled_card(card, manifest)
    assert (filled["name"], filled["output_tokens"]) == ("Mine", 0)
    assert (filled["prompt"], filled["cost"]) == (PROMPT, Decimal("0.0123"))


def test_a_required_field_can_come_from_the_manifest(
    board: Board, researcher: User, api_of: ApiOf, client_of: ClientOf
) -> None:
    edit_board(board=board, changes={"card_fields": ["prompt", "licence"]}, actor=None)
    refused = send(api_of(researcher), manifest_of(CONTENT))
    assert refused.json() == {"licence": ["This board requires it."]}
    assert send(api_of(researcher), manifest_of(CONTENT), licence="MIT").status_code == 201


def test_a_submission_without_a_name_or_a_manifest_is_refused(
    board: Board, researcher: User, api_of: ApiOf
) -> None:
    answer = api_of(researcher).post(API, {"file": upload(CONTENT)}, format="multipart")
    assert list(answer.json()) == ["name"]
    nameless = manifest_of(CONTENT, model="")
    assert list(send(api_of(researcher), nameless).json()) == ["name"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"items": [{"id": "page-1", "state": "great"}]}, "items.0.state: "),
        ({"items": [{"id": "", "state": "empty"}]}, "items.0.id: "),
        ({"items": [ITEM, ITEM]}, "items: Duplicate IDs: “page-1”."),
        ({"submission_sha256": "zz"}, "submission_sha256: "),
        ({"key": "sk-1"}, "key: Extra inputs are not permitted"),
        ({"started_at": "2026-11-20T10:00:00"}, "started_at: "),
        ({"finished_at": "2026-11-19T10:00:00Z"}, "finished_at: Must not be before started_at."),
        ({"host": "example.org/v1?key=1"}, "host: Use only the host name"),
        (
            {"command": "factboard run --base-url https://me:pw@example.org/v1"},
            "command: Remove the user name",
        ),
        ({"command": "x" * 2001}, "command: "),
        ({"cost": -1}, "cost: "),
        ({"tokens": {"output": 10**16}}, "tokens.output: "),
        ({"decoding": {"stop": ["a"]}}, "decoding.stop"),
        ({"decoding": {str(n): n for n in range(101)}}, "decoding: "),
        ({"model": "a\x00b"}, "U+0000"),
        (
            {"prompts": [{"version": "1", "name": "item", "sha256": "0" * 64, "text": "Hi"}]},
            "does not match its text",
        ),
    ],
)
def test_faults_name_the_field(changes: dict[str, Any], words: str) -> None:
    assert words in faults_of(**changes)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b"\xff\xfe",
        b'{"cost": NaN}',
        b'{"model": "\\ud800"}',
        b"[" * 100_000,
        b'{"decoding": {"a": ' + b"9" * 10_000 + b"}}",
    ],
    ids=["empty", "cut", "list", "encoding", "nan", "surrogate", "deep", "digits"],
)
def test_files_that_are_no_manifest_are_refused(data: bytes) -> None:
    with pytest.raises(ManifestRefused):
        read_manifest(BytesIO(data))


def test_text_about_a_nul_is_no_nul() -> None:
    read_manifest(manifest_file(manifest_of(CONTENT, model=r"a\u0000b")))


def test_infinite_figures_are_refused() -> None:
    text = manifest_file(manifest_of(CONTENT)).read().replace(b"0.0123", b"1e999")
    with pytest.raises(ManifestRefused, match="cost"):
        read_manifest(BytesIO(text))


def test_a_manifest_that_is_too_large_is_refused() -> None:
    with pytest.raises(ManifestRefused, match="larger than 32 MB"):
        read_manifest(BytesIO(b" " * (MOST_BYTES + 1)))


def test_many_faults_are_counted() -> None:
    found = faults_of(items=[{"id": str(n), "state": "?"} for n in range(15)])
    assert "items.9.state" in found
    assert "items.10.state" not in found
    assert "And 5 more errors." in found


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"submission_sha256": "0" * 64}, "belongs to another file"),
        ({"benchmark": "ccocr"}, "The run is for “ccocr”"),
        ({"items": [{"id": "elsewhere", "state": "empty"}]}, "“elsewhere”"),
    ],
)
def test_a_manifest_of_something_else_is_refused(
    changes: dict[str, Any], words: str, board: Board, researcher: User, api_of: ApiOf
) -> None:
    answer = send(api_of(researcher), manifest_of(CONTENT, **changes))
    assert answer.status_code == 400
    [fault] = answer.json()["manifest"]
    assert words in fault
    assert not Submission.objects.exists()


def test_a_refusal_names_only_ids_that_were_sent(researcher: User, api_of: ApiOf) -> None:
    make_board(make_release(visibility=Release.Visibility.PRIVATE))
    items = [{"id": name, "state": "empty"} for name in ("page-1", "mine")]
    answer = send(api_of(researcher), manifest_of(CONTENT, items=items))
    assert answer.status_code == 400
    assert "“mine”" in str(answer.json())
    assert "page-" not in str(answer.json())


def test_a_manifest_is_checked_without_a_submission(
    board: Board, researcher: User, api_of: ApiOf
) -> None:
    def check(manifest: Any) -> Any:
        data = {"file": upload(CONTENT), "manifest": manifest_file(manifest)}
        return api_of(researcher).post("/api/v1/boards/board/check/", data, format="multipart")

    own = check(manifest_of(CONTENT, release_sha256=first_phase(board).release.sha256))
    assert (own.status_code, own.json()["warnings"]) == (200, [])
    other = check(manifest_of(CONTENT, release_sha256="1" * 64)).json()
    assert "a different release" in other["warnings"][0]
    refused = check(manifest_of(b"another"))
    assert refused.status_code == 400
    assert "another file" in refused.json()["manifest"][0]
    assert not Submission.objects.exists()


@pytest.mark.parametrize("own", [True, False])
def test_another_release_is_a_warning(
    own: bool, board: Board, researcher: User, api_of: ApiOf
) -> None:
    sha256 = first_phase(board).release.sha256 if own else "1" * 64
    answer = send(api_of(researcher), manifest_of(CONTENT, release_sha256=sha256))
    assert answer.status_code == 201
    warnings = Manifest.objects.get().warnings
    assert bool(warnings) is not own
    assert own or "a different release (pages 1.0.0)" in warnings[0]


def test_the_file_is_read_from_its_start(board: Board) -> None:
    file = upload(CONTENT)
    file.read()
    manifest = read_manifest(manifest_file(manifest_of(CONTENT)))
    check_manifest(manifest, phase=first_phase(board), file=file)
    assert file.read() == CONTENT


def page_form(board: Board, **fields: Any) -> dict[str, Any]:
    sent = {"phase": board.phases.get().pk, "category": "other", "form_key": "k", "team": ""}
    return {**sent, "file": upload(CONTENT), **fields}


def test_the_page_takes_a_manifest(board: Board, researcher: User, client_of: ClientOf) -> None:
    client = client_of(researcher)
    assert 'name="manifest"' in client.get(PAGE).content.decode()
    sent = page_form(board, manifest=manifest_file(manifest_of(CONTENT)))
    assert client.post(PAGE, sent).status_code == 302
    assert Submission.objects.get().name == "reader-7b"
    assert Manifest.objects.count() == 1


@pytest.mark.parametrize(
    "content",
    [manifest_file(manifest_of(b"other")), SimpleUploadedFile("manifest.json", b"{}")],
    ids=["of another file", "no manifest"],
)
def test_the_page_shows_what_is_wrong_with_it(
    content: SimpleUploadedFile, board: Board, researcher: User, client_of: ClientOf
) -> None:
    content.seek(0)
    answer = client_of(researcher).post(PAGE, page_form(board, name="R", manifest=content))
    assert answer.status_code == 400
    assert "Run manifest: " in answer.content.decode()
    assert "submission_sha256: " in answer.content.decode()
    assert not Submission.objects.exists()


def test_the_page_needs_a_name_without_a_manifest(
    board: Board, researcher: User, client_of: ClientOf
) -> None:
    answer = client_of(researcher).post(PAGE, page_form(board))
    assert answer.status_code == 400
    assert "Name: This field is required." in answer.content.decode()


def test_a_new_version_has_its_own_manifest(board: Board, researcher: User, api_of: ApiOf) -> None:
    api = api_of(researcher)
    first = send(api, manifest_of(CONTENT)).json()["id"]
    plain = {"file": upload(CONTENT), "name": "Reader", "replaces": first}
    second = api.post(API, plain, format="multipart").json()["id"]
    assert list(Manifest.objects.values_list("submission", flat=True)) == [first]
    assert Submission.objects.get(pk=second).replaces_id == first


def test_a_manifest_is_deleted_with_its_submission(
    board: Board, researcher: User, api_of: ApiOf
) -> None:
    send(api_of(researcher), manifest_of(CONTENT))
    Submission.objects.get().delete()
    assert not Manifest.objects.exists()


def test_lists_do_not_read_manifests(
    board: Board, researcher: User, api_of: ApiOf, django_assert_max_num_queries: Any
) -> None:
    send(api_of(researcher), manifest_of(CONTENT))
    with django_assert_max_num_queries(4) as asked:
        submission_lines(researcher, list(for_lists(Submission.objects.kept_by(researcher))))
    assert not any("scoring_manifest" in query["sql"] for query in asked.captured_queries)
