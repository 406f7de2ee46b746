"""Loads the sample site: datasets, releases, boards with graded entries, a campaign with open work.

Every step uses the same services as the pages and skips existing parts, so that an interrupted
load can be run again.
"""

import json
from collections.abc import Callable
from pathlib import Path

from annotation.models import Campaign
from portal.accounts.emails import mark_confirmed
from portal.accounts.models import User
from portal.datasets.documents.services import create_dataset
from portal.datasets.imports.labelled_pages import read_gold_pages
from portal.datasets.models import Dataset, ImportRun, PageImage, Release, TextBoxes
from portal.datasets.releases.gold import place_gold
from portal.datasets.releases.services import freeze_release
from portal.files.uploads import archive_limits
from scoring.boards.protection import NewPhase
from scoring.boards.services import create_board, set_board_state
from scoring.grading.regrade_changes import regrade_plan
from scoring.grading.regrades import start_regrade
from scoring.leaderboard.services import load_reported
from scoring.models import Board, Entry, JudgeSample, Phase, Regrade

from .boards import SAMPLES, load_benchmark, run_import
from .campaign import load_campaign
from .judging import JUDGED, load_judging
from .parts import DATA, LABELS, SLUG, VERSION, Cast
from .people import PASSWORD, PEOPLE
from .submissions import load_submission

Say = Callable[[str], None]


def is_loaded() -> bool:
    """Whether the last steps are done: every shipped submission is on its sample board."""
    graded = Entry.objects.filter(board__slug__in=_slugs(), kind=Entry.Kind.GRADED, is_sample=True)
    shipped = len(_submission_files()) + sum(
        len(sample.submissions(split)) for sample in SAMPLES for split in sample.splits
    )
    campaign = Campaign.objects.filter(slug=SLUG, state=Campaign.State.OPEN)
    judge = JudgeSample.objects.filter(phase__board__slug=SLUG)
    return graded.count() >= shipped and campaign.exists() and judge.exists()


def load_sample(say: Say) -> None:
    """Create the sample site. Safe to run again."""
    cast = load_people()
    say(f"people: {len(cast)}")
    dataset = load_dataset(cast)
    say(f"dataset: {dataset.documents.count()} documents")
    release = load_release(dataset, cast)
    say(f"release {release.version}: {release.fact_count} facts")
    campaign = load_campaign(release, cast)
    say(f"campaign: {campaign.documents.count()} documents")
    board = load_board(release, cast)
    load_submissions(board, cast)
    say(f"board: {board.entries.count()} entries")
    load_judging(board, cast)
    say(f"judge: {board.judge_experts.count()} experts")
    for sample in SAMPLES:
        more = load_benchmark(sample, cast)
        say(f"board {more.title}: {more.entries.count()} entries")


def regrade_outdated() -> list[Regrade]:
    """Queue a re-grade of each sample board with results of an earlier scorer, so that all of its
    rows have the same version. The board's change log shows what changed."""
    queued = []
    for board in Board.objects.filter(slug__in=_slugs()).order_by("pk"):
        rows = board.entries.filter(kind=Entry.Kind.GRADED)
        is_running = board.regrades.filter(state=Regrade.State.RUNNING).exists()
        parts = regrade_plan(board).phases if rows.exists() and not is_running else ()
        if any(rows.filter(phase=part.phase).exclude(signature=part.signature) for part in parts):
            queued.append(start_regrade(board=board, actor=None))
    return queued


def _slugs() -> list[str]:
    return [SLUG, *(sample.slug for sample in SAMPLES)]


def load_people() -> Cast:
    return {
        person.key: _account(person.email, person.name, person.is_organiser) for person in PEOPLE
    }


def _account(email: str, name: str, is_organiser: bool) -> User:
    user = User.objects.filter(email=email).first() or User.objects.create_user(
        email=email, password=PASSWORD, name=name, is_organiser=is_organiser
    )
    mark_confirmed(user)
    return user


def load_dataset(cast: Cast) -> Dataset:
    dataset = Dataset.objects.filter(slug=SLUG).first() or create_dataset(
        slug=SLUG,
        title="Sample pages",
        description=(DATA / "description.md").read_text(encoding="utf-8"),
        licence="CC0-1.0",
        visibility=Dataset.Visibility.PUBLIC,
        is_sample=True,
        actor=cast["organiser"],
    )
    if not dataset.imports.filter(state=ImportRun.State.DONE).exists():
        run_import(dataset, DATA, ImportRun.Form.PAGES, cast["organiser"])
    load_boxes(dataset)
    return dataset


def load_boxes(dataset: Dataset) -> None:
    """Store the places of the text on the shipped images, which an import does not bring."""
    images = dict(
        PageImage.objects.filter(document__dataset=dataset).values_list("document__name", "pk")
    )
    lines = (DATA / "boxes.jsonl").read_text(encoding="utf-8").splitlines()
    TextBoxes.objects.bulk_create(
        (
            TextBoxes(image_id=images[line["id"]], boxes=line["boxes"])
            for line in map(json.loads, lines)
        ),
        ignore_conflicts=True,
    )


def load_release(dataset: Dataset, cast: Cast) -> Release:
    return dataset.releases.filter(version=VERSION).first() or freeze_release(
        dataset=dataset,
        version=VERSION,
        items=place_gold(
            dataset=dataset,
            pages=read_gold_pages(DATA / "gold", archive_limits()),
            labels=LABELS,
        ),
        labels=LABELS,
        notes="Gold generated together with the sample documents.",
        visibility=Release.Visibility.PUBLIC,
        actor=cast["organiser"],
    )


# --- scoring ---------------------------------------------------------------------------------


def load_board(release: Release, cast: Cast) -> Board:
    board = Board.objects.filter(slug=SLUG).first()
    if board is None:
        board = create_board(
            slug=SLUG,
            title="FinCriticalED (sample)",
            benchmark="fincriticaled",
            description=(DATA / "board.md").read_text(encoding="utf-8"),
            phase=NewPhase(
                slug="dev",
                title="Development",
                release=release,
                diagnostics=Phase.Diagnostics.FACTS,
                options={"beside": "substring"},
            ),
            is_sample=True,
            actor=cast["organiser"],
        )
        set_board_state(board=board, state=Board.State.OPEN, actor=cast["organiser"])
    load_reported(board=board, actor=cast["organiser"])
    return board


def _submission_files() -> list[Path]:
    """Those of tesseract first: the first one is offered for trying out the board."""
    found = (DATA / "submissions").glob("*.jsonl")
    return sorted(found, key=lambda path: (not path.stem.startswith(JUDGED), path.stem))


def load_submissions(board: Board, cast: Cast) -> None:
    """The shipped OCR outputs."""
    phase = board.phases.get(slug="dev")
    for path in _submission_files():
        card = json.loads(path.with_suffix(".json").read_bytes())
        load_submission(phase, path, card, owner=cast["researcher"], actor=cast["organiser"])
