"""FinCriticalED: are the financial facts of a page recovered? See README.md in this folder."""

from scoring.benchmarks.base import Benchmark, Options

from .aggregation import aggregate
from .columns import CHARTS, REPORTED, SEVERITY, columns_for, headline_for, views_for
from .options import check_options, lacking
from .readers import as_frozen, read_gold, read_predictions
from .scorer import COMBINED, JUDGING, contributions, score_item, sides, summarise

KEY = "fincriticaled"
VERSION = "4"
_UNUSED = ("beside", "")


def signature(options: Options) -> str:
    """Return everything that can change a figure, in one line.

    >>> signature(check_options({}))
    'fincriticaled|v4|labels:Number,Date|matcher:aligned|text:visible|missing:zero|severity:2'
    """
    # Added in a later version; figures do not change without it.
    chosen = (f"{name}:{value}" for name, value in options.items() if (name, value) != _UNUSED)
    return "|".join([KEY, f"v{VERSION}", *chosen, f"severity:{SEVERITY.version}"])


FINCRITICALED = Benchmark(
    key=KEY,
    version=VERSION,
    title="FinCriticalED",
    check_options=check_options,
    columns_for=columns_for,
    read_gold=read_gold,
    read_predictions=read_predictions,
    score_item=score_item,
    aggregate=aggregate,
    signature=signature,
    summarise=summarise,
    sides=sides,
    part_name="Document type",
    contributions=contributions,
    combined=COMBINED,
    reported=REPORTED,
    headline_for=headline_for,
    views_for=views_for,
    charts=CHARTS,
    example='{"id": "acme_10k_p012", "html": "<p>…"}',
    layouts=("a ZIP of ID.html, ID.txt or pred_ID.txt.",),
    rules=(SEVERITY.table(),),
    judging=JUDGING,
    lacking=lacking,
    as_frozen=as_frozen,
)
