"""Agreement of the matching of lists with people, computed by hand."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from scoring.benchmarks.receiptbench.columns import PREFERENCE
from scoring.metrics.receipts.values import (
    WEIGHTS,
    Preference,
    Weights,
    accepted,
    agreement_with_people,
    weight_grid,
)

LEVENSHTEIN, TOKENS = Weights(1, 0, 0, 0), Weights(0, 1, 0, 0)


def items(*texts: str) -> list[dict[str, str]]:
    return [{"content": text, "amount": "1.00"} for text in texts]


# Levenshtein: "tax city" against "city tax" has similarity 0, token sort has 1; "room" against
# "rooms" has 1 - 1/5 = 0.8 and 2 * 4 / 9 = 0.889.
SWAPPED = Preference(items("tax city"), items("city tax"), (True, True, False))
NEAR = Preference(items("room"), items("rooms"), (True, False, False))
LONGER = Preference(items("room"), items("room", "tax"), (False, False, False))
TIED = Preference(items("room"), items("bus"), (True, False))


def test_lists_are_equal_if_every_item_has_a_partner() -> None:
    assert [accepted(pair, LEVENSHTEIN) for pair in (SWAPPED, NEAR, LONGER)] == [False, True, False]
    assert [accepted(pair, TOKENS) for pair in (SWAPPED, NEAR, LONGER)] == [True, True, False]
    assert accepted(Preference([], "", ()), TOKENS)


def test_agreement_is_with_most_people_and_leaves_ties_out() -> None:
    pairs = [SWAPPED, NEAR, LONGER, TIED]
    # Levenshtein is wrong about two of three, token sort about one.
    assert agreement_with_people(pairs, LEVENSHTEIN) == 1 / 3
    assert agreement_with_people(pairs, TOKENS) == 2 / 3
    assert agreement_with_people([TIED], TOKENS) is None


def test_an_embedding_takes_part() -> None:
    def embed(texts: Any) -> list[list[float]]:
        return [[1.0, 0.0] for _ in texts]

    pair = Preference(items("cab"), items("taxi"), (True,))
    assert agreement_with_people([pair], Weights(0, 0, 0, 1), embed) == 1
    assert agreement_with_people([pair], LEVENSHTEIN) == 0
    assert all(abs(sum(weights) - 1) < 1e-9 for weights in weight_grid(10, has_embedding=True))


def test_the_rules_show_the_published_agreement() -> None:
    assert [(row[0], row[-1]) for row in PREFERENCE.rows] == [
        ("A", "92"), ("B", "91"), ("C", "88"), ("D", "90"),
    ]  # fmt: skip
    assert PREFERENCE.rows[0][1:5] == tuple(f"{share:g}" for share in WEIGHTS["A"])


def run(file: Path, *options: str) -> list[str]:
    out = StringIO()
    call_command("weigh_lists", str(file), *options, stdout=out)
    return out.getvalue().splitlines()


def test_the_command_reads_judged_pairs(tmp_path: Path) -> None:
    file = tmp_path / "pairs.jsonl"
    lines = [{**pair._asdict()} for pair in (SWAPPED, NEAR, LONGER)]
    file.write_text("\n".join(map(json.dumps, lines)))
    shown = run(file, "--steps", "1")
    assert [line.split()[0] for line in shown[:4]] == ["A,", "B,", "C", "D,"]
    # Token sort alone agrees on two of three.
    assert shown[4] == f"{'0 1 0 0':<24} 66.67%"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "pairs.jsonl:1: not JSON"),
        ("[]", "pairs.jsonl:1: must have gold, prediction and votes"),
        ('{"gold": [], "prediction": [], "votes": [1]}', "votes: must be a list of true and false"),
    ],
)
def test_bad_lines_are_named(text: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "pairs.jsonl"
    file.write_text(text)
    with pytest.raises(CommandError, match=message):
        run(file)
    with pytest.raises(CommandError, match="cannot be read"):
        run(tmp_path / "none.jsonl")
