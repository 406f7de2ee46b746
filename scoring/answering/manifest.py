"""The manifest of a run: what was asked, how, and what came back. Written next to the submission.

It never contains a key, a URL with a user or a query, or a path on the machine of the run.
"""

from typing import Annotated, Final, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

FORMAT: Final = "factboard-run-1"
# A manifest of 100,000 items is about 12 MB.
MOST_BYTES = 32_000_000
CUT_OFF = "cut off at max_tokens"
ONLY_REASONING = "only reasoning, no answer"
"""Parts of the reason of an item: its answer has as many tokens as it may have, or it ends
before its answer."""

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
# A database keeps whole numbers up to 2⁶³; no run comes near.
Count = Annotated[int, Field(ge=0, le=10**15)]
Seconds = Annotated[float, Field(ge=0)]
Short = Annotated[str, Field(max_length=200)]
Setting = Annotated[str, Field(max_length=2000)] | int | float | bool
State = Literal["answered", "empty", "refused", "failed"]


# A manifest names at most this many prompts, settings, repairs and versions.
MOST_PARTS = 100


class _Part(BaseModel):
    # JSON has no NaN and no infinity, and PostgreSQL refuses them.
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Prompt(_Part):
    """A prompt: its version, its name (`item`, or the kind of item), its text and its hash."""

    version: Short
    name: Short
    sha256: Sha256
    text: Annotated[str, Field(max_length=100_000)]


class Tokens(_Part):
    """Totals. `uncertain` calls did not report theirs and count with the most they can have
    used."""

    input: Count = 0
    output: Count = 0
    uncertain: Count = 0


class Latency(_Part):
    """Seconds per answered item, without waits and retries."""

    median: Seconds
    p95: Seconds


class Repair(_Part):
    """A change to raw answers, such as taking HTML out of a code block, and how many it changed."""

    name: Short
    items: Count


class ItemRun(_Part):
    """One item: how it ended, its seconds and tokens, and its number of attempts."""

    id: Annotated[str, Field(min_length=1, max_length=500)]
    state: State
    attempts: Count = 1
    seconds: Seconds | None = None
    input_tokens: Count | None = None
    output_tokens: Count | None = None
    reason: Annotated[str, Field(max_length=1000)] = ""

    @property
    def is_cut_off(self) -> bool:
        return CUT_OFF in self.reason


class RunManifest(_Part):
    """A run over the items of one release. `submission_sha256` ties it to the file it belongs
    to."""

    format: Literal["factboard-run-1"] = FORMAT
    benchmark: Short
    board: Short = ""
    phase: Short = ""
    dataset: Short = ""
    version: Short = ""
    release_sha256: Sha256 | Literal[""] = ""
    engine: Short
    """`openai`, `tesseract`, `rapidocr`, `command` or `python`."""
    model: Short
    host: Short = ""
    """Host and port of the endpoint; empty for an engine on the machine."""
    prompts: Annotated[tuple[Prompt, ...], Field(max_length=MOST_PARTS)] = ()
    decoding: Annotated[dict[Short, Setting], Field(max_length=MOST_PARTS)] = {}
    repairs: Annotated[tuple[Repair, ...], Field(max_length=MOST_PARTS)] = ()
    started_at: AwareDatetime
    finished_at: AwareDatetime
    tokens: Tokens = Tokens()
    cost: Annotated[float, Field(ge=0)] | None = None
    """US dollars; at most, if the tokens of some calls are uncertain. None if no prices were
    given."""
    latency: Latency | None = None
    versions: Annotated[dict[Short, Short], Field(max_length=MOST_PARTS)] = {}
    """Of factboard, Python and the engine."""
    command: Annotated[str, Field(max_length=2000)] = ""
    """The command that repeats the run, without its key."""
    submission_sha256: Sha256
    items: tuple[ItemRun, ...]

    def count(self, state: State) -> int:
        return sum(item.state == state for item in self.items)
