"""FCMBench: questions on financial credit documents. See README.md in this folder."""

from pathlib import Path

from scoring.benchmarks.base import Benchmark, Options, load_reported

from .aggregation import aggregate
from .columns import CHARTS, TREE, check_options, columns_for, headline_for, views_for
from .graded import FIELD_GRADES
from .readers import read_gold, read_predictions
from .scorer import contributions, score_item, sides, stratum, summarise

KEY = "fcmbench"
VERSION = "2"

# Rules on which the published evaluator and the paper differ, or that the paper leaves open.
_RULES = ("num_cal:<=2", "num_cal_005:left-out", "relative:without-IQE")


def signature(options: Options) -> str:
    """Return everything that can change a figure, in one line.

    >>> signature(check_options({}))[:64]
    'fcmbench|v2|identifiers:text|tolerance:paper|missing:zero|num_ca'
    """
    chosen = (f"{name}:{value}" for name, value in options.items())
    return "|".join([KEY, f"v{VERSION}", *chosen, *_RULES])


FCMBENCH = Benchmark(
    key=KEY,
    version=VERSION,
    title="FCMBench",
    check_options=check_options,
    columns_for=columns_for,
    read_gold=read_gold,
    read_predictions=read_predictions,
    score_item=score_item,
    aggregate=aggregate,
    signature=signature,
    summarise=summarise,
    field_grades=FIELD_GRADES,
    sides=sides,
    part_name="Task",
    contributions=contributions,
    stratum=stratum,
    reported=load_reported(Path(__file__).with_name("reported.csv")),
    headline_for=headline_for,
    views_for=views_for,
    charts=CHARTS,
    names_every_id=True,
    task_tree=TREE,
    example='{"id": "0001", "response": "{\\"answer\\": \\"ID card\\"}"}',
)
