"""Documents, formulas, molecules: by hand, removal of surrounding text, and hostile texts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.metrics import reading as fences
from scoring.metrics.limits import TooLargeError
from scoring.metrics.reading import (
    document_score,
    fenced,
    formula_score,
    molecule_score,
    similarity,
    without_preamble,
)
from tests.counting import ScannedText
from tests.many import short_id

SCORES = (document_score, formula_score, molecule_score)
LATEX = st.lists(
    st.sampled_from(
        [
            "\\documentclass{",
            "\\usepackage[",
            "]{",
            "}",
            "\\usepackage{",
            "\\noindent",
            "\n",
            " ",
            "```latex",
            "```",
            "`",
            "latex",
            "x^2",
            "净",
            "<smiles>",
            "\\begin{document}",
        ]
    ),
    max_size=20,
).map("".join)


def test_similarity_by_hand() -> None:
    assert similarity("kitten", "sitting") == 1 - 3 / 7
    assert similarity("", "") == 1.0
    assert similarity("a", "") == 0.0


def test_documents_lose_preamble_fence_and_white_space() -> None:
    response = (
        "Sure!\n```latex\n\\documentclass[11pt]{article}\n\\usepackage[utf8]{inputenc}\n"
        "\\usepackage{ctex}\n\\geometry{margin=1in}\n\\begin{document}\n\\noindent Net  loss\n"
        "\\end{document}\n```\nI hope this helps."
    )
    # A document class with options is kept, as in the published evaluator.
    assert document_score("\\documentclass[11pt]{article} Net\nloss", response) == 1.0


def test_gold_documents_keep_all_but_white_space() -> None:
    assert document_score("\\noindent a", "\\noindent a") == 1 - 9 / 10


def test_formulas_lose_fences_and_white_space() -> None:
    assert formula_score("a + b", "```latex\na\t+ b\n```") == 1.0
    # Only spaces are removed from the gold.
    assert formula_score("a\nb", "a\nb") == 1 - 1 / 3


def test_molecules_lose_tags_and_white_space() -> None:
    assert molecule_score("C C O", "<smiles>CC\nO</smiles>") == 1.0
    assert molecule_score("CCO", "CCN") == 1 - 1 / 3


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("a ```latex b``` c", " b"),
        ("```latex b", " b"),
        ("```latex one``` ```latex two```", " one"),
        ("```html x``` y", "```html x``` y"),
        # There is always a character inside, as in the published evaluator.
        ("```latex```", "```"),
        ("```latex``````", "`"),
        ("none", "none"),
    ],
)
def test_fences(text: str, content: str) -> None:
    assert fenced(text, "latex") == content


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("\\usepackage[a]{b}c", "c"),
        ("\\usepackage[a]b]{c}d", "d"),
        ("\\usepackage[a]{b", "\\usepackage[a]{b"),
        ("\\usepackage[a\n]{b}", "\\usepackage[a\n]{b}"),
        ("\\documentclass{a}{b}\\documentclass{c}", "{b}"),
        ("\\documentclass[a]{b}", "\\documentclass[a]{b}"),
        ("\\geometry{a}\\begin{document}x\\end{document}", "x"),
    ],
)
def test_preamble(text: str, left: str) -> None:
    assert without_preamble(text) == left


@given(LATEX | st.text(), LATEX | st.text())
def test_any_text_gives_a_score_in_range(gold: str, response: str) -> None:
    assert all(0.0 <= score(gold, response) <= 1.0 for score in SCORES)


@given(st.text(alphabet="abc=^", min_size=1))
def test_a_perfect_response_scores_one(gold: str) -> None:
    assert all(score(gold, gold) == 1.0 for score in SCORES)


@pytest.mark.parametrize(
    "text",
    [
        "\\usepackage[" * 50_000,
        "\\usepackage[]{" * 50_000,
        "```latex" * 100_000,
        "\\geometry{" * 50_000,
    ],
    ids=short_id,
)
def test_hostile_texts_are_gone_over_a_few_times_only(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines: list[ScannedText] = []
    without = fences._without

    def scanned(line: str, opening: str, marks: tuple[str, ...]) -> str:
        lines.append(ScannedText(line))
        return without(lines[-1], opening, marks)

    monkeypatch.setattr(fences, "_without", scanned)
    left = ScannedText(without_preamble(text))
    fenced(left, "latex")
    assert left.scanned + sum(line.scanned for line in lines) <= 10 * len(text)


def test_texts_that_are_too_long_are_refused() -> None:
    with pytest.raises(TooLargeError, match="300,000 and 300,000"):
        document_score("a" * 300_000, "b" * 300_000)
