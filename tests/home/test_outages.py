"""Outages of what surrounds the site: which they are, and what users read."""

import errno
import sqlite3

import psycopg
import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from django.db import OperationalError
from django.test import Client, RequestFactory
from redis.exceptions import ConnectionError as RedisAway

from portal.home.outages import outage
from portal.home.views import server_error


def _caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


def _of_sqlite(said: str) -> Exception:
    return _caused(OperationalError(said), sqlite3.OperationalError(said))


def _of_store(status: int) -> ClientError:
    answer = {"Error": {"Code": "X"}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return ClientError(answer, "GetObject")


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (
            _caused(OperationalError("refused"), psycopg.OperationalError("refused")),
            503,
            "database",
        ),
        (
            _caused(OperationalError("stopped"), psycopg.errors.AdminShutdown("stopped")),
            503,
            "database",
        ),
        (_of_sqlite("database is locked"), 503, "database"),
        (_of_sqlite("database or disk is full"), 507, "disk is full"),
        (RedisAway("refused"), 503, "cache"),
        (EndpointConnectionError(endpoint_url="http://127.0.0.1:9"), 503, "file storage"),
        (_of_store(503), 503, "file storage"),
        (_of_store(403), 503, "file storage"),
        (OSError(errno.ENOSPC, "No space left on device"), 507, "disk is full"),
        (OSError(errno.EROFS, "Read-only file system"), 503, "cannot use its disk"),
        (FileNotFoundError(errno.ENOENT, "No usable temporary directory"), 503, "temporary"),
        (FileNotFoundError(errno.ENOENT, "No such file"), 503, "stored file"),
        (_caused(ValueError("no picture"), OSError(errno.ENOSPC, "full")), 507, "disk is full"),
    ],
)
def test_each_outage_has_its_answer(error: Exception, status: int, words: str) -> None:
    found = outage(error)
    assert found is not None
    assert found.status == status
    assert words in found.message


@pytest.mark.parametrize(
    "error",
    [
        ValueError("a fault of the site"),
        _of_sqlite("no such table: boards"),
        _of_store(400),
        _caused(OperationalError("x"), psycopg.errors.ReadOnlySqlTransaction("x")),
        None,
    ],
)
def test_faults_of_the_site_are_no_outages(error: Exception | None) -> None:
    assert outage(error) is None


@pytest.mark.parametrize("path", ["/boards/", "/api/v1/boards/"])
def test_an_outage_is_answered_with_a_time_to_try_again(path: str) -> None:
    try:
        raise OSError(errno.ENOSPC, "No space left on device")
    except OSError:
        response = server_error(RequestFactory().post(path))
    assert (response.status_code, response["Retry-After"]) == (507, "10")
    assert "disk is full" in response.content.decode()


@pytest.mark.django_db
def test_a_page_that_needs_the_store_says_that_it_does_not_answer(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise EndpointConnectionError(endpoint_url="http://127.0.0.1:9")

    monkeypatch.setattr("portal.home.views.legal_text", fail)
    client.raise_request_exception = False
    response = client.get("/terms/")
    assert (response.status_code, response["Retry-After"]) == (503, "10")
    assert "The file storage does not answer" in response.content.decode()
