"""The client and its commands against the site itself."""

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from django.core.handlers.wsgi import WSGIHandler

from factboard.client import (
    BadDownloadError,
    ModelCard,
    NotAllowedError,
    NotFoundError,
    RefusedError,
    UnreachableError,
)
from portal.accounts.access import issue_token
from portal.accounts.models import ApiToken, User
from portal.datasets.models import Release
from portal.jobs.worker import run_due_jobs
from portal.web.api import MOST_AT_ONCE
from scoring.models import Board, Category, Entry, Submission
from tests.datasets.releases.worlds import split_world
from tests.scoring.factories import (
    FLAWED,
    PERFECT,
    fill_board,
    lines_of,
    make_board,
    make_entry,
    make_release,
    make_submission,
)
from tests.scoring.submissions.manifest_files import manifest_of

from .conftest import SITE, ClientFor, Command

pytestmark = pytest.mark.django_db


@pytest.fixture
def predictions(tmp_path: Path) -> Path:
    path = tmp_path / "predictions.jsonl"
    path.write_bytes(lines_of(PERFECT))
    return path


# --- reading ----------------------------------------------------------------------------------


def test_boards_and_their_phases(client_for: ClientFor, board: Board) -> None:
    [found] = client_for(None).boards()
    assert (found.slug, found.benchmark, found.phases[0].release) == (
        "board",
        "fincriticaled",
        "1.0.0",
    )


def test_all_pages_of_boards_are_read(
    client_for: ClientFor, board: Board, site: httpx2.BaseTransport
) -> None:
    make_board(board.phases.get().release, slug="other")
    whole = WSGIHandler()

    def one_at_a_time(environ: dict[str, Any], start: Any) -> Any:
        query = environ["QUERY_STRING"].replace("limit=100", "limit=1")
        return whole(environ | {"QUERY_STRING": query}, start)

    client = client_for(None, httpx2.WSGITransport(app=one_at_a_time))
    assert sorted(found.slug for found in client.boards()) == ["board", "other"]


def test_the_leaderboard_as_a_table(command: Command, board: Board, researcher: User) -> None:
    make_entry(board, researcher, name="Best\x1b[31m", ffa=0.912345)
    make_entry(board, researcher, name="Next", ffa=None)
    done = command("leaderboard", "board")
    assert (done.code, done.err) == (0, "")
    best, following = (line for line in done.out.splitlines() if "Best" in line or "Next" in line)
    assert best.split()[2:4] == ["1", "1"]
    assert "91.23%" in best
    assert "\\x1b[31m" in best
    assert "n/a" in following


def test_rows_of_the_leaderboard_are_by_rank(
    command: Command, board: Board, researcher: User
) -> None:
    """The site groups them by category; a table in a terminal has no headings."""
    for name, ffa in {"Third": 0.1, "First": 0.9, "Second": 0.5}.items():
        make_entry(board, researcher, name=name, ffa=ffa)
    Entry.objects.exclude(name="First").update(category=Category.OCR_MODEL)
    out = command("leaderboard", "board").out
    assert [line.split()[0] for line in out.splitlines()[2:5]] == ["First", "Second", "Third"]
    by_name = command("leaderboard", "board", "--sort=-name").out.splitlines()
    assert [line.split()[0] for line in by_name[2:5]] == ["Third", "Second", "First"]


def test_the_client_reads_all_pages_of_a_leaderboard(
    client_for: ClientFor, board: Board, researcher: User
) -> None:
    fill_board(board, researcher, MOST_AT_ONCE + 1)
    [section] = client_for(None).leaderboard("board").sections
    assert len({row.name for row in section.rows}) == MOST_AT_ONCE + 1
    [first] = client_for(None).leaderboard("board", limit="2").sections
    assert len(first.rows) == 2


def test_the_leaderboard_as_json_and_csv(command: Command, board: Board, researcher: User) -> None:
    make_entry(board, researcher, name="Reader", ffa=0.912345)
    table = json.loads(command("leaderboard", "board", "--json").out)
    assert table["sections"][0]["rows"][0]["values"]["ffa"] == 0.912345
    # Fields that the client does not name are kept.
    assert "verdict" in table["sections"][0]["rows"][0]
    assert "Reader" in command("leaderboard", "board", "--csv").out


def test_a_board_that_does_not_exist(command: Command, db: None) -> None:
    done = command("leaderboard", "nowhere")
    assert (done.code, done.out) == (2, "")
    assert done.err == "The board “nowhere” does not exist, or you do not have access.\n"
    done = command("watch", "99")
    assert done.code == 2
    assert "99" in done.err


def test_a_filter_that_the_site_does_not_have(client_for: ClientFor, board: Board) -> None:
    with pytest.raises(TypeError, match="unknown parameters: beauty"):
        client_for(None).leaderboard("board", beauty="yes")
    with pytest.raises(RefusedError, match="verified: "):
        client_for(None).leaderboard("board", verified="perhaps")


# --- submitting -------------------------------------------------------------------------------


def test_a_file_is_submitted_and_its_model_card_kept(
    client_for: ClientFor, board: Board, researcher: User, predictions: Path
) -> None:
    card = ModelCard(name="Reader", open_weights=True, category="open_vlm", output_tokens=1200)
    sent = client_for(researcher).submit("board", predictions, card)
    kept = Submission.objects.get(pk=sent.id)
    assert (kept.name, kept.open_weights, kept.category) == ("Reader", True, "open_vlm")
    assert (kept.owner, kept.output_tokens, kept.architecture) == (researcher, 1200, "")
    assert sent.grading is not None
    assert sent.grading.state == "queued"


def test_a_submission_is_watched_until_its_score_and_published(
    command: Command, board: Board, researcher: User, predictions: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    grade_between_requests(monkeypatch)
    done = command("submit", "board", predictions, "--name", "Reader", "--publish", user=researcher)
    assert done.code == 0, done.err
    kept = Submission.objects.get()
    assert done.err.splitlines() == [
        f"submission {kept.pk}: {SITE}/submissions/{kept.pk}/",
        "queued: 0 of 3 items",
        "done: 3 of 3 items",
        f"published on {SITE}/boards/board/",
    ]
    assert "100.00%" in done.out
    assert kept.publication == Submission.Publication.PUBLIC


def grade_between_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs the due jobs whenever the client waits."""
    from factboard.client import Client

    def watched(self: Client, number: int, every: float = 0) -> Iterator[object]:
        self._sleep = lambda _: run_due_jobs()  # type: ignore[assignment]
        return watch(self, number, every)

    watch = Client.watch
    monkeypatch.setattr(Client, "watch", watched)


def test_watching_a_failed_grading_is_a_failure(
    command: Command, graded: Submission, researcher: User
) -> None:
    graded.gradings.update(state="failed", error="out of memory")
    done = command("watch", graded.pk, user=researcher)
    assert (done.code, done.out) == (1, "")
    assert "failed: " in done.err
    assert "out of memory" in done.err


def test_faults_of_a_file_are_named_with_their_lines_and_nothing_is_stored(
    command: Command, board: Board, researcher: User, predictions: Path
) -> None:
    predictions.write_text('{"id": "page-1", "html": ""}\n{"id": "zzz", "html": ""}\nnope\n')
    arguments = ("board", predictions)
    done = command("submit", *arguments, "--name", "Reader", user=researcher)
    assert (done.code, done.out) == (2, "")
    assert "predictions.jsonl:2: unknown id 'zzz'" in done.err
    assert "predictions.jsonl:3: not valid JSON" in done.err
    assert not Submission.objects.exists()
    checked = command("check", *arguments, user=researcher)
    assert checked.code == 1
    assert "predictions.jsonl:3: not valid JSON" in checked.out


def test_missing_items_need_to_be_accepted(
    command: Command, board: Board, researcher: User, predictions: Path
) -> None:
    predictions.write_bytes(lines_of({"page-1": PERFECT["page-1"]}))
    arguments = ("submit", "board", predictions, "--name", "Reader")
    done = command(*arguments, user=researcher)
    assert done.code == 2
    assert "2 (page-2, page-3)." in done.err
    assert "--accept-missing" in done.err
    assert command(*arguments, "--accept-missing", user=researcher).code == 0


def test_a_clean_file_is_checked_without_being_stored(
    command: Command, board: Board, researcher: User, predictions: Path
) -> None:
    done = command("check", "board", predictions, user=researcher)
    assert (done.code, done.out) == (0, "3 predictions, no errors found\n")
    assert not Submission.objects.exists()


def test_a_manifest_is_checked_with_its_file(
    command: Command, board: Board, researcher: User, predictions: Path, tmp_path: Path
) -> None:
    manifest = tmp_path / "manifest.json"
    content = predictions.read_bytes()
    manifest.write_text(json.dumps(manifest_of(content, release_sha256="1" * 64)))
    done = command("check", "board", predictions, "--manifest", manifest, user=researcher)
    assert done.code == 0, done.err
    assert "The run used a different release" in done.out
    manifest.write_text(json.dumps(manifest_of(b"another")))
    done = command("check", "board", predictions, "--manifest", manifest, user=researcher)
    assert done.code == 2
    assert "belongs to another file" in done.err
    assert not Submission.objects.exists()


def test_the_manifest_is_sent_and_names_the_model(
    command: Command, board: Board, researcher: User, predictions: Path, tmp_path: Path
) -> None:
    manifest = tmp_path / "manifest.json"
    dataset = board.phases.get().release.dataset.slug
    manifest.write_text(json.dumps(manifest_of(predictions.read_bytes(), dataset=dataset)))
    done = command(
        "submit", "board", predictions, "--manifest", manifest, "--json", user=researcher
    )
    assert done.code == 0, done.err
    assert json.loads(done.out)["name"] == "reader-7b"
    assert Submission.objects.get().output_tokens == 1200


def test_the_site_refuses_the_manifest_of_another_file(
    command: Command, board: Board, researcher: User, predictions: Path, tmp_path: Path
) -> None:
    manifest = tmp_path / "manifest.json"
    manifest.write_text(json.dumps(manifest_of(b"another")))
    done = command("submit", "board", predictions, "--manifest", manifest, user=researcher)
    assert done.code == 2
    assert "manifest: " in done.err
    assert not Submission.objects.exists()


@pytest.mark.parametrize("what", ["submit", "check"])
def test_a_broken_manifest_is_refused_before_anything_is_sent(
    command: Command, predictions: Path, tmp_path: Path, what: str
) -> None:
    manifest = tmp_path / "manifest.json"
    manifest.write_text("{}")
    done = command(what, "board", predictions, "--manifest", manifest)
    assert done.code == 2
    assert done.err.startswith(f"{manifest}: benchmark: Field required")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "--name TEXT"),
        (["--name", "R", "--category", "abacus"], "--category: Input should be"),
        (["--name", "R", "--released-on", "soon"], "--released-on: Input should be a valid date"),
    ],
)
def test_a_card_that_cannot_be_sent(
    command: Command, predictions: Path, arguments: list[str], message: str
) -> None:
    done = command("submit", "board", predictions, *arguments)
    assert done.code == 2
    assert message in done.err


def test_a_file_that_is_not_there(command: Command, tmp_path: Path) -> None:
    done = command("submit", "board", tmp_path / "none.jsonl", "--name", "Reader")
    assert (done.code, done.err) == (
        2,
        f"{tmp_path}/none.jsonl: cannot be read: No such file or directory\n",
    )


def test_an_answer_that_got_lost_makes_no_second_submission(
    client_for: ClientFor, board: Board, researcher: User, predictions: Path,
    site: httpx2.BaseTransport,
) -> None:  # fmt: skip
    class Losing(httpx2.BaseTransport):
        asked = 0

        def handle_request(self, request: httpx2.Request) -> httpx2.Response:
            answer = site.handle_request(request)
            self.asked += 1
            if self.asked == 1:
                raise httpx2.ReadError("broken")
            return answer

    losing = Losing()
    sent = client_for(researcher, losing).submit("board", predictions, ModelCard(name="Reader"))
    assert losing.asked == 2
    assert [kept.pk for kept in Submission.objects.all()] == [sent.id]


# --- permissions ------------------------------------------------------------------------------


def test_nothing_is_submitted_without_a_token_or_with_a_wrong_one(
    command: Command, board: Board, researcher: User, predictions: Path
) -> None:
    arguments = ("submit", "board", predictions, "--name", "Reader")
    done = command(*arguments)
    assert done.code == 1
    assert "Authentication credentials were not provided" in done.err
    done = command(*arguments, token="wrong-token-of-a-test")
    assert done.code == 1
    assert "does not exist or was revoked" in done.err
    read_only = issue_token(user=researcher, name="read", scope=ApiToken.Scope.READ)[1]
    done = command(*arguments, token=read_only)
    assert done.code == 1
    assert "read only" in done.err
    assert not Submission.objects.exists()


def test_a_private_submission_is_for_its_owner(
    client_for: ClientFor, graded: Submission, researcher: User, stranger: User
) -> None:
    assert client_for(researcher).submission(graded.pk).name == "Reader"
    for user in (stranger, None):
        with pytest.raises(NotFoundError):
            client_for(user).submission(graded.pk)
    with pytest.raises((NotFoundError, NotAllowedError)):
        client_for(stranger).publish(graded.pk)


# --- comparing --------------------------------------------------------------------------------


def test_two_published_results_are_compared_with_a_test(
    command: Command, client_for: ClientFor, board: Board, researcher: User,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    first = make_submission(board, researcher, PERFECT, name="Perfect")
    second = make_submission(board, researcher, FLAWED, name="Flawed")
    run_due_jobs()
    client = client_for(researcher)
    with pytest.raises(RefusedError, match=rf"submissions: Submission {first.pk} has no published"):
        client.compare(first.pk, second.pk)
    client.publish(first.pk)
    client.publish(second.pk)
    run_due_jobs()
    found = client.compare(first.pk, second.pk)
    assert [entry.submission for entry in found.entries] == [first.pk, second.pk]
    assert found.is_ready
    [pair] = found.pairs
    assert pair.difference.value == pytest.approx(2 / 6)
    assert pair.difference.p_value is not None
    done = command("compare", first.pk, second.pk)
    assert (done.code, done.err) == (0, "")
    assert f"Perfect ({first.pk}) - Flawed ({second.pk})" in done.out
    assert "+33.33%" in done.out
    assert re.search(r"\bFFA ↑ +100\.00% +66\.67%", done.out)


def test_one_result_alone_is_not_compared(
    command: Command, board: Board, graded: Submission, researcher: User
) -> None:
    done = command("compare", graded.pk, user=researcher)
    assert done.code == 2
    assert "submissions: " in done.err or "entries: " in done.err


# --- downloads --------------------------------------------------------------------------------


@pytest.fixture
def release(db: None) -> Release:
    return make_release()


def test_a_release_is_downloaded_and_checked(
    command: Command, release: Release, tmp_path: Path
) -> None:
    done = command("pull", release.dataset.slug, "1.0.0", "--to", tmp_path / "new")
    assert (done.code, done.err) == (0, "")
    [path] = (tmp_path / "new").iterdir()
    assert path.name == f"{release.dataset.slug}-1.0.0.zip"
    assert "hash verified" in done.out


def test_a_release_that_differs_from_its_hash_is_not_kept(
    client_for: ClientFor, release: Release, tmp_path: Path, site: httpx2.BaseTransport
) -> None:
    class Lying(httpx2.BaseTransport):
        def handle_request(self, request: httpx2.Request) -> httpx2.Response:
            answer = site.handle_request(request)
            data = answer.read().replace(release.sha256.encode(), b"0" * 64)
            return httpx2.Response(200, content=data)

    with pytest.raises(BadDownloadError, match="does not match the hash of its release") as caught:
        client_for(None, Lying()).pull(release.dataset.slug, "1.0.0", tmp_path / "new")
    assert f"{'0' * 64} was expected" in str(caught.value)
    assert list((tmp_path / "new").iterdir()) == []


class _Cut(httpx2.SyncByteStream):
    """The first bytes of an answer, and then a broken connection or a stopped command."""

    def __init__(self, data: bytes, end: BaseException) -> None:
        self.data, self.end = data, end

    def __iter__(self) -> Iterator[bytes]:
        yield self.data
        raise self.end


@pytest.mark.parametrize("end", [httpx2.ReadError("cut"), KeyboardInterrupt()])
def test_a_download_that_ends_early_leaves_the_earlier_file(
    client_for: ClientFor, release: Release, tmp_path: Path, site: httpx2.BaseTransport,
    end: BaseException,
) -> None:  # fmt: skip
    class Cutting(httpx2.BaseTransport):
        def handle_request(self, request: httpx2.Request) -> httpx2.Response:
            answer = site.handle_request(request)
            if not request.url.path.endswith("/download/"):
                return answer
            return httpx2.Response(200, stream=_Cut(answer.read()[:500], end))

    earlier = tmp_path / f"{release.dataset.slug}-1.0.0.zip"
    earlier.write_text("earlier")
    with pytest.raises((UnreachableError, KeyboardInterrupt)):
        client_for(None, Cutting()).pull(release.dataset.slug, "1.0.0", tmp_path)
    assert [path.read_text() for path in tmp_path.iterdir()] == ["earlier"]


def test_a_starter_kit_is_for_hidden_gold(
    client_for: ClientFor, researcher: User, tmp_path: Path
) -> None:
    split_world()
    kit = client_for(researcher).starter_kit("world", "1.0.0", tmp_path)
    assert kit.path.name == "world-1.0.0-starter-kit.zip"
    assert kit.files > 2
    assert kit.size == kit.path.stat().st_size


def test_a_release_with_hidden_gold_says_what_its_hash_needs(
    command: Command, db: None, tmp_path: Path
) -> None:
    split_world()
    done = command("pull", "world", "1.0.0", "--to", tmp_path)
    assert (done.code, done.err) == (0, "")
    assert "the gold of 1 items is hidden" in done.out


def test_a_licence_is_accepted_first(command: Command, researcher: User, tmp_path: Path) -> None:
    split_world(licence="CC-BY-4.0")
    arguments = ("pull", "world", "1.0.0", "--to", tmp_path / "new")
    done = command(*arguments, user=researcher)
    assert done.code == 1
    assert "You must accept the licence of this release, CC-BY-4.0" in done.err
    assert command(*arguments, "--accept-licence", user=researcher).code == 0


def test_a_pulled_file_has_the_hash_of_the_response(
    client_for: ClientFor, release: Release, tmp_path: Path
) -> None:
    client = client_for(None)
    path = f"/api/v1/datasets/{release.dataset.slug}/releases/1.0.0/download/"
    whole = client._connection.ask("GET", path, lambda: {"params": {"images": "true"}})
    kept = client.pull(release.dataset.slug, "1.0.0", tmp_path)
    assert hashlib.sha256(kept.path.read_bytes()).digest() == hashlib.sha256(whole).digest()


def test_without_a_token_it_says_where_to_get_one(
    command: Command, board: Board, predictions: Path
) -> None:
    done = command("submit", "board", predictions, "--name", "x")
    assert done.code == 1
    assert "/account/" in done.err
    assert "FACTBOARD_TOKEN" in done.err


def test_a_manifest_next_to_the_file_is_pointed_out(
    command: Command, predictions: Path, db: None
) -> None:
    manifest = predictions.with_name("manifest.json")
    manifest.write_text("{}")
    done = command("submit", "board", predictions)
    assert done.code == 2
    assert f"--manifest {manifest}" in done.err
