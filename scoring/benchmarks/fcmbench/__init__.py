"""FCMBench: questions on financial credit documents. See README.md in this folder."""

from pathlib import Path

from scoring.benchmarks.base import Benchmark, load_reported

from . import figures, readers, scorer

FCMBENCH = Benchmark.of(
    readers,
    scorer,
    figures,
    key="fcmbench",
    version="4",
    title="FCMBench",
    field_grades=scorer.FIELD_GRADES,
    part_name="Task",
    reported=load_reported(Path(__file__).with_name("reported.csv")),
    charts=figures.FIGURES.charts,
    names_every_id=True,
    task_tree=figures.TREE,
    answer_keys=("response",),
    example='{"id": "0001", "response": "{\\"answer\\": \\"ID card\\"}"}',
)
