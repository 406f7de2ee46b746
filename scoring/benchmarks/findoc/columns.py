"""The figures of financial document accuracy."""

from scoring.benchmarks.base import Column, Options
from scoring.metrics.document_accuracy import WEIGHTS

from .options import phrases_of

ACCURACY = "Accuracy"
PARTS = tuple(WEIGHTS)
FINAL = "final_score"

_NUMBERS = {
    "exact": "different numbers of the gold that are numbers of the text",
    "substring": "numbers of the gold that occur anywhere in the digits of the text",
}
_LINE_ITEMS = "strings of the gold, longer than three characters, that the text contains"


def columns_for(options: Options) -> tuple[Column, ...]:
    """The four parts, each a mean over documents, and the final score by which is ranked."""
    sections, disclosures = (_listed(options, name) for name in ("sections", "disclosures"))
    return (
        Column("numeric_accuracy", "Numbers", ACCURACY, _NUMBERS[options["matching"]]),
        Column("line_item_accuracy", "Line items", ACCURACY, _LINE_ITEMS),
        Column("section_accuracy", "Sections", ACCURACY, f"contained of {sections}"),
        Column("disclosure_accuracy", "Disclosures", ACCURACY, f"contained of {disclosures}"),
        Column(FINAL, "Final", ACCURACY, _weights(), rank="board"),
    )


def _listed(options: Options, name: str) -> str:
    return ", ".join(f"“{phrase}”" for phrase in phrases_of(options, name)) or "no phrases"


def _weights() -> str:
    return "Weighted mean: " + ", ".join(
        f"{weight:.0%} {part.removesuffix('_accuracy').replace('_', ' ')}"
        for part, weight in WEIGHTS.items()
    )
