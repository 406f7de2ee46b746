"""The endpoint: what is sent, what is repeated, and what a hostile one can do."""

import gzip
import itertools
import json
import socketserver
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from threading import Thread
from typing import Any

import pytest

from scoring.answering.core import EngineAnswer, ImageSource, RunItem
from scoring.answering.endpoint import ChatEngine, EndpointError, checked_url
from scoring.judge.endpoint import Backoff, Budget, Endpoint, Prices, Stopped
from tests.datasets.factories import png
from tests.scoring.answering.chat_server import (
    MODEL,
    TOKENS_IN,
    TOKENS_OUT,
    ChatServer,
    Reply,
    in_turn,
    serve,
)

KEY = "sk-very-secret-12345"
ITEM = RunItem("p1", "Read.", (ImageSource("p1.png", png),))
QUICK = Backoff(attempts=3, first=0.001, most=0.01)


@contextmanager
def engine_of(
    server: ChatServer, *, timeout: float = 30, budget: Budget | None = None, **options: Any
) -> Iterator[ChatEngine]:
    endpoint = Endpoint(server.url, MODEL, KEY, timeout, backoff=QUICK)
    decoding = {"temperature": 0, "max_tokens": 20, **options.pop("decoding", {})}
    engine = ChatEngine(endpoint, budget or Budget(), decoding=decoding, **options)
    try:
        yield engine
    finally:
        engine.close()


def answer_of(
    reply: Reply | Callable[..., Reply], **options: Any
) -> tuple[EngineAnswer, ChatServer]:
    script = reply if callable(reply) else lambda _: reply
    with serve(script) as server, engine_of(server, **options) as engine:
        return engine.answer(ITEM), server


def test_request_has_images_text_system_and_decoding() -> None:
    _, server = answer_of(
        Reply("<p>"), system="You read.", decoding={"seed": 7, "top_k": 3, "max_tokens": 9}
    )

    (call,) = server.calls
    assert call.path == "/v1/chat/completions"
    assert call.headers["authorization"] == f"Bearer {KEY}"
    system, user = call.body.pop("messages")
    assert call.body == {"model": MODEL, "temperature": 0, "seed": 7, "top_k": 3, "max_tokens": 9}
    assert system == {"role": "system", "content": "You read."}
    image, text = user["content"]
    assert image["image_url"]["url"].startswith("data:image/png;base64,iVBOR")
    assert text == {"type": "text", "text": "Read."}


def test_answer_has_its_tokens_and_time() -> None:
    answer, _ = answer_of(Reply("<p>Net loss"))

    assert (answer.text, answer.state, answer.attempts) == ("<p>Net loss", "answered", 1)
    assert (answer.input_tokens, answer.output_tokens) == (TOKENS_IN, TOKENS_OUT)
    assert answer.seconds is not None


@pytest.mark.parametrize(
    ("reply", "state", "text"),
    [
        (Reply(""), "empty", ""),
        (Reply("", message={"refusal": "I cannot."}), "refused", "I cannot."),
        (Reply("", finish_reason="content_filter"), "refused", ""),
        (Reply("half", finish_reason="SAFETY"), "refused", "half"),
        (Reply(message={"content": None, "reasoning_content": "1,200?"}), "empty", ""),
        (
            Reply(message={"content": [{"type": "thinking", "thinking": "1,200?"}]}),
            "empty",
            "",
        ),
        (Reply("half", finish_reason="length"), "answered", "half"),
        (Reply(message={"content": None}), "empty", ""),
        (
            Reply(message={"content": [{"type": "text", "text": "in parts"}]}),
            "answered",
            "in parts",
        ),
    ],
)
def test_answer_has_a_state(reply: Reply, state: str, text: str) -> None:
    answer, _ = answer_of(reply)

    assert (answer.state, answer.text) == (state, text)


@pytest.mark.parametrize(
    "fault",
    [
        Reply(status=408),
        Reply(status=409),
        Reply(status=429, headers={"Retry-After": "0"}),
        Reply(status=503),
        Reply("half", cut=80),
        Reply("half", cut=0),
        Reply(raw=b'{"choices": [{"mess'),
        Reply(raw=b"{}"),
    ],
)
def test_fault_is_repeated_until_there_is_an_answer(fault: Reply) -> None:
    answer, server = answer_of(in_turn(fault, fault))

    assert answer.state == "answered"
    assert answer.attempts == len(server.calls) == 3


def test_timeout_is_repeated_and_its_cost_counts() -> None:
    answer, _ = answer_of(in_turn(Reply(wait=60)), timeout=0.3)

    assert (answer.state, answer.attempts) == ("answered", 2)
    assert answer.usage.uncertain == 1
    assert answer.usage.output == TOKENS_OUT + 20


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150},
        {"input_tokens": 100, "output_tokens": 50},
        {"prompt_tokens": None, "input_tokens": 100, "output_tokens": 50},
    ],
)
def test_tokens_have_either_name(usage: dict[str, Any]) -> None:
    answer, _ = answer_of(Reply("<p>", usage=usage))

    assert (answer.usage.input, answer.usage.output, answer.usage.uncertain) == (100, 50, 0)


@pytest.mark.parametrize(
    "usage",
    [
        None,
        {},
        [100, 50],
        {"prompt_tokens": "100", "completion_tokens": "50"},
        {"prompt_tokens": 100, "completion_tokens": None},
        {"prompt_tokens": 100, "output_tokens": 50},
        {"prompt_tokens": -1, "completion_tokens": 50},
        {"prompt_tokens": 0, "completion_tokens": 0},
        {"prompt_tokens": 100, "completion_tokens": 0},
        {"prompt_tokens": 1e2, "completion_tokens": 50.0},
        {"prompt_tokens": True, "completion_tokens": True},
        {"prompt_tokens": 10**400, "completion_tokens": 50},
    ],
)
def test_tokens_that_cannot_be_true_are_unknown(usage: Any) -> None:
    answer, _ = answer_of(Reply("<p>", usage=usage))

    assert answer.state == "answered"
    assert (answer.input_tokens, answer.output_tokens) == (None, None)
    assert (answer.usage.output, answer.usage.uncertain) == (20, 1)


def test_item_fails_after_the_last_attempt() -> None:
    answer, server = answer_of(Reply(status=500))

    assert answer.state == "failed"
    assert answer.reason == "no answer after 3 attempts: HTTP 500: no"
    assert len(server.calls) == 3


def test_refused_temperature_is_left_out_unless_it_was_asked_for() -> None:
    def script(call: Any) -> Reply:
        if "temperature" in call.body:
            error = {"error": {"message": "unsupported", "param": "temperature"}}
            return Reply(status=400, raw=json.dumps(error).encode())
        return Reply("<p>")

    with serve(script) as server, engine_of(server) as engine:
        assert engine.answer(ITEM).state == "answered"
        assert engine.decoding == {"max_tokens": 20}
    answer, _ = answer_of(script, optional=frozenset())
    assert answer.state == "failed"
    assert "about temperature" in answer.reason


def error(status: int = 400, **fields: Any) -> Reply:
    return Reply(status=status, raw=json.dumps({"error": fields}).encode())


@pytest.mark.parametrize(
    "reply",
    [
        error(message="filtered", code="content_filter", param="prompt", status=400),
        error(message="filtered", innererror={"code": "ResponsibleAIPolicyViolation"}),
        error(message="inappropriate content", type="data_inspection_failed"),
        error(message="litellm.ContentPolicyViolationError: no", code="400"),
        error(403, message="flagged", code=403, metadata={"flagged_input": "x", "reasons": ["y"]}),
        error(200, message="no", code="content_filter"),
    ],
)
def test_content_filter_refuses_its_item_once(reply: Reply) -> None:
    with serve(lambda _: reply) as server, engine_of(server) as engine:
        answers = [engine.answer(ITEM) for _ in range(7)]

    assert {answer.state for answer in answers} == {"refused"}
    assert answers[0].reason.startswith("refused by the provider's content filter: HTTP ")
    assert len(server.calls) == 7


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (error(200, message="model is overloaded"), "an error: model is overloaded"),
        (error(200, message="later", code=503), "3 attempts: HTTP 503: later"),
        (Reply(raw=b'{"error": "out of memory"}'), "an error: out of memory"),
        (
            Reply(raw=b'{"choices": [{"message": {"content": ""}, "error": {"message": "x"}}]}'),
            "an error: x",
        ),
        (Reply(raw=b'{"object": "error", "message": "too long"}'), "an error: too long"),
        (Reply(raw=b'{"error": {}}'), "not a chat completion"),
        (error(200, message="no such key", code=401), "check URL, model and key"),
    ],
)
def test_error_in_a_response_with_status_200_is_named(reply: Reply, reason: str) -> None:
    answer, _ = answer_of(reply)

    assert answer.state == "failed"
    assert reason in answer.reason


def engine_at(url: str, **options: Any) -> ChatEngine:
    endpoint = Endpoint(url, MODEL, KEY, 10, backoff=QUICK)
    return ChatEngine(endpoint, Budget(), decoding={"max_tokens": 20}, **options)


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://127.0.0.1:9/v1", "3 attempts: no connection to the endpoint: the connection was"),
        ("http://no-such-host.invalid/v1", "the host name was not found (DNS)"),
    ],
)
def test_cause_of_a_missing_connection_is_named(url: str, reason: str) -> None:
    with closing(engine_at(url)) as engine:
        assert reason in engine.answer(ITEM).reason


class _WithoutTls(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        self.request.recv(1000)
        self.request.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")


def test_failed_tls_stops_the_run() -> None:
    with socketserver.TCPServer(("127.0.0.1", 0), _WithoutTls) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        with closing(engine_at(f"https://127.0.0.1:{server.server_address[1]}/v1")) as engine:
            reason = engine.answer(ITEM).reason
            with pytest.raises(Stopped):
                engine.answer(ITEM)
        server.shutdown()
    assert "TLS failed (wrong version number); check http or https in the URL" in reason


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_proxy_is_named_without_its_password(scheme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"{scheme}_proxy", "http://user:secret@127.0.0.1:9")
    with closing(engine_at(f"{scheme}://models.example/v1")) as engine:
        reason = engine.answer(ITEM).reason

    assert "no connection to the proxy 127.0.0.1:9: the connection was refused" in reason
    assert "secret" not in reason


def test_proxy_that_wants_a_password_stops_the_run() -> None:
    with serve(lambda _: Reply(status=407)) as server, engine_of(server) as engine:
        assert "the proxy requires a user and a password" in engine.answer(ITEM).reason
        with pytest.raises(Stopped):
            engine.answer(ITEM)


def test_wrong_key_stops_the_run() -> None:
    with serve(lambda _: Reply(status=401)) as server, engine_of(server) as engine:
        first = engine.answer(ITEM)
        assert first.state == "failed"
        assert "check URL, model and key" in first.reason
        with pytest.raises(Stopped):
            engine.answer(ITEM)
    assert len(server.calls) == 1


def test_dead_endpoint_stops_the_run_after_five_items() -> None:
    with serve(lambda _: Reply(status=500)) as server, engine_of(server) as engine:
        for _ in range(5):
            assert engine.answer(ITEM).state == "failed"
        with pytest.raises(Stopped):
            engine.answer(ITEM)
    assert len(server.calls) == 15


def test_endpoint_that_refuses_every_request_stops_the_run() -> None:
    with serve(lambda _: Reply("no images", status=400)) as server, engine_of(server) as engine:
        for _ in range(5):
            assert "HTTP 400: no images" in engine.answer(ITEM).reason
        with pytest.raises(Stopped, match="no images"):
            engine.answer(ITEM)
    assert len(server.calls) == 5


def test_single_refused_requests_do_not_stop_the_run() -> None:
    def script(call: Any) -> Reply:
        return Reply("<p>") if call.number == 1 else Reply(status=400)

    with serve(script) as server, engine_of(server) as engine:
        for _ in range(10):
            engine.answer(ITEM)
    assert len(server.calls) == 10


def test_budget_is_never_passed() -> None:
    budget = Budget(Prices(1_000.0, 1_000.0), limit=1.0)
    with (
        serve(lambda _: Reply("<p>")) as server,
        engine_of(server, budget=budget, image_tokens=50) as engine,
        pytest.raises(Stopped, match="budget"),
    ):
        for _ in range(100):
            engine.answer(ITEM)
    spent = len(server.calls) * (TOKENS_IN + TOKENS_OUT) / 1_000
    assert 0.5 < spent <= 1.0
    assert budget.spent == pytest.approx(spent)


def endless(chunk: bytes) -> Iterator[bytes]:
    return itertools.repeat(chunk)


OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
BOMB = gzip.compress(b" " * 50_000_000)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Reply(head=OK + b"\r\n", pieces=endless(b" " * 65536)), "longer than 16 MB"),
        (
            Reply(head=OK + b"Content-Length: 1000000000\r\n\r\n", pieces=endless(b"{" * 65536)),
            "longer than 16 MB",
        ),
        (Reply(raw=BOMB, headers={"Content-Encoding": "gzip"}), "compressed"),
        (Reply(head=OK + b"\r\n", pieces=endless(b" "), pause=0.01), "within 0.5 seconds"),
        (Reply(head=OK, pieces=endless(b"X-A: b\r\n"), pause=0.01), "within 0.5 seconds"),
        (Reply(head=OK, pieces=iter([b"X-A: " + b"b" * 5_000_000])), "the connection broke off"),
        (Reply(raw=b"<html>Bad gateway", headers={"Content-Type": "text/html"}), "text/html"),
        (Reply(raw='{"é": 1}'.encode("latin-1")), "not a chat completion"),
        (Reply(raw=b"[" * 100_000), "not a chat completion"),
        (Reply(raw=b'{"choices": "all"}'), "not a chat completion"),
        (Reply(message={"content": 7}), "not a chat completion"),
        # Of an error only the beginning is read.
        (Reply(head=b"HTTP/1.1 500 X\r\n\r\n", pieces=endless(b"x" * 65536)), "HTTP 500"),
        (Reply(status=418), "HTTP 418"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_hostile_response_fails_its_item_with_a_reason(reply: Reply, reason: str) -> None:
    def script(_: Any) -> Reply:
        return reply

    # Only those cases reach the deadline that are about it; a busy machine takes its time.
    timeout = 0.5 if "within" in reason else 20.0
    with serve(script) as server, engine_of(server, timeout=timeout) as engine:
        answer = engine.answer(ITEM)

    assert answer.state == "failed"
    assert reason in answer.reason


@pytest.mark.parametrize("where", ["http://169.254.169.254/latest", "http://127.0.0.1:1/v1", "/x"])
def test_redirects_are_not_followed(where: str) -> None:
    answer, server = answer_of(Reply(status=307, headers={"Location": where}))

    assert answer.state == "failed"
    assert "sent a redirect" in answer.reason
    assert len(server.calls) == 1


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1"])
def test_other_encodings_are_read(encoding: str) -> None:
    body = json.dumps({"choices": [{"message": {"content": "Überschuss"}}]}, ensure_ascii=False)
    reply = Reply(
        raw=body.encode(encoding),
        headers={"Content-Type": f"application/json; charset={encoding}"},
    )
    answer, _ = answer_of(reply)

    assert answer.text == "Überschuss"
    assert answer.usage.uncertain == 1


@pytest.mark.parametrize("encoding", ["punycode", "utf-7", "no-such"])
def test_encoding_that_is_none_of_json_is_not_used(encoding: str) -> None:
    body = json.dumps({"choices": [{"message": {"content": "Überschuss +AGE-"}}]})
    headers = {"Content-Type": f"application/json; charset={encoding}"}
    answer, _ = answer_of(Reply(raw=body.encode(), headers=headers))

    assert answer.text == "Überschuss +AGE-"


@pytest.mark.parametrize("status", [200, 400, 500])
def test_key_that_the_endpoint_returns_is_masked(status: int) -> None:
    answer, _ = answer_of(lambda call: Reply(f"You sent {call.headers['authorization']}", status))

    assert KEY not in repr(answer)
    assert "[key]" in answer.text + answer.reason


def test_not_an_image_fails_its_item_without_a_call() -> None:
    with serve() as server, engine_of(server) as engine:
        item = RunItem("p1", "Read.", (ImageSource("p1.tif", lambda: b"II*\0"),))
        answer = engine.answer(item)

    assert answer.reason == "p1.tif: not an image in PNG, JPEG, WEBP, GIF"
    assert not server.calls


def test_stop_ends_the_wait_between_attempts() -> None:
    with serve(lambda _: Reply(status=429, headers={"Retry-After": "60"})) as server:
        endpoint = Endpoint(server.url, MODEL, backoff=Backoff(first=60))
        engine = ChatEngine(endpoint, Budget(), decoding={"max_tokens": 5})
        engine.stop()
        with pytest.raises(Stopped):
            engine.answer(ITEM)
        engine.close()


@pytest.mark.parametrize(
    "url",
    [
        "ftp://host/v1",
        "http://user:secret@host/v1",
        "http://host/v1#secret",
        "host/v1",
        "http://[::1/v1",
        "http://",
    ],
)
def test_wrong_urls_are_refused_without_quoting_them(url: str) -> None:
    with pytest.raises(EndpointError) as caught:
        checked_url(url)
    assert "secret" not in str(caught.value)
