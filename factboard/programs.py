"""The engines `command` and `python`: any program, or a function of one's own.

A program takes images and prints text or JSON. It runs without a shell, with limits of time and
output. A function, for example around a local model, takes an item and returns its answer, a string
or an object. The item has

    item.id        the item's id
    item.prompt    the text of the request
    item.question  the item's own question, if it has one
    item.kind      its kind, in benchmarks with several
    item.images    its images: `.name`, and `.read()` for the bytes
"""

import json
import re
import shlex
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from threading import Event, Lock, Thread, Timer
from typing import IO, Any

from portal.files.archives import MEGABYTE
from scoring.answering.core import LONGEST_REASON, EngineAnswer, RunItem
from scoring.benchmarks.answers import ANSWER_KEYS
from scoring.judge.endpoint import Stopped, Usage
from scoring.offline.terminal import BadInput

# --- programs -----------------------------------------------------------------------------------

MOST_OUTPUT = 16 * MEGABYTE
_KEPT_ERRORS = 4096
IMAGE, IMAGES, PROMPT = "{image}", "{images}", "{prompt}"
_INTERPRETER = re.compile(r"(python|pypy|ruby|perl|node|Rscript|bash|sh)[\d.]*")
# Options of interpreters whose next word is code.
_INLINE = {"-c", "-e"}


class EngineFault(Exception):
    """An item without an answer; the message gives the reason."""


class EngineMissing(BadInput):
    """The engine cannot be used here; the message says what to install or to change."""


class LocalEngine(ABC):
    """An engine on this machine. Subclasses give the answer of one item as a text."""

    def __init__(self) -> None:
        self._programs = Programs()

    def answer(self, item: RunItem) -> EngineAnswer:
        began = time.monotonic()
        try:
            text = self.text(item)
        except (EngineFault, OSError) as fault:
            if self._programs.is_stopped:
                raise Stopped("stopped before the end") from fault
            return EngineAnswer(state="failed", reason=str(fault)[:LONGEST_REASON])
        return EngineAnswer(
            text=text,
            state="answered" if text.strip() else "empty",
            seconds=round(time.monotonic() - began, 4),
            usage=Usage(calls=1, attempts=1),
        )

    def stop(self) -> None:  # noqa: B027 - there is nothing to stop
        """Programs that have begun come to their end."""

    def close(self) -> None:
        self._programs.kill()

    @abstractmethod
    def text(self, item: RunItem) -> str:
        """Return the answer of an item. Raises EngineFault and OSError."""


class Programs:
    """Runs programs of many threads, and can kill them all."""

    def __init__(self) -> None:
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = Lock()
        self._is_killed = Event()

    @property
    def is_stopped(self) -> bool:
        return self._is_killed.is_set()

    def kill(self) -> None:
        self._is_killed.set()
        with self._lock:
            for process in self._running:
                process.kill()

    def output(
        self,
        arguments: Sequence[str],
        *,
        stdin: bytes = b"",
        timeout: float,
        env: dict[str, str] | None = None,
    ) -> str:
        """Standard output. Raises EngineFault for any other end than exit code 0."""
        name = PurePosixPath(arguments[0]).name
        try:
            process = subprocess.Popen(  # noqa: S603 - the user's own program, without a shell
                arguments,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=env,
            )
        except OSError as error:
            raise EngineFault(f"{name} cannot be run: {error.strerror}") from error
        with self._lock:
            self._running.add(process)
        if self.is_stopped:
            process.kill()
        try:
            return _finished(process, name, stdin, timeout)
        finally:
            with self._lock:
                self._running.discard(process)


def _finished(process: subprocess.Popen[bytes], name: str, stdin: bytes, timeout: float) -> str:
    late = Event()

    def give_up() -> None:
        late.set()
        process.kill()

    timer = Timer(timeout, give_up)
    timer.daemon = True
    timer.start()
    assert process.stdin and process.stdout and process.stderr  # noqa: PT018 - all are pipes
    errors = bytearray()
    threads = [
        Thread(target=_feed, args=(process.stdin, stdin), daemon=True),
        Thread(target=_keep_end, args=(process.stderr, errors), daemon=True),
    ]
    with process:
        for thread in threads:
            thread.start()
        data = process.stdout.read(MOST_OUTPUT + 1)
        if len(data) > MOST_OUTPUT:
            process.kill()
        code = process.wait()
        timer.cancel()
        for thread in threads:
            thread.join()
    if late.is_set():
        raise EngineFault(f"{name} took longer than {timeout:g} seconds")
    if len(data) > MOST_OUTPUT:
        raise EngineFault(f"{name} printed more than {MOST_OUTPUT // MEGABYTE} MB")
    if code:
        lines = errors.decode("utf-8", "replace").strip().splitlines()
        raise EngineFault(f"{name} failed with exit code {code}{': ' + lines[-1] if lines else ''}")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise EngineFault(f"{name} printed text that is not UTF-8") from error


def _feed(pipe: IO[bytes], data: bytes) -> None:
    try:
        with pipe:
            pipe.write(data)
    except OSError:
        # The program does not read its input.
        return


def _keep_end(pipe: IO[bytes], kept: bytearray) -> None:
    while piece := pipe.read1(_KEPT_ERRORS):  # type: ignore[attr-defined]
        kept += piece
        del kept[:-_KEPT_ERRORS]


def answer_text(output: str | dict[str, Any] | list[Any] | None, benchmark: str) -> str:
    """The answer in an output: a text, or JSON. An object with the key of the benchmark's answer,
    such as `html`, is replaced by the text under it; any other JSON is the answer itself.

    >>> answer_text({"html": "<p>Net loss</p>"}, "fincriticaled")
    '<p>Net loss</p>'
    >>> answer_text({"type": "taxi"}, "receiptbench")
    '{"type": "taxi"}'
    """
    value: object = output
    if isinstance(output, str):
        if not output.lstrip().startswith("{"):
            return output
        try:
            value = json.loads(output)
        except (ValueError, RecursionError):
            return output
    key = ANSWER_KEYS[benchmark]
    if isinstance(value, dict) and isinstance(value.get(key), str) and set(value) <= {"id", key}:
        return str(value[key])
    if output is None or isinstance(output, str):
        return output or ""
    return json.dumps(output, ensure_ascii=False)


@dataclass(frozen=True)
class Command:
    """A program with its arguments, in which `{image}` is the path of an image, `{images}` those of
    all images, and `{prompt}` the text of the request."""

    words: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> "Command":
        """Raises EngineMissing for a text that is no command."""
        try:
            words = tuple(shlex.split(text))
        except ValueError as error:
            raise EngineMissing(f"--command cannot be read: {error}") from error
        if not words:
            raise EngineMissing("--command is empty; for example: --command 'prog {image}'")
        if not any(IMAGE in word or word == IMAGES for word in words):
            raise EngineMissing("--command must contain {image} or {images}")
        return cls(words)

    @property
    def takes_all(self) -> bool:
        return IMAGES in self.words

    @property
    def name(self) -> str:
        """The name of the program, or of the script or module that an interpreter runs.

        >>> Command.of("/usr/bin/python3 -u tools/my_ocr.py {image}").name
        'my_ocr'
        >>> Command.of("tesseract {image} stdout").name
        'tesseract'
        """
        program = PurePosixPath(self.words[0]).name
        if not _INTERPRETER.fullmatch(program):
            return program
        scripts = (word for word in self.words[1:] if not word.startswith("-"))
        script = next(scripts, "")
        is_file = script and "{" not in script and not _INLINE & set(self.words)
        return PurePosixPath(script).stem if is_file else program

    def filled(self, images: Sequence[Path], prompt: str) -> list[str]:
        filled: list[str] = []
        for word in self.words:
            if word == IMAGES:
                filled += map(str, images)
            else:
                # The prompt comes last, because it may contain the other words.
                path = str(images[0]) if images else ""
                filled.append(word.replace(IMAGE, path).replace(PROMPT, prompt))
        return filled


class CommandEngine(LocalEngine):
    """Runs the program once per image, or once per item if it takes all images."""

    def __init__(self, command: Command, benchmark: str, timeout: float) -> None:
        super().__init__()
        self._command = command
        self._benchmark = benchmark
        self._timeout = timeout

    def text(self, item: RunItem) -> str:
        with TemporaryDirectory(prefix="factboard-") as scratch:
            paths = []
            for number, image in enumerate(item.images):
                # Numbered, because two images may have one name.
                folder = Path(scratch, str(number))
                folder.mkdir()
                paths.append(folder / PurePosixPath(image.name).name)
                paths[-1].write_bytes(image.read())
            calls = [paths] if self._command.takes_all else [[path] for path in paths]
            outputs = [
                self._programs.output(
                    self._command.filled(call, item.prompt), timeout=self._timeout
                )
                for call in calls
            ]
        return "\n".join(answer_text(output, self._benchmark) for output in outputs)


# --- functions ----------------------------------------------------------------------------------

Function = Callable[[RunItem], Any]


def load_function(name: str) -> Function:
    """The function `module:function`, also of a module in the current folder. Raises
    EngineMissing."""
    module, _, attribute = name.partition(":")
    if not module or not attribute:
        raise EngineMissing("specify the function as module:function, such as my_model:answer")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found = import_module(module)
    except ImportError as error:
        raise EngineMissing(f"the module {module} cannot be imported: {error}") from error
    function = getattr(found, attribute, None)
    if not callable(function):
        raise EngineMissing(f"the module {module} has no function {attribute}")
    loaded: Function = function
    return loaded


class FunctionEngine(LocalEngine):
    def __init__(self, function: Function, benchmark: str) -> None:
        super().__init__()
        self._function = function
        self._benchmark = benchmark

    def text(self, item: RunItem) -> str:
        try:
            output = self._function(item)
        except Exception as error:
            raise EngineFault(f"{type(error).__name__}: {error}") from error
        if not isinstance(output, str | dict | list | None):
            raise EngineFault(f"returned {type(output).__name__}, not a string or an object")
        try:
            return answer_text(output, self._benchmark)
        except (TypeError, ValueError, RecursionError) as error:
            raise EngineFault(f"returned an object that is not JSON: {error}") from error
