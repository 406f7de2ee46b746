"""The figures of CC-OCR: its tracks and subsets, columns, further tables and charts.

subsets.toml has the tracks and subsets. Each further table shows one track by subset, or one of the
analyses.
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from scoring.benchmarks.base import Column, Headline, Options, View, load_reported
from scoring.benchmarks.charts import Chart

Op = Literal["ocr", "doc", "table", "formula", "molecular", "kie", "grounding"]
OPS: tuple[str, ...] = get_args(Op)

# Each track by its own name and by the one in the published data.
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
    """A subset of the paper's table 9.

    `released` is its name in the published data, `distinct` a name that separates it from the
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

# English subsets of the first track, in which the paper measures grounding.
GROUNDED = tuple(
    subset for subset in SUBSETS if subset.track == "multi_scene" and "zh" not in subset.name
)


def find_subset(track: str, name: str) -> Subset | None:
    """Return the subset of this name, ignoring case, in this track, or None if it is not one of the
    39.

    >>> find_subset("multi_scene", "zh_doc").name
    'Doc_zh'
    """
    return _BY_NAME.get((track, name.lower()))


GROUNDING_PREFIX = "grounding_"


_DIFFERENCE_HELP = "rotated - normal, mean of the subsets that have both"

TRACK_GROUP = "Tracks"
REPETITION_GROUP = "Hallucination"
ORIENTATION_GROUP = "Multi-orientation"
MEASURE_GROUP = "Measures"
GROUNDING_GROUP = "Grounding"

_TRACK_HELP = {
    "multi_scene": "Mean macro F1 of the 13 subsets of text in scenes, documents and on the web",
    "multi_lan": "Mean macro F1 of the ten languages other than Chinese and English",
    "doc_parsing": "Mean of ten subsets: edit similarity of documents and formulas, TEDS of tables",
    "kie": "Mean field F1 of the six subsets of key information",
}
_MEASURES = (
    ("macro_f1", "Macro F1", "reading: mean F1 per image, mean of the subsets"),
    ("micro_f1", "Micro F1", "reading: F1 over all units of a subset, mean of the subsets"),
    ("score", "Parsing", "document parsing: mean of the subsets"),
    ("teds", "TEDS", "tables: structure and content, mean of the subsets"),
    ("teds_s", "TEDS-S", "tables: structure alone, mean of the subsets"),
    ("f1", "Field F1", "key information: F1 over all fields of a subset, mean of the subsets"),
    ("acc", "Accuracy", "key information: tree similarity of the records, mean of the subsets"),
)


def columns_for(
    options: Options,  # noqa: ARG001 - the columns are the same under all of them
) -> tuple[Column, ...]:
    """Return tracks and overall, repetition, then the detail columns. Subsets are in the views."""
    return (
        *(Column(key, TRACK_TITLES[key], TRACK_GROUP, _TRACK_HELP[key]) for key in TRACK_TITLES),
        Column("overall", "Overall", TRACK_GROUP, "Mean of the four tracks", rank="board"),
        Column(
            "repetition",
            "Repetition",
            REPETITION_GROUP,
            "Outputs of which over a quarter is one repeated unit, such as a word or a line",
            direction="down",
        ),
        _detail(
            "multi_orientation",
            "Rotated",
            ORIENTATION_GROUP,
            "multi-scene reading of rotated images, mean of the subsets",
        ),
        _detail("diff", "Difference", ORIENTATION_GROUP, _DIFFERENCE_HELP),
        *(_detail(key, label, MEASURE_GROUP, help_text) for key, label, help_text in _MEASURES),
        _detail("grounding", "Total", GROUNDING_GROUP, "mean of the subsets"),
    )


def headline_for(
    options: Options,  # noqa: ARG001 - the same under all of them
) -> Headline:
    supporting = ("multi_scene", "doc_parsing", "kie")
    return Headline(
        "mean of four tracks of reading and parsing, over {count} images",
        "items",
        {key: TRACK_TITLES[key] for key in supporting},
    )


def _detail(key: str, label: str, group: str, help_text: str) -> Column:
    return Column(key, label, group, help_text, headline=False)


_FOLDER = Path(__file__).parent
_MEASURE_WORDS = {
    "ocr": "macro F1",
    "doc": "edit similarity",
    "table": "TEDS",
    "formula": "edit similarity",
    "molecular": "edit similarity",
    "kie": "field F1",
}


def views_for(
    options: Options,  # noqa: ARG001 - the views are the same under all of them
) -> tuple[View, ...]:
    """Return tables 2 to 8 of the paper."""
    return _VIEWS


def _view(key: str, title: str, help_text: str, columns: tuple[Column, ...]) -> View:
    return View(key, title, help_text, columns, load_reported(_FOLDER / f"reported_{key}.csv"))


def _track(track: str) -> View:
    title = TRACK_TITLES[track]
    columns = (
        *(_subset(subset) for subset in SUBSETS if subset.track == track),
        Column(track, "Total", title, "Mean of the subsets", rank="board"),
    )
    return _view(track, title, "The track by subset.", columns)


def _subset(subset: Subset) -> Column:
    help_text = f"{subset.feature}: {_MEASURE_WORDS[subset.op]}"
    return Column(subset.key, subset.name, subset.group, help_text)


def _grounding() -> View:
    help_text = "F1 of words that are read correctly in the right place"
    columns = (
        *(
            Column(f"{GROUNDING_PREFIX}{subset.key}", subset.name, subset.group, help_text)
            for subset in GROUNDED
        ),
        Column("grounding", "Total", "Grounding", "Mean of the subsets", rank="board"),
    )
    return _view("grounding", "Grounding", f"{help_text}.", columns)


_ORIENTATION = _view(
    "orientation",
    "Multi-orientation",
    "Macro F1 of the first track on original and on rotated images.",
    (
        Column("multi_scene", "Normal", "Multi-orientation", "original images"),
        Column("multi_orientation", "Rotated", "Multi-orientation", "images that state a rotation"),
        Column("diff", "Difference", "Multi-orientation", _DIFFERENCE_HELP, rank="board"),
    ),
)
_REPETITION = _view(
    "repetition",
    "Repetition",
    "Outputs of which over a quarter is one repeated unit, such as a word or a line.",
    (
        Column(
            "repetition",
            "Repetition",
            "Hallucination",
            "Repetitive outputs, of all outputs",
            direction="down",
            rank="board",
        ),
    ),
)
_VIEWS = (*map(_track, TRACK_TITLES), _grounding(), _ORIENTATION, _REPETITION)


CHARTS = (
    Chart(
        "tracks",
        "bars",
        "Score by track",
        "Score of every system in each of the four tracks. A star marks the best.",
        tuple(TRACK_TITLES),
    ),
    Chart(
        "tracks-radar",
        "radar",
        "Profile over the tracks",
        "Score of the best systems in each of the four tracks.",
        tuple(TRACK_TITLES),
    ),
    Chart(
        "orientation",
        "pair",
        "Original and rotated images",
        "Reading of original images against reading of rotated ones.",
        ("multi_scene", "multi_orientation"),
    ),
)
