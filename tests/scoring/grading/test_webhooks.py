"""Webhooks and emails: content, recipients, signatures, and forbidden URLs."""

import hashlib
import hmac
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from django.core import mail
from django.utils import timezone

from portal.accounts.models import User
from portal.jobs.models import Job
from portal.web.outgoing import OutgoingError, check_url, post
from scoring.grading.notices import WEBHOOKS, WebhookRefused, add_webhook
from scoring.models import Board, Delivery, Phase, Webhook
from tests.fixture_types import ApiOf, ClientOf, RunJobs
from tests.scoring.factories import (
    PERFECT,
    first_phase,
    lines_of,
    make_board,
    make_submission,
    send_file,
    upload,
)

pytestmark = pytest.mark.django_db


@dataclass
class Listener:
    """A server on this machine that answers every POST with `status`."""

    url: str
    status: int = 200
    heard: list[tuple[dict[str, str], bytes]] = field(default_factory=list)


@pytest.fixture
def listener(settings: Any) -> Iterator[Listener]:
    settings.OUTGOING_TO_PRIVATE = True
    found = Listener(url="")

    class Answer(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            found.heard.append((dict(self.headers), body))
            self.send_response(found.status)
            self.send_header("Location", "http://127.0.0.1:1/elsewhere")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Silent."""

    server = HTTPServer(("127.0.0.1", 0), Answer)
    found.url = f"http://127.0.0.1:{server.server_port}/graded?from=here"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield found
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_webhook_is_told_what_its_owner_may_read(
    listener: Listener, board: Board, researcher: User, run_jobs: RunJobs
) -> None:
    webhook = add_webhook(user=researcher, url=listener.url)
    submission = make_submission(board, researcher)
    run_jobs()
    [(headers, body)] = listener.heard
    told = json.loads(body)
    assert (told["event"], told["submission"], told["board"]) == (
        "grading.done",
        submission.pk,
        "board",
    )
    assert told["scores"]["ffa"] == 1.0
    digest = hmac.new(webhook.secret.encode(), body, hashlib.sha256).hexdigest()
    assert headers["X-Factboard-Signature"] == f"sha256={digest}"
    delivery = Delivery.objects.get()
    assert (delivery.state, delivery.status) == ("delivered", 200)


def test_scores_that_are_told_later_are_not_sent(
    listener: Listener, researcher: User, run_jobs: RunJobs
) -> None:
    add_webhook(user=researcher, url=listener.url)
    make_submission(make_board(scores_after=timezone.now() + timedelta(days=1)), researcher)
    run_jobs()
    [(_, body)] = listener.heard
    assert json.loads(body)["scores"] == {}


def test_others_are_told_nothing(
    listener: Listener, board: Board, researcher: User, stranger: User, run_jobs: RunJobs
) -> None:
    add_webhook(user=stranger, url=listener.url)
    make_submission(board, researcher)
    run_jobs()
    assert listener.heard == []
    assert not Job.objects.filter(kind="notify_of_grading").exists()


@pytest.mark.parametrize("status", [500, 302])
def test_an_address_that_answers_otherwise_is_tried_again_and_then_given_up(
    listener: Listener, board: Board, researcher: User, run_jobs: RunJobs, status: int
) -> None:
    listener.status = status
    add_webhook(user=researcher, url=listener.url)
    make_submission(board, researcher)
    run_jobs()
    job = Job.objects.get(kind="deliver_webhook")
    assert (job.state, job.max_attempts) == (Job.State.QUEUED, 5)
    assert f"the response has status {status}" in job.error
    for _ in range(5):
        Job.objects.filter(pk=job.pk).update(not_before=timezone.now())
        run_jobs()
    assert len(listener.heard) == 5
    delivery = Delivery.objects.get()
    assert (delivery.state, f"{status}" in delivery.error) == ("failed", True)


def test_one_that_was_taken_away_is_told_nothing(
    listener: Listener, board: Board, researcher: User, client_of: ClientOf, run_jobs: RunJobs
) -> None:
    webhook = add_webhook(user=researcher, url=listener.url)
    make_submission(board, researcher)
    client_of(researcher).post(f"/submissions/webhooks/{webhook.pk}/remove/")
    run_jobs()
    assert listener.heard == []


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://example.org/", "must begin with https://"),
        ("ftp://example.org/", "must begin with https://"),
        ("https:///graded", "must contain a host"),
        ("https://user:secret@example.org/", "no user or password"),
        ("https://example.org:99999/", "the port must be a number"),
    ],
)
def test_what_is_no_address_to_send_to(url: str, words: str) -> None:
    with pytest.raises(OutgoingError, match=words):
        check_url(url)


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "10.1.2.3", "169.254.169.254", "[::1]", "[fd00::1]"]
)
def test_nothing_is_sent_into_private_networks(host: str) -> None:
    with pytest.raises(OutgoingError, match="private network"):
        post(f"https://{host}/", b"{}", {})


def test_a_name_with_a_private_and_a_public_address_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    both = [(2, 1, 6, "", ("93.184.216.34", 443)), (2, 1, 6, "", ("192.168.0.7", 443))]
    monkeypatch.setattr("socket.getaddrinfo", lambda *_, **__: both)
    with pytest.raises(OutgoingError, match="private network"):
        post("https://example.org/", b"{}", {})


def test_an_address_is_told_once_and_there_are_not_too_many(researcher: User) -> None:
    for number in range(WEBHOOKS):
        add_webhook(user=researcher, url=f"https://example.org/{number}")
    with pytest.raises(WebhookRefused, match="already have a webhook"):
        add_webhook(user=researcher, url="https://example.org/0")
    with pytest.raises(WebhookRefused, match="at most 10"):
        add_webhook(user=researcher, url="https://example.org/one-more")


def test_the_page_shows_ones_own(
    client_of: ClientOf, researcher: User, stranger: User, django_assert_num_queries: Any
) -> None:
    client_of(researcher).post("/submissions/webhooks/", {"url": "https://example.org/mine"})
    secret = Webhook.objects.get().secret
    assert secret in client_of(researcher).get("/submissions/webhooks/").content.decode()
    assert secret not in client_of(stranger).get("/submissions/webhooks/").content.decode()
    wrong = client_of(researcher).post("/submissions/webhooks/", {"url": "mine"})
    assert wrong.status_code == 400
    assert "The URL must begin with https://" in wrong.content.decode()


def test_by_the_api(api_of: ApiOf, researcher: User, stranger: User) -> None:
    made = api_of(researcher).post("/api/v1/webhooks/", {"url": "https://example.org/"})
    assert made.status_code == 201
    url = f"/api/v1/webhooks/{made.json()['id']}/"
    assert api_of(stranger).delete(url).status_code == 404
    assert api_of(researcher).delete(url).status_code == 204
    assert api_of(researcher).get("/api/v1/webhooks/").json() == []


def test_a_letter_for_who_asked_for_one(board: Board, researcher: User, run_jobs: RunJobs) -> None:
    submission = send_file(
        first_phase(board),
        researcher,
        lines_of(PERFECT),
        email_origin="https://facts.example",
    )
    make_submission(board, researcher, name="Silent")
    run_jobs()
    [letter] = mail.outbox
    assert letter.to == [researcher.email]
    assert "“Reader”" in letter.subject
    assert f"https://facts.example/submissions/{submission.pk}/" in letter.body


def test_the_form_asks_whether_a_letter_is_wanted(
    client_of: ClientOf, board: Board, researcher: User
) -> None:
    client_of(researcher).post(
        "/boards/board/submit/",
        {
            "form_key": "k",
            "phase": Phase.objects.get().pk,
            "name": "Reader",
            "category": "other",
            "letter": "on",
            "file": upload(lines_of(PERFECT)),
        },
    )
    assert researcher.submissions.get().email_origin == "http://testserver"
