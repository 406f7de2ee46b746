"""The status of a submission, its result, its items fact by fact, and what may be seen of them."""

import html
from typing import Any

import pytest
from django.core.files.base import ContentFile

from portal.accounts.models import User
from portal.datasets.models import Dataset, Document, PageImage, Release, TextBoxes
from portal.jobs.models import Job
from scoring.grading.selectors import grading_progress, owner_words
from scoring.grading.services import cancel_grading, fail_grading
from scoring.models import Board, Grading, Phase, Submission
from scoring.results.facts import FactLine
from scoring.results.items import mark
from scoring.submissions.services import publish_submission
from tests.factories import empty_dataset
from tests.fixture_types import ClientOf, RunJobs
from tests.pages import text_of
from tests.scoring.factories import (
    FLAWED,
    GOLD,
    PERFECT,
    latest_grading,
    make_board,
    make_release,
    make_submission,
)

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}


def graded_on(board: Board, owner: User, run_jobs: RunJobs, **predictions: str) -> Submission:
    submission = make_submission(board, owner, predictions or FLAWED)
    run_jobs()
    return submission


# --- status -----------------------------------------------------------------------------------


def test_while_it_is_graded_the_page_asks_again_every_second(
    client_of: ClientOf, queued: Submission, researcher: User
) -> None:
    text = text_of(client_of(researcher), queued.get_absolute_url())
    assert 'hx-trigger="every 1s"' in text
    assert "0 of 3 items" in text
    assert "Cancel grading" in text


def test_the_owner_reads_the_place_in_the_queue_and_what_happened(
    client_of: ClientOf, queued: Submission, researcher: User, run_jobs: RunJobs
) -> None:
    client, url = client_of(researcher), queued.get_absolute_url()
    text = text_of(client, url)
    assert "Next in the queue. Waiting for a worker." in text
    assert "1 chunk queued" in text
    assert "hx-swap-oob" not in text, "only an answer to the page's asking replaces the log"
    assert 'id="stages" hx-swap-oob="true"' in text_of(client, url, headers=HTMX)
    api = client.get(f"/api/v1{url}").json()["grading"]
    assert api["queue"]["jobs_before"] == 0
    assert [line["text"] for line in api["stages"]] == ["1 chunk queued"]
    run_jobs()
    text = text_of(client, url)
    assert "1 chunk done" in text
    assert "1 final step done" in text
    assert client.get(f"/api/v1{url}").json()["grading"]["queue"] is None


def test_nobody_else_reads_the_log(
    client_of: ClientOf, graded: Submission, organiser: User, stranger: User
) -> None:
    publish_submission(submission=graded, actor=organiser)
    url = graded.get_absolute_url()
    for user in (None, stranger):
        client = client_of(user)
        assert "Activity (UTC)" not in text_of(client, url)
        assert 'id="stages"' not in text_of(client, url, headers=HTMX)
        grading = client.get(f"/api/v1{url}").json()["grading"]
        assert (grading["stages"], grading["queue"]) == (None, None)
    assert "Activity (UTC)" in text_of(client_of(organiser), url)


def test_the_asking_ends_with_the_result(
    client_of: ClientOf, queued: Submission, researcher: User, run_jobs: RunJobs
) -> None:
    client, url = client_of(researcher), queued.get_absolute_url()
    assert "<html" not in text_of(client, url, headers=HTMX)
    run_jobs()
    part = text_of(client, url, headers=HTMX)
    assert "hx-trigger" not in part
    assert "66.67" in part
    assert "<html" not in part


def test_progress_counts_stored_items_and_those_being_scored(
    queued: Submission, settings: Any
) -> None:
    grading = latest_grading(queued)
    Job.objects.filter(group=grading.job_group).update(
        state=Job.State.RUNNING, lease_token="x", lease_until="2030-01-01T00:00Z", progress_done=2
    )
    progress = grading_progress(grading)
    assert (progress.done, progress.total, progress.trouble) == (2, 3, "")


def test_an_interrupted_chunk_is_explained(
    client_of: ClientOf, queued: Submission, researcher: User
) -> None:
    Job.objects.update(error="The worker was lost: its lease expired.")
    text = text_of(client_of(researcher), queued.get_absolute_url())
    assert "being retried: The worker was lost: its lease expired." in text


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (
            "ItemFault: item “p” cannot be scored (ValueError)",
            "item “p” cannot be scored (ValueError)",
        ),
        ("The worker was lost: its lease expired.", "The worker was lost: its lease expired."),
        ("ValueError: gold is 98,765", "the grader stopped with ValueError"),
        ("KeyError", "the grader stopped with KeyError"),
    ],
)
def test_the_owner_is_told_no_words_but_ours(error: str, words: str) -> None:
    assert owner_words(error) == words


def test_a_failed_grading_says_why_and_offers_another_try(
    client_of: ClientOf, queued: Submission, researcher: User, run_jobs: RunJobs
) -> None:
    fail_grading(pk=latest_grading(queued).pk, reason="Items 0 to 2: lost")
    client, url = client_of(researcher), queued.get_absolute_url()
    text = text_of(client, url)
    assert "Grading failed: Items 0 to 2: lost." in text
    assert "Retry grading" in text
    assert client.post(f"{url}retry/").status_code == 302
    run_jobs()
    assert latest_grading(queued).state == Grading.State.DONE


def test_cancelling_from_the_page(
    client_of: ClientOf, queued: Submission, researcher: User
) -> None:
    client, url = client_of(researcher), queued.get_absolute_url()
    client.post(f"{url}cancel/")
    assert latest_grading(queued).state == Grading.State.CANCELLED
    assert "Grading was cancelled" in text_of(client, url)


def test_an_act_that_comes_too_late_is_answered_not_crashed(
    client_of: ClientOf, graded: Submission, researcher: User
) -> None:
    response = client_of(researcher).post(f"{graded.get_absolute_url()}cancel/", follow=True)
    assert "has already ended" in response.content.decode()


# --- result -----------------------------------------------------------------------------------


def test_the_result_shows_figures_counts_errors_and_items(
    client_of: ClientOf, graded: Submission, researcher: User
) -> None:
    text = text_of(client_of(researcher), graded.get_absolute_url())
    for shown in ("N-FFA", "75.00", "Misplaced", "No prediction", "matcher:aligned"):
        assert shown in text
    for name in GOLD:
        assert f"/submissions/{graded.pk}/items/{name}/" in text


def test_the_own_file_comes_back_as_a_download(
    client_of: ClientOf, graded: Submission, researcher: User
) -> None:
    response = client_of(researcher).get(f"{graded.get_absolute_url()}file/")
    content = b"".join(response.streaming_content)  # type: ignore[attr-defined]
    assert b'"page-1"' in content
    assert response["Content-Disposition"] == 'attachment; filename="predictions.jsonl"'
    assert response["X-Content-Type-Options"] == "nosniff"


def test_the_public_sees_the_summary_of_a_published_submission_only(
    client_of: ClientOf, graded: Submission, organiser: User
) -> None:
    publish_submission(submission=graded, actor=organiser)
    text = text_of(client_of(None), graded.get_absolute_url())
    assert "66.67" in text
    for hidden in ("predictions.jsonl", "Rex", "/items/", "Download", "Unpublish", "Cancel"):
        assert hidden not in text


def test_while_a_later_grading_runs_the_public_sees_the_published_one(
    client_of: ClientOf, graded: Submission, organiser: User
) -> None:
    publish_submission(submission=graded, actor=organiser)
    Grading.objects.create(
        submission=graded, release=graded.phase.release, signature="later-rules", items_total=3
    )
    assert "66.67" in text_of(client_of(None), graded.get_absolute_url())
    assert "later-rules" not in text_of(client_of(None), graded.get_absolute_url())


@pytest.mark.parametrize("count", [2, 30])
def test_query_budget_of_the_result(
    client_of: ClientOf,
    researcher: User,
    run_jobs: RunJobs,
    count: int,
    django_assert_max_num_queries: Any,
) -> None:
    gold = {f"p{n}": f"<p>Item {n} <Number>{n},000</Number></p>" for n in range(count)}
    submission = make_submission(make_board(make_release(gold)), researcher, {"p1": "x"})
    run_jobs()
    client = client_of(researcher)
    # One of them checks whether the owner's email address is confirmed.
    with django_assert_max_num_queries(18):
        client.get(submission.get_absolute_url())
    with django_assert_max_num_queries(9):
        client.get(f"/api/v1/submissions/{submission.pk}/items/")


@pytest.mark.parametrize("count", [2, 12])
def test_query_budget_of_ones_own_list(
    client_of: ClientOf,
    board: Board,
    researcher: User,
    count: int,
    django_assert_max_num_queries: Any,
) -> None:
    for number in range(count):
        make_submission(board, researcher, name=f"Reader {number}")
    client = client_of(researcher)
    with django_assert_max_num_queries(7):
        text = text_of(client, "/submissions/")
    assert text.count("Reader") == count


def test_the_list_is_ones_own(
    client_of: ClientOf, graded: Submission, researcher: User, stranger: User
) -> None:
    assert graded.get_absolute_url() in text_of(client_of(researcher), "/submissions/")
    assert "No submissions yet" in text_of(client_of(stranger), "/submissions/")


# --- items ------------------------------------------------------------------------------------


def item_url(submission: Submission, name: str = "page-1") -> str:
    return f"/submissions/{submission.pk}/items/{name}/"


def test_every_fact_is_shown_with_its_verdict(
    client_of: ClientOf, graded: Submission, researcher: User
) -> None:
    text = text_of(client_of(researcher), item_url(graded))
    assert text.count('class="verdict-right"') == 2
    assert '<span class="verdict-wrong">sign</span>' in text
    assert ">(350)</a></th>" in text
    assert "2 of 3" in text
    assert item_url(graded, "page-2") in text


@pytest.mark.parametrize(
    ("diagnostics", "owner", "items", "facts"),
    [
        (Phase.Diagnostics.AGGREGATES, 404, False, False),
        (Phase.Diagnostics.ITEMS, 200, True, False),
        (Phase.Diagnostics.FACTS, 200, True, True),
    ],
)
def test_what_the_owner_sees_of_items_is_what_the_phase_allows(
    client_of: ClientOf,
    researcher: User,
    run_jobs: RunJobs,
    diagnostics: str,
    owner: int,
    items: bool,
    facts: bool,
) -> None:
    submission = graded_on(make_board(diagnostics=diagnostics), researcher, run_jobs)
    client = client_of(researcher)
    response = client.get(item_url(submission))
    assert response.status_code == owner
    assert ("(350)" in response.content.decode()) is facts
    assert (item_url(submission) in text_of(client, submission.get_absolute_url())) is items
    api = client.get(f"/api/v1{item_url(submission)}")
    assert api.status_code == owner
    if items:
        assert (api.json()["facts"] is not None) is facts
    assert client.get(f"/api/v1/submissions/{submission.pk}/items/").status_code == owner


def test_an_organiser_sees_every_fact_whatever_the_phase_allows(
    client_of: ClientOf, researcher: User, organiser: User, run_jobs: RunJobs
) -> None:
    board = make_board(diagnostics=Phase.Diagnostics.AGGREGATES)
    submission = graded_on(board, researcher, run_jobs)
    assert "(350)" in text_of(client_of(organiser), item_url(submission))


SECRETS = ("98,765", "Total assets", "May 27, 2021")


@pytest.mark.parametrize("diagnostics", [Phase.Diagnostics.AGGREGATES, Phase.Diagnostics.ITEMS])
def test_hidden_gold_stands_on_no_page_of_its_owner_or_the_public(
    client_of: ClientOf,
    researcher: User,
    organiser: User,
    run_jobs: RunJobs,
    diagnostics: str,
) -> None:
    """The prediction holds none of the gold, so whatever shows it has it from the gold."""
    release = make_release(visibility=Release.Visibility.GOLD_HIDDEN)
    submission = graded_on(
        make_board(release, diagnostics=diagnostics), researcher, run_jobs, **{"page-1": "Nothing"}
    )
    publish_submission(submission=submission, actor=organiser)
    urls = [
        "/boards/board/",
        "/boards/board/submit/",
        "/submissions/",
        submission.get_absolute_url(),
        item_url(submission),
        item_url(submission, "page-3"),
        "/api/v1/boards/",
        "/api/v1/boards/board/leaderboard/",
        f"/api/v1/submissions/{submission.pk}/",
        f"/api/v1/submissions/{submission.pk}/items/",
        f"/api/v1{item_url(submission, 'page-3')}",
    ]
    for user in (None, researcher):
        client = client_of(user)
        for url in urls:
            said = html.unescape(client.get(url).content.decode())
            assert not any(secret in said for secret in (*SECRETS, release.sha256)), url


def add_image(document: Document) -> PageImage:
    image = PageImage(document=document, number=1, width=10, height=20, sha256="ab" * 32)
    image.file.save("page.png", ContentFile(b"image"), save=False)
    image.save()
    return image


@pytest.mark.parametrize(
    ("visibility", "diagnostics", "shown"),
    [
        (Release.Visibility.PUBLIC, Phase.Diagnostics.FACTS, True),
        (Release.Visibility.GOLD_HIDDEN, Phase.Diagnostics.FACTS, False),
        (Release.Visibility.PRIVATE, Phase.Diagnostics.FACTS, False),
        (Release.Visibility.PUBLIC, Phase.Diagnostics.ITEMS, False),
    ],
)
def test_image_and_prediction_stand_beside_the_facts_of_public_gold(
    client_of: ClientOf,
    researcher: User,
    run_jobs: RunJobs,
    visibility: Release.Visibility,
    diagnostics: str,
    shown: bool,
) -> None:
    release = make_release(visibility=visibility)
    image = add_image(Document.objects.get(name="page-1"))
    submission = graded_on(make_board(release, diagnostics=diagnostics), researcher, run_jobs)
    text = text_of(client_of(researcher), item_url(submission))
    assert (image.get_absolute_url() in text) is shown
    assert ('title="Prediction for page-1"' in text) is shown


@pytest.mark.parametrize(
    ("visibility", "shown"), [(Release.Visibility.PUBLIC, True), ("gold_hidden", False)]
)
def test_facts_are_placed_on_a_rendered_image_of_public_gold(
    client_of: ClientOf, researcher: User, run_jobs: RunJobs, visibility: str, shown: bool
) -> None:
    release = make_release(visibility=visibility)
    document = Document.objects.get(name="page-1")
    image = add_image(document)
    PageImage.objects.filter(pk=image.pk).update(is_rendered=True)
    start = document.content.text.index("1,200")
    box = [start, start + 5, 4321, 8765, 55, 11]
    TextBoxes.objects.create(image=image, boxes=[[0, 3, 1, 1, 1, 1], box])
    submission = graded_on(make_board(release), researcher, run_jobs)
    text = text_of(client_of(researcher), item_url(submission))
    placed = 'id="place-0" class="right" x="4321.0" y="8765" width="55.0" height="11"'
    assert (placed in text) is shown
    assert ('href="?fact=0#place-0"' in text) is shown
    assert ("4321" in text) is shown
    # The other facts of the page have no box, and say nothing of one.
    assert "#place-1" not in text


def test_images_of_a_private_dataset_are_not_linked(
    client_of: ClientOf, researcher: User, organiser: User, run_jobs: RunJobs
) -> None:
    dataset = empty_dataset(visibility=Dataset.Visibility.PRIVATE)
    board = make_board(make_release(dataset=dataset))
    image = add_image(Document.objects.get(name="page-1"))
    submission = graded_on(board, researcher, run_jobs)
    address = image.get_absolute_url()
    assert address not in text_of(client_of(researcher), item_url(submission))
    assert address in text_of(client_of(organiser), item_url(submission))


def test_what_a_model_wrote_is_shown_as_text(
    client_of: ClientOf, board: Board, researcher: User, run_jobs: RunJobs
) -> None:
    hostile = PERFECT["page-1"] + "<script>alert(1)</script><p>a &lt;img src=x onerror=1&gt;</p>"
    submission = graded_on(board, researcher, run_jobs, **{"page-1": hostile})
    body = client_of(researcher).get(item_url(submission)).content.decode()
    assert "alert(1)" not in body
    assert "<img src=x" not in body
    assert "&lt;img src=x onerror=1&gt;" in body


def test_an_item_without_a_prediction_says_so(
    client_of: ClientOf, board: Board, researcher: User, run_jobs: RunJobs
) -> None:
    submission = graded_on(board, researcher, run_jobs, **{"page-1": PERFECT["page-1"]})
    text = text_of(client_of(researcher), item_url(submission, "page-2"))
    assert "No prediction by " in text
    assert '<span class="muted">–</span>' in text
    assert '<p class="muted">No prediction.</p>' in text
    assert 'title="Prediction for' not in text


def test_an_unknown_item_and_an_unfinished_grading_answer_404(
    client_of: ClientOf, graded: Submission, researcher: User
) -> None:
    client = client_of(researcher)
    assert client.get(item_url(graded, "page-9")).status_code == 404
    grading = Grading.objects.create(
        submission=graded, release=graded.phase.release, signature="s", items_total=3
    )
    assert client.get(item_url(graded)).status_code == 404
    cancel_grading(grading=grading, actor=researcher)
    assert client.get(item_url(graded)).status_code == 404


# --- marking ----------------------------------------------------------------------------------


def fact(n: int, start: int | None, end: int | None, *, correct: bool = True) -> FactLine:
    return FactLine(
        n=n,
        type="Number",
        label=1,
        value="v",
        correct=correct,
        found=start is not None,
        matched_text=None,
        error=None if correct else "digit",
        start=start,
        end=end,
    )


@pytest.mark.parametrize(
    "facts",
    [
        [],
        [fact(0, None, None)],
        [fact(0, 0, 3), fact(1, 3, 6)],
        [fact(0, 2, 8), fact(1, 4, 6, correct=False)],
        [fact(0, 0, 10), fact(1, 0, 10)],
        [fact(0, 8, 99)],
    ],
)
def test_marked_pieces_joined_are_the_text(facts: list[FactLine]) -> None:
    text = "0123456789"
    assert "".join(segment.text for segment in mark(text, facts)) == text


def test_overlapping_matches_are_cut_at_every_edge() -> None:
    segments = mark("0123456789", [fact(0, 2, 8), fact(1, 4, 6, correct=False)])
    assert [(s.text, [f.n for f in s.facts]) for s in segments] == [
        ("01", []),
        ("23", [0]),
        ("45", [0, 1]),
        ("67", [0]),
        ("89", []),
    ]


# --- hallucinated -----------------------------------------------------------------------------


def test_the_item_page_lists_numbers_that_the_gold_does_not_have(
    client_of: ClientOf, graded: Submission, researcher: User
) -> None:
    text = text_of(client_of(researcher), f"/submissions/{graded.pk}/items/page-2/")
    assert '<h2 id="hallucinated">Hallucinated</h2>' in text
    assert ">2029</li>" in text
    assert "1 of 2" in text
    other = text_of(client_of(researcher), f"/submissions/{graded.pk}/items/page-3/")
    assert '<h2 id="hallucinated">Hallucinated</h2>' not in other


def test_results_stored_before_a_figure_was_counted_still_show(
    client_of: ClientOf, graded: Submission, researcher: User
) -> None:
    score = latest_grading(graded).item_scores.get(item__name="page-2")
    del score.result["hallucinated"], score.result["doc_type"]
    score.save()
    text = text_of(client_of(researcher), f"/submissions/{graded.pk}/items/page-2/")
    assert "Hallucinated" not in text


def test_the_result_shows_each_view(
    client_of: ClientOf, graded: Submission, researcher: User
) -> None:
    text = text_of(client_of(researcher), graded.get_absolute_url())
    assert 'id="view-document_types"' in text
    assert 'title="FFA on tax forms"' in text


# --- figures in words -----------------------------------------------------------------------------


def test_figures_are_explained_where_they_are_as_on_the_board(
    client_of: ClientOf, board: Board, researcher: User, run_jobs: RunJobs
) -> None:
    submission = graded_on(board, researcher, run_jobs)
    publish_submission(submission=submission, actor=researcher)
    meaning = (
        "<dt>E</dt><dd>Normalised edit distance of the text, averaged over pages; "
        "lower is better</dd>"
    )
    direction = "Higher scores are better unless stated otherwise."
    for url in (submission.get_absolute_url(), "/boards/board/?view=scores"):
        text = text_of(client_of(researcher), url)
        assert meaning in text, url
        assert (direction in text) is (url == submission.get_absolute_url())


def test_an_email_is_offered_only_if_the_site_sends_any(
    client_of: ClientOf, board: Board, researcher: User, settings: Any
) -> None:
    offer, url = "Email me when grading is complete", "/boards/board/submit/"
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    assert offer in text_of(client_of(researcher), url)
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
    assert offer not in text_of(client_of(researcher), url)
