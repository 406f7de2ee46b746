"""ReceiptBench: 19 fields of receipts. See README.md in this folder."""

from functools import partial
from pathlib import Path

from scoring.benchmarks.base import Benchmark, Options, load_reported

from .aggregation import aggregate
from .columns import CHARTS, PREFERENCE, columns_for, headline_for, views_for
from .embedding import NO_EMBEDDING, Helpers, lacking
from .graded import FIELD_GRADES
from .options import check_options, judge_name, prompt_lacking, words
from .readers import read_gold, read_predictions
from .scorer import contributions, judging_with, score_item, sides, summarise

KEY = "receiptbench"
VERSION = "2"

# Rules that the paper leaves open.
_RULES = ("lists:most-accepted", "no-answer:no-tn", "accuracy:(tp+tn)/all")


def signature(options: Options) -> str:
    """Return everything that can change a figure, in one line.

    >>> signature(check_options({}))[13:78]
    'v2|weights:C|amounts:value|mismatch:both|missing:zero|judge:leven'
    """
    chosen = (f"{name}:{options[name]}" for name in ("weights", "amounts", "mismatch", "missing"))
    embedding = options.get("embedding", NO_EMBEDDING)
    models = (f"judge:{judge_name(options)}", f"embedding:{embedding}")
    return "|".join([KEY, f"v{VERSION}", *chosen, *models, *_RULES])


def build_benchmark(helpers: Helpers) -> Benchmark:
    """Return the benchmark with these helpers. With an embedding, the weights A, B and D can be
    chosen."""
    return Benchmark(
        key=KEY,
        version=VERSION,
        title="ReceiptBench",
        check_options=partial(check_options, helpers=helpers),
        columns_for=columns_for,
        read_gold=read_gold,
        read_predictions=read_predictions,
        score_item=partial(score_item, helpers=helpers),
        aggregate=aggregate,
        signature=signature,
        summarise=summarise,
        field_grades=FIELD_GRADES,
        sides=sides,
        part_name="Category",
        contributions=contributions,
        reported=load_reported(Path(__file__).with_name("reported.csv")),
        headline_for=headline_for,
        views_for=views_for,
        charts=CHARTS,
        example='{"id": "receipt-1", "fields": {"type": "taxi", "std_total": 45}}',
        layouts=(
            'the output of a model, unchanged, to be parsed as JSON: {"id", "response"};',
            "a ZIP of one JSON file per image, IMAGE.json.",
        ),
        rules=(PREFERENCE,),
        words=words,
        judging=judging_with(helpers),
        lacking=lambda options: lacking(options, helpers=helpers) or prompt_lacking(options),
    )


RECEIPTBENCH = build_benchmark(Helpers())
