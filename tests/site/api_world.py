"""A site with one object for each URL parameter of the API."""

import re
from dataclasses import dataclass, field
from itertools import pairwise

from annotation.models import Campaign, Case
from portal.accounts.access import issue_token
from portal.accounts.models import ApiToken, User
from portal.accounts.teams.services import invite_to_team
from portal.datasets.acceptance.services import open_batch
from portal.datasets.curation.services import DrawSpec, create_selection
from portal.datasets.dataset_tasks import start_task
from portal.datasets.disputes.services import raise_dispute
from portal.datasets.models import Dataset, DatasetTask, ImportRun, NearDuplicate
from portal.jobs.worker import run_due_jobs
from scoring.judging.services import set_endpoint
from scoring.models import Board, Submission, Webhook
from scoring.models.judging import Purpose
from scoring.reliability.cases import draw_sample, save_review, submit_review
from scoring.running.services import check_decoding, start_model_run
from scoring.submissions.services import publish_submission
from tests.accounts.teams.people import team_of
from tests.annotation.factories import comment, make_campaign, submit, work_of
from tests.datasets.acceptance.factories import SCHEMA, make_receipt
from tests.datasets.factories import add_image
from tests.factories import empty_dataset
from tests.scoring.factories import (
    FLAWED,
    first_phase,
    make_board,
    make_release,
    make_submission,
)
from tests.scoring.judges import endpoint_values

# A closed port.
NOWHERE = "http://127.0.0.1:9/v1"
ORIGIN = "https://facts.example.org"
# A URL parameter. `World` finds its value by the word before it: `boards` in /boards/{slug}/.
PLACE = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class World:
    """`places` has the values of URL parameters, by the word before the parameter.

    Where that word is ambiguous, the key is the word and the parameter's name.
    """

    places: dict[str, object]
    tokens: dict[str, str] = field(repr=False)
    """API tokens by role. The anonymous role has none."""

    def parameters(self, path: str) -> dict[str, object]:
        """Returns the values of the parameters of a URL of the schema."""
        words = path.strip("/").split("/")
        return {
            found[1]: self.places.get(f"{before} {found[1]}", self.places.get(before))
            for before, word in pairwise(words)
            if (found := PLACE.fullmatch(word))
        }


def make_world(researcher: User, organiser: User, second: User) -> World:
    """The researcher has a team, submissions and tasks. The organiser leads the campaign."""
    dataset = empty_dataset(slug="hub", title="Hub", visibility="public")
    places = _dataset_places(dataset, researcher, organiser)
    places |= _campaign_places(researcher, organiser, second)
    places |= _board_places(researcher, organiser, dataset)
    places |= _account_places(researcher)
    secrets = {user: issue_token(user=user, name="program")[1] for user in (researcher, organiser)}
    places["tokens"] = ApiToken.objects.get(user=researcher).pk
    return World(
        places=places,
        tokens={"researcher": secrets[researcher], "organiser": secrets[organiser]},
    )


def _dataset_places(dataset: Dataset, researcher: User, organiser: User) -> dict[str, object]:
    release = make_release(dataset=dataset)
    make_release({"page-4": "<p>Paid <Number>7</Number>.</p>"}, dataset=dataset, version="1.1.0")
    pages = list(dataset.documents.order_by("name"))
    add_image(pages[0])
    make_receipt(dataset, "r1")
    item = release.items.get(name="page-1")
    duplicate = NearDuplicate.objects.create(first=pages[0], second=pages[1], similarity=0.9)
    spec = DrawSpec(strata=("doc_type",), size=1)
    return {
        "datasets": dataset.slug,
        "documents": "page-1",
        "images": 1,
        "releases": release.version,
        "diff": "1.1.0",
        "files": "gold.jsonl",
        "batches": open_batch(
            dataset=dataset, schema=SCHEMA, sample_size=1, seed=1, actor=organiser
        ).number,
        "duplicates": duplicate.pk,
        "disputes": raise_dispute(
            item=item, fact=0, claim="value", reason="It says otherwise.", actor=researcher
        ).pk,
        "imports": ImportRun.objects.create(dataset=dataset, source_name="pages.zip").pk,
        "selections": create_selection(
            dataset=dataset, title="Drawn", spec=spec, seed=1, actor=organiser
        ).pk,
        "tasks": start_task(dataset=dataset, kind=DatasetTask.Kind.PII, actor=organiser).pk,
    }


def _campaign_places(researcher: User, organiser: User, second: User) -> dict[str, object]:
    campaign: Campaign = make_campaign(
        [researcher, second], lead=organiser, reviewer=organiser, documents=2
    )
    note = comment(work_of(researcher, campaign, 2))
    submit(work_of(researcher, campaign), ("Number", "1,200"), ("Number", "(310)"))
    submit(work_of(second, campaign), ("Number", "1,200"), ("Number", "310"))
    case = Case.objects.filter(campaign_document__campaign=campaign).order_by("id").first()
    assert case is not None
    return {
        "campaigns": campaign.slug,
        "assignments": work_of(researcher, campaign, 2).pk,
        "comments": note.pk,
        "revisions": 1,
        "cases": case.pk,
        "adjudication": "page-001",
        "screening": "page-001",
        "validation": "page-001",
        "annotators": researcher.pk,
        "people": researcher.pk,
        "qualification": researcher.pk,
        "waiting": researcher.pk,
        "review": 1,
        "items position": 1,
    }


def _board_places(researcher: User, organiser: User, dataset: Dataset) -> dict[str, object]:
    board = make_board(dataset.releases.get(version="1.0.0"))
    published = make_submission(board, researcher, FLAWED)
    make_submission(board, researcher, name="Waiting")
    set_endpoint(board=board, values=endpoint_values(NOWHERE), key="sk-of-the-board", actor=None)
    run_due_jobs()
    publish_submission(submission=Submission.objects.get(pk=published.pk), actor=researcher)
    set_endpoint(
        board=board,
        values=endpoint_values(NOWHERE),
        key="sk-of-the-models",
        actor=None,
        purpose=Purpose.MODEL,
    )
    run = start_model_run(
        phase=first_phase(board),
        model="reader",
        prompt_version="paper-1",
        decoding=check_decoding({}),
        concurrency=1,
        budget=None,
        actor=organiser,
    )
    _reviewed_page(board, organiser)
    return {
        "boards": board.slug,
        "phases": "test",
        "charts": "history",
        "submissions": published.pk,
        "runs": run.pk,
        "items name": "page-1",
    }


def _reviewed_page(board: Board, expert: User) -> None:
    """Draws a sample for the board's judge, and reviews one of its pages."""
    sample = draw_sample(phase=first_phase(board), percent=2, actor=None)
    case = sample.cases.get(item__name="page-3")
    save_review(case=case, expert=expert, facts={0: True}, wrong={}, structure="", comment="")
    submit_review(case=case, expert=expert)


def _account_places(researcher: User) -> dict[str, object]:
    team = team_of(researcher)
    invite_to_team(team=team, emails=["new@example.org"], actor=researcher, origin=ORIGIN)
    hook = Webhook.objects.create(user=researcher, url="https://example.org/hook", secret="0" * 64)
    return {
        "teams": team.slug,
        "members": researcher.pk,
        "invitations id": team.invitations.get().invitation_id,
        "invitations secret": "not-known",
        "webhooks": hook.pk,
        "exports": 1,
    }
