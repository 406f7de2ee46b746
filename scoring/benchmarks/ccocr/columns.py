"""The figures of CC-OCR."""

from scoring.benchmarks.base import Column, Options

from .subsets import TRACK_TITLES

TRACK_GROUP = "Tracks"
REPETITION_GROUP = "Hallucination"
ORIENTATION_GROUP = "Multi-orientation"
MEASURE_GROUP = "Measures"
GROUNDING_GROUP = "Grounding"

_TRACK_HELP = {
    "multi_scene": "Mean macro F1 of the 13 subsets of text in scenes, documents and on the web",
    "multi_lan": "Mean macro F1 of the ten languages beside Chinese and English",
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
    ("acc", "Accuracy", "key information: nearness of the records as trees, mean of the subsets"),
)


def columns_for(
    options: Options,  # noqa: ARG001 - the columns are the same under all of them
) -> tuple[Column, ...]:
    """Tracks and overall, repetition; then what only the details show. Subsets are in the views."""
    return (
        *(Column(key, TRACK_TITLES[key], TRACK_GROUP, _TRACK_HELP[key]) for key in TRACK_TITLES),
        Column("overall", "Overall", TRACK_GROUP, "Mean of the four tracks", rank="board"),
        Column(
            "repetition",
            "Repetition",
            REPETITION_GROUP,
            "Outputs of which over a quarter says one word again and again",
            direction="down",
        ),
        _detail(
            "multi_orientation",
            "Rotated",
            ORIENTATION_GROUP,
            "multi-scene reading of rotated images, mean of the subsets",
        ),
        _detail("diff", "Difference", ORIENTATION_GROUP, "rotated - normal"),
        *(_detail(key, label, MEASURE_GROUP, told) for key, label, told in _MEASURES),
        _detail("grounding", "Total", GROUNDING_GROUP, "mean of the subsets"),
    )


def _detail(key: str, label: str, group: str, told: str) -> Column:
    return Column(key, label, group, told, headline=False)
