"""Loads the sample benchmark: dataset, release, board with graded entries, campaign with work left.

Every step goes through the services that the pages use, and passes over what is there already, so
that a load that was cut off can be run again.
"""

import json
from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep

from annotation.models import Campaign
from portal.accounts.models import User
from portal.common.uploads import archive_limits
from portal.datasets.models import Dataset, ImportRun, Release
from portal.datasets.services.datasets import create_dataset
from portal.datasets.services.gold import place_gold
from portal.datasets.services.imports import import_path
from portal.datasets.services.releases import freeze_release
from portal.datasets.sources.gold import read_gold_pages
from portal.jobs.worker import run_due_jobs
from scoring.models import Board, Entry, Grading, Phase, Submission
from scoring.services.boards import NewPhase, create_board, set_board_state
from scoring.services.publication import publish_submission
from scoring.services.reported import load_reported
from scoring.services.submissions import create_submission
from scoring.services.validation import check_upload

from .campaign import load_campaign
from .parts import DATA, LABELS, SLUG, Cast, SampleError
from .people import PASSWORD, PEOPLE

VERSION = "1.0.0"
GRADING_SECONDS = 120
CARD_FIELDS = ("name", "organisation", "size", "category", "link", "notes")

Say = Callable[[str], None]


def is_loaded() -> bool:
    """Whether the last step was done: every shipped submission stands on the sample board."""
    graded = Entry.objects.filter(board__slug=SLUG, kind=Entry.Kind.GRADED)
    campaign = Campaign.objects.filter(slug=SLUG, state=Campaign.State.OPEN)
    return graded.count() >= len(_submission_files()) and campaign.exists()


def load_sample(say: Say) -> None:
    """Makes the sample site; safe to run again."""
    cast = load_people()
    say(f"people: {len(cast)}")
    dataset = load_dataset(cast)
    say(f"dataset: {dataset.documents.count()} documents")
    release = load_release(dataset, cast)
    say(f"release {release.version}: {release.fact_count} facts")
    campaign = load_campaign(release, cast)
    say(f"campaign: {campaign.documents.count()} documents")
    board = load_board(release, cast)
    for path in _submission_files():
        load_submission(board, path, cast)
    say(f"board: {board.entries.count()} entries")


def load_people() -> Cast:
    return {
        person.key: _account(person.email, person.name, person.is_organiser) for person in PEOPLE
    }


def _account(email: str, name: str, is_organiser: bool) -> User:
    user = User.objects.filter(email=email).first()
    return user or User.objects.create_user(
        email=email, password=PASSWORD, name=name, is_organiser=is_organiser
    )


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
        _import_pages(dataset, cast["organiser"])
    return dataset


def _import_pages(dataset: Dataset, organiser: User) -> None:
    run = import_path(dataset=dataset, path=DATA, actor=organiser)
    refused = run.items.filter(outcome="refused").first()
    if refused is not None:
        raise SampleError(f"{refused.name}: {refused.reason}")


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
        notes="Sample gold, known from the pages' construction.",
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
            ),
            is_sample=True,
            actor=cast["organiser"],
        )
        set_board_state(board=board, state=Board.State.OPEN, actor=cast["organiser"])
    load_reported(board=board, actor=cast["organiser"])
    return board


def _submission_files() -> list[Path]:
    return sorted((DATA / "submissions").glob("*.jsonl"))


def load_submission(board: Board, path: Path, cast: Cast) -> None:
    """Uploads, grades here and now, and publishes one of the shipped OCR outputs."""
    phase = board.phases.get(slug="dev")
    submission = Submission.objects.filter(phase=phase, filename=path.name).first()
    if submission is None:
        card = json.loads(path.with_suffix(".json").read_bytes())
        with path.open("rb") as file:
            submission = create_submission(
                phase=phase,
                owner=cast["researcher"],
                card={field: card[field] for field in CARD_FIELDS},
                file=file,
                filename=path.name,
                checked=check_upload(phase=phase, file=file, filename=path.name),
                is_sample=True,
            )
    _grade(submission)
    publish_submission(submission=submission, actor=cast["organiser"])


def _grade(submission: Submission) -> None:
    """Grades in this process; where workers run already, they may take part of the work."""
    end = monotonic() + GRADING_SECONDS
    while not (grading := submission.gradings.latest("id")).is_finished:
        if not run_due_jobs():
            sleep(0.2)
        if monotonic() > end:
            raise SampleError(f"{submission.filename}: not graded within {GRADING_SECONDS} s")
    if grading.state != Grading.State.DONE:
        raise SampleError(f"{submission.filename}: {grading.error}")
