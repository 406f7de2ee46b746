"""Loads the sample benchmark: dataset, release, board with graded entries, campaign with work left.

Every step goes through the services that the pages use, and passes over what is there already, so
that a load that was cut off can be run again.
"""

import json
from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from django.db import transaction

from annotation.models import Assignment, Campaign, CampaignDocument, Membership
from annotation.services.campaigns import create_campaign, default_guidelines
from annotation.services.members import add_member
from annotation.services.saving import save_spans
from annotation.services.submitting import submit_assignment
from portal.accounts.models import User
from portal.common.uploads import archive_limits
from portal.datasets.models import Dataset, Document, ImportRun, Release
from portal.datasets.services.datasets import create_dataset
from portal.datasets.services.gold import place_gold
from portal.datasets.services.imports import import_path
from portal.datasets.services.releases import freeze_release
from portal.datasets.sources.gold import read_gold_pages
from portal.facts import LABEL_SETS
from portal.jobs.worker import run_due_jobs
from scoring.models import Board, Entry, Grading, Phase, Submission
from scoring.services.boards import NewPhase, create_board, set_board_state
from scoring.services.publication import publish_submission
from scoring.services.reported import load_reported
from scoring.services.submissions import create_submission
from scoring.services.validation import check_upload

from .people import PASSWORD, PEOPLE

DATA = Path(__file__).resolve().parent / "data"
SLUG = "sample"
VERSION = "1.0.0"
LABELS = LABEL_SETS["v1"]
GRADING_SECONDS = 120
CARD_FIELDS = ("name", "organisation", "size", "category", "link", "notes")

Say = Callable[[str], None]
Cast = dict[str, User]


class SampleError(Exception):
    """The sample could not be loaded; the message names what went wrong."""


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
    campaign = load_campaign(dataset, cast)
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


# --- annotation ------------------------------------------------------------------------------


def load_campaign(dataset: Dataset, cast: Cast) -> Campaign:
    """A campaign with finished pages, open cases to adjudicate and tasks to do.

    Pairs are those of the shipped labels instead of newly assigned ones, so the campaign's
    documents are made here.
    """
    campaign = Campaign.objects.filter(slug=SLUG).first()
    if campaign is not None:
        return campaign
    with transaction.atomic():
        campaign = create_campaign(
            dataset=dataset,
            title="Sample campaign",
            labels=LABELS,
            overlap=2,
            guidelines=default_guidelines(),
            actor=cast["organiser"],
            slug=SLUG,
            is_sample=True,
        )
        _add_members(campaign, cast)
        campaign.state = Campaign.State.OPEN
        campaign.save(update_fields=["state"])
        for document in _annotators()["documents"]:
            _load_document(campaign, document, cast)
    return campaign


def _annotators() -> dict[str, Any]:
    data: dict[str, Any] = json.loads((DATA / "annotators.json").read_bytes())
    return data


def _add_members(campaign: Campaign, cast: Cast) -> None:
    roles = [(key, Membership.Role.ANNOTATOR) for key in _annotators()["annotators"]]
    for key, role in [*roles, ("lead", Membership.Role.LEAD), ("lead", Membership.Role.REVIEWER)]:
        add_member(campaign=campaign, user=cast[key], role=role, actor=cast["organiser"])


def _load_document(campaign: Campaign, shipped: dict[str, Any], cast: Cast) -> None:
    document = Document.objects.get(dataset=campaign.dataset, name=shipped["id"])
    if document.text_sha256 != shipped["text_sha256"]:
        raise SampleError(f"{document.name}: the labels were made for another text")
    row = CampaignDocument.objects.create(campaign=campaign, document=document)
    works = [
        Assignment.objects.create(campaign_document=row, annotator=cast[work["annotator"]])
        for work in shipped["assignments"]
    ]
    # All assignments exist before the first is submitted: a document settles with its last one.
    for assignment, work in zip(works, shipped["assignments"], strict=True):
        _do_work(assignment, work)


def _do_work(assignment: Assignment, work: dict[str, Any]) -> None:
    if work["state"] == Assignment.State.ASSIGNED:
        return
    spans = [{"key": f"s{number}", **span} for number, span in enumerate(work["spans"])]
    saved = save_spans(
        assignment=assignment,
        base_revision=0,
        save_key="sample",
        spans=spans,
        author=assignment.annotator,
    )
    if work["state"] == Assignment.State.SUBMITTED:
        submit_assignment(
            assignment=assignment, base_revision=saved.revision, actor=assignment.annotator
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
