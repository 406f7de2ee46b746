"""`make bench`: the data it makes is what the benchmarks read, and its tables say what is met."""

from pathlib import Path

import pytest

from bench import __main__ as bench
from bench.references import Comparison
from bench.wholes import SIZES, Size, Whole, seconds_of
from scoring.benchmarks import BENCHMARKS


@pytest.mark.parametrize("key", SIZES)
def test_generated_lines_are_graded(key: str) -> None:
    # 24 outputs of CC-OCR have a table of 500 cells among them.
    assert seconds_of(BENCHMARKS[key], SIZES[key].lines, 24) > 0


@pytest.fixture
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Comparisons that are made already, and a benchmark of few items."""
    met = Comparison("quick", "x", ours=1, theirs=30, gap=0, wanted=25)
    missed = Comparison("slow", "x", ours=1, theirs=30, gap=0, wanted=150)
    parts = {"quick": lambda: iter([met]), "slow": lambda: iter([missed])}
    monkeypatch.setattr(bench, "COMPARISONS", parts)
    monkeypatch.setattr(bench, "PARTS", ("quick", "slow", "fcmbench"))
    monkeypatch.setitem(SIZES, "fcmbench", Size(SIZES["fcmbench"].lines, 8, 60))


@pytest.mark.usefixtures("_small")
def test_parts_are_measured_alone(capsys: pytest.CaptureFixture[str]) -> None:
    bench.main(["slow", "fcmbench"])
    printed = capsys.readouterr().out
    assert "| slow | x | 1,000.00 ms | 30,000.0 ms | 30.0 | 150 | **no** | 0e+00 |" in printed
    assert "quick" not in printed
    assert "| FCMBench | 8 |" in printed
    assert "CC-OCR" not in printed
    bench.main(["quick"])
    printed = capsys.readouterr().out
    assert "| 30.0 | 25 | yes |" in printed
    assert "## Whole benchmarks" not in printed


def test_a_growth_beyond_linear_is_told() -> None:
    assert Whole("x", 4, seconds=4, half=2, quarter=1, wanted=4).is_linear
    square = Whole("x", 4, seconds=16, half=4, quarter=1, wanted=4)
    assert (square.growth, square.is_linear, square.is_met) == ((4, 4), False, False)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["zzz"], "there is no part 'zzz'; there are text, teds, ned, nted, kappa, fincriticaled"),
        (["ned", "--write", "x.md"], "--write keeps a page of all parts; name none"),
    ],
)
def test_wrong_arguments_are_explained(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        bench.main(arguments)
    assert message in capsys.readouterr().err
    assert not Path("x.md").exists()
