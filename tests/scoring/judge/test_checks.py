"""Checks of a judge's rows, on hand-made pages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.judge.checks import (
    IS_VALUE,
    NOT_ALONE,
    NOT_THERE,
    NOT_VALUE,
    NOTHING_NAMED,
    TAKEN,
    Checked,
    Override,
    check_rows,
)
from scoring.judge.questions import FactRow
from scoring.metrics.facts import match_aligned, read_page, read_prediction
from tests.shared import REALDATA, needs_realdata

GOLD = "<p>Net loss of <Number>(1,200)</Number> in <Date>Q2 2023</Date></p>"
RIGHT = "<p>Net loss of (1,200) in Q2 2023</p>"


def row(n: int, *, found: bool, correct: bool, text: str) -> FactRow:
    return FactRow(n=n, found=found, correct=correct, matched_text=text, why="so")


def check(
    prediction: str, *rows: FactRow, gold: str = GOLD, override: Override = "paper"
) -> Checked:
    page = read_page(gold)
    filled = {fact.n: row(fact.n, found=False, correct=False, text="") for fact in page.facts}
    return check_rows(
        page, read_prediction(prediction), filled | {each.n: each for each in rows}, override
    )


def first(checked: Checked) -> tuple[bool, bool, str | None, str | None]:
    verdict = checked.verdicts[0]
    return verdict.found, verdict.correct, verdict.matched_text, verdict.error


def whys(checked: Checked) -> list[tuple[int, str]]:
    return [(overrule.n, overrule.why) for overrule in checked.overruled]


def test_rows_that_hold_stand() -> None:
    checked = check(
        RIGHT,
        row(0, found=True, correct=True, text="(1,200)"),
        row(1, found=True, correct=True, text="Q2 2023"),
    )
    assert first(checked) == (True, True, "(1,200)", None)
    assert (checked.verdicts[0].start, checked.verdicts[0].end) == (12, 19)
    assert checked.verdicts[1].correct
    assert checked.overruled == []


def test_matched_text_that_is_the_value_is_found_and_with_the_reference_rule_correct() -> None:
    said = row(0, found=False, correct=False, text="(1,200)")
    paper = check(RIGHT, said)
    assert first(paper) == (True, False, "(1,200)", "misplaced")
    assert whys(paper) == [(0, IS_VALUE)]
    assert (paper.overruled[0].said_found, paper.overruled[0].found) == (False, True)
    reference = check(RIGHT, said, override="reference")
    assert first(reference) == (True, True, "(1,200)", None)
    assert reference.overruled[0].correct


def test_a_value_in_the_wrong_place_stays_wrong_unless_the_reference_rule_is_asked_for() -> None:
    said = row(0, found=True, correct=False, text="(1,200)")
    assert first(check(RIGHT, said)) == (True, False, "(1,200)", "misplaced")
    assert check(RIGHT, said).overruled == []
    assert check(RIGHT, said, override="reference").verdicts[0].correct


@pytest.mark.parametrize("override", ["paper", "reference"])
def test_a_match_that_does_not_occur_is_none(override: Override) -> None:
    checked = check(
        "<p>Net loss of 1,200</p>",
        row(0, found=True, correct=True, text="(1,200)"),
        override=override,
    )
    assert first(checked) == (False, False, None, "missing")
    assert whys(checked) == [(0, NOT_THERE)]


def test_a_match_in_what_nobody_sees_does_not_occur() -> None:
    hidden = "<p>Net loss</p><!-- (1,200) --><script>(1,200)</script><p title='(1,200)'>x</p>"
    checked = check(hidden, row(0, found=True, correct=True, text="(1,200)"))
    assert whys(checked) == [(0, NOT_THERE)]


def test_a_match_that_is_not_named_is_none() -> None:
    checked = check(RIGHT, row(0, found=True, correct=True, text=""))
    assert first(checked) == (False, False, None, "missing")
    assert whys(checked) == [(0, NOTHING_NAMED)]


@pytest.mark.parametrize(
    ("read", "error"),
    [("1,200", "sign"), ("(1,290)", "digit"), ("(12.00)", "decimal"), ("(1200)", "separator")],
)
def test_a_damaged_form_is_never_correct(read: str, error: str) -> None:
    checked = check(f"<p>Net loss of {read} in Q2</p>", row(0, found=True, correct=True, text=read))
    assert first(checked) == (True, False, read, error)
    assert whys(checked) == [(0, NOT_VALUE)]


def test_typography_does_not_matter() -> None:
    checked = check(
        "<p>Net loss of ( 1,200 ) in Q2&nbsp;2023</p>",
        row(0, found=True, correct=True, text="(1,200)"),
        row(1, found=True, correct=True, text="Q2 2023"),
    )
    assert [verdict.correct for verdict in checked.verdicts] == [True, True]
    assert checked.verdicts[0].matched_text == "( 1,200 )"


def test_markup_in_matched_text_does_not_matter() -> None:
    checked = check(
        "<p>Net loss of <b>(1,200)</b></p>",
        row(0, found=True, correct=True, text="<b>(1,200)</b>"),
    )
    assert checked.verdicts[0].correct


@pytest.mark.parametrize(
    ("page", "error"), [("(1,200)", "sign"), ("11,200", "digit"), ("1,200.5", "decimal")]
)
def test_a_value_inside_a_longer_one_is_not_correct(page: str, error: str) -> None:
    checked = check(
        f"<p>Revenue was {page} then</p>",
        row(0, found=True, correct=True, text="1,200"),
        gold="<p>Revenue was <Number>1,200</Number> then</p>",
    )
    assert first(checked) == (True, False, "1,200", error)
    assert whys(checked) == [(0, NOT_ALONE)]


def test_equal_values_need_as_many_occurrences() -> None:
    gold = "<p><Number>42</Number> and <Number>42</Number> and <Number>42</Number></p>"
    lies = [row(n, found=True, correct=True, text="42") for n in range(3)]
    checked = check("<p>42 and 42 and 43</p>", *lies, gold=gold)
    assert [verdict.correct for verdict in checked.verdicts] == [True, True, False]
    assert whys(checked) == [(2, TAKEN)]
    assert checked.verdicts[2].error == "missing"
    # It is unknown which of the two is meant.
    assert checked.verdicts[0].start is None
    reference = check("<p>42 and 42 and 43</p>", *lies, gold=gold, override="reference")
    assert all(verdict.correct for verdict in reference.verdicts)


def test_a_fact_without_a_row_is_no_zero() -> None:
    with pytest.raises(KeyError):
        check_rows(read_page(GOLD), read_prediction(RIGHT), {})


@needs_realdata
def test_an_honest_judge_is_not_overruled() -> None:
    """The aligned matcher as the judge, on real pages as an engine read them."""
    correct = 0
    for path in sorted((REALDATA / "gold").glob("*.html"))[:40]:
        gold = read_page(path.read_text(encoding="utf-8"))
        (read,) = (REALDATA / "predictions" / "ocrad").glob(f"*{path.stem}.*")
        prediction = read_prediction(read.read_text(encoding="utf-8"))
        verdicts = match_aligned(gold, prediction)
        rows = {
            fact.n: row(
                fact.n, found=said.found, correct=said.correct, text=said.matched_text or ""
            )
            for fact, said in zip(gold.facts, verdicts, strict=True)
        }
        checked = check_rows(gold, prediction, rows)
        assert checked.overruled == []
        assert [each.correct for each in checked.verdicts] == [each.correct for each in verdicts]
        correct += sum(each.correct for each in verdicts)
    assert correct > 100


TEXTS = st.sampled_from(["", "(1,200)", "1,200", "Q2 2023", "2023", "loss", "never there", "<b>"])
ROWS = st.builds(row, st.just(0), found=st.booleans(), correct=st.booleans(), text=TEXTS)


@given(ROWS, ROWS, st.sampled_from([RIGHT, "Net loss of 1,200", ""]))
def test_whatever_is_said_only_what_stands_there_is_correct(
    number: FactRow, date: FactRow, prediction: str
) -> None:
    checked = check(prediction, number, date.model_copy(update={"n": 1}))
    for verdict, value in zip(checked.verdicts, ("(1,200)", "Q2 2023"), strict=True):
        assert verdict.found or not verdict.correct
        assert (verdict.error is None) == verdict.correct
        assert (verdict.matched_text is None) == (not verdict.found)
        if verdict.correct:
            assert value in prediction
            assert verdict.matched_text == value
    kept = {0, 1} - {overrule.n for overrule in checked.overruled}
    said = {0: number, 1: date}
    for n in kept:
        assert checked.verdicts[n].correct == said[n].correct
        assert checked.verdicts[n].found == said[n].found
