"""The tables of CC-OCR beside the main one: a track subset by subset, and the analyses."""

from pathlib import Path

from scoring.benchmarks.base import Column, Options, View
from scoring.benchmarks.reported import load_reported

from .aggregation import GROUNDING_PREFIX
from .subsets import GROUNDED, SUBSETS, TRACK_TITLES, Subset

_FOLDER = Path(__file__).parent
_MEASURES = {
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
    """Tables 2 to 8 of the paper."""
    return _VIEWS


def _view(key: str, title: str, told: str, columns: tuple[Column, ...]) -> View:
    return View(key, title, told, columns, load_reported(_FOLDER / f"reported_{key}.csv"))


def _track(track: str) -> View:
    title = TRACK_TITLES[track]
    columns = (
        *(_subset(subset) for subset in SUBSETS if subset.track == track),
        Column(track, "Total", title, "Mean of the subsets", rank="board"),
    )
    return _view(track, title, "The track subset by subset.", columns)


def _subset(subset: Subset) -> Column:
    told = f"{subset.feature}: {_MEASURES[subset.op]}"
    return Column(subset.key, subset.name, subset.group, told)


def _grounding() -> View:
    told = "F1 of words that are read right in their place"
    columns = (
        *(
            Column(f"{GROUNDING_PREFIX}{subset.key}", subset.name, subset.group, told)
            for subset in GROUNDED
        ),
        Column("grounding", "Total", "Grounding", "Mean of the subsets", rank="board"),
    )
    return _view("grounding", "Grounding", f"{told}.", columns)


_ORIENTATION = _view(
    "orientation",
    "Multi-orientation",
    "Macro F1 of the first track on images as they are and on rotated ones.",
    (
        Column("multi_scene", "Normal", "Multi-orientation", "images as they are"),
        Column("multi_orientation", "Rotated", "Multi-orientation", "images that state a rotation"),
        Column("diff", "Difference", "Multi-orientation", "Rotated - normal", rank="board"),
    ),
)
_REPETITION = _view(
    "repetition",
    "Repetition",
    "Outputs of which over a quarter says one word again and again.",
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
