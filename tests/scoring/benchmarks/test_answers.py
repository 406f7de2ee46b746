"""The option `answer`: what is graded of an output, for every benchmark."""

import random
import re
from pathlib import Path
from typing import Any

import pytest

from scoring.benchmarks import BENCHMARKS, OptionError, get_benchmark
from scoring.benchmarks.answers import CHANGES, NOTHING_LEFT, changes_of
from scoring.benchmarks.base import GoldLine
from scoring.metrics.hidden import HIDDEN
from tests.shared import REALDATA, needs_realdata

SAMPLE = Path(__file__).parents[3] / "sample" / "data" / "gold"
FIN = get_benchmark("fincriticaled")
SHOWN, WHOLE = FIN.check_options({}), FIN.check_options({"answer": "whole"})
_TAGS = re.compile(r"</?(?:Number|Date)\b[^<>]*>", re.IGNORECASE)
_NUMBER = re.compile(r"\d[\d,.]*")
FEW = 12


def pages(folder: Path) -> list[tuple[str, str]]:
    return [(path.stem, path.read_text(encoding="utf-8")) for path in sorted(folder.iterdir())]


def some(folder: Path) -> list[tuple[str, str]]:
    return random.Random(30).sample(pages(folder), FEW)


def graded(name: str, gold: str, html: str, options: dict[str, str] = SHOWN) -> dict[str, Any]:
    return FIN.score_item({"id": name, "html": gold}, {"id": name, "html": html}, options)


def check_perfect(name: str, gold: str) -> None:
    frozen = FIN.as_frozen(GoldLine(name, {"id": name, "html": gold}, "", 1), SHOWN)
    assert isinstance(frozen, GoldLine)
    html = str(frozen.payload["html"])
    result = graded(name, html, _TAGS.sub("", html))
    assert result["text"] == {"r1": 1, "rl": 1, "edit_distance": 0}
    assert all(fact["correct"] for fact in result["facts"])
    assert result["hallucinated"]["count"] == 0
    # The page as its file has it: titles and hidden text are left out on both sides.
    assert graded(name, html, _TAGS.sub("", gold))["text"]["r1"] == 1


@pytest.mark.parametrize(("name", "gold"), pages(SAMPLE), ids=lambda value: str(value)[:20])
def test_gold_page_of_the_sample_is_a_perfect_prediction(name: str, gold: str) -> None:
    check_perfect(name, gold)


@needs_realdata
@pytest.mark.slow
def test_every_real_gold_page_is_a_perfect_prediction() -> None:
    for name, gold in pages(REALDATA / "gold"):
        check_perfect(name, gold)


def _misread(html: str) -> str:
    """Change a digit of every number of the text."""
    return re.sub(
        r"(?<=>)[^<]+", lambda text: _NUMBER.sub(_other_digit, text[0]), f">{html}"
    ).removeprefix(">")


def _other_digit(found: "re.Match[str]") -> str:
    return str((int(found[0][0]) + 4) % 9 + 1) + found[0][1:]


WRAPPINGS = [
    "<think>{right}</think>{wrong}",
    "{wrong}<think>{right}",
    "{right}</think>{wrong}",
    "&lt;think&gt;{right}&lt;/think&gt;{wrong}",
    "[THINK]{right}[/THINK]{wrong}",
    "<div style='display:none'>{right}</div>{wrong}",
    "{wrong}<div hidden>{right}</div>",
    "{wrong}<div style='position:absolute;left:-9999px'>{right}</div>",
    "<!-- {right} -->{wrong}",
    "<title>{right}</title>{wrong}",
]


@pytest.mark.parametrize("wrapping", WRAPPINGS)
def test_right_page_that_nobody_sees_is_worth_nothing(wrapping: str) -> None:
    for name, gold in some(SAMPLE)[:4]:
        right = _TAGS.sub("", gold)
        wrong = _misread(right)
        output = wrapping.format(
            right=right.replace("<title", "<h1").replace("</title", "</h1"), wrong=wrong
        )
        result, alone = graded(name, gold, output), graded(name, gold, wrong)
        assert result["facts"] == alone["facts"]
        assert result["text"] == alone["text"]
        assert result[CHANGES]


def test_whole_output_is_graded_as_before() -> None:
    gold = "<p>Net sales <Number>1,200</Number></p>"
    output = "<p style='display:none'>Net sales 1,200</p>"
    assert graded("a", gold, output, WHOLE)["facts"][0]["correct"]
    result = graded("a", gold, output)
    assert not result["facts"][0]["correct"]
    assert result[CHANGES] == [HIDDEN, NOTHING_LEFT]


CASES: dict[str, tuple[dict[str, Any], str]] = {
    "fincriticaled": (
        {"html": "<p>Net sales <Number>1,200</Number></p>"},
        "<p>Net sales 1,200</p>",
    ),
    "findoc": ({"gold": {"sales": 1200}}, "Net sales 1,200"),
    "fcmbench": (
        {
            "task": "KIE",
            "subtask": "en.a_1",
            "robustness": "N",
            "response": '{"answer": {"A": "1"}}',
        },
        '{"answer": {"A": "1"}}',
    ),
    "receiptbench": ({"fields": {"std_total": 45}}, '{"std_total": 45}'),
    "ccocr": (
        {"subset": "SROIE", "track": "kie", "op": "kie", "answer": {"total": "9.80"}},
        '{"total": "9.80"}',
    ),
}
KEYS = {"fincriticaled": "html", "findoc": "text"}


@pytest.mark.parametrize("key", BENCHMARKS)
def test_every_benchmark_grades_the_answer_and_counts_the_changes(key: str) -> None:
    spec, (gold, answer) = get_benchmark(key), CASES[key]
    options = spec.check_options({})
    assert options["answer"] == "shown"
    assert "answer:shown" in spec.signature(options)

    def score(output: str, chosen: dict[str, str] = options) -> dict[str, Any]:
        prediction = {"id": "a", "subset": "SROIE", KEYS.get(key, "response"): output}
        result = spec.score_item({"id": "a", **gold}, prediction, chosen)
        # The published evaluator grades the whole output, whatever the option.
        return result | {"published": None} if "published" in result else result

    plain, traced = score(answer), score(f"<think>No, </think>\n{answer}")
    assert CHANGES not in plain
    assert traced == plain | {CHANGES: ["reasoning removed"]}
    draft, empty = score(f"<think>{answer}"), score("")
    assert draft == empty | {CHANGES: ["reasoning removed", "nothing left"]}
    assert draft != plain
    scores = spec.aggregate([plain, traced, draft], options)
    assert changes_of(scores.counts) == {"reasoning removed": 2, "nothing left": 1}
    assert scores.scores == spec.aggregate([plain, plain, empty], options).scores
    with pytest.raises(OptionError, match="option answer must be shown or whole"):
        spec.check_options({"answer": "all"})
