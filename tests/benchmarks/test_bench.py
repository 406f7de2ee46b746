"""The data that `make bench` makes is what the benchmarks read."""

import pytest

from bench.wholes import SIZES, seconds_of
from scoring.benchmarks import BENCHMARKS


@pytest.mark.parametrize(("key", "lines"), [(key, lines) for key, lines, *_ in SIZES])
def test_generated_lines_are_graded(key: str, lines: object) -> None:
    assert callable(lines)
    # 24 outputs of CC-OCR have a table of 500 cells among them.
    assert seconds_of(BENCHMARKS[key], lines, 24) > 0
