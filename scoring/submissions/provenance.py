"""How a submission was made, from its run manifest, as a reader may see it.

The host of the endpoint, and what names it or the machine in the command, are for keepers: a
private host name must not become public with a result. All of it is the submitter's statement.
"""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from scoring.models import Manifest, Submission

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s'\"]*")
# A path of the machine, at the start of a word or after “=” or “@”.
_PATH = re.compile(r"(?<![^\s=@'\"])(?:~|[A-Za-z]:)?[/\\](?:[^\s'\"/\\]*[/\\])*")


@dataclass(frozen=True)
class RunPrompt:
    """A prompt; `name` is `item`, or the kind of item."""

    version: str
    name: str
    sha256: str
    text: str


@dataclass(frozen=True)
class RunRepair:
    """A change to raw answers, and the number of items that it changed."""

    name: str
    items: int


@dataclass(frozen=True)
class Run:
    """How a submission was made, as its run manifest states."""

    engine: str
    model: str
    host: str | None
    dataset: str
    version: str
    release_sha256: str
    prompts: Sequence[RunPrompt]
    decoding: Mapping[str, Any]
    items: int
    answered: int
    empty: int
    refused: int
    failed: int
    input_tokens: int
    output_tokens: int
    uncertain: int
    latency_median: float | None
    latency_p95: float | None
    cost: float | None
    repairs: Sequence[RunRepair]
    versions: Mapping[str, str]
    started_at: datetime
    finished_at: datetime
    command: str
    warnings: Sequence[str]

    @property
    def lacks_answers(self) -> bool:
        return bool(self.empty or self.refused or self.failed)


def run_of(submission: Submission, *, is_keeper: bool) -> Run | None:
    """The run of a submission for this reader; None without a manifest."""
    manifest: Manifest | None = getattr(submission, "manifest", None)
    if manifest is None:
        return None
    about, states = manifest.about, manifest.states
    tokens, latency = about["tokens"], about["latency"] or {}
    return Run(
        **{name: about[name] for name in ("engine", "model", "dataset", "version", "cost")},
        # The hash of a release with hidden gold is not public.
        release_sha256=about["release_sha256"] if is_keeper else "",
        host=about["host"] if is_keeper else None,
        prompts=[RunPrompt(**each) for each in about["prompts"]],
        decoding=about["decoding"],
        items=sum(states.values()),
        **{name: states.get(name, 0) for name in ("answered", "empty", "refused", "failed")},
        input_tokens=tokens["input"],
        output_tokens=tokens["output"],
        uncertain=tokens["uncertain"],
        latency_median=latency.get("median"),
        latency_p95=latency.get("p95"),
        repairs=[RunRepair(**each) for each in about["repairs"]],
        versions=about["versions"],
        started_at=datetime.fromisoformat(about["started_at"]),
        finished_at=datetime.fromisoformat(about["finished_at"]),
        command=about["command"] if is_keeper else public_command(about["command"], about["host"]),
        warnings=manifest.warnings,
    )


def public_command(command: str, host: str = "") -> str:
    """The command without URLs, hosts and folders of the machine of the run.

    >>> public_command("factboard run b --base-url http://gpu.lan:8000/v1 --prompt-file /home/a/p")
    'factboard run b --base-url BASE_URL --prompt-file p'
    >>> public_command("factboard run b --base-url=gpu.lan", "gpu.lan")
    'factboard run b --base-url=BASE_URL'
    """
    try:
        words = shlex.split(command)
    except ValueError:
        # An open quotation mark.
        words = command.split()
    hidden, is_url = [], False
    for word in words:
        hidden.append("BASE_URL" if is_url else _without_places(word, host))
        is_url = word == "--base-url"
    return shlex.join(hidden)


def _without_places(word: str, host: str) -> str:
    if word.startswith("--base-url="):
        return "--base-url=BASE_URL"
    word = _URL.sub("URL", word)
    for name in (host, host.rpartition(":")[0]):
        if name:
            word = re.sub(re.escape(name), "HOST", word, flags=re.IGNORECASE)
    return _PATH.sub("", word)
