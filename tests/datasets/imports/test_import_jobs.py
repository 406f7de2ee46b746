"""Imports as jobs: progress, interruption, cancelling, failing, and four at a time."""

from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.storage import default_storage

from portal.accounts.models import User
from portal.datasets.dataset_tasks import cancel_work
from portal.datasets.imports import services as imports_service
from portal.datasets.imports import storing
from portal.datasets.imports import storing as pages_service
from portal.datasets.imports.services import start_import
from portal.datasets.models import Dataset, Document, ImportItem, ImportRun, PageImage
from portal.jobs.models import Job
from tests.datasets.factories import outcomes, page, png, stored_bytes, zip_upload
from tests.factories import empty_dataset
from tests.fixture_types import RunJobs

pytestmark = pytest.mark.django_db(transaction=True)

PAGES = 8


class Killed(BaseException):
    """Simulates a killed worker: nothing catches it."""


@pytest.fixture
def run(organiser: User) -> ImportRun:
    files: dict[str, bytes | str] = {}
    for number in range(PAGES):
        files[f"pages/p{number}.html"] = page(f"Page {number}")
        files[f"images/p{number}.png"] = png(shade=number)
    upload = zip_upload(files)
    return start_import(
        dataset=empty_dataset(), upload=upload, source_name="p.zip", actor=organiser
    )


def break_at(monkeypatch: pytest.MonkeyPatch, nth: int, error: BaseException, place: str) -> None:
    """Makes the nth call of a storing function raise once."""
    module = pages_service if place == "canonicalise" else storing
    real: Callable[..., Any] = getattr(module, place)
    calls = 0

    def breaking(*args: Any, **kwargs: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == nth:
            raise error
        return real(*args, **kwargs)

    monkeypatch.setattr(module, place, breaking)


def take_up_at_once() -> None:
    """Makes waiting and abandoned jobs due now."""
    Job.objects.filter(state="running").update(lease_until="2000-01-01T00:00Z")
    Job.objects.update(not_before="2000-01-01T00:00Z")


def test_job_imports_and_removes_the_upload(run: ImportRun, run_jobs: RunJobs) -> None:
    name = str(run.upload.name)
    assert default_storage.exists(name)
    assert run_jobs() == 1
    run.refresh_from_db()
    assert (run.state, run.total, run.items.count()) == ("done", PAGES, PAGES)
    job = Job.objects.get()
    assert (job.state, job.progress_done, job.progress_total) == ("done", PAGES, PAGES)
    assert not default_storage.exists(name)


@pytest.mark.parametrize("place", ["canonicalise", "store_picture", "_store"])
def test_killed_import_is_resumed_without_gap_or_double(
    run: ImportRun, run_jobs: RunJobs, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    break_at(monkeypatch, 4, Killed(), place)
    with pytest.raises(Killed):
        run_jobs()
    assert Document.objects.count() == ImportItem.objects.count() == 3
    run.refresh_from_db()
    assert run.state == "running"

    take_up_at_once()
    run_jobs()
    run.refresh_from_db()
    assert run.state == "done"
    assert outcomes(run) == {f"pages/p{n}.html": ("imported", "") for n in range(PAGES)}
    assert Document.objects.count() == PageImage.objects.count() == PAGES
    assert [stored_bytes(image) for image in PageImage.objects.order_by("document__name")] == [
        png(shade=n) for n in range(PAGES)
    ]


def test_resumed_import_does_not_touch_finished_pages(
    run: ImportRun, run_jobs: RunJobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_at(monkeypatch, 5, Killed(), "canonicalise")
    with pytest.raises(Killed):
        run_jobs()
    judged: list[str] = []
    real = pages_service._draft_file

    def noting(archive: Any, page: Any, meta: Any) -> Any:
        judged.append(page.name)
        return real(archive, page, meta)

    monkeypatch.setattr(pages_service, "_draft_file", noting)
    take_up_at_once()
    run_jobs()
    assert judged == ["p4", "p5", "p6", "p7"]


def test_import_that_keeps_failing_ends_failed_with_what_it_did(
    run: ImportRun, run_jobs: RunJobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> None:
        raise RuntimeError("disk full")

    monkeypatch.setattr(storing, "store_picture", broken)
    for _ in range(imports_service.ATTEMPTS):
        take_up_at_once()
        run_jobs()
    run.refresh_from_db()
    assert run.state == "failed"
    assert "disk full" in run.error
    assert Document.objects.count() == ImportItem.objects.count() == 0


def test_waiting_import_is_cancelled_at_once(
    run: ImportRun, run_jobs: RunJobs, organiser: User
) -> None:
    cancel_work(work=run, actor=organiser)
    run.refresh_from_db()
    assert run.state == "cancelled"
    assert run_jobs() == 0
    assert not Document.objects.exists()


def test_running_import_stops_after_its_present_page(
    run: ImportRun, run_jobs: RunJobs, organiser: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = pages_service.import_page
    seen = 0

    def cancelling(**kwargs: Any) -> None:
        nonlocal seen
        real(**kwargs)
        seen += 1
        if seen == 3:
            cancel_work(work=run, actor=organiser)

    monkeypatch.setattr(imports_service, "import_page", cancelling)
    run_jobs()
    run.refresh_from_db()
    assert run.state == "cancelled"
    assert Job.objects.get().state == "cancelled"
    assert Document.objects.count() == run.items.count() == 3


def test_job_of_a_finished_run_is_a_no_op(run: ImportRun, run_jobs: RunJobs) -> None:
    run_jobs()
    Job.objects.update(state="queued", attempts=0)
    assert run_jobs() == 1
    assert Document.objects.count() == PAGES
    run.refresh_from_db()
    assert run.state == "done"


def test_metadata_that_cannot_be_read_fails_the_import_before_any_page(
    organiser: User, run_jobs: RunJobs, settings: Any
) -> None:
    settings.ARCHIVE_MEMBER_LIMIT = 1000
    upload = zip_upload({"pages/a.html": page(), "meta.jsonl": b" " * 2000})
    run = start_import(dataset=empty_dataset(), upload=upload, source_name="m", actor=organiser)
    run_jobs()
    run.refresh_from_db()
    assert run.state == "failed"
    assert run.error.startswith("meta.jsonl: larger than")
    assert not Document.objects.exists()


def test_same_page_from_two_runs_at_once_is_stored_once(
    organiser: User, run_jobs: RunJobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another import stores the page between the check and the write."""
    dataset = empty_dataset()
    runs = [
        start_import(
            dataset=dataset,
            upload=zip_upload({"pages/a.html": page()}),
            source_name="z",
            actor=organiser,
        )
        for _ in range(2)
    ]
    real = storing._store
    raced = False

    def racing(run: ImportRun, draft: Any) -> Any:
        nonlocal raced
        verdict = real(run, draft)
        if not raced and run == runs[0]:
            raced = True
            # As if another transaction had committed the same document first.
            from django.db import IntegrityError

            raise IntegrityError("document_name_in_dataset")
        return verdict

    monkeypatch.setattr(storing, "_store", racing)
    run_jobs()
    assert raced
    found = {outcome for run in runs for outcome, _ in outcomes(run).values()}
    assert found == {"imported", "unchanged"}
    assert Dataset.objects.get().documents.count() == 1
