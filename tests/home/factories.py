"""Boards, entries and campaigns as the home pages need them."""

from itertools import count
from typing import Any

from annotation.models import Assignment, Campaign, CampaignDocument, Case, Membership
from portal.accounts.models import User
from portal.datasets.models import Dataset, Release
from scoring.models import Board, Entry, Grading, Phase, Submission
from tests.factories import empty_dataset, make_document

_numbers = count(1)


def make_board(title: str = "Board", **extra: Any) -> Board:
    extra = {"benchmark": "fincriticaled", "state": Board.State.OPEN} | extra
    return Board.objects.create(slug=f"board-{next(_numbers)}", title=title, **extra)


def make_phase(board: Board, title: str = "Main") -> Phase:
    release = Release.objects.create(
        dataset=empty_dataset(),
        version="1.0.0",
        sha256="0" * 64,
        item_count=1,
        fact_count=1,
    )
    return Phase.objects.create(
        board=board, slug=f"phase-{next(_numbers)}", title=title, release=release
    )


def make_submission(phase: Phase, owner: User, *states: str, **extra: Any) -> Submission:
    """A submission with one grading for each state, the newest last."""
    submission = Submission.objects.create(
        **({"name": "System", "filename": "p.zip", "upload": "p.zip"} | extra),
        phase=phase,
        owner=owner,
    )
    for state in states:
        Grading.objects.create(
            submission=submission,
            release_id=submission.phase.release_id,
            signature="v1",
            state=state,
            items_total=1,
        )
    return submission


def make_graded(
    phase: Phase, owner: User, name: str, ffa: float | None, signature: str = "v1"
) -> Entry:
    submission = make_submission(phase, owner, "done", name=name)
    return Entry.objects.create(
        board=phase.board,
        phase=phase,
        kind=Entry.Kind.GRADED,
        grading=submission.gradings.get(),
        name=name,
        signature=signature,
        scores={"general": 0.5, "ffa": ffa},
    )


def make_reported(board: Board, name: str, ffa: float, source: str = "Table 4") -> Entry:
    scores = {"general": 0.5, "ffa": ffa}
    return Entry.objects.create(
        board=board, kind=Entry.Kind.REPORTED, name=name, provenance=source, scores=scores
    )


def make_campaign(title: str = "Campaign", documents: int = 1, **extra: Any) -> Campaign:
    dataset: Dataset = empty_dataset()
    extra = {"state": Campaign.State.OPEN} | extra
    campaign = Campaign.objects.create(
        slug=f"campaign-{next(_numbers)}", title=title, dataset=dataset, **extra
    )
    for number in range(documents):
        document = make_document(dataset, f"page-{number}", f"<p>{number} facts</p>")
        CampaignDocument.objects.create(campaign=campaign, document=document)
    return campaign


def join(campaign: Campaign, user: User, *roles: str) -> None:
    for role in roles:
        Membership.objects.create(campaign=campaign, user=user, role=role)


def assign_all(campaign: Campaign, annotator: User) -> list[Assignment]:
    return [
        Assignment.objects.create(campaign_document=document, annotator=annotator)
        for document in campaign.documents.all()
    ]


def make_case(document: CampaignDocument, start: int, **extra: Any) -> Case:
    return Case.objects.create(
        campaign_document=document,
        start=start,
        end=start + 1,
        kind=Case.Kind.LABEL,
        proposals=[],
        **extra,
    )
