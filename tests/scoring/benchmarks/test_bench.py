"""`make bench`: its data can be read by the benchmarks, and its tables report the targets."""

from pathlib import Path

import pytest

from bench import __main__ as bench
from bench import references
from bench.references import Comparison
from bench.sections import ROOT, Section, marked, replaced
from bench.wholes import SIZES, Size, Whole, seconds_of
from bench.workbench import ASKED, Figure, workbench_table
from scoring.benchmarks import BENCHMARKS


@pytest.mark.parametrize("key", SIZES)
def test_generated_lines_are_graded(key: str) -> None:
    # 24 outputs of CC-OCR have a table of 500 cells among them.
    assert seconds_of(BENCHMARKS[key], SIZES[key].lines, 24) > 0


@pytest.fixture
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Existing comparisons, and a benchmark with few items."""
    met = Comparison("quick", "x", ours=1, theirs=30, gap=0, wanted=25)
    missed = Comparison("slow", "x", ours=1, theirs=30, gap=0, wanted=150)
    parts = {"quick": lambda: iter([met]), "slow": lambda: iter([missed])}
    monkeypatch.setattr(bench, "COMPARISONS", parts)
    monkeypatch.setattr(references, "COMPARISONS", parts)
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


def test_growth_beyond_linear_is_reported() -> None:
    assert Whole("x", 4, seconds=4, half=2, quarter=1, wanted=4).is_linear
    square = Whole("x", 4, seconds=16, half=4, quarter=1, wanted=4)
    assert (square.growth, square.is_linear, square.is_met) == ((4, 4), False, False)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["zzz"], "there is no part 'zzz'; there are text, teds, ned, nted, kappa, fincriticaled"),
        (["ned", "--write", "x.md"], "--write keeps whole sections; name kappa, nted, teds, text"),
        (["ned", "--label-studio", "nowhere"], "nowhere is no virtual environment"),
    ],
)
def test_wrong_arguments_are_explained(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        bench.main(arguments)
    assert message in capsys.readouterr().err
    assert not Path("x.md").exists()


SECOND = Section("Second", ["second"], lambda _: ["| new |"], ["code"])


@pytest.fixture
def code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The one file that the figures of `SECOND` are about."""
    monkeypatch.setattr("bench.sections.ROOT", tmp_path)
    (tmp_path / "code").mkdir()
    file = tmp_path / "code" / "module.py"
    file.write_text("x = 1")
    return file


@pytest.mark.usefixtures("code")
def test_a_measured_section_replaces_its_former_self() -> None:
    page = "# Figures\n\n## First\n\none\n\n## Second\n\nold\n\n### Part\n\n## Third\n\nthree\n"
    lines = list(SECOND.lines(["second"], day="2026-01-02", machine="M"))
    page = replaced(page, "Second", lines)
    assert page == (
        "# Figures\n\n## First\n\none\n\n"
        f"## Second\n\nMeasured on 2026-01-02 on M (code {SECOND.fingerprint()}).\n\n| new |\n\n"
        "## Third\n\nthree\n"
    )
    assert replaced("# Figures\n", "Second", lines).startswith("# Figures\n\n## Second\n\nMeas")


def test_a_figure_older_than_its_code_says_so(code: Path) -> None:
    page = replaced("# Figures\n", "Second", SECOND.lines([], day="2026-01-02", machine="M"))
    assert marked(page, [SECOND]) == page
    code.write_text("x = 2")
    older = marked(page, [SECOND])
    assert "). **Older than the code.**\n" in older
    code.write_text("x = 1")
    assert marked(older, [SECOND]) == page


@pytest.mark.usefixtures("code")
def test_a_section_without_a_date_is_refused() -> None:
    with pytest.raises(ValueError, match="no date and code under the heading of: Second"):
        marked("## Second\n\n| 3 |\n", [SECOND])


def test_every_section_of_the_page_is_dated_and_names_code() -> None:
    page = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    assert marked(page, bench.sections()) == page


def test_ratios_need_both_sides_of_one_run() -> None:
    less = Figure("x", ours=10, unit="ms", theirs=40, times=5)
    more = Figure("x", ours=100, unit="/s", theirs=20, times=5, less=False)
    assert (less.ratio, less.is_met) == (4, False)
    assert (more.ratio, more.is_met) == (5, True)
    alone = Figure("x", ours=10, unit="ms", times=5)
    assert (alone.ratio, alone.is_met) == (None, None)
    assert Figure("x", ours=10, unit="ms", limit=9).is_met is False


def test_the_workbench_table_shows_the_ratio_or_that_there_is_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = [Figure(ASKED["first"][0], 4_000, "ms", theirs=36_000, times=5)]
    monkeypatch.setattr("bench.workbench.figures", lambda label_studio: iter(rows))
    beside = list(workbench_table(Path("ls")))
    assert "measured in the same run" in beside[0]
    assert beside[-1] == (
        "| empty database to first page | 4,000.0 ms | 36,000.0 ms | 9.0 | 5 | yes |"
    )
    rows = [Figure(ASKED["first"][0], 4_000, "ms", times=5)]
    alone = list(workbench_table())
    assert alone[0].startswith("Label Studio was not measured in this run")
    assert alone[-1] == "| empty database to first page | 4,000.0 ms | – | – | 5 | – |"
