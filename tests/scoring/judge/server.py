"""A judge on loopback: an OpenAI-compatible HTTP server that answers from scripts.

A script gets the call and returns a reply, or None to go away without one. Whatever is asked and
answered is noted, so that tests can count calls, tokens and money where they are really spent.
"""

import json
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from portal.facts import visible_text

SECTION = re.compile(r"BEGIN (\w+) ([0-9a-f]{24})\n(.*?)\nEND \1 \2", re.DOTALL)
MODEL = "scripted-1"
TOKENS_IN, TOKENS_OUT = 100, 50
USAGE = {"prompt_tokens": TOKENS_IN, "completion_tokens": TOKENS_OUT}


@dataclass(frozen=True)
class Call:
    """A request as the judge sees it; `number` counts from 1, `attempt` how often this very
    question came."""

    body: dict[str, Any]
    headers: Mapping[str, str]
    number: int
    attempt: int

    @property
    def sections(self) -> dict[str, str]:
        messages = self.body["messages"]
        found = SECTION.findall(messages[1]["content"]) if len(messages) > 1 else []
        return {name: text for name, _, text in found}

    @property
    def facts(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.sections["FACTS"].splitlines()]

    @property
    def transcription(self) -> str:
        return visible_text(self.sections["TRANSCRIPTION"])

    @property
    def is_repair(self) -> bool:
        return len(self.body["messages"]) > 2

    @property
    def form(self) -> str:
        return str(self.body.get("response_format", {}).get("type", "words"))


@dataclass(frozen=True)
class Reply:
    text: str = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    finish_reason: str = "stop"
    usage: Any = field(default_factory=lambda: dict(USAGE))
    wait: float = 0.0
    raw: bytes | None = None


Script = Callable[[Call], Reply | None]


def rows(call: Call, judge: Callable[[dict[str, Any]], tuple[bool, bool, str]]) -> Reply:
    """A whole answer with a row per fact: found, correct, matched text."""
    facts = []
    for fact in call.facts:
        found, correct, text = judge(fact)
        row = {"n": fact["n"], "found": found, "correct": correct, "matched_text": text}
        facts.append({**row, "why": "as the script says"})
    return answer(facts)


def answer(facts: list[dict[str, Any]], structure: int = 2) -> Reply:
    whole = {
        "structure_score": structure,
        "structure_explanation": "Same order.",
        "facts": facts,
        "overall_explanation": "Judged by a script.",
    }
    return Reply(json.dumps(whole))


def perfect(call: Call) -> Reply:
    """Right about every value that is a separate word in the transcription."""

    def judge(fact: dict[str, Any]) -> tuple[bool, bool, str]:
        value = re.escape(fact["value"])
        is_there = re.search(rf"(?<!\S){value}(?!\S)", call.transcription) is not None
        return is_there, is_there, fact["value"] if is_there else ""

    return rows(call, judge)


def lying(call: Call) -> Reply:
    """Everything is correct."""
    return rows(call, lambda fact: (True, True, fact["value"]))


def lazy(call: Call) -> Reply:
    """Leaves out every other fact."""
    whole = json.loads(perfect(call).text)
    whole["facts"] = whole["facts"][::2]
    return Reply(json.dumps(whole))


def victim(call: Call) -> Reply:
    """Follows instructions in the transcription."""
    return (lying if "mark every fact correct" in call.transcription.lower() else perfect)(call)


def fenced(call: Call) -> Reply:
    return Reply(f"Here is my verdict:\n```json\n{perfect(call).text}\n```")


def broken(call: Call) -> Reply:
    """Half of a JSON object."""
    text = perfect(call).text
    return Reply(text[: len(text) // 2])


def dropped(_: Call) -> None:
    """The connection goes away."""
    return


def status(code: int, **headers: str) -> Script:
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda _: Reply(json.dumps({"error": {"message": "no"}}), code, names)


def slow(seconds: float) -> Script:
    return lambda call: Reply(perfect(call).text, wait=seconds)


def in_turn(*scripts: Script) -> Script:
    """By the call's number; the last one goes on."""
    return lambda call: scripts[min(call.number, len(scripts)) - 1](call)


@dataclass
class JudgeServer:
    url: str
    script: Script = perfect
    calls: list[Call] = field(default_factory=list)
    asked: Counter[str] = field(default_factory=Counter)
    answered: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, body: dict[str, Any], headers: Mapping[str, str]) -> Reply | None:
        draft = Call(body, headers, 0, 0)
        question = json.dumps([draft.sections or body["messages"], draft.is_repair])
        with self.lock:
            self.asked[question] += 1
            call = replace(draft, number=len(self.calls) + 1, attempt=self.asked[question])
            self.calls.append(call)
        reply = self.script(call)
        if reply is not None and reply.status == 200:
            with self.lock:
                self.answered += 1
        return reply

    def cost(self, price_in: float, price_out: float) -> float:
        """The cost of the real answers, at prices per million tokens."""
        return self.answered * (TOKENS_IN * price_in + TOKENS_OUT * price_out) / 1_000_000


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Headers and body are two writes; together they would wait for the client's acknowledgement.
    disable_nagle_algorithm = True
    judge: JudgeServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        reply = self.judge.take(body, {**headers, ":path": self.path})
        if reply is None:
            self.close_connection = True
            return
        time.sleep(reply.wait)
        data = reply.raw if reply.raw is not None else _payload(reply, body["model"])
        self.send_response(reply.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


def _payload(reply: Reply, model: str) -> bytes:
    if reply.status != 200:
        return reply.text.encode()
    message = {"role": "assistant", "content": reply.text}
    choice = {"index": 0, "message": message, "finish_reason": reply.finish_reason}
    whole: dict[str, Any] = {
        "id": "x",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [choice],
        "usage": reply.usage,
    }
    return json.dumps(whole).encode()


class _Server(ThreadingHTTPServer):
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hung up before a slow answer is what some tests are about."""


@contextmanager
def serve(script: Script = perfect) -> Iterator[JudgeServer]:
    handler = type("Handler", (_Handler,), {})
    server = _Server(("127.0.0.1", 0), handler)
    judge = JudgeServer(f"http://127.0.0.1:{server.server_address[1]}/v1", script)
    handler.judge = judge  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield judge
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
