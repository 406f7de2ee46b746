"""Freezing many documents is a worker's task: followed, asked for twice, killed and cancelled."""

import io
import zipfile
from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile

from portal.accounts.models import User
from portal.datasets.dataset_tasks import cancel_work
from portal.datasets.models import Dataset, DatasetTask, Release
from portal.datasets.releases import freezing
from portal.datasets.releases.freezing import FreezeOrder, freeze_order
from portal.jobs.models import Job
from tests.datasets.releases.worlds import page_records, record_world
from tests.fixture_types import ApiOf, ClientOf, RunJobs

pytestmark = pytest.mark.django_db

NEW = "/datasets/records/releases/new/"
API = "/api/v1/datasets/records/releases/"


class Killed(BaseException):
    """The worker was killed."""


@pytest.fixture(autouse=True)
def few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(freezing, "MOST_DOCUMENTS", 3)
    monkeypatch.setattr(freezing, "LOOK_EVERY", 1)


@pytest.fixture
def dataset() -> Dataset:
    return page_records()


def form(source: str = "records:fincriticaled", **fields: Any) -> dict[str, Any]:
    terms = {"labels": "Number", "version": "1.0.0", "visibility": "public", "split": "none"}
    return {"source": source, **terms, **fields}


def gold_zip(html: str = "<p>Net {} <Number>1,200</Number></p>") -> SimpleUploadedFile:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for number, name in enumerate("abcd"):
            archive.writestr(f"{name}.html", html.format(number))
    return SimpleUploadedFile("gold.zip", stream.getvalue())


def take_up_at_once() -> None:
    Job.objects.filter(state="running").update(lease_until="2000-01-01T00:00Z")
    Job.objects.update(not_before="2000-01-01T00:00Z")


def test_the_page_answers_with_a_task_that_a_worker_does(
    dataset: Dataset,
    client_of: ClientOf,
    organiser: User,
    run_jobs: RunJobs,
    django_capture_on_commit_callbacks: Any,
) -> None:
    client = client_of(organiser)
    answer = client.post(NEW, form(file=gold_zip(), source="file:fincriticaled"))
    task = DatasetTask.objects.get()
    assert answer["Location"] == task.get_absolute_url()
    assert not Release.objects.exists()
    stored = str(task.upload.name)
    assert "1.0.0" in client.get(NEW).content.decode()
    with django_capture_on_commit_callbacks(execute=True):
        assert run_jobs() == 1
    task.refresh_from_db()
    release = Release.objects.get()
    assert (task.state, task.report["counts"]) == ("done", {"items": 4, "facts": 4})
    assert (task.done, task.total) == (8, 8)
    assert (release.version, release.frozen_by) == ("1.0.0", organiser)
    assert f'href="{release.get_absolute_url()}"' in client.get(answer["Location"]).content.decode()
    assert not default_storage.exists(stored)


def test_the_progress_of_other_gold_ends_at_its_total(run_jobs: RunJobs, organiser: User) -> None:
    dataset = record_world("receiptbench")
    order = FreezeOrder("receiptbench", version="1.0.0")
    freezing.start_freezing(dataset=dataset, order=order, actor=organiser)
    run_jobs()
    task = DatasetTask.objects.get()
    assert (task.state, task.done, task.total) == ("done", 2, 2)


def test_the_api_answers_202_and_freezes_the_same(
    dataset: Dataset, api_of: ApiOf, organiser: User, run_jobs: RunJobs
) -> None:
    api = api_of(organiser)
    answer = api.post(API, {"benchmark": "fincriticaled", "labels": ["Number"]}, format="json")
    assert (answer.status_code, answer.json()["state"]) == (202, "queued")
    run_jobs()
    task = api.get(f"/api/v1/datasets/records/tasks/{answer.json()['id']}/").json()
    assert (task["state"], task["report"]["counts"]["items"]) == ("done", 4)
    release = Release.objects.get(version="1.0.0")
    order = FreezeOrder("fincriticaled", labels=["Number"])
    again = freeze_order(dataset=dataset, order=order, actor=None)
    assert again.gold_sha256 == release.gold_sha256


def test_a_second_click_finds_the_task_of_the_first(
    dataset: Dataset, client_of: ClientOf, organiser: User, run_jobs: RunJobs
) -> None:
    client = client_of(organiser)
    first, second = (client.post(NEW, form())["Location"] for _ in range(2))
    assert first == second
    other = client.post(NEW, form(version="2.0.0"))
    assert other.status_code == 400
    assert "release 1.0.0 is being frozen (job " in other.content.decode()
    run_jobs()
    assert Release.objects.count() == 1


def test_terms_are_checked_before_anything_is_queued(
    dataset: Dataset, client_of: ClientOf, organiser: User, run_jobs: RunJobs
) -> None:
    client = client_of(organiser)
    client.post(NEW, form())
    run_jobs()
    answer = client.post(NEW, form())
    assert "version 1.0.0 must be higher than that of the latest release" in answer.content.decode()
    assert DatasetTask.objects.count() == 1


def test_faults_of_the_gold_are_in_the_report_of_the_task(
    dataset: Dataset, client_of: ClientOf, organiser: User, run_jobs: RunJobs
) -> None:
    upload = gold_zip("<p>Net {} <Number>1,300</Number></p>")
    client_of(organiser).post(NEW, form(file=upload, source="file:fincriticaled"))
    run_jobs()
    task = DatasetTask.objects.get()
    assert (task.state, task.error) == ("failed", "nothing was frozen; 4 errors")
    fault = task.report["faults"][0]
    assert (fault["name"], fault["code"]) == ("a.html", "release")
    assert "the text without tags differs from the document" in fault["reason"]
    assert not Release.objects.exists()


@pytest.fixture
def kill_at(
    dataset: Dataset,
    client_of: ClientOf,
    organiser: User,
    run_jobs: RunJobs,
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[[str], None]:
    """Asks for a release, whose worker is killed when it calls this function."""

    def kill(*_: object) -> None:
        raise Killed

    def freeze(function: str) -> None:
        client_of(organiser).post(NEW, form())
        with monkeypatch.context() as patch:
            patch.setattr(f"portal.datasets.releases.{function}", kill)
            with pytest.raises(Killed):
                run_jobs()

    return freeze


def test_a_worker_killed_before_the_end_leaves_nothing_and_another_freezes(
    kill_at: Callable[[str], None], run_jobs: RunJobs
) -> None:
    kill_at("services._count_facts")
    assert not Release.objects.exists()
    take_up_at_once()
    run_jobs()
    assert Release.objects.get().item_count == 4


def test_a_worker_killed_behind_the_release_does_not_freeze_twice(
    kill_at: Callable[[str], None], run_jobs: RunJobs
) -> None:
    kill_at("freezing._report")
    assert Release.objects.count() == 1
    take_up_at_once()
    run_jobs()
    task = DatasetTask.objects.get()
    assert (task.state, task.report["version"]) == ("done", "1.0.0")
    assert Release.objects.count() == 1


def test_a_cancelled_task_freezes_nothing(
    dataset: Dataset,
    client_of: ClientOf,
    organiser: User,
    run_jobs: RunJobs,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    client_of(organiser).post(NEW, form())
    task = DatasetTask.objects.get()
    real = freezing.Watch.step

    def cancelling(watch: freezing.Watch) -> None:
        if watch.done == 5:
            cancel_work(work=task, actor=organiser)
        real(watch)

    monkeypatch.setattr(freezing.Watch, "step", cancelling)
    run_jobs()
    task.refresh_from_db()
    assert (task.state, Release.objects.count()) == ("cancelled", 0)


def test_the_notes_of_many_documents_are_drafted_by_the_worker(
    dataset: Dataset, client_of: ClientOf, organiser: User, run_jobs: RunJobs
) -> None:
    client = client_of(organiser)
    client.post(NEW, form())
    run_jobs()
    refused = client.post(NEW, form(version="1.1.0", draft="1"))
    assert "to draft them when the release is frozen" in refused.content.decode()
    dataset.documents.filter(name="d").update(state="held", held_reason="a copy")
    client.post(NEW, form(version="1.1.0"))
    run_jobs()
    assert "`d`" in Release.objects.get(version="1.1.0").notes


def test_lines_of_other_benchmarks_are_frozen_by_a_worker_too(
    client_of: ClientOf, organiser: User, run_jobs: RunJobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(freezing, "MOST_DOCUMENTS", 1)
    record_world("findoc")
    client_of(organiser).post(NEW, form("records:findoc"))
    run_jobs()
    assert Release.objects.get().benchmark == "findoc"
