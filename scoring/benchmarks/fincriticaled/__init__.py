"""FinCriticalED: are the financial facts of a page recovered? See README.md in this folder."""

from scoring.benchmarks.base import Benchmark

from . import figures, options, readers, scorer

FINCRITICALED = Benchmark.of(
    options,
    readers,
    scorer,
    figures,
    key="fincriticaled",
    version="6",
    title="FinCriticalED",
    part_name="Document type",
    combined=scorer.COMBINED,
    reported=figures.REPORTED,
    charts=figures.FIGURES.charts,
    answer_keys=("html",),
    example='{"id": "acme_10k_p012", "html": "<p>…"}',
    layouts=(
        "a ZIP with one file per item: ID.html, ID.txt or pred_ID.txt, where ID is the item ID.",
    ),
    rules=(figures.SEVERITY.table(),),
    judging=scorer.JUDGING,
)
