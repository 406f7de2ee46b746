"""Pages, tables, records and whole benchmarks that look like the real ones, from fixed seeds."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scoring.metrics.receipts import FIELDS

WORDS = """net sales income loss assets total balance sheet current liabilities equity interest
expense provision taxes operating subsidiaries consolidated statements quarter ended december
company management estimates accordance shareholders dividends dilution amortization goodwill
impairment revenue recognition contracts customers segment foreign currency translation""".split()
TABLES = 300
CCOCR_OUTPUTS = 7058


def seeded(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311 - makes data, not secrets


def sentence(chance: random.Random, words: int) -> str:
    parts = (
        f"{chance.randrange(1, 999)},{chance.randrange(1000):03d}"
        if chance.random() < 0.15
        else chance.choice(WORDS)
        for _ in range(words)
    )
    return " ".join(parts)


def damaged(text: str, chance: random.Random, share: float = 0.02) -> str:
    """The text with some characters lost, doubled or mistaken."""
    out = []
    for character in text:
        out.append(character)
        if chance.random() < share:
            out[-1] = chance.choice(("", character * 2, "8"))
    return "".join(out)


def text_pairs(number: int) -> list[tuple[str, str]]:
    """Gold and prediction of pages of 2 to 10 kB."""
    chance = seeded(1)
    golds = [sentence(chance, chance.randrange(300, 1500)) for _ in range(number)]
    return [(gold, damaged(gold, chance)) for gold in golds]


def table_rows(cells: int, chance: random.Random) -> list[list[str]]:
    width = 5
    return [
        [sentence(chance, 2), *(sentence(chance, 1) for _ in range(width - 1))]
        for _ in range(cells // width)
    ]


def table_html(rows: list[list[str]]) -> str:
    lines = ("".join(f"<td>{cell}</td>" for cell in row) for row in rows)
    return f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"


def damaged_rows(rows: list[list[str]], chance: random.Random) -> list[list[str]]:
    kept = [row for row in rows if chance.random() < 0.95]
    return [[damaged(cell, chance, 0.05) for cell in row] for row in kept]


def table_pairs(number: int, cells: int) -> list[tuple[str, str]]:
    chance = seeded(2)
    tables = [table_rows(cells, chance) for _ in range(number)]
    return [(table_html(rows), table_html(damaged_rows(rows, chance))) for rows in tables]


def record(chance: random.Random, lines: int) -> dict[str, Any]:
    items = [
        {"name": sentence(chance, 3), "price": sentence(chance, 1), "count": str(i)}
        for i in range(lines)
    ]
    return {"store": sentence(chance, 3), "menu": items, "total": sentence(chance, 1)}


def damaged_record(value: Any, chance: random.Random) -> Any:
    if isinstance(value, dict):
        return {key: damaged_record(part, chance) for key, part in value.items()}
    if isinstance(value, list):
        return [damaged_record(part, chance) for part in value]
    return damaged(str(value), chance, 0.05)


Lines = Iterator[tuple[dict[str, Any], dict[str, Any]]]


def fincriticaled_lines(number: int) -> Lines:
    chance = seeded(3)
    for i in range(number):
        parts = []
        for _ in range(12):
            fact = f"{chance.randrange(1, 999)},{chance.randrange(1000):03d}"
            text = sentence(chance, 40)
            parts.append((f"<p>{text} <Number>{fact}</Number></p>", f"<p>{text} {fact}</p>"))
        gold, plain = ("".join(side) for side in zip(*parts, strict=True))
        yield {"id": f"p{i}", "html": gold}, {"id": f"p{i}", "html": damaged(plain, chance, 0.005)}


def fcmbench_lines(number: int) -> Lines:
    chance = seeded(4)
    tasks = ("IQE", "DTR", "KIE", "CC", "VC", "NC", "RR")
    for i in range(number):
        answer = {f"field {n}": sentence(chance, 2) for n in range(6)}
        names = {"task": tasks[i % 7], "subtask": f"s_{i % 7}", "robustness": "Normal Captures"}
        yield (
            {"id": f"a{i}", **names, "response": json.dumps(answer)},
            {"id": f"a{i}", "response": json.dumps(damaged_record(answer, chance))},
        )


def ccocr_lines(number: int) -> Lines:
    """Tables are the first, at most 300 of 500 cells; then texts, documents and records in turn."""
    chance = seeded(5)
    for i in range(number):
        if i < TABLES * number // CCOCR_OUTPUTS:
            rows = table_rows(500, chance)
            names = {"subset": "table_en", "track": "doc_parsing", "op": "table"}
            gold: Any = table_html(rows)
            response = table_html(damaged_rows(rows, chance))
        elif i % 4 == 0:
            names = {"subset": "SROIE", "track": "kie", "op": "kie"}
            gold = record(chance, 8)
            response = json.dumps(damaged_record(gold, chance))
        else:
            is_page = i % 4 == 1
            op, track = ("doc", "doc_parsing") if is_page else ("ocr", "multi_scene")
            names = {"subset": f"{op}_en", "track": track, "op": op}
            gold = sentence(chance, 300 if is_page else 60)
            response = damaged(gold, chance)
        yield (
            {"id": f"i{i}", **names, "answer": gold},
            {"id": f"i{i}", "subset": names["subset"], "response": response},
        )


def receiptbench_lines(number: int) -> Lines:
    chance = seeded(6)
    for i in range(number):
        fields: dict[str, Any] = {}
        for rule in FIELDS:
            fields[rule.name] = sentence(chance, 3 if rule.kind == "semantic" else 1)
        fields["orig_curr"] = ["USD"]
        fields["orig_total"] = fields["std_total"] = f"{chance.randrange(1, 9999)}.50"
        fields["detail"] = [
            {"content": sentence(chance, 3), "amount": f"{chance.randrange(1, 99)}.00"}
            for _ in range(10)
        ]
        other = damaged_record(fields, chance)
        yield {"id": f"r{i}", "fields": fields}, {"id": f"r{i}", "fields": other}


def write_lines(lines: Lines, gold: Path, submission: Path) -> None:
    with gold.open("w", encoding="utf-8") as golds, submission.open("w", encoding="utf-8") as made:
        for line, prediction in lines:
            golds.write(json.dumps(line) + "\n")
            made.write(json.dumps(prediction) + "\n")
