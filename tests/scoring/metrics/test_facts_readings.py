"""Second readings of a fact: next to its value, or in another copy of it."""

from scoring.metrics.facts import read_page
from scoring.metrics.facts.occurrences import GoldFact, gold_fact
from scoring.metrics.facts.readings import differs, is_reading, says
from tests.many import together

from .pages import CELLS, STATEMENT, TEXT, date, errors, number, table

PLAIN = table(CELLS)


def fact(html: str) -> GoldFact:
    page = read_page(html)
    return gold_fact(page.facts[0], page.normalised)


@together(
    "value reading expected",
    [
        ("1,200", "1,200", False),
        ("1,200", "1200", False),
        ("1,200", "1 200", False),
        ("1,200", "1,203", True),
        ("1,200", "(1,200)", True),
        ("1,200", "120.0", True),
        ("1,200", "12,000", True),
    ],
)
def test_other_values_differ_and_other_forms_do_not(
    value: str, reading: str, expected: bool
) -> None:
    assert differs(value, reading, "number") == expected


def test_another_reading_is_a_number_like_the_value() -> None:
    own = fact(f"<p>Net {number('1,200')}</p>")
    assert is_reading(own, "1,203")
    assert not is_reading(own, "1,200")
    assert not is_reading(own, "stores")
    assert not is_reading(own, "7")


def test_a_text_says_a_value_only_as_a_whole() -> None:
    own = fact(f"<p>Net {number('1,200')}</p>")
    assert says(own, "1,200")
    assert says(own, "net 1,200 of")
    assert not says(own, "11,200")
    assert not says(own, "1,200.5")
    assert not says(own, "(1,200)")


@together(
    "shown",
    [
        "1,203 or 1,200",
        "1,200 or 1,203",
        "1,200 [1,203]",
        "1,203 [1,200]",
        "~~1,203~~ 1,200",
        "1,200 / 1,203",
        "1,203/1,200",
        "1,200 (corrected: 1,203)",
        "1,203 → 1,200",
        "1,200 (or 1,203)",
        "perhaps 1,203, perhaps 1,200",
    ],
)
def test_two_readings_in_a_cell_or_sentence_are_no_reading(shown: str) -> None:
    assert errors(STATEMENT, PLAIN.replace("1,200", shown) + TEXT)[0] != "ok"
    gold = f"<p>Sales of {number('1,200')} were reported for the year.</p>"
    assert errors(gold, f"Sales of {shown} were reported for the year.") != ["ok"]


@together(
    "shown",
    [
        "1,200",
        "1,200 [a]",
        "1,200 (note 12)",
        "**1,200**",
    ],
)
def test_notes_and_emphasis_are_no_second_readings(shown: str) -> None:
    assert errors(STATEMENT, PLAIN.replace("1,200", shown) + TEXT)[0] == "ok"


@together("shown", ["1,203<br>1,200", "1,203<br>or 1,200", "1,200 or<br>1,203", "1,200<br>(1,203)"])
def test_two_readings_in_lines_of_a_sentence_are_no_reading(shown: str) -> None:
    gold = f"<p>Sales of {number('1,200')} were reported for the year.</p>"
    assert errors(gold, f"<p>Sales of {shown} were reported for the year.</p>") == ["hedged"]
    alone = "<p>Sales of<br>1,200<br>were reported for the year.</p>"
    assert errors(gold, alone) == ["ok"]


def test_two_dates_in_one_place_are_no_reading() -> None:
    gold = f"<p>As of {date('March 31, 2023')} it had offices.</p>"
    assert errors(gold, "As of March 31, 2023 or March 31, 2028 it had offices.") == ["hedged"]
    assert errors(gold, "As of March 31, 2023 it had offices.") == ["ok"]


def test_numbers_of_the_page_next_to_each_other_are_no_second_readings() -> None:
    gold = f"<p>Sales were {number('1,203')} or {number('1,200')} by other rules.</p>"
    assert errors(gold, "Sales were 1,203 or 1,200 by other rules.") == ["ok", "ok"]


def test_a_second_copy_is_right_only_without_a_difference() -> None:
    page = f"Statement of operations\n{PLAIN}{TEXT}"
    facts = len(errors(STATEMENT, page))
    assert errors(STATEMENT, page + page) == ["ok"] * facts
    other = page.replace("1,100", "1,900")
    expected = ["ok", "hedged", *["ok"] * (facts - 2)]
    assert errors(STATEMENT, page + other) == expected
    assert errors(STATEMENT, other + page) == expected


def test_a_second_copy_may_have_the_marks_that_the_tag_leaves_out() -> None:
    gold = STATEMENT.replace(number("1,100"), f"${number('1,100')}")
    page = f"Statement of operations\n{PLAIN}{TEXT}".replace("1,100", "$1,100")
    found = errors(gold, page.replace("1,100", "1,900") + page)
    assert found == ["ok", "hedged", *["ok"] * (len(found) - 2)]


def test_a_second_table_is_right_only_without_a_difference() -> None:
    facts = len(errors(STATEMENT, PLAIN + TEXT))
    assert errors(STATEMENT, PLAIN + PLAIN + TEXT) == ["ok"] * facts
    found = errors(STATEMENT, PLAIN + PLAIN.replace("(650)", "(850)") + TEXT)
    assert found == ["ok", "ok", "ok", "hedged", *["ok"] * (facts - 4)]


def test_a_second_row_is_right_only_without_a_difference() -> None:
    rows = [*CELLS[:2], CELLS[1], *CELLS[2:]]
    facts = len(errors(STATEMENT, PLAIN + TEXT))
    assert errors(STATEMENT, table(rows) + TEXT) == ["ok"] * facts
    rows[2] = ["Revenue", "1,209", "1,100"]
    assert errors(STATEMENT, table(rows) + TEXT) == ["hedged", *["ok"] * (facts - 1)]


def test_other_values_of_the_page_in_another_order_are_no_second_readings() -> None:
    first, second = "May 16, 2023", "May 17, 2023"
    gold = (
        f"<p>10.1 Securities Purchase Agreement, dated as of {date(first)}, by the company and the "
        f"purchasers</p><p>8-K (Exhibit 10.1)</p><p>{second}</p>"
    )
    shown = (
        f"10.1 Securities Purchase Agreement, dated as 8-K {second}\n"
        f"of {first}, by the company and the (Exhibit 10.1)\npurchasers"
    )
    assert errors(gold, shown) == ["ok"]


def test_repeated_words_of_a_form_make_no_second_copy() -> None:
    row = "<p>Stock Option (Right to Buy) {} Class B Common Stock {} D</p>"
    gold = "".join(
        row.format(date(f"04/1{k}/2028"), number(value))
        for k, value in enumerate(["383,594", "95,898", "12,345"])
    )
    shown = [
        "Stock Option (Right to Buy) 04/10/2028 Class B Common Stock 383,594 D",
        "Stock Option (Right to Buy) (S) Class B Common Stock 868°96 D",
        "Stock Option (Right to Buy) 04/12/2028 Class B Common Stock 12,345 D",
    ]
    found = errors(gold, "\n".join(shown))
    assert (found[:2], found[4:]) == (["ok", "ok"], ["ok", "ok"])


def test_a_year_next_to_its_day_is_not_taken_from_elsewhere() -> None:
    gold = f"<p>Income as of {date('January 29, 2022')}. During fiscal 2022, it grew.</p>"
    shown = "Income as of January 29,2022. During fiscal 2022, it grew."
    assert errors(gold, shown) == ["spacing"]


def another(cell: str) -> str:
    """The cell with another last digit."""
    last = len(cell.rstrip(")")) - 1
    return f"{cell[:last]}{(int(cell[last]) + 3) % 10}{cell[last + 1 :]}"


@together("heads", [("2023 draft", "2023 final"), ("2023", "2023")])
def test_two_columns_of_one_header_are_right_only_without_a_difference(
    heads: tuple[str, str],
) -> None:
    rows = [["Item", *heads, CELLS[0][2]]]
    rows += [[label, value, another(value), last] for label, value, last in CELLS[1:]]
    found = errors(STATEMENT, table(rows) + TEXT)
    assert found[:6] == ["hedged", "ok"] * 3
    same = [[row[0], row[1], row[1] if n else heads[1], row[-1]] for n, row in enumerate(rows)]
    assert errors(STATEMENT, table(same) + TEXT) == ["ok"] * len(found)


def test_another_reading_in_a_line_without_a_label_is_one() -> None:
    rows = [CELLS[0]]
    for row in CELLS[1:]:
        rows += [row, ["", *map(another, row[1:])]]
    assert errors(STATEMENT, table(rows) + TEXT)[:6] == ["hedged"] * 6


@together("shown", ["42†45", "42 & 45", "45 | 42"])
def test_two_numbers_that_signs_join_are_no_reading(shown: str) -> None:
    gold = f"<p>The company had {number('42')} stores at the end of the year.</p>"
    assert errors(gold, f"The company had {shown} stores at the end of the year.") == ["hedged"]
