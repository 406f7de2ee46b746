"""The starter kit of a release, and its items and prompts as lines without gold.

The starter kit has the input of a model and an empty submission:

    README.md            a description of the files
    kit.json             the release, for programs: {"dataset", "version", "benchmark", "page"}
    items.jsonl          {"id", "prompt", "images"} per item; in splits {…, "split"} too
    images/ID.png        the page images
    submission.jsonl     an empty prediction per item, in the benchmark's layout

`KitItem` has no field that could reveal gold: no text, HTML, hash, source or fact.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from zipfile import ZIP_STORED

from portal.files.archives import ZipWriter, streamed_zip

from .formats import IMAGES, read_line
from .rows import ItemImage, PublishedRelease, PublishingError

ITEM_LINES = "items.jsonl"
KIT = "kit.json"
KIT_FORMAT = "factboard-kit-1"
SUBMISSION = "submission.jsonl"
PROMPTS = "prompts.jsonl"
CANARY = "CANARY.txt"
CANARY_WORDS = (
    "Data of a benchmark with hidden gold. It must not be used for training. A model that can "
    "complete the next line has seen it."
)
README = "README.md"

_PROMPT_KEYS = ("version", "name", "source", "sha256", "text")

# Makes the empty prediction of an item from its name, in the benchmark's layout.
EmptyLine = Callable[[str], Mapping[str, Any]]


@dataclass(frozen=True)
class KitItem:
    """The input of a model for one item."""

    name: str
    split: str
    prompt: str
    images: tuple[ItemImage, ...]
    document: str = ""
    """The document's name, if it differs from the item's."""


def kit_name(release: PublishedRelease) -> str:
    return f"{release.dataset}-{release.version}-starter-kit.zip"


@streamed_zip
def starter_kit(
    writer: ZipWriter,
    release: PublishedRelease,
    items: Callable[[], Iterable[KitItem]],
    empty_line: EmptyLine,
    prompts: Sequence[Mapping[str, str]] = (),
) -> Iterator[None]:
    """The bytes of the ZIP, streamed and identical every time; one item at a time in memory.

    `items` returns the items with hidden gold; it is called once per part of the kit. `prompts` are
    those that the release pins.
    """
    writer.add(README, _readme(release).encode())
    writer.add(KIT, _kit_json(release))
    if release.canary:
        writer.add(CANARY, f"{CANARY_WORDS}\n{release.canary}\n".encode())
    for name, lines in (
        (ITEM_LINES, map(item_line, items())),
        (SUBMISSION, (_line(empty_line(item.name)) for item in items())),
    ):
        yield from writer.adding(name, lines)
    if prompts:
        writer.add(PROMPTS, prompt_lines(prompts))
    for each in prompts:
        writer.add(f"prompts/{each['version']}/{each['name']}.md", each["text"].encode())
    for item in items():
        for image in item.images:
            writer.add(f"{IMAGES}/{image.name}", image.read(), method=ZIP_STORED)
            yield


def empty_line_like(example: str) -> EmptyLine:
    """Makes predictions with the keys of an example, the item's id and empty values.

    >>> empty_line_like('{"id": "p1", "html": "<p>…"}')("p7")
    {'id': 'p7', 'html': ''}
    """
    keys = json.loads(example)
    emptied = {key: type(value)() for key, value in keys.items() if key != "id"}
    return lambda name: {"id": name, **emptied}


def prompt_lines(prompts: Iterable[Mapping[str, str]]) -> bytes:
    """The prompts as JSON Lines: {version, name, source, sha256, text}."""
    return b"".join(_line({key: each[key] for key in _PROMPT_KEYS}) for each in prompts)


def read_prompts(lines: Iterable[bytes]) -> list[dict[str, str]]:
    """The prompts of `prompts.jsonl`. Raises PublishingError, naming the line."""
    prompts = []
    for number, line in enumerate(lines, 1):
        prompt = read_line(PROMPTS, number, line)
        where = f"{PROMPTS}:{number}"
        if set(prompt) != set(_PROMPT_KEYS):
            raise PublishingError(where, f"must have the fields {', '.join(_PROMPT_KEYS)}")
        if wrong := [key for key in _PROMPT_KEYS if not isinstance(prompt[key], str)]:
            raise PublishingError(where, f"{wrong[0]}: must be a string")
        if hashlib.sha256(prompt["text"].encode()).hexdigest() != prompt["sha256"]:
            raise PublishingError(where, "sha256: differs from that of the text")
        prompts.append(prompt)
    return prompts


def item_line(item: KitItem, *, images: bool = True) -> bytes:
    """An item without its gold as a line of JSON; `images` includes the paths of its images."""
    document = {} if item.document in {"", item.name} else {"document": item.document}
    split = {"split": item.split} if item.split else {}
    paths = [f"{IMAGES}/{image.name}" for image in item.images] if images else []
    return _line({"id": item.name, **document, **split, "prompt": item.prompt, "images": paths})


def _line(value: Mapping[str, Any]) -> bytes:
    return (json.dumps(value, ensure_ascii=False) + "\n").encode()


def _kit_json(release: PublishedRelease) -> bytes:
    """Has no hash of the release: with it, a guess of the hidden gold could be verified."""
    keys = ("dataset", "version", "benchmark", "page")
    about = {"format": KIT_FORMAT, **{key: getattr(release, key) for key in keys}}
    return (json.dumps(about, ensure_ascii=False, indent=1) + "\n").encode()


def _readme(release: PublishedRelease) -> str:
    """Leaves out notes and description, which may reveal gold."""
    licence = f"\nLicence: {release.licence}\n" if release.licence else ""
    page = f"\nSource: {release.page}\n" if release.page else ""
    canary = f"\n{CANARY_WORDS}\n\n    {release.canary}\n" if release.canary else ""
    return f"""# {release.title} {release.version}: starter kit

The items with hidden gold, and an empty submission.
{licence}{page}{canary}
- `{KIT}`: the dataset, version and benchmark, for programs such as `factboard run`
- `{ITEM_LINES}`: one item per line, with its ID, prompt and image paths
- `{IMAGES}/`: the images
- `{SUBMISSION}`: one line per item to fill in; do not change the IDs
- `{PROMPTS}` and `prompts/`: prompts of the benchmark, if it has any, by version with SHA-256
"""
