"""Boards, releases and submissions for tests, made by the services that make them on the site."""

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connections

from portal.accounts.models import Team, User
from portal.datasets.models import Dataset, Release
from portal.datasets.releases.gold import GoldItem
from portal.datasets.releases.overlaps import OverlapError
from portal.datasets.releases.services import freeze_lines, freeze_release
from portal.facts import TaggedPage, read_tags
from scoring.boards.limits import LimitReached, hold_place
from scoring.boards.protection import NewPhase
from scoring.boards.services import create_board, set_board_state
from scoring.leaderboard.services import bump_board, load_reported
from scoring.models import Board, Entry, Grading, Phase, Submission
from scoring.submissions.services import create_submission
from scoring.submissions.uploads import check_upload
from tests.factories import empty_dataset, make_documents

LABELS = ("Number", "Date")

# Three pages with six facts, of which no value occurs twice.
GOLD = {
    "page-1": (
        "<h1>Statement</h1><p>Revenue was <Number>1,200</Number> and the loss"
        " <Number>(350)</Number> at <Date>May 27, 2021</Date>.</p>"
    ),
    "page-2": "<p>The margin rose to <Number>3.5%</Number> in <Date>2020</Date>.</p>",
    "page-3": "<table><tr><td>Total assets</td><td><Number>98,765</Number></td></tr></table>",
}


def plain(html: str) -> str:
    """The page without its fact tags: a perfect prediction."""
    for label in LABELS:
        html = html.replace(f"<{label}>", "").replace(f"</{label}>", "")
    return html


PERFECT = {name: plain(html) for name, html in GOLD.items()}
# One sign lost on page 1, the date of page 2 wrong: four of six facts are right.
FLAWED = PERFECT | {
    "page-1": PERFECT["page-1"].replace("(350)", "350"),
    "page-2": PERFECT["page-2"].replace("2020", "2029"),
}


@cache
def _read(html: str) -> TaggedPage:
    return read_tags(html, LABELS)


def make_release(
    gold: Mapping[str, str] = GOLD,
    *,
    visibility: str = Release.Visibility.PUBLIC,
    dataset: Dataset | None = None,
    version: str = "1.0.0",
    splits: Mapping[str, str] | None = None,
) -> Release:
    dataset = dataset or empty_dataset(visibility=Dataset.Visibility.PUBLIC)
    pages = {name: _read(html) for name, html in gold.items()}
    documents = make_documents(dataset, {name: page.canonical.html for name, page in pages.items()})
    items = [
        GoldItem(document=document, spans=page.spans)
        for document, page in zip(documents, pages.values(), strict=True)
    ]
    terms: dict[str, Any] = {"dataset": dataset, "version": version, "items": items}
    terms |= {"labels": LABELS, "visibility": visibility, "splits": splits}
    try:
        return freeze_release(**terms)
    except OverlapError as overlap:
        # Most tests have several releases of the same pages, hidden and public.
        return freeze_release(**terms, accept_overlaps=overlap.count)


# Where gold is hidden, too: most tests are about other things than its protection.
UNPROTECTED = {
    "score_decimals": None,
    "per_day": None,
    "in_total": None,
    "takes_incomplete": True,
    "closing_share": None,
}


def make_board(
    release: Release | None = None,
    *,
    slug: str = "board",
    state: Board.State = Board.State.OPEN,
    diagnostics: str = Phase.Diagnostics.FACTS,
    **phase: Any,
) -> Board:
    board = create_board(
        slug=slug,
        title=f"Board {slug}",
        benchmark="fincriticaled",
        phase=NewPhase(
            slug="test",
            title="Test",
            release=release or make_release(),
            diagnostics=diagnostics,
            **(UNPROTECTED | phase),
        ),
        actor=None,
    )
    return set_board_state(board=board, state=state, actor=None, confirm_disclosure=True)


def first_phase(board: Board) -> Phase:
    return board.phases.select_related("board", "release__dataset").get()


def lines_of(predictions: Mapping[str, str]) -> bytes:
    """JSON Lines."""
    rows = (json.dumps({"id": name, "html": html}) for name, html in predictions.items())
    return "".join(f"{row}\n" for row in rows).encode()


def upload(content: bytes, name: str = "predictions.jsonl") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content)


def send_file(
    phase: Phase,
    owner: User,
    content: bytes,
    *,
    name: str = "Reader",
    card: Mapping[str, str] | None = None,
    **more: Any,
) -> Submission:
    """Submits predictions.jsonl with this content. `more` are arguments of the service."""
    file = upload(content)
    filename = str(file.name)
    return create_submission(
        phase=phase,
        owner=owner,
        card={"name": name, **(card or {})},
        file=file,
        filename=filename,
        checked=check_upload(phase=phase, file=file, filename=filename),
        **more,
    )


def make_submission(
    board: Board,
    owner: User,
    predictions: Mapping[str, str] = PERFECT,
    *,
    name: str = "Reader",
    team: Team | None = None,
    replaces: Submission | None = None,
    **card: str,
) -> Submission:
    """Stored and queued; `run_jobs()` grades it."""
    return send_file(
        first_phase(board),
        owner,
        lines_of(predictions),
        name=name,
        card=card,
        team=team,
        replaces=replaces,
    )


def latest_grading(submission: Submission) -> Grading:
    grading = submission.gradings.order_by("-id").first()
    assert grading is not None
    return grading


SCORES = {
    "r1": 0.9,
    "rl": 0.8,
    "edit_distance": 0.1,
    "general": 0.8666666,
    "n_ffa": 0.7,
    "t_ffa": 0.6,
    "ffa": 0.65,
}


def make_entry(board: Board, owner: User, *, name: str = "Reader", **scores: Any) -> Entry:
    """A graded row with these scores, without the work of grading it."""
    phase = first_phase(board)
    submission = Submission.objects.create(phase=phase, owner=owner, name=name)
    spec = board.spec
    signature = spec.signature(spec.check_options(phase.options))
    grading = Grading.objects.create(
        submission=submission,
        release=phase.release,
        signature=signature,
        state=Grading.State.DONE,
        items_total=3,
        scores=SCORES | scores,
    )
    bump_board(board.pk)
    return Entry.objects.create(
        board=board,
        phase=phase,
        kind=Entry.Kind.GRADED,
        grading=grading,
        scores=grading.scores,
        signature=signature,
        name=name,
    )


def waiting(phase: Phase, owner: User, team: Team | None = None) -> Submission:
    """A submission that has no place yet."""
    return Submission.objects.create(phase=phase, owner=owner, team=team, name="Reader")


def places_taken(submissions: Sequence[Submission]) -> int:
    """How many of them get a place when all ask for one at the same moment, each in a thread."""

    def take(submission: Submission) -> bool:
        try:
            hold_place(submission=submission, actor=submission.owner)
        except LimitReached:
            return False
        finally:
            connections.close_all()
        return True

    with ThreadPoolExecutor(len(submissions)) as pool:
        return sum(pool.map(take, submissions))


def receipt_board(lines: Sequence[dict[str, Any]], **settings: Any) -> Board:
    """Creates an open board of receipts from lines of gold. `settings` are those of its phase."""
    release = freeze_lines(
        dataset=empty_dataset(visibility="public"),
        version="1.0.0",
        benchmark="receiptbench",
        lines={line["id"]: line for line in lines},
        visibility=Release.Visibility.PUBLIC,
    )
    phase = NewPhase(slug="test", title="Test", release=release, **settings)
    board = create_board(
        slug="board", title="Receipts", benchmark="receiptbench", phase=phase, actor=None
    )
    load_reported(board=board)
    return set_board_state(board=board, state=Board.State.OPEN, actor=None)


def send_lines(
    board: Board, owner: User, lines: Sequence[dict[str, Any]], *, name: str = "Reader of receipts"
) -> Submission:
    """Submits predictions that are not pages."""
    content = "".join(json.dumps(line) + "\n" for line in lines).encode()
    return send_file(first_phase(board), owner, content, name=name)


def fill_board(board: Board, owner: User, count: int) -> None:
    """Return this many graded rows of one submitter, with falling scores."""
    phase, spec = first_phase(board), board.spec
    signature = spec.signature(spec.check_options(phase.options))
    submissions = Submission.objects.bulk_create(
        Submission(phase=phase, owner=owner, name=f"Reader {number}") for number in range(count)
    )
    gradings = Grading.objects.bulk_create(
        Grading(
            submission=submission,
            release=phase.release,
            signature=signature,
            state=Grading.State.DONE,
            items_total=3,
            scores={**SCORES, "ffa": 0.9 - number / 100_000},
        )
        for number, submission in enumerate(submissions)
    )
    Entry.objects.bulk_create(
        Entry(
            board=board,
            phase=phase,
            kind=Entry.Kind.GRADED,
            grading=grading,
            scores=grading.scores,
            signature=signature,
            name=grading.submission.name,
        )
        for grading in gradings
    )
    bump_board(board.pk)
