"""Reading: overlaps, repetition, grounding and documents, by hand, with invariants."""

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from scoring.metrics import Strict, TooLargeError
from scoring.metrics import reading as fences
from scoring.metrics.reading import (
    Matches,
    Overlap,
    UnitRule,
    Word,
    document_score,
    fenced,
    formula_score,
    grounding_f1,
    is_repetitive,
    macro_f1,
    match_words,
    micro_f1,
    molecule_score,
    overlap_f1,
    reading_units,
    similarity,
    unit_overlap,
    without_preamble,
    word_of,
)
from scoring.metrics.structured import FieldCounts
from tests.counting import ScannedText
from tests.many import drawn, short_id

WORDS, PLAIN_WORDS = UnitRule(), UnitRule(alphanumeric=True)
CHARACTERS = UnitRule(characters=True)
RULES = (WORDS, PLAIN_WORDS, CHARACTERS)


def f1(gold: str, prediction: str, rule: UnitRule = WORDS) -> float:
    return overlap_f1(unit_overlap(reading_units(gold, rule), reading_units(prediction, rule)))


@pytest.mark.parametrize(
    ("text", "rule", "units"),
    [
        ("Net\tLoss\n(1,200)", WORDS, ["net", "loss", "(1,200)"]),
        ("Net Loss (1,200) — é", PLAIN_WORDS, ["net", "loss", "1200"]),
        ("### Title ***bold***", WORDS, ["title", "bold"]),
        ("a###b", WORDS, ["ab"]),
        ("净 利\n润　A", CHARACTERS, ["净", "利", "润", "a"]),
        ("İ", CHARACTERS, ["i̇"]),
        ("  ", WORDS, []),
        ("", CHARACTERS, []),
    ],
)
def test_units(text: str, rule: UnitRule, units: list[str]) -> None:
    assert reading_units(text, rule) == units


def test_overlap_counts_as_multisets() -> None:
    assert unit_overlap(["a", "a", "b"], ["a", "c", "a", "a"]) == Overlap(3, 4, 2)
    assert unit_overlap([], ["a"]) == Overlap(0, 1, 0)


def test_f1_by_hand() -> None:
    """Two of three words are correct, of four read words: 2·2 / (3 + 4)."""
    assert f1("net loss 2024", "net loss for 2023") == pytest.approx(4 / 7, abs=1e-8)
    assert f1("", "anything") == 0.0
    assert f1("", "") == 0.0
    assert f1("a", "") == 0.0


def test_macro_is_the_mean_and_micro_counts_all_units() -> None:
    overlaps = [Overlap(1, 1, 1), Overlap(9, 9, 0)]
    assert macro_f1([overlap_f1(overlap) for overlap in overlaps]) == pytest.approx(0.5, abs=1e-8)
    assert micro_f1(overlaps) == pytest.approx(0.1, abs=1e-8)
    assert macro_f1([]) == micro_f1([]) == 0.0


@given(st.text(), st.text(), st.sampled_from(RULES))
def test_any_text_gives_a_score_in_range(gold: str, prediction: str, rule: UnitRule) -> None:
    assert 0.0 <= f1(gold, prediction, rule) <= 1.0


@given(st.lists(st.text("abc1净", min_size=1), min_size=1), st.sampled_from(RULES), st.randoms())
def test_the_order_of_what_is_read_does_not_matter(
    words: list[str], rule: UnitRule, shuffle: random.Random
) -> None:
    gold = " ".join(["a", *words])
    shuffle.shuffle(words)
    assert f1(gold, " ".join([*words, "a"]), rule) == pytest.approx(1.0, abs=1e-6)


@given(st.lists(st.sampled_from("abc")), st.lists(st.sampled_from("abc")), st.sampled_from("abcd"))
def test_garbage_never_raises_recall_beyond_the_gold(
    gold: list[str], prediction: list[str], more: str
) -> None:
    before, after = unit_overlap(gold, prediction), unit_overlap(gold, [*prediction, more])
    assert before.right <= after.right <= min(len(gold), before.right + (more in gold))


LINES = "Total 5.00\n"
# A statement of accounts: no two rows are the same.
ROWS = [f"<tr><td>Item {n}</td><td>{n * 37}.00</td><td>0.00</td></tr>" for n in range(400)]


@pytest.mark.parametrize(
    "text",
    [
        "a a a a a a",
        "x a\na \n a a a a y",
        "a\ta\ta\ta\ta\ta",
        "so no no no no no no end",
        # Any unit counts: characters, several characters, words, phrases, lines, rows.
        "aaaaaa",
        "ababababababab",
        "收据" * 300,
        "a b " * 6,
        "the net loss " * 40,
        LINES * 50,
        "Total 5.00\r\n\r\n" * 50,
        "<tr><td>1</td> </tr>\n" * 200,
        # Only some of the output repeats itself, and the last copy is cut off.
        "Balance sheet. " * 2 + "the net loss " * 9 + "the n",
        # Line breaks in other places, as after a limit of the line's length.
        "one two " * 3 + "one\ntwo " + "one two\n" * 4,
        "\n".join(ROWS[:50]) + "<tr><td>Other</td></tr>\n" * 100,
    ],
    ids=short_id,
)
def test_a_unit_that_is_repeated_is_repetitive(text: str) -> None:
    assert is_repetitive(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n " * 50,
        "a a a a a",
        "aaaaa",
        "收据" * 5,
        "a b " * 5,
        LINES * 5,
        "Net loss" + " " * 50 + "7",
        "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12",
        "\n".join(f"Note {n}: see page" for n in range(100)),
        "\n".join(ROWS),
        "\n".join(ROWS[:100]) + "<tr><td>Other</td></tr>\n" * 5,
        "\n".join(ROWS[:100]) + "<tr><td>Other</td></tr>\n" * 30,
        # Two runs are not one: each is less than a quarter.
        "\n".join(ROWS[:5]) + "ab " * 20 + "\n".join(ROWS[5:8]) + "cd " * 20,
    ],
    ids=short_id,
)
def test_a_text_without_a_long_run_is_not_repetitive(text: str) -> None:
    assert not is_repetitive(text)


OTHER = "".join(map(chr, range(0x4E00, 0x4E00 + 500)))


@pytest.mark.parametrize("unit", ["no ", "no", "ab cd\n", "x"])
@pytest.mark.parametrize("before", [0, 7])
def test_a_run_must_make_up_more_than_a_quarter(unit: str, before: int) -> None:
    run = (unit * 8).strip()
    least = 3 * len(run)
    for around, expected in ((least, False), (least - 1, True)):
        # The space that ends the run, if its unit has one, is part of the text around it.
        text = OTHER[:before] + unit * 8 + OTHER[before : around - (unit != unit.strip())]
        assert is_repetitive(text) is expected


def slow_is_repetitive(text: str) -> bool:
    """Try every unit at every place."""
    spaced = " ".join(text.split()) + " "
    for start in range(len(spaced)):
        for end in range(start + 1, len(spaced)):
            unit, times = spaced[start:end], 1
            while spaced.startswith(unit * (times + 1), start):
                times += 1
            if times > 5 and 4 * (times * len(unit) - (" " in unit)) > len(spaced) - 1:
                return True
    return False


LOOPS = st.builds(
    lambda before, unit, times, after: before + unit * times + after,
    st.text("ab ", max_size=30),
    st.text("ab c\n", min_size=1, max_size=12),
    st.integers(4, 9),
    st.text("ab 1", max_size=60),
)


@drawn(LOOPS | st.text("ab ", max_size=60), examples=300)
def test_runs_are_found_as_by_trying_every_unit(text: str) -> None:
    assert is_repetitive(text) == slow_is_repetitive(text)


@given(st.text())
def test_any_text_is_repetitive_six_times(text: str) -> None:
    assert is_repetitive(text * 6) or not text.strip()


@pytest.mark.parametrize(
    "text",
    [
        "a" * 200_000,
        "ab" * 100_000,
        "a" * 100_000 + "b" + "a" * 100_000,
        LINES * 20_000,
        "\n".join(ROWS * 20),
        "".join("ab"[bin(n).count("1") % 2] for n in range(200_000)),
    ],
    ids=short_id,
)
def test_looking_for_runs_reads_a_text_a_few_times_only(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = 0
    find_periods, find_stretch = fences._periods, fences._longest_stretch

    def periods(spaced: str) -> set[int]:
        nonlocal read
        scanned = ScannedText(spaced)
        found = find_periods(scanned)
        read += scanned.scanned
        return found

    def stretch(flags: NDArray[np.bool_]) -> tuple[int, int]:
        nonlocal read
        read += len(flags)
        return find_stretch(flags)

    monkeypatch.setattr(fences, "_periods", periods)
    monkeypatch.setattr(fences, "_longest_stretch", stretch)
    is_repetitive(text)
    assert 0 < read <= 25 * len(text)


RULE = UnitRule()
WORD_LISTS = st.lists(
    st.builds(
        Word,
        st.sampled_from(["net", "loss", "-", "&"]),
        st.tuples(st.integers(0, 3).map(float), st.integers(0, 3).map(float)),
        st.none() | st.sampled_from([0.1, 0.5, 0.9]),
    ),
    max_size=8,
)
ENTRIES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(st.sampled_from(["text", "point", "box", "confidence"]), inner)
    ),
)


def test_each_word_goes_to_the_nearest_and_must_read_the_same() -> None:
    gold = [Word("Net", (0, 0)), Word("loss", (10, 0))]
    prediction = [Word("net", (1, 1)), Word("less", (9, 0)), Word("loss", (100, 100))]
    # The distant `loss` is nearest to the gold one as well, but `less` is nearer.
    assert match_words(gold, prediction, RULE) == Matches(tp=1, fp=2, fn=1, extra=1)


def test_the_most_confident_of_several_is_kept() -> None:
    gold = [Word("loss", (0, 0))]
    near, far = Word("less", (1, 0), 0.4), Word("loss", (5, 0), 0.6)
    assert match_words(gold, [near, far], RULE) == Matches(1, 1, 0, 1)
    assert match_words(gold, [near, Word("loss", (5, 0), 0.2)], RULE) == Matches(0, 2, 1, 1)
    # A word with a confidence takes precedence over one without.
    assert match_words(gold, [Word("less", (1, 0)), far], RULE) == Matches(1, 1, 0, 1)


def test_the_same_word_is_taken_of_equally_near_gold_words() -> None:
    gold = [Word("net", (0, 0)), Word("loss", (0, 0)), Word("loss", (0, 0))]
    assert match_words(gold, gold, RULE) == Matches(3, 0, 0, 0)


def test_words_without_units_must_be_written_the_same() -> None:
    rule = UnitRule(alphanumeric=True)
    assert match_words([Word("—", (0, 0))], [Word("—", (0, 0))], rule).tp == 1
    assert match_words([Word("—", (0, 0))], [Word("&", (0, 0))], rule).tp == 0


def test_nothing_to_match() -> None:
    word = Word("a", (0, 0))
    assert match_words([], [word], RULE) == Matches(0, 1, 0, 1)
    assert match_words([word], [], RULE) == Matches(0, 0, 1, 0)
    assert match_words([], [], RULE) == Matches(0, 0, 0, 0)


def test_grounding_f1_by_hand() -> None:
    assert grounding_f1(FieldCounts(tp=2, fp=1, fn=3).published) == 0.5
    assert grounding_f1(Strict(0, 4)) == 0.0
    assert grounding_f1(Strict(0, 0)) == 1.0


@pytest.mark.parametrize(
    ("entry", "centre"),
    [
        ({"text": "a", "point": [1, 2.5]}, (1.0, 2.5)),
        ({"text": "a", "box": [0, 0, 10, 4]}, (5.0, 2.0)),
        ({"text": "a", "box": [10, 4, 0, 0], "confidence": "high"}, (5.0, 2.0)),
    ],
)
def test_words_are_read(entry: Any, centre: tuple[float, float]) -> None:
    assert word_of(entry) == Word("a", centre)


@pytest.mark.parametrize(
    "entry",
    [
        None,
        {},
        {"text": "a"},
        {"point": [1, 2]},
        {"text": 1, "point": [1, 2]},
        {"text": "a", "point": [1]},
        {"text": "a", "point": [1, float("nan")]},
        {"text": "a", "point": [10**400, 1]},
        {"text": "a", "point": [True, 1]},
        {"text": "a", "box": "0 0 1 1"},
    ],
)
def test_invalid_words_are_none(entry: Any) -> None:
    assert word_of(entry) is None


@drawn(ENTRIES)
def test_any_entry_is_a_word_or_none(entry: Any) -> None:
    word = word_of(entry)
    assert word is None or isinstance(word, Word)


@given(WORD_LISTS, st.randoms())
def test_a_perfect_response_in_any_order_is_all_right(
    gold: list[Word], shuffle: random.Random
) -> None:
    prediction = list(gold)
    shuffle.shuffle(prediction)
    assert match_words(gold, prediction, RULE) == Matches(len(gold), 0, 0, 0)


@drawn(WORD_LISTS, WORD_LISTS, st.randoms())
def test_order_changes_nothing(
    gold: list[Word], prediction: list[Word], shuffle: random.Random
) -> None:
    before = match_words(gold, prediction, RULE)
    shuffle.shuffle(gold)
    shuffle.shuffle(prediction)
    assert match_words(gold, prediction, RULE) == before


@given(WORD_LISTS, WORD_LISTS)
def test_counts_add_up(gold: list[Word], prediction: list[Word]) -> None:
    matches = match_words(gold, prediction, RULE)
    assert matches.tp + matches.fp == len(prediction)
    assert matches.tp + matches.fn == len(gold)


def test_too_many_words_are_refused() -> None:
    word = Word("net", (1.0, 2.0))
    assert match_words([word] * 40, [word] * 1_000, RULE) == Matches(40, 960, 0, 960)
    with pytest.raises(TooLargeError, match="40 and 100,001 words are not compared"):
        match_words([word] * 40, [word] * 100_001, RULE)


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
def test_any_document_gives_a_score_in_range(gold: str, response: str) -> None:
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
