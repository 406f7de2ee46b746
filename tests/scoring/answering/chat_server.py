"""A model on loopback: an OpenAI-compatible server that answers from scripts, in one thread.

A script gets the call and returns a reply. As a program, it serves on its own:

    python -m tests.scoring.answering.chat_server --latency 0.1 --faults 0.05
"""

import argparse
import asyncio
import hashlib
import json
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

MODEL = "scripted-1"
TOKENS_IN, TOKENS_OUT = 100, 50
USAGE = {"prompt_tokens": TOKENS_IN, "completion_tokens": TOKENS_OUT}


@dataclass(frozen=True)
class Call:
    """A request; `key` identifies the question, `attempt` counts how often it came."""

    body: dict[str, Any]
    headers: Mapping[str, str]
    path: str
    key: str
    number: int
    attempt: int


@dataclass(frozen=True)
class Reply:
    """`pieces` are sent one after the other with `pause` seconds between them; without them the
    reply is a chat completion with `text`. With `cut` it ends after so many bytes. It waits for
    `until`."""

    text: str = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    finish_reason: str = "stop"
    message: Mapping[str, Any] = field(default_factory=dict)
    usage: Any = field(default_factory=lambda: dict(USAGE))
    wait: float = 0.0
    raw: bytes | None = None
    head: bytes | None = None
    pieces: Iterator[bytes] | None = None
    pause: float = 0.0
    cut: int | None = None
    until: threading.Event | None = None


Script = Callable[[Call], Reply]


def echo(call: Call) -> Reply:
    """An answer that depends on nothing but the question."""
    return Reply(f"<p>Net loss {call.key}</p>")


def in_turn(*replies: Reply) -> Script:
    """By the attempt at a question; then the answer."""
    return lambda call: replies[call.attempt - 1] if call.attempt <= len(replies) else echo(call)


def faulty(share: float, seed: int = 7, latency: float = 0.0) -> Script:
    """A share of the attempts fails in four ways, drawn by question and attempt."""

    def script(call: Call) -> Reply:
        draw = random.Random(f"{seed}/{call.key}/{call.attempt}")
        good = Reply(echo(call).text, wait=latency)
        if draw.random() >= share:
            return good
        faults = [
            Reply(status=429, headers={"Retry-After": "0.01"}, wait=latency),
            Reply(status=500, wait=latency),
            Reply(good.text, cut=60, wait=latency),
            Reply(wait=3600),
        ]
        return draw.choice(faults)

    return script


@dataclass
class ChatServer:
    url: str = ""
    script: Script = echo
    calls: list[Call] = field(default_factory=list)
    asked: Counter[str] = field(default_factory=Counter)
    answered: Counter[str] = field(default_factory=Counter)

    def take(self, head: str, body: bytes) -> tuple[Call, Reply]:
        first, *lines = head.split("\r\n")
        headers = {
            name.lower(): value.strip()
            for name, _, value in (line.partition(":") for line in lines if line)
        }
        parsed = json.loads(body)
        key = hashlib.sha256(json.dumps(parsed["messages"]).encode()).hexdigest()[:12]
        self.asked[key] += 1
        call = Call(parsed, headers, first.split(" ")[1], key, len(self.calls) + 1, self.asked[key])
        self.calls.append(call)
        return call, self.script(call)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                while await self._one(reader, writer):
                    pass
        finally:
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = int(head.lower().split("content-length:")[1].split("\r\n")[0])
        call, reply = self.take(head, await reader.readexactly(length))
        if reply.wait:
            await asyncio.sleep(reply.wait)
        while reply.until is not None and not reply.until.is_set():
            await asyncio.sleep(0.02)
        if reply.head is not None:
            writer.write(reply.head)
        if reply.pieces is not None:
            for piece in reply.pieces:
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(reply.pause)
            return False
        whole = _response(reply, call)
        writer.write(whole[: reply.cut] if reply.cut is not None else whole)
        await writer.drain()
        if reply.status == 200 and reply.cut is None:
            self.answered[call.key] += 1
        return reply.cut is None and reply.head is None


def _response(reply: Reply, call: Call) -> bytes:
    data = reply.raw if reply.raw is not None else _payload(reply, call.body["model"])
    headers = {
        "Content-Type": "application/json",
        "Content-Length": str(len(data)),
        **reply.headers,
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {reply.status} x\r\n{lines}\r\n".encode() + data


def _payload(reply: Reply, model: str) -> bytes:
    if reply.status != 200:
        return json.dumps({"error": {"message": reply.text or "no"}}).encode()
    message = {"role": "assistant", "content": reply.text, **reply.message}
    choice = {"index": 0, "message": message, "finish_reason": reply.finish_reason}
    whole = {"object": "chat.completion", "model": model, "choices": [choice]}
    return json.dumps({**whole, "usage": reply.usage}).encode()


async def _listen(server: ChatServer, begun: Callable[[asyncio.Event], None]) -> None:
    stop = asyncio.Event()
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0, backlog=256)
    server.url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/v1"
    begun(stop)
    await stop.wait()
    listener.close()


@contextmanager
def serve(script: Script = echo) -> Iterator[ChatServer]:
    server = ChatServer(script=script)
    ready = threading.Event()
    stops: list[Callable[[], object]] = []

    def begun(stop: asyncio.Event) -> None:
        loop = asyncio.get_running_loop()
        stops.append(lambda: loop.call_soon_threadsafe(stop.set))
        ready.set()

    # The end of asyncio.run cancels the connections that are still open.
    thread = threading.Thread(target=lambda: asyncio.run(_listen(server, begun)), daemon=True)
    thread.start()
    ready.wait()
    try:
        yield server
    finally:
        stops[0]()
        thread.join()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--latency", type=float, default=0.0)
    parser.add_argument("--faults", type=float, default=0.0)
    args = parser.parse_args()
    server = ChatServer(script=faulty(args.faults, latency=args.latency))

    with suppress(KeyboardInterrupt):
        asyncio.run(_listen(server, lambda _: print(server.url, flush=True)))  # noqa: T201


if __name__ == "__main__":
    main()
