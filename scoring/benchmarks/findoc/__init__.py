"""Financial document accuracy: numbers, line items, sections and disclosures of a statement. See
README.md in this folder."""

from scoring.benchmarks.base import Benchmark

from . import readers, scorer

FINDOC = Benchmark.of(
    readers,
    scorer,
    key="findoc",
    version="2",
    title="Financial document accuracy",
    field_grades=scorer.FIELD_GRADES,
    charts=scorer.FIGURES.charts,
    answer_keys=("text",),
    example='{"id": "report-2023", "text": "Balance sheet as at March 31 …"}',
    layouts=("a ZIP with one file per item: ID.txt, where ID is the item ID.",),
)
