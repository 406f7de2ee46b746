"""CC-OCR under edits: one that cannot hurt keeps the score, one that only harms lowers it.

Each edit changes gold answers of the sample, and of real images in the slow lane.
"""

import json
import random
import re
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from scoring.benchmarks.ccocr import CCOCR
from tests.shared import ORACLE, needs_oracle

Edit = Callable[[str, random.Random], str | None]

OPTIONS = CCOCR.check_options({})
SAMPLE = Path("sample/benchmarks/ccocr/gold/dev.jsonl")
SEED = 30


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def response_to(line: dict[str, Any]) -> str:
    """Return the gold answer as a model would write it."""
    answer = line["answer"]
    return answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)


def score(line: dict[str, Any], response: str) -> float:
    result: float = CCOCR.score_item(line, {"response": response}, OPTIONS)["score"]
    return result


def plain(function: Callable[[str], str | None]) -> Edit:
    return lambda text, _: function(text)


# --- edits that cannot hurt -----------------------------------------------------------------------


_WIDE = {ord("0") + digit: 0xFF10 + digit for digit in range(10)}


def _wide(text: str) -> str:
    """Write the digits outside of tags in full width."""
    return re.sub(r"(?<![^>])[^<>]+(?![^<])", lambda part: part[0].translate(_WIDE), text)


def _wide_values(text: str) -> str:
    """Write the digits of a record's texts in full width."""
    return re.sub(r'(?<=: )"[^"\\]*"', lambda part: part[0].translate(_WIDE), text)


_ROW = re.compile(r"<tr>(.*?)</tr>", re.DOTALL)
_CELL = re.compile(r"<td([^>]*)>(.*?)</td>", re.DOTALL)


def _rows(text: str) -> list[list[str]] | None:
    """Return the cells of a table that Markdown can hold: without spans, of one line."""
    if text.count("<table") != 1 or "span=" in text or "|" in text or "*" in text:
        return None
    rows = [[cell[2] for cell in _CELL.finditer(row[1])] for row in _ROW.finditer(text)]
    return [[" ".join(cell.split()) for cell in row] for row in rows]


def _markdown(text: str) -> str | None:
    rows = _rows(text)
    if not rows:
        return None
    written = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([written[0], "|---" * len(rows[0]) + "|", *written[1:]])


def _latex(text: str) -> str | None:
    rows = _rows(text)
    if not rows or any(set(cell) & set("\\^_<&{}~") for row in rows for cell in row):
        return None
    body = " \\\\\n".join(
        " & ".join(re.sub(r"([%$#])", r"\\\1", cell) for cell in row) for row in rows
    )
    columns = "l" * len(rows[0])
    return f"\\begin{{tabular}}{{{columns}}}\n\\hline\n{body} \\\\\n\\hline\n\\end{{tabular}}"


def _spans_as_empty_cells(text: str) -> str | None:
    wide = re.compile(r'<td colspan="(\d+)">(.*?)</td>', re.DOTALL)
    if "rowspan" in text or not wide.search(text):
        return None
    return wide.sub(lambda cell: f"<td>{cell[2]}</td>" + "<td></td>" * (int(cell[1]) - 1), text)


def _header(text: str) -> str:
    start, end = text.find("<tr>"), text.find("</tr>") + len("</tr>")
    head = text[start:end].replace("<td", "<th").replace("</td", "</th")
    return f"{text[:start]}<thead>{head}</thead>{text[end:]}"


EVERYWHERE: dict[str, Edit] = {
    "decomposed": plain(lambda text: unicodedata.normalize("NFD", text)),
    "line ends": plain(lambda text: text.replace("\n", "\r\n")),
    "full width": plain(_wide),
    "marks of order": plain(lambda text: f"\ufeff{text}\u200e"),
}
FENCED: dict[str, Edit] = {
    "bare fence": plain(lambda text: text if "```" in text else f"```\n{text}\n```"),
    "another fence": plain(lambda text: text if "```" in text else f"Here:\n```TEX\n{text}\n```"),
}
HARMLESS: dict[str, dict[str, Edit]] = {
    "ocr": {
        **EVERYWHERE,
        "lines in another order": plain(
            lambda text: None if "```" in text else "\n".join(reversed(text.split("\n")))
        ),
        "no-break spaces": plain(lambda text: text.replace(" ", "\u202f")),
        "quotes": plain(lambda text: text.replace("’", "'")),
        "bold": plain(lambda text: None if set(text) & set("#*") else f"**{text}**"),
    },
    "doc": {
        **EVERYWHERE,
        **FENCED,
        "tabs": plain(lambda text: text.replace(" ", "\t")),
        "preamble": plain(
            lambda text: (
                None
                if "\\begin{document}" in text
                else f"\\documentclass{{book}}\\begin{{document}}{text}\\end{{document}}"
            )
        ),
    },
    "formula": {
        **{name: edit for name, edit in EVERYWHERE.items() if name != "full width"},
        **FENCED,
        "display": plain(lambda text: None if "$" in text else f"$$\n{text}\n$$"),
        "thin spaces": plain(lambda text: text.replace(" = ", r" \;=\; ")),
    },
    "molecular": {**EVERYWHERE, **FENCED, "tags": plain(lambda text: f"<SMILES>{text}</SMILES>")},
    "table": {
        **EVERYWHERE,
        **FENCED,
        "Markdown": plain(_markdown),
        "LaTeX": plain(_latex),
        "spans": plain(_spans_as_empty_cells),
        "header": plain(_header),
        "header cells": plain(lambda text: text.replace("<td", "<th").replace("</td", "</th")),
        "upper case": plain(lambda text: re.sub(r"</?\w+", lambda tag: tag[0].upper(), text)),
        "body": plain(
            lambda text: (
                text.replace("<tr>", "<tbody><tr>", 1).replace("</table>", "</tbody></table>")
                if text.count("<table") == 1
                else None
            )
        ),
        "attributes": plain(lambda text: text.replace("<td", '<td class="x" align=right')),
        "empty cells": plain(lambda text: text.replace("<td></td>", "<td>&nbsp;</td>")),
        "bold": plain(lambda text: _CELL.sub(r"<td\1><b>\2</b></td>", text)),
        "comment": plain(lambda text: text.replace("<tr>", "<!-- row -->\n<tr>")),
    },
    "kie": {
        **EVERYWHERE,
        "full width": plain(_wide_values),
        **FENCED,
        "in a sentence": plain(lambda text: f"The record {{as read}} is {text}. Done."),
        "order of keys": plain(lambda text: json.dumps(dict(reversed(json.loads(text).items())))),
        "twice": plain(lambda text: f"{text}\n{text}"),
    },
}


# --- edits that only harm -------------------------------------------------------------------------


def _wrong_digit(text: str, chance: random.Random) -> str | None:
    """Change a digit of the content, in no tag, command or key."""
    content = re.sub(
        r"<[^>]*>|\\\w+(?:\[[^\]]*\])?\{?\w*|\"[^\"]*\":|```\w*",
        lambda part: " " * len(part[0]),
        text,
    )
    digits = [match.start() for match in re.finditer(r"[0-9]", content)]
    if not digits:
        return None
    place = chance.choice(digits)
    return f"{text[:place]}{(int(text[place]) + 1) % 10}{text[place + 1 :]}"


def _second_half_lost(text: str, _: random.Random) -> str:
    return text[: len(text) // 2]


def _row_lost(text: str, chance: random.Random) -> str:
    rows = [row for row in _ROW.finditer(text) if re.sub(r"<[^>]*>|\s", "", row[0])]
    row = chance.choice(rows)
    return text[: row.start()] + text[row.end() :]


def _cells_exchanged(text: str, chance: random.Random) -> str | None:
    rows = [[*_CELL.finditer(row[0])] for row in _ROW.finditer(text)]
    pairs = [
        (one[0], other[0])
        for cells in rows
        for one in cells
        for other in cells
        if one.start() < other.start() and one[2].split() != other[2].split()
    ]
    if not pairs:
        return None
    one, other = chance.choice(pairs)
    return text.replace(one, "\0", 1).replace(other, one, 1).replace("\0", other, 1)


def _hedged(write: Callable[[str, str, str], str]) -> Edit:
    """Give a wrong value of a field of text next to the right one."""

    def edit(text: str, chance: random.Random) -> str | None:
        record = json.loads(text)
        keys = [key for key, value in record.items() if isinstance(value, str)]
        if not keys:
            return None
        key = chance.choice(keys)
        left = json.dumps({name: value for name, value in record.items() if name != key})
        inner = left[1:-1] + ", " * (len(record) > 1)
        return write(inner, json.dumps(key), json.dumps(record[key]))

    return edit


HARMFUL: dict[str, dict[str, Edit]] = {
    "ocr": {"digit": _wrong_digit, "half": _second_half_lost},
    "doc": {"digit": _wrong_digit, "half": _second_half_lost},
    "formula": {"digit": _wrong_digit, "half": _second_half_lost},
    "molecular": {"digit": _wrong_digit, "half": _second_half_lost},
    "table": {
        "digit": _wrong_digit,
        "row": _row_lost,
        "cells": _cells_exchanged,
        "second table": plain(lambda text: f"{text}<table><tr><td>7</td></tr></table>"),
        "all twice": plain(lambda text: f"{text}\n{text}"),
        "draft": plain(lambda text: f"<table><tr><td>Draft</td></tr></table>\n{text}"),
        "only tags": plain(lambda text: re.sub(r">[^<]+<", "><", text)),
    },
    "kie": {
        "digit": _wrong_digit,
        "more values": _hedged(lambda rest, key, value: f'{{{rest}{key}: [{value}, "x"]}}'),
        "key twice": _hedged(lambda rest, key, value: f'{{{rest}{key}: "x", {key}: {value}}}'),
        "two records": _hedged(
            lambda rest, key, value: f'[{{{rest}{key}: {value}}}, {{{key}: "x"}}]'
        ),
        "draft": _hedged(lambda rest, key, value: f'{{{key}: "x"}} {{{rest}{key}: {value}}}'),
        "one text": _hedged(lambda rest, key, value: f'{{{rest}{key}: {value[:-1]} or x"}}'),
        "no key": _hedged(lambda rest, _, __: f"{{{rest.removesuffix(', ')}}}"),
        "invented": _hedged(lambda rest, key, value: f'{{{rest}{key}: {value}, "x": "y"}}'),
    },
}


def edited(
    lines: list[dict[str, Any]], edits: dict[str, dict[str, Edit]]
) -> Iterator[tuple[str, dict[str, Any], str]]:
    chance = random.Random(SEED)
    for line in lines:
        for name, edit in edits[line["op"]].items():
            response = edit(response_to(line), chance)
            if response is not None and response != response_to(line):
                yield f"{line['op']}: {name}: {line['subset']}:{line['id']}", line, response


def check_harmless(lines: list[dict[str, Any]], least: int) -> None:
    found = {name: score(line, response) for name, line, response in edited(lines, HARMLESS)}
    assert {name: value for name, value in found.items() if value < 1 - 2e-6} == {}
    assert len(found) >= least


def check_harmful(lines: list[dict[str, Any]], least: int) -> None:
    found = {name: score(line, response) for name, line, response in edited(lines, HARMFUL)}
    assert {name: value for name, value in found.items() if value > 1 - 1e-4} == {}
    assert len(found) >= least


def test_edits_that_cannot_hurt_keep_the_score() -> None:
    check_harmless(lines_of(SAMPLE), 150)


def test_edits_that_harm_lower_the_score() -> None:
    check_harmful(lines_of(SAMPLE), 90)


REAL = ("ccocr_parsing", "ccocr_kie", "ccocr_ocr")
LEAST = {"ccocr_parsing": (650, 150), "ccocr_kie": (800, 700), "ccocr_ocr": (1400, 400)}


def real_lines(name: str) -> list[dict[str, Any]]:
    """Return gold that holds anything, with the names of tracks as the readers give them."""
    lines = lines_of(ORACLE / name / "gold.jsonl")
    return [
        {**line, "track": line["track"].removesuffix("_ocr")}
        for line in lines
        if line["answer"] and score(line, response_to(line)) > 0
    ]


def holds_reasons(line: dict[str, Any]) -> bool:
    """Whether the answer is a model's, with its reasons, of which an edit may change only these."""
    return line["op"] in {"formula", "molecular"} and "\n\n" in line["answer"]


@needs_oracle
@pytest.mark.slow
@pytest.mark.parametrize("name", REAL)
def test_the_gold_of_real_images_is_a_perfect_response(name: str) -> None:
    lines = real_lines(name)
    found = {line["id"]: score(line, response_to(line)) for line in lines}
    assert {name: value for name, value in found.items() if value < 1 - 2e-6} == {}
    assert len(lines) > 100


@needs_oracle
@pytest.mark.slow
@pytest.mark.parametrize("name", REAL)
def test_edits_of_real_images(name: str) -> None:
    harmless, harmful = LEAST[name]
    check_harmless(real_lines(name), harmless)
    check_harmful([line for line in real_lines(name) if not holds_reasons(line)], harmful)


@needs_oracle
@pytest.mark.slow
@pytest.mark.parametrize("name", REAL)
def test_the_form_of_real_responses_does_not_matter(name: str) -> None:
    """Responses with errors of their own."""
    said = {
        (one["subset"], one["id"]): one["response"]
        for one in lines_of(ORACLE / name / "predictions.jsonl")
    }
    chance = random.Random(SEED)
    compared = 0
    for line in real_lines(name):
        response = said[line["subset"], line["id"]]
        expected = score(line, response)
        for edit in EVERYWHERE.values():
            if (line["op"] in {"formula", "kie"}) and edit is EVERYWHERE["full width"]:
                continue
            assert score(line, edit(response, chance) or "") == pytest.approx(expected), line["id"]
            compared += 1
    assert compared > 300
