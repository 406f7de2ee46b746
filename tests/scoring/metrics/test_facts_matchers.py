"""The fact matchers: places, repeated values, other orders, damage, and invariants."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.metrics.facts import (
    ERROR_TYPES,
    match_aligned,
    match_substring,
    read_page,
    read_prediction,
)
from tests.many import drawn

from .pages import CELLS, HEADING, STATEMENT, TEXT, date, errors, number, table, verdicts

ALL_OK = ["ok"] * 9
PLAIN = (
    "Statement of operations\nItem 2023 2022\nRevenue 1,200 1,100\nCost of sales (700) (650)\n"
    "Gross profit 500 450\nAs of December 31, 2023 the company had 42 stores and 42 offices."
)


@pytest.mark.parametrize(
    "prediction",
    [
        HEADING + table(CELLS) + TEXT,
        PLAIN,
        PLAIN.replace("\n", " "),
        TEXT + HEADING + table(CELLS),
        HEADING + table([CELLS[0], CELLS[3], CELLS[1], CELLS[2]]) + TEXT,
        HEADING + table([[row[0], row[2], row[1]] for row in CELLS]) + TEXT,
        HEADING + table([list(column) for column in zip(*CELLS, strict=True)]) + TEXT,
        HEADING + table([[row[0].upper(), *row[1:]] for row in CELLS]) + TEXT,
    ],
    ids=[
        "same page",
        "plain text",
        "one line",
        "table after the text",
        "other order of rows",
        "other order of columns, headers too",
        "transposed table",
        "labels in capitals",
    ],
)
def test_the_same_facts_in_another_form_are_all_correct(prediction: str) -> None:
    assert errors(STATEMENT, prediction) == ALL_OK


LOSS = f"<p>The net loss of the year was {number('26.3')} and the total of assets.</p>"
PERIOD = f"<p>Results for the year ended {date('March 31, 2023')} and the year before.</p>"


@pytest.mark.parametrize(
    ("gold", "read_as", "expected"),
    [
        (LOSS, "26.3", ("ok", "26.3")),
        # Something else in the place is a misreading …
        (LOSS, "abc", ("digit", "abc")),
        (LOSS, "9,817", ("digit", "9,817")),
        (LOSS, "oo oo", ("digit", "oo oo")),
        (PERIOD, "fiscal 99", ("date", "fiscal 99")),
        (PERIOD, "quarter", ("date", "quarter")),
        # … and nothing there, or no letter and digit, is missing.
        (LOSS, "", ("missing", None)),
        (LOSS, "—", ("missing", None)),
        (LOSS, "|_", ("missing", None)),
        (PERIOD, "", ("missing", None)),
    ],
)
def test_what_was_read_in_place_of_a_value(
    gold: str, read_as: str, expected: tuple[str, str | None]
) -> None:
    value = read_page(gold).facts[0].value
    prediction = gold.replace(f"<Number>{value}</Number>", read_as)
    prediction = prediction.replace(f"<Date>{value}</Date>", read_as)
    (verdict,) = verdicts(gold, prediction)
    assert (verdict.error or "ok", verdict.matched_text) == expected
    assert verdict.found == (expected[0] != "missing")


def test_the_words_around_a_lost_value_were_not_read_in_its_place() -> None:
    rows = [["6a", "Gross rents", number("62,880"), "6a"], ["6b", "Less", number("46,860"), "6b"]]
    kept = [["6a", "Gross rents", "6a"], ["6b", "Less", "46,860", "6b"]]
    assert errors(table(rows), table(kept)) == ["missing", "ok"]


UNITS = ("Number", "Temporal", "MonetaryUnit", "ReportingEntity")


@pytest.mark.parametrize(
    ("gold", "prediction", "expected"),
    [
        ("(<MonetaryUnit>in thousands</MonetaryUnit>)", "(in thousands)", None),
        ("(<MonetaryUnit>in thousands</MonetaryUnit>)", "(in millions)", "unit"),
        ("(<MonetaryUnit>In Millions</MonetaryUnit>, except)", "(In Billions, except)", "unit"),
        ("All in <MonetaryUnit>millions</MonetaryUnit> of it", "All in thousands of it", "unit"),
        ("In <MonetaryUnit>USD</MonetaryUnit> and shares", "In EUR and shares", "unit"),
        ("(<MonetaryUnit>in millions of $</MonetaryUnit>)", "(in millions of €)", "unit"),
        ("Paid <MonetaryUnit>$</MonetaryUnit>5.25 in cash", "Paid €5.25 in cash", "unit"),
        ("Paid <MonetaryUnit>$</MonetaryUnit>5.25 in cash", "Paid 5.25 in cash", "missing"),
        ("(<MonetaryUnit>in thousands</MonetaryUnit>)", "(in thousnds)", "other"),
        ("Sales were <Number>1.2 million</Number> then", "Sales were 1.2 thousand then", "unit"),
        ("Sales were <Number>$1.2 million</Number> then", "Sales were $1.2 billion then", "unit"),
        ("Sales were <Number>$1.2 million</Number> then", "Sales were $1.2 then", "unit"),
        ("Sales were <Number>$1.2 million</Number> then", "Sales were $1.3 billion then", "digit"),
        ("Sales were <Number>$1.2 million</Number> then", "Sales were $1.2 million then", None),
    ],
)
def test_a_unit_that_was_read_as_another(gold: str, prediction: str, expected: str | None) -> None:
    pages = read_page(f"<p>{gold}</p>", UNITS), read_prediction(f"<p>{prediction}</p>", UNITS)
    assert [verdict.error for verdict in match_aligned(*pages)] == [expected]


@pytest.mark.parametrize(
    ("value", "read_as", "expected"),
    [
        ("1,200", "1{,}200", "ok"),
        ("1,234,567.8", "1{,}234{,}567{.}8", "ok"),
        ("1,200", "$1{,}200$", "ok"),
        ("$1,200", r"\$1{,}200", "ok"),
        ("5%", r"5\%", "ok"),
        ("1,200", r"\(1{,}200\)", "ok"),
        ("(1,200)", r"(1{,}200)", "ok"),
        ("(1,200)", r"\left(1{,}200\right)", "ok"),
        ("10 000", r"10\,000", "ok"),
        ("1,200", "1{.}200", "separator"),
        ("1,200", "1{,}300", "digit"),
        ("(1,200)", "1{,}200", "sign"),
    ],
)
def test_numbers_in_latex(value: str, read_as: str, expected: str) -> None:
    gold = f"<p>The net income of the year was {number(value)} as before.</p>"
    prediction = f"<p>The net income of the year was {read_as} as before.</p>"
    assert errors(gold, prediction) == [expected]


def test_a_right_value_in_the_wrong_row_does_not_count() -> None:
    rows = [
        CELLS[0],
        *([a[0], *b[1:]] for a, b in zip(CELLS[1:], [*CELLS[2:], CELLS[1]], strict=True)),
    ]
    assert errors(STATEMENT, HEADING + table(rows) + TEXT) == ["misplaced"] * 6 + ["ok"] * 3


def test_a_right_value_in_the_wrong_column_does_not_count() -> None:
    rows = [CELLS[0], *([row[0], row[2], row[1]] for row in CELLS[1:])]
    assert errors(STATEMENT, HEADING + table(rows) + TEXT) == ["misplaced"] * 6 + ["ok"] * 3


@pytest.mark.parametrize(
    ("gold_rows", "rows"),
    [
        (
            [["Revenue", number("1,200")], ["Costs", ""], ["Profit", "77"]],
            [["Revenue", ""], ["Costs", "1,200"], ["Profit", "77"]],
        ),
        (
            [["Revenue", ""], ["Costs", number("1,200")], ["Profit", "77"]],
            [["Revenue", "1,200"], ["Costs", ""], ["Profit", "77"]],
        ),
        (
            [["", "2023", "2022"], ["Revenue", number("1,200"), ""], ["Tax", "9", "8"]],
            [["", "2023", "2022"], ["Revenue", "", "1,200"], ["Tax", "9", "8"]],
        ),
    ],
    ids=["row below", "row above", "next column"],
)
def test_a_value_that_slipped_into_an_empty_cell_does_not_count(
    gold_rows: list[list[str]], rows: list[list[str]]
) -> None:
    assert errors(table(gold_rows), table(rows)) == ["misplaced"]


def statement(rows: list[list[str]]) -> str:
    return table([["", "2023", "2022", "2021"], *rows])


KEPT_ROWS = [["Sales", "4,100", "4,200", "4,300"], ["Costs", "(2,100)", "(2,200)", "(2,300)"]]
TAGGED_ROWS = [[row[0], *map(number, row[1:])] for row in KEPT_ROWS]


@pytest.mark.parametrize(
    ("read_as", "expected"),
    [
        (["Goodwill", "1,297.0", "1,219.8"], ["missing", "misplaced", "misplaced"]),
        (["Goodwill", "-", "1,297.0", "1,219.8"], ["missing", "ok", "ok"]),
        (["Goodwill", "x@", "1,297.0", "1,219.8"], ["digit", "ok", "ok"]),
        (["Goodwill", "", "1,297.0", "1,219.8"], ["missing", "ok", "ok"]),
        (["Goodwill", "$", "1,382.0", "1,297.0", "1,219.8"], ["unit", "ok", "ok"]),
        (["Goodwill", "1,382.0 1,297.0", "1,219.8"], ["ok", "ok", "ok"]),
        (["Goodwill", "1,382.0", "1,297.0"], ["ok", "ok", "missing"]),
        (["Goodwill", "1,29.0", "1,219.8"], ["missing", "decimal", "misplaced"]),
    ],
    ids=[
        "value lost",
        "dash left",
        "garbage left",
        "empty cell left",
        "currency mark is no value, but another unit",
        "two in one cell",
        "last one lost",
        "damaged and slid",
    ],
)
def test_values_that_slid_into_another_column(read_as: list[str], expected: list[str]) -> None:
    values = ["Goodwill", number("1,382.0"), number("1,297.0"), number("1,219.8")]
    gold, prediction = statement([*TAGGED_ROWS, values]), statement([*KEPT_ROWS, read_as])
    assert errors(gold, prediction) == ["ok"] * 6 + expected


def test_a_dash_that_vanished_lets_the_values_behind_it_slide() -> None:
    gold = statement([*TAGGED_ROWS, ["Goodwill", "—", number("1,297.0"), number("1,219.8")]])
    prediction = statement([*KEPT_ROWS, ["Goodwill", "1,297.0", "1,219.8"]])
    assert errors(gold, prediction) == ["ok"] * 6 + ["misplaced"] * 2


def test_in_plain_lines_and_where_no_column_is_left_values_go_by_order() -> None:
    gold = statement([*TAGGED_ROWS, ["Goodwill", "—", number("1,297.0"), number("1,219.8")]])
    rows = [*KEPT_ROWS, ["Goodwill", "1,297.0", "1,219.8"]]
    plain = "\n".join(map(" ".join, [["2023", "2022", "2021"], *rows]))
    assert errors(gold, plain) == ["ok"] * 8
    values = [[row[0], row[3]] for row in KEPT_ROWS]
    one_column = table([["", "2021"], *values, ["Goodwill", "1,219.8"]])
    assert errors(gold, one_column)[-2:] == ["missing", "ok"]


def test_a_header_date_broken_over_two_lines_is_whole() -> None:
    gold = f"<p>Balance sheet {date('June 30, 2023')} {date('December 31, 2022')} (Unaudited)</p>"
    prediction = "Balance sheet\nJune 30, December 31,\n2023 2022\n(Unaudited)"
    assert errors(gold, prediction) == ["ok", "ok"]
    assert errors(gold, prediction.replace("2022", "2021")) == ["ok", "date"]


def test_a_loss_with_other_digits_keeps_its_sign() -> None:
    gold = f"<p>Net loss {number('(79)')} and tax {number('(9)')} in the year</p>"
    found = verdicts(gold, "<p>Net loss (64) and tax (6) in the year</p>")
    assert [(v.error, v.matched_text) for v in found] == [("digit", "(64)"), ("digit", "(6)")]


def test_a_split_number_is_one_form() -> None:
    gold = f"<p>Insurance ... {number('65,629')} {number('65,629')} and other expenses</p>"
    found = verdicts(gold, "<p>Insurance ... 65 ,629 65 , 629 and other expenses</p>")
    assert [(v.error, v.matched_text) for v in found] == [
        ("spacing", "65 ,629"),
        ("spacing", "65 , 629"),
    ]


def test_confidence_grows_with_the_place() -> None:
    (sure,) = verdicts(
        f"<p>Total revenue was {number('1,200')} in all</p>", "Total revenue was 1,200 in all"
    )
    gold = table([["Cash", number("5")], ["Debt", "5"]])
    (unsure,) = verdicts(gold, "5 5")
    (lost,) = verdicts(gold, "nothing")
    assert sure.confidence == 1
    assert unsure.confidence is not None
    assert 0 <= unsure.confidence < sure.confidence
    assert lost.confidence is None


def test_values_swapped_between_paragraphs_do_not_count() -> None:
    gold = (
        f"<p>In the first quarter we opened {number('12')} branches in Ohio.</p>"
        f"<p>During the last year we closed {number('7')} branches in Texas.</p>"
    )
    swapped = (
        "<p>In the first quarter we opened 7 branches in Ohio.</p>"
        "<p>During the last year we closed 12 branches in Texas.</p>"
    )
    moved = (
        "<p>During the last year we closed 7 branches in Texas.</p>"
        "<p>In the first quarter we opened 12 branches in Ohio.</p>"
    )
    assert errors(gold, swapped) == ["misplaced", "misplaced"]
    assert errors(gold, moved) == ["ok", "ok"]


def test_twenty_equal_values_need_twenty_occurrences() -> None:
    names = [f"Fund {chr(65 + i)}" for i in range(20)]
    gold = table([[name, number("0")] for name in names])
    kept = table([[name, "0" if i % 4 else ""] for i, name in enumerate(names)])
    assert errors(gold, kept) == ["ok" if i % 4 else "missing" for i in range(20)]


def test_one_occurrence_serves_one_fact() -> None:
    prediction = HEADING + table(CELLS) + TEXT.replace("and 42 offices", "and offices")
    assert errors(STATEMENT, prediction)[-2:] == ["ok", "missing"]


def test_lines_of_a_label_may_be_read_around_its_values() -> None:
    gold = table(
        [
            ["Cash at the beginning of the period", number("10,000")],
            ["Recognized in earnings based on the amortization approach", number("14,802")],
            ["Total", number("24,802")],
        ]
    )
    prediction = (
        "Cash at the beginning of the period 10,000\nRecognized in earnings based on the 14,802\n"
        "amortization approach\nTotal 24,802"
    )
    assert errors(gold, prediction) == ["ok", "ok", "ok"]


def test_a_ruined_label_does_not_cost_the_value() -> None:
    rows = [[row[0].translate(str.maketrans("aeos", "@c0z")), *row[1:]] for row in CELLS]
    assert errors(STATEMENT, HEADING + table(rows) + TEXT) == ALL_OK


@pytest.mark.parametrize(
    ("value", "read_as", "expected"),
    [
        ("1,200", "(1,200)", "sign"),
        ("1,200", "11,200", "digit"),
        ("1,200", "1,200.5", "decimal"),
        ("-2,175", "“2,175", "sign"),
        ("(3,627)", "3,627)", "sign"),
        ("2.71", "271", "decimal"),
        ("1,000", "1,ooo", "digit"),
        ("36,659", "36.659", "separator"),
        ("4,568", "4568", "separator"),
        ("3%", "396", "unit"),
        ("4,276,992", "14,276,992", "digit"),
        ("(107,458)", "(207,458)", "digit"),
        ("13,057.7", "13,057.7-12,134.4", "merged"),
        ("7,000", "", "missing"),
    ],
)
def test_damaged_numbers(value: str, read_as: str, expected: str) -> None:
    gold = f"<p>Net income of the segment was {number(value)} in the year.</p>"
    (verdict,) = verdicts(gold, f"<p>Net income of the segment was {read_as} in the year.</p>")
    assert (verdict.correct, verdict.error) == (False, expected)
    assert verdict.found is (expected != "missing")


def test_damaged_dates() -> None:
    gold = (
        f"<p>On {date('May 27, 2021')} and {date('Q2 2023')} and {date('November 22, 2024')} "
        f"and {date('December 31, 2024')}</p>"
    )
    prediction = "<p>On May 27, 202l and Q3 2023 and November22,2024 and December 31,</p>"
    assert errors(gold, prediction) == ["date", "date", "spacing", "truncated"]


def test_typography_costs_nothing() -> None:
    gold = f"<p>Loss {number('(1,200)')} of {number('-5.0%')} on {date('May 27, 2021')}</p>"
    assert errors(gold, "<p>Loss ( 1,200 ) of −5.0% on May\u00a027, 2021</p>") == ["ok"] * 3


def test_the_place_in_the_prediction_is_given() -> None:
    prediction = "<p>Revenue&nbsp;of <b>( 1,200 )</b></p>"
    (verdict,) = verdicts(f"<p>Revenue of {number('(1,200)')}</p>", prediction)
    text = read_prediction(prediction).text
    assert verdict.matched_text == "( 1,200 )"
    assert verdict.start is not None
    assert text[verdict.start : verdict.end] == "( 1,200 )"


def test_a_longer_date_is_not_cut_up_for_a_shorter_one() -> None:
    gold = f"<p>from {date('May 27')} of the year to the end on {date('May 27, 2021')} at last</p>"
    prediction = "<p>from of the year to the end on May 27, 2021 at last</p>"
    assert errors(gold, prediction) == ["missing", "ok"]


def test_nothing_is_found_in_nothing() -> None:
    assert errors(STATEMENT, "") == ["missing"] * 9


PIECES = st.lists(
    st.sampled_from(
        "Revenue Cost Total profit 1,200 (700) 500 42 $ % — . ( ) 1,2 00 12 May 27, 2021 2023 "
        "<p> </p> <td> <tr> <table> </table> <br> &nbsp; \u00ad é𝟙 ...... \n".split(" ")
    ),
    max_size=40,
).map(" ".join)


@settings(max_examples=60, deadline=None)
@given(PIECES | st.text(max_size=200))
def test_any_prediction_gets_sound_verdicts(prediction: str) -> None:
    text = read_prediction(prediction).text
    found = match_aligned(read_page(STATEMENT), read_prediction(prediction))
    taken: set[int] = set()
    for verdict in found:
        assert verdict.correct is (verdict.error is None)
        assert verdict.error is None or verdict.error in ERROR_TYPES
        assert verdict.found is (verdict.matched_text is not None)
        assert verdict.found is (verdict.error != "missing")
        assert (verdict.confidence is not None) is verdict.found
        assert 0 <= (verdict.confidence or 0) <= 1
        if verdict.matched_text is not None:
            assert verdict.start is not None
            assert verdict.end is not None
            assert text[verdict.start : verdict.end] == verdict.matched_text
        if verdict.correct:
            assert verdict.start is not None
            assert verdict.end is not None
            place = set(range(verdict.start, verdict.end))
            assert not taken & place
            taken |= place


VALUES = st.from_regex(r"\(?-?[0-9]{1,3}(,[0-9]{3}){0,2}(\.[0-9]{1,2})?\)?%?", fullmatch=True)
LABELS = st.sampled_from(
    ["Revenue", "Cost of sales", "Other income", "Net loss", "Total assets", "Tax"]
)


@drawn(
    st.lists(st.tuples(LABELS, st.lists(VALUES, min_size=1, max_size=4)), max_size=12), examples=60
)
def test_a_perfect_prediction_is_all_correct(rows: list[tuple[str, list[str]]]) -> None:
    gold = table([[label, *map(number, values)] for label, values in rows])
    prediction = table([[label, *values] for label, values in rows])
    plain = "\n".join(" ".join([label, *values]) for label, values in rows)
    count = sum(len(values) for _, values in rows)
    assert errors(gold, prediction) == ["ok"] * count
    assert errors(gold, plain) == ["ok"] * count


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from("Cash Debt 5 7 1,200 (3) 42 2023".split()), max_size=40))
def test_no_value_is_correct_more_often_than_it_occurs(words: list[str]) -> None:
    gold = read_page(table([["Cash", number("5")], ["Debt", number("5")], ["Rent", number("42")]]))
    found = match_aligned(gold, read_prediction(" ".join(words)))
    for value in ("5", "42"):
        correct = sum(v.correct for v, f in zip(found, gold.facts, strict=True) if f.value == value)
        assert correct <= words.count(value)


@pytest.mark.parametrize("size", [20_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_hostile_predictions_are_read_in_reasonable_time(size: int) -> None:
    gold = table([[f"Row {i}", number("0")] for i in range(60)])
    for prediction in ("0 " * size, "Row 0 " * (size * 6 // 10), "(" * 3 * size, "x" * 6 * size):
        assert len(errors(gold, prediction)) == 60


def matched(gold: str, prediction: str) -> list[str | None]:
    found = match_substring(read_page(gold), read_prediction(prediction))
    return [verdict.matched_text if verdict.correct else None for verdict in found]


def test_a_value_counts_wherever_it_occurs() -> None:
    gold = f"<p>{number('1,200')} and {number('1,200')} and {number('7')}</p>"
    assert matched(gold, "<p>(11,200)</p>") == ["1,200", "1,200", None]


def test_case_and_white_space_do_not_matter() -> None:
    gold = "<p>" + date("May&nbsp;27,\n 2021") + "</p>"
    assert matched(gold, "on  MAY 27,\n2021") == ["MAY 27, 2021"]


def test_a_text_that_grows_when_folded_keeps_its_verdicts() -> None:
    verdicts = match_substring(read_page(f"<p>{number('7')}</p>"), read_prediction("Straße 7"))
    assert [(v.correct, v.matched_text, v.start) for v in verdicts] == [(True, "7", None)]
