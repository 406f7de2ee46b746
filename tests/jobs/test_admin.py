"""The queue in Django's admin."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from portal.accounts.models import User
from portal.jobs.models import Job
from portal.jobs.services import enqueue_many
from tests.jobs.conftest import Register

pytestmark = pytest.mark.django_db
LIST = "/admin/jobs/job/"


@pytest.fixture
def failed(register: Register) -> list[Job]:
    register(lambda claim: None)
    jobs = enqueue_many(kind="test", payloads=[{}] * 3)
    Job.objects.update(state=Job.State.FAILED, attempts=3, error="ValueError: bad")
    return jobs


@pytest.fixture
def admin(client_of: Callable[[User | None], Client], organiser: User) -> Client:
    organiser.is_staff = organiser.is_superuser = True
    organiser.save()
    return client_of(organiser)


def test_staff_see_why_jobs_failed(
    admin: Client, failed: list[Job], django_assert_max_num_queries: Any
) -> None:
    with django_assert_max_num_queries(8):
        page = admin.get(LIST)
    assert page.content.count(b"ValueError: bad") == 3


def test_staff_try_failed_jobs_again(admin: Client, failed: list[Job]) -> None:
    chosen = {"action": "try_failed_again", "_selected_action": [job.pk for job in failed]}
    page = admin.post(LIST, chosen, follow=True)
    assert b"Jobs queued again: 3" in page.content
    assert Job.objects.filter(state=Job.State.QUEUED, attempts=0).count() == 3


def test_staff_cannot_write_rows_by_hand(admin: Client, failed: list[Job]) -> None:
    assert admin.get(reverse("admin:jobs_job_add")).status_code == 403
    change = reverse("admin:jobs_job_change", args=[failed[0].pk])
    assert admin.post(change, {"state": "done"}).status_code == 403
    assert admin.post(reverse("admin:jobs_job_delete", args=[failed[0].pk])).status_code == 403


@pytest.mark.parametrize("name", ["organiser", "researcher", "stranger"])
def test_nobody_else_gets_in(
    name: str, request: pytest.FixtureRequest, client_of: Callable[[User | None], Client]
) -> None:
    assert client_of(request.getfixturevalue(name)).get(LIST).status_code == 302
