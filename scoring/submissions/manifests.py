"""Run manifests of submissions: reading and checking an uploaded one, filling the model card from
it, and showing how a submission was made.

A manifest is untrusted. It must have the form of `scoring.answering.manifest`, and belong to the
uploaded file and to the benchmark and items of the phase. Messages name only ids that the submitter
sent.

The host of the endpoint, and what names it or the machine in the command, are for keepers: a
private host name must not become public with a result.
"""

import hashlib
import re
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import IO, Any

from pydantic import ValidationError

from scoring.answering.manifest import MOST_BYTES, ItemRun, RunManifest
from scoring.models import Manifest, Phase, Submission
from scoring.models.submissions import ModelCard

_FAULTS_SHOWN = 10
_STATES = ("answered", "empty", "refused", "failed")
_CUT_OFF = "cut_off"
_IDS_SHOWN = 5
_ID_LENGTH = 80
_BLOCK = 1_000_000
# The fields of a card that a manifest may fill.
FILLED = frozenset({"name", "prompt", "decoding", "output_tokens", "cost"})
# PostgreSQL cannot store this character: an escaped NUL that is not itself text about one.
_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")
_USER_IN_URL = re.compile(r"://[^/\s]*@")
# The card's field has eight digits before the point.
_MOST_COST = 99_999_999
_HOST = re.compile(r"[A-Za-z0-9._\[\]:-]*")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s'\"]*")
# A path of the machine, at the start of a word or after “=” or “@”.
_PATH = re.compile(r"(?<![^\s=@'\"])(?:~|[A-Za-z]:)?[/\\](?:[^\s'\"/\\]*[/\\])*")


class ManifestRefused(Exception):
    """The manifest cannot be stored. Each of `faults` names the field and what is wrong."""

    def __init__(self, *faults: str) -> None:
        self.faults = list(faults)
        super().__init__(" ".join(faults))


def read_manifest(file: IO[bytes]) -> RunManifest:
    """The manifest in an uploaded file. Raises ManifestRefused."""
    file.seek(0)
    data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise ManifestRefused(f"The manifest is larger than {MOST_BYTES // 1_000_000} MB.")
    if _NUL.search(data):
        raise ManifestRefused("The manifest contains the character U+0000, which is not allowed.")
    try:
        manifest = RunManifest.model_validate_json(data)
    except ValidationError as error:
        raise ManifestRefused(*_form_faults(error)) from None
    if faults := _text_faults(manifest):
        raise ManifestRefused(*faults)
    return manifest


def _form_faults(error: ValidationError) -> list[str]:
    """The first faults as `field: message`, without the values."""
    errors = error.errors(include_url=False, include_context=False, include_input=False)
    faults = [f"{_place(fault['loc'])}: {fault['msg']}."[:300] for fault in errors[:_FAULTS_SHOWN]]
    if len(errors) > _FAULTS_SHOWN:
        faults.append(f"And {len(errors) - _FAULTS_SHOWN:,} more errors.")
    return faults


def _place(location: tuple[int | str, ...]) -> str:
    """Such as `items.3.state`; unknown keys can be long."""
    return ".".join(str(part)[:_ID_LENGTH] for part in location) or "manifest"


def _text_faults(manifest: RunManifest) -> list[str]:
    """Texts that would be shown and must not be: URLs with a user or key, and hosts with a path."""
    faults = []
    if not _HOST.fullmatch(manifest.host):
        faults.append("host: Use only the host name and port.")
    if _USER_IN_URL.search(manifest.command):
        faults.append("command: Remove the user name or key from the URL.")
    if manifest.finished_at < manifest.started_at:
        faults.append("finished_at: Must not be before started_at.")
    for prompt in manifest.prompts:
        if hashlib.sha256(prompt.text.encode()).hexdigest() != prompt.sha256:
            faults.append(f"prompts: The SHA-256 of “{prompt.name}” does not match its text.")
    repeated = [name for name, number in _ids(manifest).items() if number > 1]
    if repeated:
        faults.append(f"items: Duplicate IDs: {_named(repeated)}.")
    return faults


def _ids(manifest: RunManifest) -> Counter[str]:
    return Counter(item.id for item in manifest.items)


def _named(ids: list[str]) -> str:
    names = ", ".join(f"“{name[:_ID_LENGTH]}”" for name in ids[:_IDS_SHOWN])
    more = len(ids) - _IDS_SHOWN
    return f"{names} and {more:,} more" if more > 0 else names


def check_manifest(manifest: RunManifest, *, phase: Phase, file: IO[bytes]) -> None:
    """Raises ManifestRefused unless the manifest belongs to this file and to the phase's items."""
    faults = []
    if _file_sha256(file) != manifest.submission_sha256:
        faults.append(
            "submission_sha256: The manifest belongs to another file. Upload the submission file "
            "of the same run without changes."
        )
    if manifest.benchmark != phase.board.benchmark:
        faults.append(
            f"benchmark: The run is for “{manifest.benchmark}”, but this board is for "
            f"“{phase.board.benchmark}”."
        )
    else:
        known = set(phase.items.values_list("name", flat=True))
        unknown = [item.id for item in manifest.items if item.id not in known]
        if unknown:
            faults.append(f"items: These IDs are not items of this phase: {_named(unknown)}.")
    if faults:
        raise ManifestRefused(*faults)


def _file_sha256(file: IO[bytes]) -> str:
    file.seek(0)
    digest = hashlib.sha256()
    while block := file.read(_BLOCK):
        digest.update(block)
    file.seek(0)
    return digest.hexdigest()


def manifest_warnings(manifest: RunManifest, phase: Phase) -> list[str]:
    """Differences from the phase that do not prevent the submission."""
    release = phase.release
    asked = manifest.release_sha256
    if not asked or asked == release.sha256:
        return []
    name = " ".join(part for part in (manifest.dataset, manifest.version) if part)
    return [
        f"The run used a different release{f' ({name})' if name else ''}. This phase is graded on "
        f"{release}, whose images or prompts may differ."
    ]


def store_manifest(submission: Submission, manifest: RunManifest) -> Manifest:
    """Stores it in the caller's transaction."""
    data = manifest.model_dump(mode="json")
    return Manifest.objects.create(
        submission=submission,
        items=data.pop("items"),
        about=data,
        states=_states(manifest),
        warnings=manifest_warnings(manifest, submission.phase),
    )


def _states(manifest: RunManifest) -> dict[str, int]:
    """Answers that were cut off are counted in addition to their state."""
    states = Counter[str](item.state for item in manifest.items)
    cut_off = sum(item.is_cut_off for item in manifest.items)
    return {**states, _CUT_OFF: cut_off} if cut_off else dict(states)


def filled_card(card: Mapping[str, Any], manifest: RunManifest | None) -> dict[str, Any]:
    """The card with its empty fields filled from the manifest."""
    if manifest is None:
        return dict(card)
    filled = _card_of(manifest)
    return {**card} | {name: filled[name] for name in filled if card.get(name) in (None, "")}


def _card_of(manifest: RunManifest) -> dict[str, Any]:
    """The fields of a card that a manifest states. Tokens and cost are left out if they are not
    known for every call, but only at most."""
    is_known = not manifest.tokens.uncertain
    longest = ModelCard._meta.get_field("name").max_length or 0
    values = {
        "name": manifest.model[:longest],
        "prompt": _prompt_text(manifest),
        "decoding": ", ".join(f"{name} {_setting(value)}" for name, value in _decoding(manifest)),
        "output_tokens": manifest.tokens.output or None if is_known else None,
        "cost": _money(manifest.cost) if is_known else None,
    }
    return {name: value for name, value in values.items() if value not in (None, "")}


def _prompt_text(manifest: RunManifest) -> str:
    if len(manifest.prompts) == 1:
        return manifest.prompts[0].text
    return "\n\n".join(f"[{prompt.name}]\n{prompt.text}" for prompt in manifest.prompts)


def _decoding(manifest: RunManifest) -> list[tuple[str, Any]]:
    return sorted(manifest.decoding.items())


def _setting(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _money(cost: float | None) -> Decimal | None:
    """As the card stores it; None if it has no place there."""
    if cost is None or cost >= _MOST_COST:
        return None
    return Decimal(cost).quantize(Decimal("0.0001"))


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
    cut_off: int
    cut_off_ids: Sequence[str]
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
        prompts=[RunPrompt(**prompt) for prompt in about["prompts"]],
        decoding=about["decoding"],
        items=sum(states.get(name, 0) for name in _STATES),
        **{name: states.get(name, 0) for name in (*_STATES, _CUT_OFF)},
        cut_off_ids=_cut_off_ids(manifest) if is_keeper and states.get(_CUT_OFF) else (),
        input_tokens=tokens["input"],
        output_tokens=tokens["output"],
        uncertain=tokens["uncertain"],
        latency_median=latency.get("median"),
        latency_p95=latency.get("p95"),
        repairs=[RunRepair(**repair) for repair in about["repairs"]],
        versions=about["versions"],
        started_at=datetime.fromisoformat(about["started_at"]),
        finished_at=datetime.fromisoformat(about["finished_at"]),
        command=about["command"] if is_keeper else public_command(about["command"], about["host"]),
        warnings=manifest.warnings,
    )


def _cut_off_ids(manifest: Manifest) -> Sequence[str]:
    """Those of the first answers that were cut off."""
    items = (ItemRun.model_validate(item) for item in manifest.items)
    return [item.id for item in items if item.is_cut_off][:_IDS_SHOWN]


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
