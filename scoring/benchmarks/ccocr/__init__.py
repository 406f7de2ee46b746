"""CC-OCR: reading, parsing and extraction in four tracks. See README.md in this folder."""

from pathlib import Path

from scoring.benchmarks.base import Benchmark, Options, load_reported

from .aggregation import aggregate
from .columns import CHARTS, columns_for, headline_for, views_for
from .graded import FIELD_GRADES
from .readers import read_gold, read_predictions
from .scorer import check_options, contributions, score_item, sides, stratum, summarise

KEY = "ccocr"
VERSION = "2"


def signature(options: Options) -> str:
    """Return everything that can change a figure, in one line.

    >>> signature(check_options({}))
    'ccocr|v2|units:reference'
    """
    return "|".join([KEY, f"v{VERSION}", *(f"{name}:{value}" for name, value in options.items())])


CCOCR = Benchmark(
    key=KEY,
    version=VERSION,
    title="CC-OCR",
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
    part_name="Subset",
    contributions=contributions,
    stratum=stratum,
    reported=load_reported(Path(__file__).with_name("reported.csv")),
    headline_for=headline_for,
    views_for=views_for,
    charts=CHARTS,
    id_keys=("subset", "id"),
    example='{"id": "img_1.jpg", "subset": "IC15", "response": "Exit 3"}',
    layouts=("a ZIP of SUBSET/IMAGE.json with the key response, as the evaluator writes it.",),
)
