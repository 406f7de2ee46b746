"""Pictures for CC-OCR: its four tracks, each with a few subsets of few pictures."""

import json
import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from sample.generator.content import content
from sample.generator.figures import Draw
from sample.generator.markup import plain, table, td, tr

from .base import DEV, Line, Picture, Question, Reading, SampleSet, document, json_lines
from .simulated import misread, misread_text

WIDTH = 460
# How the lines of a picture are painted.
LOOKS = {
    "sign": "background-color:#20303c;color:#f4f0e4;font-size:20pt;font-weight:bold;"
    "text-align:center;",
    "shade": "background-color:#b8b09c;color:#3c342c;font-size:15pt;text-align:center;",
    "letter": "font-size:13pt;",
    "right": "font-size:15pt;direction:rtl;",
}
PROMPTS = {
    "ocr": "Read all text in the picture, line by line.",
    "doc": "Write the document as LaTeX.",
    "table": "Write the table as HTML.",
    "formula": "Write the formula as LaTeX.",
    "kie": "Give every label with its value as JSON; groups of labels become objects.",
}
# An answer of a reader in an endless loop, which the benchmark counts as a repetition.
LOOPING, LOOPS = "reminder", 60

Entry = Mapping[str, Any]


def reading_set() -> SampleSet:
    questions = [*_readings(), *_documents(), *_tables(), *_formulas(), *_records()]
    return SampleSet(
        benchmark="ccocr",
        pictures=tuple(question.pictures[0] for question in questions),
        questions=questions,
        source=_source(questions),
        read=_read,
        how="Words in columns become an HTML table and labelled lines JSON; all other answers are "
        "plain text.",
        simulate=_simulated,
    )


def _readings() -> Iterator[Question]:
    for entry in content("reading")["reading"]:
        body = "".join(f'<p style="margin:0 0 8px">{plain(line)}</p>\n' for line in entry["lines"])
        page = document(body, width=WIDTH, style=LOOKS[entry["look"]])
        yield _question(entry, entry["track"], "ocr", "\n".join(entry["lines"]), page)


def _documents() -> Iterator[Question]:
    for entry in content("reading")["document"]:
        latex = "\n\n".join([f"\\section*{{{entry['heading']}}}", *entry["paragraphs"]])
        paragraphs = "".join(f"<p>{plain(text)}</p>\n" for text in entry["paragraphs"])
        body = f"<h2>{plain(entry['heading'])}</h2>\n{paragraphs}"
        yield _question(entry, "doc_parsing", "doc", latex, document(body, width=WIDTH))


def _tables() -> Iterator[Question]:
    for entry in content("reading")["table"]:
        style = "border:1px solid #404040;padding:4px 14px"
        painted = table(
            [tr(_cells(row, style)) for row in entry["rows"]], "border-collapse:collapse"
        )
        gold = "".join(f"<tr>{''.join(_cells(row))}</tr>" for row in entry["rows"])
        gold = f"<table>{gold}</table>".replace("\n", "")
        yield _question(entry, "doc_parsing", "table", gold, document(painted, width=WIDTH))


def _cells(row: list[Any], style: str = "") -> list[str]:
    pairs = [cell if isinstance(cell, list) else [cell, 1] for cell in row]
    return [td(plain(text), style, span) for text, span in pairs]


def _formulas() -> Iterator[Question]:
    for entry in content("reading")["formula"]:
        body = f'<p style="font-size:22pt"><math display="block">{entry["mathml"]}</math></p>\n'
        named = {**entry, "subset": "sample_formulas"}
        yield _question(
            named, "doc_parsing", "formula", entry["latex"], document(body, width=WIDTH)
        )


def _records() -> Iterator[Question]:
    for entry in content("reading")["record"]:
        gold = {label: _value(value) for label, value in entry["rows"]}
        body = "".join(_labelled(label, value) for label, value in entry["rows"])
        page = document(body, width=WIDTH, style="font-size:12pt;")
        yield _question(entry, "kie", "kie", gold, page)


def _value(value: Any) -> Any:
    return dict(value) if isinstance(value, list) else value


def _labelled(label: str, value: Any) -> str:
    if isinstance(value, list):
        inner = "".join(_labelled(*row) for row in value)
        return f'<p style="margin:10px 0 2px;font-weight:bold">{plain(label)}</p>\n{inner}'
    return f'<p style="margin:0 0 4px">{plain(label)}: {plain(value)}</p>\n'


def _question(entry: Entry, track: str, op: str, answer: Any, page: str) -> Question:
    subset = entry["subset"]
    capture = entry.get("capture", "")
    suffix = "jpg" if capture else "png"
    picture = Picture(f"source/{subset}/images/{entry['id']}.{suffix}", page, WIDTH, capture)
    gold = {"id": entry["id"], "subset": subset, "track": track, "op": op, "answer": answer}
    return Question(gold, DEV, (picture,))


def _source(questions: list[Question]) -> dict[str, str]:
    """The published layout: an index, and labels and questions in each subset's folder."""
    index, files = [], {}
    for subset, group in groupby(questions, key=lambda question: question.gold["subset"]):
        found = list(group)
        gold = found[0].gold
        index.append(
            {"dataset": subset, "base_dir": subset, "group": gold["track"], "op": gold["op"]}
        )
        labels = {_image(each): each.gold["answer"] for each in found}
        files[f"{subset}/label.json"] = _json(labels)
        files[f"{subset}/qa.jsonl"] = json_lines(
            [{"url": _image(each), "prompt": PROMPTS[gold["op"]]} for each in found]
        )
    return {"index.json": _json(index), **files}


def _image(question: Question) -> str:
    return question.pictures[0].path.rpartition("/")[2]


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def _answer(question: Question, response: str) -> Line:
    return {
        "id": question.gold["id"],
        "subset": question.gold["subset"],
        "response": response,
    }


def _read(question: Question, reading: Reading) -> Line:
    op = question.gold["op"]
    if op == "table":
        return _answer(question, reading.html)
    if op == "kie":
        pairs = [line.partition(":") for line in reading.text.splitlines()]
        record = {label.strip(): value.strip() for label, colon, value in pairs if colon}
        return _answer(question, json.dumps(record, ensure_ascii=False))
    return _answer(question, reading.text)


def _simulated(question: Question, errors: int, seed: str) -> Line:
    gold = question.gold
    draw = Draw(f"{seed}/{gold['subset']}/{gold['id']}")
    if gold["op"] == "kie":
        return _answer(
            question, json.dumps(misread(gold["answer"], draw, errors), ensure_ascii=False)
        )
    if gold["id"] == LOOPING and errors > LOOPS:
        return _answer(question, gold["answer"] + " open" * LOOPS)
    if gold["op"] == "table":
        parts = re.split("(<[^>]*>)", gold["answer"])
        cells = [part if "<" in part else misread_text(part, draw, errors) for part in parts]
        return _answer(question, "".join(cells))
    lines = [misread_text(line, draw, errors) for line in gold["answer"].split("\n")]
    return _answer(question, "\n".join(lines))
