"""The figures of FinCriticalED."""

from scoring.benchmarks.base import Column, Options
from scoring.metrics.facts import ERROR_TYPES

from .labels import accuracy_of, labels_of
from .severity import SEVERITY

GENERAL = "General"
FACT_LEVEL = "Fact-level"
RECOVERY = "Recovery"
ERRORS = "Errors"

GENERAL_COLUMNS = (
    Column("r1", "R1", GENERAL, "ROUGE-1 F-measure of the text, mean over pages"),
    Column("rl", "RL", GENERAL, "ROUGE-L F-measure of the text, mean over pages"),
    Column(
        "edit_distance",
        "E",
        GENERAL,
        "Levenshtein distance of the text / longer length, mean over pages",
        direction="down",
    ),
    Column(
        "general",
        "Mean",
        GENERAL,
        "(R1 + RL + 1 - E) / 3, by which the general rank goes",
        headline=False,
        rank="group",
    ),
)
_WEIGHTED_COLUMN = Column(
    "weighted_ffa",
    "Weighted FFA",
    FACT_LEVEL,
    f"1 - weights of the errors / facts; severity weights, version {SEVERITY.version}",
    headline=False,
)
_RECOVERY_COLUMNS = (
    Column(
        "found", "Found", RECOVERY, "facts of which a recognisable form is there", headline=False
    ),
    Column("missing_rate", "Missing", RECOVERY, "1 - found", direction="down", headline=False),
    Column("precision", "Precision", RECOVERY, "correct facts of those found", headline=False),
    Column(
        "hallucinated",
        "Hallucinated",
        RECOVERY,
        "numbers and dates of the prediction that match nothing in the gold page, of all it has",
        direction="down",
        headline=False,
    ),
)
_ERROR_COLUMNS = tuple(
    Column(
        f"err_{error}",
        error.capitalize(),
        ERRORS,
        f"facts that are wrong by the error type {error!r}",
        direction="down",
        headline=False,
    )
    for error in ERROR_TYPES
)


def columns_for(options: Options) -> tuple[Column, ...]:
    """The columns in the order of the papers' tables, one accuracy for each fact type."""
    accuracies = (
        Column(*accuracy_of(label), FACT_LEVEL, f"correct facts of type {label}, over all pages")
        for label in labels_of(options)
    )
    ffa = Column(
        "ffa",
        "FFA",
        FACT_LEVEL,
        "correct facts, over all pages; the fact rank goes by it",
        rank="board",
    )
    return (
        *GENERAL_COLUMNS,
        *accuracies,
        ffa,
        _WEIGHTED_COLUMN,
        *_RECOVERY_COLUMNS,
        *_ERROR_COLUMNS,
    )
