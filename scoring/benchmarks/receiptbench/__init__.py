"""ReceiptBench: 19 fields of receipts. See README.md beside this file."""

from functools import partial
from pathlib import Path

from scoring.benchmarks.base import Benchmark, Options
from scoring.benchmarks.reported import load_reported

from .aggregation import aggregate
from .columns import columns_for
from .options import check_options
from .readers import read_gold, read_predictions
from .scorer import Helpers, score_item
from .views import views_for

KEY = "receiptbench"
VERSION = "1"

# Rules that the paper leaves open.
_RULES = ("lists:most-accepted", "missing-earns:no-tn", "accuracy:(tp+tn)/(tp+fp+fn+tn)")


def signature(options: Options, *, helpers: Helpers) -> str:
    """Everything that can change a figure, in one line.

    >>> signature(check_options({}), helpers=Helpers())[:54]
    'receiptbench|v1|weights:C|mismatch:both|missing:zero|j'
    """
    chosen = (f"{name}:{value}" for name, value in options.items())
    models = (f"judge:{helpers.judge_name}", f"embedding:{helpers.embedding_name}")
    return "|".join([KEY, f"v{VERSION}", *chosen, *models, *_RULES])


def build_benchmark(helpers: Helpers) -> Benchmark:
    """The benchmark with these helpers; with an embedding the weights A, B and D can be chosen."""
    check = partial(check_options, has_embedding=helpers.embed is not None)
    defaults = check({})
    return Benchmark(
        key=KEY,
        version=VERSION,
        title="ReceiptBench",
        columns=columns_for(defaults),
        default_options=defaults,
        check_options=check,
        columns_for=columns_for,
        read_gold=read_gold,
        read_predictions=read_predictions,
        score_item=partial(score_item, helpers=helpers),
        aggregate=aggregate,
        signature=partial(signature, helpers=helpers),
        reported=load_reported(Path(__file__).with_name("reported.csv")),
        views_for=views_for,
        example='{"id": "receipt-1", "fields": {"type": "taxi", "std_total": 45}}',
        layouts=(
            'the words of a model as they are, to be read as JSON: {"id", "response"};',
            "a ZIP of one JSON file per image, IMAGE.json.",
        ),
    )


RECEIPTBENCH = build_benchmark(Helpers())
