"""ReceiptBench: 19 fields of receipts. See README.md in this folder."""

from functools import partial
from pathlib import Path

from scoring.benchmarks.base import Benchmark, load_reported

from . import aggregation, columns, options, readers, scorer
from .embedding import Helpers


def build_benchmark(helpers: Helpers) -> Benchmark:
    """Return the benchmark with these helpers. With an embedding, the weights A, B and D can be
    chosen."""
    return Benchmark.of(
        readers,
        options,
        scorer,
        columns,
        aggregation,
        key="receiptbench",
        version="3",
        title="ReceiptBench",
        check_options=partial(options.check_options, helpers=helpers),
        score_item=partial(scorer.score_item, helpers=helpers),
        lacking=partial(options.lacking, helpers=helpers),
        judging=scorer.judging_with(helpers),
        field_grades=scorer.FIELD_GRADES,
        part_name="Category",
        reported=load_reported(Path(__file__).with_name("reported.csv")),
        charts=columns.FIGURES.charts,
        answer_keys=("fields", "response"),
        example='{"id": "receipt-1", "fields": {"type": "taxi", "std_total": 45}}',
        layouts=(
            'the unchanged model output, which is parsed as JSON: {"id", "response"};',
            "a ZIP of one JSON file per image, IMAGE.json.",
        ),
        rules=(columns.PREFERENCE,),
    )


RECEIPTBENCH = build_benchmark(Helpers())
