"""CC-OCR: its tracks and subsets, its figures, further tables, and their values.

subsets.toml has the subsets, figures.toml the columns that are not listed here, and the charts.
Each further table shows one track by subset, or one of the analyses.
"""

import math
import tomllib
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from scoring.benchmarks.base import Column, Headline, Scores, View, load_figures, load_reported
from scoring.benchmarks.items import ItemResult, Options, mean
from scoring.metrics import Strict
from scoring.metrics.reading import Overlap, grounding_f1, macro_f1, micro_f1
from scoring.metrics.structured import FieldCounts, field_f1, mean_accuracy, strict_f1

from .scorer import TOO_LARGE, UNPARSEABLE, strict_of_result

_FOLDER = Path(__file__).parent
FIGURES = load_figures(_FOLDER / "figures.toml")

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
    text = (_FOLDER / "subsets.toml").read_text(encoding="utf-8")
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


_GROUNDING_PREFIX = "grounding_"


def columns_for(_: Options) -> tuple[Column, ...]:
    """Return tracks and overall, repetition, then the detail columns. Subsets are in the views."""
    return FIGURES.columns["main"]


def headline_for(_: Options) -> Headline | None:
    return FIGURES.headline


_MEASURE_WORDS = {
    "ocr": "macro F1",
    "doc": "edit similarity",
    "table": "similarity of the tables",
    "formula": "edit similarity",
    "molecular": "edit similarity",
    "kie": "field F1",
}


def views_for(_: Options) -> tuple[View, ...]:
    """Return tables 2 to 8 of the paper."""
    return _VIEWS


def _view(key: str, title: str, help_text: str, columns: tuple[Column, ...]) -> View:
    return View(key, title, help_text, columns, load_reported(_FOLDER / f"reported_{key}.csv"))


def _track_view(track: str) -> View:
    title = TRACK_TITLES[track]
    columns = (
        *(_subset(subset) for subset in SUBSETS if subset.track == track),
        Column(track, "Total", title, "Mean of the subsets", rank="board"),
    )
    return _view(track, title, "Scores by subset.", columns)


def _subset(subset: Subset) -> Column:
    help_text = f"{subset.feature}: {_MEASURE_WORDS[subset.op]}"
    return Column(subset.key, subset.name, subset.group, help_text)


def _grounding_view() -> View:
    help_text = "F1 of words read correctly in the right place"
    columns = (
        *(
            Column(f"{_GROUNDING_PREFIX}{subset.key}", subset.name, subset.group, help_text)
            for subset in GROUNDED
        ),
        Column("grounding", "Total", "Grounding", "Mean of the subsets", rank="board"),
    )
    return _view("grounding", "Grounding", f"{help_text}.", columns)


_VIEWS = (
    *map(_track_view, TRACK_TITLES),
    _grounding_view(),
    *FIGURES.views,
)


_ROTATED = "multi_scene"

SubsetFigures = dict[str, float | int | None]


class PartKey(NamedTuple):
    """Images that are aggregated together. `orientation` is None if none is stated."""

    track: str
    subset: str
    op: str
    orientation: int | None

    @property
    def counts_in_track(self) -> bool:
        return self.orientation is None and self.op != "grounding"


@dataclass
class Part:
    """The values of each image, eight bytes each, and sums."""

    items: int = 0
    missing: int = 0
    values: defaultdict[str, "array[float]"] = field(
        default_factory=lambda: defaultdict(lambda: array("d"))
    )
    sums: Counter[str] = field(default_factory=Counter)

    def add(self, result: ItemResult) -> None:
        self.items += 1
        self.missing += result["missing"]
        for name in _VALUES[result["op"]]:
            self.values[name].append(result[name])
        for name in _SUMS.get(result["op"], ()):
            self.sums[name] += result[name]
        if result["op"] in _COUNTED:
            self.sums.update(strict_of_result(result)._asdict())

    @property
    def strict(self) -> Strict:
        return Strict(*(self.sums[name] for name in Strict._fields))

    def absorb(self, other: "Part") -> None:
        self.items += other.items
        self.missing += other.missing
        self.sums += other.sums
        for name, values in other.values.items():
            self.values[name].extend(values)


Parts = Mapping[PartKey, Part]

# The stored values of the images of each op: single values, and sums.
_VALUES: dict[str, tuple[str, ...]] = {
    "ocr": ("f1",),
    "doc": ("score",),
    "formula": ("score",),
    "molecular": ("score",),
    "table": ("score", "teds", "teds_s"),
    "kie": ("acc",),
    "grounding": (),
}
_SUMS = {
    "ocr": ("gold_units", "prediction_units", "right_units"),
    "kie": ("tp", "fp", "fn"),
}
_COUNTED = ("kie", "grounding")


def aggregate(results: Iterable[ItemResult], _: Options) -> Scores:
    """Compute the figures of all images, in any order; `results` may be a stream.

    A track is the mean of its subsets, `overall` the mean of the four tracks, None unless all four
    exist. Images that state an orientation, also 0, form subsets of their own, which count in
    `multi_orientation` and `diff` alone.
    """
    parts: defaultdict[PartKey, Part] = defaultdict(Part)
    counts: Counter[str] = Counter()
    for result in results:
        key = PartKey(result["track"], result["subset"], result["op"], result["orientation"])
        parts[key].add(result)
        counts["items"] += 1
        counts["missing"] += result["missing"]
        counts["repetitive"] += bool(result["repetitive"])
        counts[UNPARSEABLE] += result["fault"] == UNPARSEABLE
        counts[TOO_LARGE] += result["fault"] == TOO_LARGE
    outputs = counts["items"] - counts["missing"]
    return Scores(
        items=counts["items"],
        missing=counts["missing"],
        scores={
            **_scores(parts),
            "repetition": counts["repetitive"] / outputs if outputs else None,
        },
        counts={
            "outputs": outputs,
            "repetition": counts["repetitive"],
            "unparseable": counts[UNPARSEABLE],
            "too_large": counts[TOO_LARGE],
        },
        subsets=_views(parts),
    )


def figures_of(op: str, part: Part) -> dict[str, float]:
    """Return the figures of a subset by their columns' keys, the headline figure first."""
    return _BY_OP[op](part)


def _reading(part: Part) -> dict[str, float]:
    total = Overlap(*(part.sums[name] for name in _SUMS["ocr"]))
    return {"macro_f1": macro_f1(part.values["f1"]), "micro_f1": micro_f1([total])}


def _parsing(part: Part) -> dict[str, float]:
    return {"score": _mean_of(part.values["score"])}


def _table(part: Part) -> dict[str, float]:
    tables = _mean_of(part.values["score"])
    published = {name: _mean_of(part.values[name]) for name in ("teds", "teds_s")}
    return {"score": tables, "tables": tables, **published}


def _record(part: Part) -> dict[str, float]:
    counts = FieldCounts(*(part.sums[name] for name in _SUMS["kie"]))
    accuracy = mean_accuracy(part.values["acc"])
    return {"fields": strict_f1(part.strict), "f1": field_f1([counts]), "acc": accuracy}


def _grounding(part: Part) -> dict[str, float]:
    return {"grounding": grounding_f1(part.strict)}


_BY_OP: dict[str, Callable[[Part], dict[str, float]]] = {
    "ocr": _reading,
    "doc": _parsing,
    "formula": _parsing,
    "molecular": _parsing,
    "table": _table,
    "kie": _record,
    "grounding": _grounding,
}


def _scores(parts: Parts) -> dict[str, float | None]:
    normal = {key: part for key, part in parts.items() if key.counts_in_track}
    tracks = {track: _track(normal, track) for track in TRACK_TITLES}
    known = [score for score in tracks.values() if score is not None]
    rotated = _rotated(parts)
    return {
        **tracks,
        "overall": _mean_of(known) if len(known) == len(tracks) else None,
        **_measures(normal),
        "multi_orientation": mean(rotated.values()),
        "diff": _difference(normal, rotated),
        **_subset_scores(normal),
        **_grounding_scores(parts),
    }


def _track(normal: Parts, track: str) -> float | None:
    return mean(_headline(key, part) for key, part in normal.items() if key.track == track)


def _headline(key: PartKey, part: Part) -> float:
    return next(iter(figures_of(key.op, part).values()))


def _measures(normal: Parts) -> dict[str, float | None]:
    """Return each figure as the mean of the subsets that have it."""
    values: defaultdict[str, list[float]] = defaultdict(list)
    for key, part in normal.items():
        for name, value in figures_of(key.op, part).items():
            values[name].append(value)
    names = ("macro_f1", "micro_f1", "score", "tables", "teds", "teds_s", "fields", "f1", "acc")
    return {name: mean(values[name]) for name in names}


def _subset_scores(normal: Parts) -> dict[str, float | None]:
    """Return the headline figure of each of the 39 subsets, None for missing ones."""
    scores = {}
    for key, part in normal.items():
        subset = find_subset(key.track, key.subset)
        if subset is not None and subset.op == key.op:
            scores[subset.key] = _headline(key, part)
    return {subset.key: scores.get(subset.key) for subset in SUBSETS}


def _grounding_scores(parts: Parts) -> dict[str, float | None]:
    by_subset = {}
    scores = []
    for key, part in parts.items():
        if key.op == "grounding" and key.orientation is None:
            scores.append(_headline(key, part))
            subset = find_subset(key.track, key.subset.removesuffix("_grounding"))
            by_subset[subset.name if subset else ""] = scores[-1]
    named = {f"{_GROUNDING_PREFIX}{subset.key}": by_subset.get(subset.name) for subset in GROUNDED}
    return {"grounding": mean(scores), **named}


def _rotated(parts: Parts, orientation: int | None = None) -> dict[str, float]:
    """Return macro F1 of each subset of the first track over its images with any or this
    orientation."""
    merged: defaultdict[str, Part] = defaultdict(Part)
    for key, part in parts.items():
        wanted = key.orientation if orientation is None else orientation
        is_counted = key.track == _ROTATED and key.op == "ocr"
        if is_counted and key.orientation is not None and key.orientation == wanted:
            merged[key.subset].absorb(part)
    return {subset: _reading(part)["macro_f1"] for subset, part in merged.items()}


def _difference(normal: Parts, rotated: Mapping[str, float]) -> float | None:
    """Return rotated - normal, the mean over the subsets that have images of both kinds."""
    upright = {
        key.subset: _headline(key, part)
        for key, part in normal.items()
        if key.track == _ROTATED and key.op == "ocr"
    }
    return mean(rotated[subset] - upright[subset] for subset in rotated.keys() & upright)


def _views(parts: Parts) -> dict[str, SubsetFigures]:
    """Return the figures of every subset, then of every orientation."""
    shared = Counter(key.subset for key in {key._replace(orientation=None) for key in parts})
    views: dict[str, SubsetFigures] = {}
    for key in sorted(parts, key=_order):
        views[_name(key, shared)] = {
            "items": parts[key].items,
            "missing": parts[key].missing,
            **figures_of(key.op, parts[key]),
        }
    for orientation in sorted({key.orientation for key in parts if key.orientation is not None}):
        scores = _rotated(parts, orientation)
        if scores:
            views[f"multi_scene@{orientation}"] = {"macro_f1": _mean_of(scores.values())}
    return views


def _name(key: PartKey, shared: Mapping[str, int]) -> str:
    """Return the subset's name, with its track and op if others have the same name."""
    name = key.subset if shared[key.subset] == 1 else f"{key.track}/{key.op}/{key.subset}"
    return name if key.orientation is None else f"{name}@{key.orientation}"


def _order(key: PartKey) -> tuple[int, int, str, str, int]:
    """Sort in the order of the paper's tables, then by name."""
    subset = find_subset(key.track, key.subset)
    place = SUBSETS.index(subset) if subset is not None else len(SUBSETS)
    rotation = -1 if key.orientation is None else key.orientation
    return (list(TRACK_TITLES).index(key.track), place, key.subset, key.op, rotation)


def _mean_of(values: Collection[float]) -> float:
    """Return the mean of one value at least."""
    return math.fsum(values) / len(values)
