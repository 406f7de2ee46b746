"""Cells of CSV files."""

import ast
from pathlib import Path

import pytest

from portal.files.tables import csv_text, decimal_text

ROOT = Path(__file__).parents[2]
# Each writes texts alone, or numbers by `decimal_text`.
WITH_WRITERS = {
    "portal/files/tables.py",
    "portal/datasets/acceptance/audits.py",
}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.7715000000000001, "0.7715"),
        (0.1 + 0.2, "0.3"),
        (1 / 3, "0.333333"),
        (2 / 3, "0.666667"),
        (1.0, "1"),
        (0.0, "0"),
        (-0.0000001, "0"),
        (-0.25, "-0.25"),
        (1e-5, "0.00001"),
        (6.74e11, "674000000000"),
    ],
)
def test_numbers_are_rounded_decimals(value: float, text: str) -> None:
    assert decimal_text(value) == text
    assert csv_text([[value]]) == f"{text}\r\n"


def test_every_kind_of_cell() -> None:
    line = [None, True, False, 7, 0.5, "a,b", "=1+1", "-"]
    assert csv_text([line]) == ",true,false,7,0.5,\"a,b\",'=1+1,'-\r\n"


def test_nobody_writes_cells_of_their_own() -> None:
    apps = ("annotation", "portal", "scoring")
    modules = [path for app in apps for path in (ROOT / app).rglob("*.py")]
    writing = {path for path in modules if _has_writer(path.read_text(encoding="utf-8"))}
    assert {path.relative_to(ROOT).as_posix() for path in writing} == WITH_WRITERS


def _has_writer(text: str) -> bool:
    nodes = ast.walk(ast.parse(text)) if "import csv" in text else ()
    names = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    return bool({"writer", "DictWriter"} & names)
