"""A board to be graded again: three published results, and a release that turns them over.

Of the six facts two are taken out of the gold of 1.1.0: the loss of page 1 and the year of page 2,
which are what "Flawed" got wrong. So with 1.0.0 the scores are 6/6, 5/6 and 4/6, with 1.1.0 they
are 4/4, 3/4 and 4/4.
"""

from collections.abc import Collection
from typing import Any

from portal.accounts.models import User
from portal.datasets.models import Release
from portal.datasets.releases.gold import GoldItem
from portal.datasets.releases.services import freeze_release
from portal.facts import Span
from portal.jobs.worker import run_due_jobs
from scoring.models import Board, Phase, Submission
from scoring.submissions.services import publish_submission

from .factories import FLAWED, LABELS, PERFECT, make_submission

WRONG_TOTAL = PERFECT | {"page-3": PERFECT["page-3"].replace("98,765", "98,756")}
DISPUTED = ("(350)", "2020")


def next_release(
    release: Release,
    *,
    without: Collection[str] = DISPUTED,
    items: Collection[str] | None = None,
    version: str = "1.1.0",
    visibility: str = "",
) -> Release:
    """The same documents with fewer facts, or only some of the items."""
    gold = []
    for item in release.items.select_related("document__content"):
        assert item.document is not None
        if items is not None and item.name not in items:
            continue
        facts = [fact for fact in item.facts if fact["value"] not in without]
        spans = [Span(fact["start"], fact["end"], fact["type"]) for fact in facts]
        gold.append(GoldItem(document=item.document, spans=spans))
    return freeze_release(
        dataset=release.dataset,
        version=version,
        items=gold,
        labels=LABELS,
        visibility=visibility or release.visibility,
    )


Results = dict[str, Submission]


def three_results(board: Board, owner: User, **card: Any) -> Results:
    """Perfect, Slip and Flawed: graded and published."""
    made = {
        name: make_submission(board, owner, predictions, name=name, **card)
        for name, predictions in [
            ("Perfect", PERFECT),
            ("Slip", WRONG_TOTAL),
            ("Flawed", FLAWED),
        ]
    }
    run_due_jobs()
    for submission in made.values():
        publish_submission(submission=submission, actor=None)
    return made


def release_of(board: Board) -> Release:
    phase: Phase = board.phases.select_related("release__dataset").get()
    return phase.release
