"""CC-OCR: reading, parsing and extraction in four tracks. See README.md in this folder."""

from pathlib import Path

from scoring.benchmarks.base import Benchmark, load_reported

from . import figures, readers, scorer

CCOCR = Benchmark.of(
    readers,
    scorer,
    figures,
    key="ccocr",
    version="4",
    title="CC-OCR",
    field_grades=scorer.FIELD_GRADES,
    part_name="Subset",
    reported=load_reported(Path(__file__).with_name("reported.csv")),
    charts=figures.FIGURES.charts,
    id_keys=("subset", "id"),
    answer_keys=("response",),
    example='{"id": "img_1.jpg", "subset": "IC15", "response": "Exit 3"}',
    layouts=("a ZIP of SUBSET/IMAGE.json with the key response, as written by the evaluator.",),
)
