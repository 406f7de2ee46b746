"""The tracks and subsets of CC-OCR, from the table beside this file."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

Op = Literal["ocr", "doc", "table", "formula", "molecular", "kie", "grounding"]
OPS: tuple[str, ...] = get_args(Op)

# Every track by its own name and by the one in the published data.
TRACKS = {
    "multi_scene": "multi_scene",
    "multi_scene_ocr": "multi_scene",
    "multi_lan": "multi_lan",
    "multi_lan_ocr": "multi_lan",
    "doc_parsing": "doc_parsing",
    "kie": "kie",
}
TRACK_TITLES = {
    "multi_scene": "Multi-scene",
    "multi_lan": "Multilingual",
    "doc_parsing": "Document parsing",
    "kie": "Key information",
}


@dataclass(frozen=True)
class Subset:
    """A subset as the paper's table 9 has it.

    `released` is its name in the published data, `distinct` a name that tells it apart from the
    subset of the same name in another track; either may be empty.
    """

    track: str
    op: str
    group: str
    name: str
    images: int
    feature: str
    released: str = ""
    distinct: str = ""

    @property
    def key(self) -> str:
        """The key of its column."""
        return f"{self.track}_{self.name.lower().replace('-', '_')}"

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name in (self.name, self.released, self.distinct) if name)


def _load() -> tuple[Subset, ...]:
    text = Path(__file__).with_name("subsets.toml").read_text(encoding="utf-8")
    return tuple(Subset(**row) for row in tomllib.loads(text)["subset"])


SUBSETS = _load()
_BY_NAME = {(subset.track, name.lower()): subset for subset in SUBSETS for name in subset.names}

# Subsets in English of the first track, in which the paper measures grounding.
GROUNDED = tuple(
    subset for subset in SUBSETS if subset.track == "multi_scene" and "zh" not in subset.name
)


def find_subset(track: str, name: str) -> Subset | None:
    """The subset of this name, whatever its case, in this track; None if it is none of the 39.

    >>> find_subset("multi_scene", "zh_doc").name
    'Doc_zh'
    """
    return _BY_NAME.get((track, name.lower()))
