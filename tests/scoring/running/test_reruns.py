"""Re-runs: added by organisers, compared with the submission, never a row."""

from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone
from rest_framework.test import APIClient

from portal.accounts.models import User
from portal.jobs.worker import run_due_jobs
from scoring.models import Board, ModelRun, Phase, Similarity, Submission
from scoring.running.selectors import agreement, same_answer
from scoring.submissions.services import PublicationRefused, open_items, publish_submission
from tests.fixture_types import ApiOf, ClientOf
from tests.scoring.factories import FLAWED, PERFECT, lines_of, make_submission, upload
from tests.scoring.judge.server import serve
from tests.scoring.submissions.manifest_files import manifest_file, manifest_of

from .models import Reader, board_with_images, give_endpoint

pytestmark = pytest.mark.django_db
OTHER = lines_of(PERFECT)


@pytest.fixture
def public(graded: Submission) -> Submission:
    """The researcher's, four of six facts right; two of its pages are perfect."""
    publish_submission(submission=graded, actor=None)
    graded.refresh_from_db()
    return graded


def add(api: APIClient, submission: Submission, content: bytes = OTHER, **extra: Any) -> Any:
    url = f"/api/v1/submissions/{submission.pk}/reruns/"
    return api.post(url, {"file": upload(content), **extra}, format="multipart")


def test_an_organiser_adds_a_rerun_that_is_graded_and_has_no_row(
    public: Submission, organiser: User, board: Board, api_of: ApiOf
) -> None:
    answer = add(api_of(organiser), public)
    assert answer.status_code == 201, answer.json()
    rerun = Submission.objects.get(pk=answer.json()["id"])
    assert (rerun.rerun_of, rerun.owner) == (public, organiser)
    run_due_jobs()
    assert rerun.gradings.get().state == "done"
    with pytest.raises(PublicationRefused, match="A re-run cannot be published"):
        publish_submission(submission=rerun, actor=organiser)
    assert board.entries.filter(kind="graded").count() == 1
    with pytest.raises(IntegrityError), transaction.atomic():
        Submission.objects.filter(pk=rerun.pk).update(publication="public")
    assert not Similarity.objects.exists()


def test_everyone_sees_how_far_the_runs_agree(
    public: Submission, organiser: User, api_of: ApiOf, client_of: ClientOf
) -> None:
    add(api_of(organiser), public)
    run_due_jobs()
    [shown] = api_of(None).get(f"/api/v1/submissions/{public.pk}/reruns/").json()
    # page-3 alone is the same.
    assert (shown["same"], shown["compared"]) == (1, 3)
    assert shown["share"] == pytest.approx(1 / 3)
    assert shown["difference"]["value"] == pytest.approx(2 / 6)
    assert 0 < shown["difference"]["p_value"] <= 1
    assert shown["difference"]["interval"]["low"] <= 2 / 6
    assert shown["disputed"] == []
    page = client_of(None).get(f"/submissions/{public.pk}/reruns/").content.decode()
    assert "33.3%" in page
    assert "+33.33" in page
    assert "Add a re-run" not in page
    about = client_of(None).get(public.get_absolute_url()).content.decode()
    assert "Organisers have re-run this submission." in about


def test_items_are_named_where_the_submission_shows_them(
    public: Submission, organiser: User, researcher: User, api_of: ApiOf
) -> None:
    add(api_of(organiser), public)
    run_due_jobs()
    url = f"/api/v1/submissions/{public.pk}/reruns/"
    for user in (researcher, organiser):
        names = {item["name"] for item in api_of(user).get(url).json()[0]["disputed"]}
        assert names == {"page-1", "page-2"}
    open_items(submission=public, has_open_items=True, actor=None)
    assert len(api_of(None).get(url).json()[0]["disputed"]) == 2


def test_a_phase_that_rounds_shows_no_test(
    public: Submission, organiser: User, researcher: User, api_of: ApiOf
) -> None:
    add(api_of(organiser), public)
    run_due_jobs()
    Phase.objects.update(score_decimals=1)
    url = f"/api/v1/submissions/{public.pk}/reruns/"
    for user in (None, researcher):
        [shown] = api_of(user).get(url).json()
        assert (shown["difference"], shown["disputed"]) == (None, [])
        assert shown["same"] == 1
    assert api_of(organiser).get(url).json()[0]["difference"]["value"] is not None


def test_a_private_submission_keeps_its_reruns_private(
    graded: Submission, organiser: User, researcher: User, ann: User, api_of: ApiOf
) -> None:
    added = add(api_of(organiser), graded).json()["id"]
    url = f"/api/v1/submissions/{graded.pk}/reruns/"
    assert [api_of(user).get(url).status_code for user in (None, ann)] == [404, 404]
    assert api_of(researcher).get(url).json()[0]["id"] == added
    # The file of the re-run is the organisers'.
    assert api_of(researcher).get(f"/api/v1/submissions/{added}/").status_code == 404


def test_only_organisers_add_one(
    public: Submission, researcher: User, ann: User, api_of: ApiOf, client_of: ClientOf
) -> None:
    assert add(api_of(None), public).status_code == 401
    for user in (researcher, ann):
        assert add(api_of(user), public).status_code == 403
        sent = {"file": upload(OTHER)}
        page = client_of(user).post(f"/submissions/{public.pk}/reruns/", sent)
        assert page.status_code == 403
    assert Submission.objects.count() == 1


def test_a_rerun_after_the_phase_has_closed(
    public: Submission, organiser: User, api_of: ApiOf
) -> None:
    Phase.objects.update(closes_at=timezone.now())
    assert add(api_of(organiser), public).status_code == 201


def test_a_rerun_is_not_repeated(public: Submission, organiser: User, api_of: ApiOf) -> None:
    rerun = Submission.objects.get(pk=add(api_of(organiser), public).json()["id"])
    assert add(api_of(organiser), rerun).status_code == 409


def test_faults_are_named(public: Submission, organiser: User, api_of: ApiOf) -> None:
    answer = add(api_of(organiser), public, b"{}\n")
    assert answer.status_code == 409
    assert "Errors in the file: 1." in answer.json()["detail"]
    foreign = manifest_file(manifest_of(b"other"))
    assert "manifest" in add(api_of(organiser), public, manifest=foreign).json()
    assert Submission.objects.count() == 1


def test_the_page_adds_a_rerun_and_leads_to_the_verdict(
    public: Submission, organiser: User, client_of: ClientOf
) -> None:
    client, url = client_of(organiser), f"/submissions/{public.pk}/reruns/"
    assert "Mark as verified" not in client.get(url).content.decode()
    assert client.post(url, {}).status_code == 400
    own = manifest_file(manifest_of(OTHER))
    client.post(url, {"file": upload(OTHER), "manifest": own})
    run_due_jobs()
    page = client.get(url).content.decode()
    assert "Mark as verified" in page
    assert "Largest differences by item" in page
    words = "Repeated by organisers: 33.3% of the answers are the same."
    sent = {"verdict": "verified", "verdict_reason": words}
    client.post(f"/submissions/{public.pk}/verdict/", sent)
    public.refresh_from_db()
    assert (public.verdict, public.verdict_reason) == ("verified", words)
    assert public.reruns.get().manifest.about["model"] == "reader-7b"


def test_a_model_is_run_again_on_the_site(
    organiser: User, researcher: User, client_of: ClientOf
) -> None:
    board = board_with_images()
    submission = make_submission(board, researcher, FLAWED)
    run_due_jobs()
    client = client_of(organiser)
    with serve(Reader(FLAWED)) as server:
        give_endpoint(board, server.url)
        url = f"/boards/board/runs/?rerun={submission.pk}"
        assert "This is a re-run of" in client.get(url).content.decode()
        sent = {
            "phase": board.phases.get().pk,
            "model": "reader-1",
            "prompt_version": "paper-1",
            "decoding": "",
            "concurrency": 1,
        }
        assert client.post(url, sent).status_code == 302
        run_due_jobs()
    run = ModelRun.objects.get()
    assert run.submission is not None
    assert run.submission.rerun_of == submission
    assert agreement(submission, run.submission).share == 1.0


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ({"response": "A\n b"}, {"response": "ab"}, True),
        ({"response": "12", "output_tokens": 5}, {"response": "12", "output_tokens": 7}, True),
        ({"response": "1,200"}, {"response": "1200"}, False),
        ({"response": "-5"}, {"response": "5"}, False),
        ({"response": ""}, {"response": " "}, True),
        ({"response": {"a": 1, "b": [2]}}, {"response": {"b": [2], "a": 1}}, True),
    ],
)
def test_answers_that_are_the_same(
    first: dict[str, Any], second: dict[str, Any], same: bool
) -> None:
    assert same_answer({"id": "x", **first}, {"id": "x", **second}) is same


def test_an_item_that_one_left_out_is_not_the_same(
    public: Submission, organiser: User, api_of: ApiOf
) -> None:
    content = lines_of({"page-3": PERFECT["page-3"]})
    shown = add(api_of(organiser), public, content).json()
    assert (shown["same"], shown["compared"]) == (1, 3)
