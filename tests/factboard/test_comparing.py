"""`factboard compare --local`: two files of items, without a site."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from factboard.cli import main
from tests.scoring.factories import FLAWED, GOLD, PERFECT


@pytest.fixture
def items(tmp_path: Path) -> tuple[Path, Path]:
    """The items of a system with 6 of 6 facts, and of one with 4 of 6."""
    gold = tmp_path / "gold"
    gold.mkdir()
    for name, html in GOLD.items():
        (gold / f"{name}.html").write_text(html)
    found = []
    for name, predictions in (("perfect", PERFECT), ("flawed", FLAWED)):
        folder = tmp_path / name
        folder.mkdir()
        for page, html in predictions.items():
            (folder / f"{page}.html").write_text(html)
        path = tmp_path / f"{name}.jsonl"
        files = ["--gold", str(gold), "--submission", str(folder), "--items", str(path)]
        assert main(["grade", "fincriticaled", *files]) == 0
        found.append(path)
    return found[0], found[1]


def test_two_files_are_compared_with_a_test(
    items: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main(["compare", "--local", "fincriticaled", *map(str, items), "--json"]) == 0
    figures = {each["column"]: each for each in json.loads(capsys.readouterr().out)}
    ffa = figures["ffa"]
    assert (ffa["first"], ffa["second"]) == (1, pytest.approx(4 / 6))
    assert ffa["difference"] == pytest.approx(2 / 6)
    assert 0 < ffa["p_value"] <= 1
    assert ffa["low"] <= 2 / 6 <= ffa["high"]
    assert main(["compare", "--local", "fincriticaled", *map(str, items)]) == 0
    assert "+33.33%" in capsys.readouterr().out


def test_the_order_of_the_files_turns_the_sign(
    items: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main(["compare", "--local", "fincriticaled", *map(str, items[::-1]), "--json"]) == 0
    figures = {each["column"]: each for each in json.loads(capsys.readouterr().out)}
    assert figures["ffa"]["difference"] == pytest.approx(-2 / 6)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text + "nope\n", ":4: not a line of a file"),
        (lambda text: text.partition("\n")[2], ":1: is not the same item as"),
        (lambda text: '{"id": "page-1"}\n' + text.partition("\n")[2], "not results of"),
    ],
)
def test_files_that_do_not_belong_together_are_named(
    items: tuple[Path, Path],
    capsys: pytest.CaptureFixture[str],
    change: Callable[[str], str],
    message: str,
) -> None:
    items[1].write_text(change(items[1].read_text()))
    assert main(["compare", "--local", "fincriticaled", *map(str, items)]) == 2
    assert message in capsys.readouterr().err


def test_one_file_is_not_enough(items: tuple[Path, Path]) -> None:
    assert main(["compare", "--local", "fincriticaled", str(items[0])]) == 2
