"""Makes and grades the submission that `bench.workers` times; runs in the Django of its site."""

import json
import time

from django.core.files.uploadedfile import SimpleUploadedFile

from bench.filings import Filing, filing
from bench.pages import add_document
from portal.accounts.models import User
from portal.datasets.models import Dataset, Release
from portal.datasets.releases.gold import GoldItem
from portal.datasets.releases.services import freeze_release
from portal.facts import Span
from portal.jobs.models import Job
from scoring.boards.protection import NewPhase
from scoring.boards.services import create_board, set_board_state
from scoring.grading.chunks import load_chunk, score_chunk
from scoring.grading.services import start_grading
from scoring.models import Grading, Submission
from scoring.submissions.services import create_submission
from scoring.submissions.uploads import check_upload


def make_graded(pages: int, facts: int) -> int:
    """A board of `pages` pages with `facts` facts each, and a submission with a tenth of the
    figures spoilt, whose first grading is not waited for; the submission's primary key."""
    filings = [filing(f"page-{number:05}", facts, number) for number in range(pages)]
    dataset = Dataset.objects.create(
        slug="bench", title="Bench", visibility=Dataset.Visibility.PUBLIC
    )
    release = freeze_release(
        dataset=dataset,
        version="1.0.0",
        items=[_gold(dataset, page) for page in filings],
        labels=["Number", "Date"],
        visibility=Release.Visibility.PUBLIC,
    )
    board = create_board(
        slug="bench",
        title="Bench",
        benchmark="fincriticaled",
        phase=NewPhase(slug="test", title="Test", release=release, diagnostics="facts"),
        actor=None,
    )
    set_board_state(board=board, state=board.State.OPEN, actor=None)
    phase = board.phases.select_related("board", "release__dataset").get()
    lines = "".join(
        json.dumps({"id": page.name, "html": page.html.replace("7,", "1,")}) + "\n"
        for page in filings
    )
    file = SimpleUploadedFile("predictions.jsonl", lines.encode())
    submission = create_submission(
        phase=phase,
        owner=User.objects.create_user(email="bench@example.org", password=None, name="Bench"),
        card={"name": "Bench"},
        file=file,
        filename=file.name or "",
        checked=check_upload(phase=phase, file=file, filename=file.name or ""),
    )
    Job.objects.all().delete()
    return submission.pk


def _gold(dataset: Dataset, page: Filing) -> GoldItem:
    document = add_document(dataset, page)
    text = document.content.text
    spans, position = [], 0
    for quote in page.facts:
        start = text.index(quote, position)
        position = start + len(quote)
        spans.append(Span(start, position, "Number"))
    return GoldItem(document=document, spans=tuple(spans))


def grade_again() -> int:
    """Queues another grading of the submission; its primary key."""
    return start_grading(submission=Submission.objects.get(), actor=None).pk


def seconds_to_score() -> float:
    """Of every page once, in this process, with nothing read or stored meanwhile."""
    # The first grading, which was never graded: it lacks the score of every page.
    grading = Grading.objects.earliest("pk")
    chunk = load_chunk(grading_id=grading.pk, first=0, last=grading.items_total)
    assert chunk is not None
    begun = time.perf_counter()
    score_chunk(chunk, go_on=lambda _done: True)
    return time.perf_counter() - begun


def seconds_to_grade_again(longest: float) -> float:
    """Of another grading of the submission, which workers do: from its first job's claim to its
    end. RuntimeError if it fails or takes longer than that many seconds."""
    pk = grade_again()
    end = time.monotonic() + longest
    # This process has loaded everything before it asks, so that waiting takes nothing from workers.
    while time.monotonic() < end:
        time.sleep(0.5)
        grading = Grading.objects.get(pk=pk)
        if grading.state == Grading.State.FAILED:
            raise RuntimeError(grading.error)
        if grading.finished_at is not None:
            first = Job.objects.filter(group=grading.job_group).earliest("started_at").started_at
            assert first is not None
            return (grading.finished_at - first).total_seconds()
    raise RuntimeError(f"not graded within {longest:.0f} s")
