"""Health: what it asks, what it answers, and what it keeps to itself."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.test import Client
from django.utils import timezone

from portal.home import health
from portal.jobs.models import Job

pytestmark = pytest.mark.django_db


def _job(waiting: timedelta, state: str = Job.State.QUEUED) -> Job:
    return Job.objects.create(kind="x", state=state, not_before=timezone.now() - waiting)


def test_all_is_well(client: Client) -> None:
    response = client.get("/healthz")
    assert response.status_code == 200
    assert response.json() == {
        "status": "ok",
        "database": True,
        "cache": True,
        "schema": True,
        "oldest_due_job_seconds": 0,
    }
    assert "no-store" in response["Cache-Control"]


def test_the_oldest_due_job_counts(client: Client) -> None:
    _job(timedelta(seconds=30))
    _job(timedelta(seconds=90))
    _job(timedelta(hours=1), state=Job.State.DONE)
    _job(-timedelta(hours=1))
    body = client.get("/healthz").json()
    assert body["status"] == "ok"
    assert 90 <= body["oldest_due_job_seconds"] < 100


def test_work_nobody_takes_up_is_told_but_pages_are_served(client: Client) -> None:
    _job(health.QUEUE_WAIT + timedelta(seconds=1))
    response = client.get("/healthz")
    assert response.status_code == 200
    assert response.json()["status"] == "work is not taken up"


def test_a_lost_database_is_down_and_tells_no_secret(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: Any) -> None:
        raise OperationalError("password authentication failed for user factboard at db.internal")

    monkeypatch.setattr(Job.objects, "due", fail)
    response = client.get("/healthz")
    assert response.status_code == 503
    assert response.json()["status"] == "down"
    assert response.json()["database"] is False
    assert response.json()["cache"] is True
    assert "factboard" not in response.content.decode()


def test_a_cache_that_forgets_is_down(client: Client, settings: Any) -> None:
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.dummy.DummyCache"}}
    response = client.get("/healthz")
    assert response.status_code == 503
    assert response.json()["cache"] is False


def test_health_is_only_read(client: Client) -> None:
    assert client.post("/healthz").status_code == 405


@pytest.mark.parametrize("host", ["10.0.0.7:8000", "pod-7.internal", "bad_host/"])
def test_health_is_asked_by_any_host_without_https(settings: Any, host: str) -> None:
    settings.SECURE_SSL_REDIRECT = True
    settings.ALLOWED_HOSTS = ["facts.example.org"]
    # The middleware reads its settings when it is made.
    fresh = Client(headers={"Host": host})
    assert fresh.get("/healthz").status_code == 200
    assert fresh.head("/healthz").status_code == 200
    assert fresh.get("/").status_code in {301, 400}
    assert fresh.get("/healthz/").status_code in {301, 400}


def test_health_begins_no_session(client: Client) -> None:
    assert not client.get("/healthz").cookies


def test_a_database_of_another_version_is_down(client: Client) -> None:
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'scoring'")
    response = client.get("/healthz")
    assert response.status_code == 503
    assert response.json()["status"] == "down"
    assert response.json()["database"] is True
    assert response.json()["schema"] is False
