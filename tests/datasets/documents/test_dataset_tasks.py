"""Tasks: starting, running, resuming after a crash, cancelling, and their pages."""

from collections.abc import Callable
from typing import Any

import pytest
from django.utils.module_loading import import_string

from portal.accounts.models import User
from portal.audit.models import Event
from portal.datasets import dataset_tasks
from portal.datasets import tasks as tasks_module
from portal.datasets.dataset_tasks import (
    CHECKS,
    Steps,
    TaskError,
    TaskReport,
    cancel_work,
    end_work,
    run_here,
    start_task,
)
from portal.datasets.models import Dataset, DatasetTask
from portal.jobs.models import Job
from tests.factories import empty_dataset, make_document
from tests.fixture_types import ApiOf, ClientOf, RunJobs

pytestmark = pytest.mark.django_db

Queries = Callable[[int], Any]
Work = Callable[[DatasetTask, Steps], TaskReport | None]

KIND = DatasetTask.Kind.RENDER
# The work of the tests' runner, set by `given_work`.
WORK: dict[str, Work] = {}


def runner(task: DatasetTask, steps: Steps) -> TaskReport | None:
    return WORK["now"](task, steps)


class Killed(BaseException):
    """Simulates the death of a worker: no code catches it."""


@pytest.fixture
def given_work(monkeypatch: pytest.MonkeyPatch) -> Callable[[Work], None]:
    monkeypatch.setitem(tasks_module.RUNNERS, "render", f"{__name__}.runner")

    def give(what: Work) -> None:
        monkeypatch.setitem(WORK, "now", what)

    return give


@pytest.fixture
def dataset() -> Dataset:
    return empty_dataset(slug="set", title="Set")


@pytest.fixture
def task(dataset: Dataset, organiser: User) -> DatasetTask:
    return start_task(dataset=dataset, kind=KIND, options={"again": False}, actor=organiser)


def take_up_at_once() -> None:
    Job.objects.filter(state="running").update(lease_until="2000-01-01T00:00Z")
    Job.objects.update(not_before="2000-01-01T00:00Z")


def two_steps(task: DatasetTask, steps: Steps) -> TaskReport:
    steps.progress(1, 2)
    report = TaskReport()
    report.count("documents", 2)
    report.fault("doc", "bad", "it is bad")
    steps.progress(2, 2)
    return report


class TestWork:
    def test_done_task_has_its_report(
        self, task: DatasetTask, run_jobs: RunJobs, given_work: Any
    ) -> None:
        given_work(two_steps)
        assert run_jobs() == 1
        task.refresh_from_db()
        assert (task.state, task.done, task.total) == ("done", 2, 2)
        assert task.report == {
            "counts": {"documents": 2},
            "faults": [{"name": "doc", "code": "bad", "reason": "it is bad"}],
            "faults_left_out": 0,
        }
        assert task.finished_at is not None
        assert Job.objects.get().state == "done"
        verbs = ["start_dataset_task", "dataset_task_done"]
        assert list(Event.objects.order_by("pk").values_list("verb", flat=True)) == verbs

    def test_second_click_gives_the_task_of_the_first(
        self, task: DatasetTask, dataset: Dataset, organiser: User
    ) -> None:
        again = start_task(dataset=dataset, kind=KIND, options={"again": True}, actor=organiser)
        assert again == task
        assert again.options == {"again": False}
        assert Job.objects.count() == 1

    def test_other_kinds_and_other_datasets_run_in_parallel(
        self, task: DatasetTask, dataset: Dataset
    ) -> None:
        other = start_task(dataset=dataset, kind=DatasetTask.Kind.PII, actor=None)
        elsewhere = start_task(dataset=empty_dataset(), kind=KIND, actor=None)
        assert len({task.pk, other.pk, elsewhere.pk}) == 3

    def test_ended_task_makes_place_for_the_next(
        self, task: DatasetTask, dataset: Dataset, run_jobs: RunJobs, given_work: Any
    ) -> None:
        given_work(two_steps)
        run_jobs()
        assert start_task(dataset=dataset, kind=KIND, actor=None) != task

    def test_killed_worker_s_task_is_run_again(
        self, task: DatasetTask, run_jobs: RunJobs, given_work: Any
    ) -> None:
        seen: list[int] = []

        def dying_once(task: DatasetTask, steps: Steps) -> TaskReport:
            for number in range(3):
                if number in seen:
                    continue
                seen.append(number)
                steps.progress(number + 1, 3)
                if seen == [0, 1]:
                    raise Killed
            return TaskReport({"documents": len(seen)})

        given_work(dying_once)
        with pytest.raises(Killed):
            run_jobs()
        task.refresh_from_db()
        assert (task.state, task.done) == ("running", 2)
        take_up_at_once()
        run_jobs()
        task.refresh_from_db()
        assert (task.state, seen) == ("done", [0, 1, 2])
        assert task.report["counts"] == {"documents": 3}

    def test_task_error_fails_it_at_once_with_the_reason(
        self, task: DatasetTask, run_jobs: RunJobs, given_work: Any
    ) -> None:
        def impossible(task: DatasetTask, steps: Steps) -> TaskReport:
            raise TaskError("no program for it")

        given_work(impossible)
        run_jobs()
        task.refresh_from_db()
        assert (task.state, task.error) == ("failed", "no program for it")
        # The job is done and is not retried.
        assert (Job.objects.get().state, Job.objects.get().attempts) == ("done", 1)

    def test_broken_runner_fails_after_all_attempts(
        self, task: DatasetTask, run_jobs: RunJobs, given_work: Any
    ) -> None:
        def broken(task: DatasetTask, steps: Steps) -> TaskReport:
            raise RuntimeError("disk full")

        given_work(broken)
        for _ in range(dataset_tasks.ATTEMPTS):
            task.refresh_from_db()
            assert not task.is_finished
            take_up_at_once()
            run_jobs()
        task.refresh_from_db()
        assert task.state == "failed"
        assert "disk full" in task.error

    def test_waiting_task_is_cancelled_at_once(
        self, task: DatasetTask, organiser: User, run_jobs: RunJobs
    ) -> None:
        cancel_work(work=task, actor=organiser)
        task.refresh_from_db()
        assert task.state == "cancelled"
        assert run_jobs() == 0

    def test_running_task_stops_when_it_asks(
        self, task: DatasetTask, organiser: User, run_jobs: RunJobs, given_work: Any
    ) -> None:
        done: list[int] = []

        def stoppable(task: DatasetTask, steps: Steps) -> TaskReport | None:
            for number in range(5):
                if steps.stop():
                    return None
                done.append(number)
                if number == 2:
                    cancel_work(work=task, actor=organiser)
            return TaskReport()

        given_work(stoppable)
        run_jobs()
        task.refresh_from_db()
        assert (task.state, done) == ("cancelled", [0, 1, 2])
        assert Job.objects.get().state == "cancelled"

    def test_job_of_an_ended_task_does_nothing(
        self, task: DatasetTask, run_jobs: RunJobs, given_work: Any
    ) -> None:
        given_work(two_steps)
        run_jobs()
        Job.objects.update(state="queued", attempts=0)
        given_work(lambda *_: pytest.fail("ran twice"))
        assert run_jobs() == 1

    def test_ending_twice_keeps_the_first_end(self, task: DatasetTask) -> None:
        end_work(work=task, state=DatasetTask.State.DONE, report=TaskReport({"a": 1}))
        end_work(work=task, state=DatasetTask.State.FAILED, error="late")
        task.refresh_from_db()
        assert (task.state, task.error, task.report["counts"]) == ("done", "", {"a": 1})

    def test_faults_are_kept_up_to_a_number_and_counted_beyond(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(dataset_tasks, "FAULTS_KEPT", 2)
        report = TaskReport()
        for number in range(5):
            report.fault(str(number), "code", "reason")
        assert [fault["name"] for fault in report.faults] == ["0", "1"]
        assert report.faults_left_out == 3


class TestHere:
    def test_command_runs_a_task_without_a_job(self, dataset: Dataset) -> None:
        reported: list[tuple[int, int]] = []
        task = run_here(
            dataset=dataset, kind=KIND, run=two_steps, progress=lambda *at: reported.append(at)
        )
        assert (task.state, task.done, task.report["counts"]) == ("done", 2, {"documents": 2})
        assert reported == [(1, 2), (2, 2)]
        assert not Job.objects.exists()

    def test_command_waits_for_nobody(self, task: DatasetTask, dataset: Dataset) -> None:
        with pytest.raises(TaskError, match=f"job {task.pk} is already running"):
            run_here(dataset=dataset, kind=KIND, run=two_steps)

    @pytest.mark.parametrize("error", [TaskError("cannot"), KeyboardInterrupt()])
    def test_command_that_breaks_off_leaves_a_failed_task(
        self, dataset: Dataset, error: BaseException
    ) -> None:
        def breaking(task: DatasetTask, steps: Steps) -> TaskReport:
            raise error

        with pytest.raises(type(error)):
            run_here(dataset=dataset, kind=KIND, run=breaking)
        task = DatasetTask.objects.get()
        assert task.state == "failed"
        assert task.error in {"cannot", "the command was interrupted"}

    def test_command_takes_over_from_one_that_was_killed(self, dataset: Dataset) -> None:
        killed = DatasetTask.objects.create(dataset=dataset, kind=KIND, state="running")
        assert run_here(dataset=dataset, kind=KIND, run=two_steps).state == "done"
        killed.refresh_from_db()
        assert (killed.state, killed.error) == ("failed", "another command replaced it")

    def test_command_s_task_can_be_cancelled(self, dataset: Dataset) -> None:
        def cancelled(task: DatasetTask, steps: Steps) -> TaskReport | None:
            assert not steps.stop()
            cancel_work(work=task, actor=None)
            return None if steps.stop() else TaskReport()

        assert run_here(dataset=dataset, kind=KIND, run=cancelled).state == "cancelled"


class TestPages:
    def test_empty_list_explains_itself(
        self, dataset: Dataset, organiser: User, client_of: ClientOf
    ) -> None:
        shown = client_of(organiser).get("/datasets/set/tasks/").content.decode()
        assert "No jobs yet" in shown

    def test_running_task_renews_itself_and_can_be_cancelled(
        self, task: DatasetTask, organiser: User, client_of: ClientOf
    ) -> None:
        DatasetTask.objects.update(state="running", done=3, total=7)
        client = client_of(organiser)
        path = task.get_absolute_url()
        shown = client.get(path).content.decode()
        assert "3 of 7 steps" in shown
        assert 'hx-trigger="every 1s"' in shown
        part = client.get(path, headers={"HX-Request": "true"}).content.decode()
        assert part.strip().startswith('<section id="report"')
        assert client.get(f"{path}cancel/").status_code == 405
        assert client.post(f"{path}cancel/")["Location"] == path

    def test_cancelling_by_click_stops_it_and_twice_does_no_harm(
        self, task: DatasetTask, organiser: User, client_of: ClientOf
    ) -> None:
        client = client_of(organiser)
        for said in ("Job cancelled", "has already ended"):
            shown = client.post(f"{task.get_absolute_url()}cancel/", follow=True)
            assert said in shown.content.decode()
        task.refresh_from_db()
        assert task.state == "cancelled"
        assert "hx-trigger" not in client.get(task.get_absolute_url()).content.decode()

    def test_report_lists_faults_page_by_page_and_links_documents(
        self, task: DatasetTask, dataset: Dataset, organiser: User, client_of: ClientOf
    ) -> None:
        make_document(dataset, "here", "<p>1</p>")
        report = TaskReport({"documents rejected": 120})
        report.fault("here", "too_long", "more than 40 sheets")
        for number in range(119):
            report.fault(f"gone {number}/x", "c", "<b>r</b>")
        report.faults_left_out = 4321
        end_work(work=task, state=DatasetTask.State.DONE, report=report)
        shown = client_of(organiser).get(task.get_absolute_url()).content.decode()
        assert "/datasets/set/documents/here/" in shown
        assert "gone 98/x" in shown
        assert "gone 99/x" not in shown
        assert "4,321 more" in shown
        assert "<b>r</b>" not in shown
        second = client_of(organiser).get(f"{task.get_absolute_url()}?page=2").content.decode()
        assert "gone 118/x" in second

    def test_task_of_another_dataset_is_not_found(
        self, task: DatasetTask, organiser: User, client_of: ClientOf, api_of: ApiOf
    ) -> None:
        empty_dataset(slug="else")
        assert client_of(organiser).get(f"/datasets/else/tasks/{task.pk}/").status_code == 404
        path = f"/api/v1/datasets/else/tasks/{task.pk}/"
        assert api_of(organiser).get(path).status_code == 404

    @pytest.mark.parametrize("count", [1, 60])
    def test_list_makes_few_queries(
        self,
        count: int,
        dataset: Dataset,
        organiser: User,
        client_of: ClientOf,
        django_assert_max_num_queries: Queries,
    ) -> None:
        DatasetTask.objects.bulk_create(
            DatasetTask(dataset=dataset, kind=KIND, state="done", created_by=organiser)
            for _ in range(count)
        )
        client = client_of(organiser)
        with django_assert_max_num_queries(6):
            client.get("/datasets/set/tasks/")


class TestApi:
    def test_start_look_and_cancel(self, dataset: Dataset, organiser: User, api_of: ApiOf) -> None:
        api = api_of(organiser)
        started = api.post("/api/v1/datasets/set/tasks/", {"kind": "render"})
        assert started.status_code == 202
        body = started.json()
        assert (body["kind"], body["state"], body["options"]) == (
            "render",
            "queued",
            {"again": False},
        )
        assert body["report"] == {"counts": {}, "faults": [], "faults_left_out": 0}
        second = api.post("/api/v1/datasets/set/tasks/", {"kind": "render"}).json()
        assert second["id"] == body["id"]
        path = f"/api/v1/datasets/set/tasks/{body['id']}/"
        assert api.get(path).json()["state"] == "queued"
        for _ in range(2):
            assert api.post(f"{path}cancel/").json()["state"] == "cancelled"
        listed = api.get("/api/v1/datasets/set/tasks/").json()
        assert [row["id"] for row in listed["results"]] == [body["id"]]
        assert Event.objects.filter(verb="cancel_dataset_task").count() == 1

    @pytest.mark.parametrize(
        ("asked", "field"),
        [
            ({}, "kind"),
            ({"kind": "nothing"}, "kind"),
            ({"kind": "render", "options": {"again": "yes"}}, "options"),
            ({"kind": "render", "options": {"dpi": 600}}, "options"),
            ({"kind": "render", "options": 7}, "options"),
        ],
    )
    def test_wrong_wishes_are_refused_by_field(
        self, asked: dict[str, Any], field: str, dataset: Dataset, organiser: User, api_of: ApiOf
    ) -> None:
        answer = api_of(organiser).post("/api/v1/datasets/set/tasks/", asked, format="json")
        assert answer.status_code == 400
        assert list(answer.json()) == [field]
        assert not DatasetTask.objects.exists()

    def test_kind_without_a_check_cannot_be_started_from_outside(
        self, dataset: Dataset, organiser: User, api_of: ApiOf, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delitem(dataset_tasks.CHECKS, "render")
        answer = api_of(organiser).post("/api/v1/datasets/set/tasks/", {"kind": "render"})
        assert answer.json() == {"options": ["Tasks of the kind render cannot be started here."]}


def test_every_kind_of_task_names_a_function_that_exists() -> None:
    assert set(tasks_module.RUNNERS) == set(DatasetTask.Kind.values)
    for path in [*tasks_module.RUNNERS.values(), *CHECKS.values()]:
        assert callable(import_string(path))
