"""The grammar of numbers, dates and durations."""

import pytest
from hypothesis import strategies as st

from portal.facts import find_facts
from tests.many import drawn, together

# Text that comes close to facts, in any order.
_SCRAPS = (
    "1 12 2025 1,200 .05 ( ) % - − – $ , . / ' ½ May June 30, Q2 FY two three months years day of "
    "quarter fiscal CR Note Item (h) th NY 10-K \x00 \x01 \u00a0 \n \U0001f4b6 e\u0301 one hundred"
).split(" ")
TEXTS = st.lists(st.sampled_from(_SCRAPS) | st.text(max_size=3), max_size=20).flatmap(
    lambda words: st.sampled_from(["", " "]).map(lambda space: space.join(words))
)


@st.composite
def bordered_texts(draw: st.DrawFn) -> tuple[str, tuple[int, ...]]:
    text = draw(TEXTS)
    borders = draw(st.sets(st.integers(0, len(text)), max_size=8))
    return text, tuple(sorted(borders))


def _found(text: str, kind: str, borders: tuple[int, ...] = ()) -> list[str]:
    return [text[f.start : f.end] for f in find_facts(text, borders) if f.kind == kind]


def _cells(*cells: str) -> tuple[str, tuple[int, ...]]:
    return "".join(cells), tuple(sum(map(len, cells[:n])) for n in range(1, len(cells)))


@together(
    "number",
    "1,000,000 2.345 0.37 10 1/3 -2.3 −2.3 –2.3 (10,234) 25.63% (5.3%) (5.3)% .05 1,200CR 12½ ½ "
    "12,34,567 1.234.567,89 1.234.567 1'234'567 5-1/4% ($92) -$5 +5% 7".split(),
)
def test_find_facts_finds_the_whole_number(number: str) -> None:
    assert _found(f"Net {number} of all", "number") == [number]
    assert _found(f"about {number}, and", "number") == [number]
    assert _found(number, "number") == [number] or number.isdigit()


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("$1,200 and US$5 and USD30 and €2.5m", ["1,200", "5", "30", "2.5"]),
        ("$(8) is ( 8 ) or (8 %)", ["(8)", "( 8 )", "(8 %)"]),
        ("10–12, 10-12 and 5%-6%", ["10", "12", "10", "12", "5%", "6%"]),
        ("in 1,200 CR or 300-  400", ["1,200 CR", "300-", "400"]),
        ("5 1/4% of 3.4\u00a0%", ["5 1/4%", "3.4\u00a0%"]),
        ("Total......1,200", ["1,200"]),
        ("1.5x, 25bps, $10M", ["1.5", "25", "10"]),
        ("loss (see 12) was (34", ["12", "34"]),
        ("$2024 is no year", ["2024"]),
        ("a 3rd B2B 10K405 529A x5", []),
        ("1,23 and 1,2345 and 0,5", []),
        ("rate 12,5% of 1,2345 and 0,55MW", []),
        ("1.2e6 Pa and 3.0E-5, but 2e5", ["1.2e6", "3.0E-5"]),
    ],
)
def test_find_facts_knows_what_belongs_to_a_number(text: str, numbers: list[str]) -> None:
    assert _found(text, "number") == numbers


@together(
    "written",
    "RMB[7,800] CHF[9,150.50] Rs[12,345] Rs.[500] RM[250,000] R[7,800] Ksh[40] INR[1,23,456] "
    "XYZ[1,200] "
    "NT$[3,300] [12,500]RMB [500]円 約[1,234]百万円 [3.5]億円 [1,500]kg [12.5]MW [25.5]m3 "
    "[2,400]sqm [1,234]million [40]km US$[1,234]mln [１，２３４] （[５６]） [1\u200b,236] "
    "[△1,234] [▲56]%".split(),
)
def test_letters_next_to_a_figure_cut_nothing_from_it(written: str) -> None:
    text = f"about {written} in all".replace("[", "").replace("]", "")
    whole = written[written.index("[") + 1 : written.index("]")]
    found = _found(text, "number")
    assert found in ([whole], [f"（{whole}）"], [f"{whole}%"])


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (("Loss", "(", "987", ")"), ["(987)"]),
        (("$(", "56", ")%", "(", "1,234)"), ["(56)%", "(1,234)"]),
        (("– 154", "- $156", "− 99", "–", "7"), ["– 154", "- $156", "− 99", "7"]),
        (
            ("(\u200b88)", "(1,235\u2060)", "-\u200b12"),
            ["(\u200b88)", "(1,235\u2060)", "-\u200b12"],
        ),
        (
            ("1 234", "12 345 678", "(2 345)", "1 234,5"),
            ["1 234", "12 345 678", "(2 345)", "1 234,5"],
        ),
        (("9,012(3)", "3,456 (4)", "12 (5) men"), ["9,012", "3,456", "12", "(5)"]),
    ],
)
def test_a_figure_is_whole_across_cells_and_spaces(
    cells: tuple[str, ...], numbers: list[str]
) -> None:
    text, borders = _cells(*cells)
    assert _found(text, "number", borders) == numbers


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("Revenu 1 234 567 et 12 345,67 en tout", ["1 234 567", "12 345,67"]),
        ("call 800 523-1918 or ABN 46 008 583 542", ["800", "523", "46", "008", "583", "542"]),
        ("Total   100 200  \n", ["100", "200"]),
    ],
)
def test_groups_with_spaces_are_one_number_only_in_running_text(
    text: str, numbers: list[str]
) -> None:
    found = _found(text, "number")
    assert [number for number in found if number in numbers] == [n for n in numbers if n in found]
    assert all(number in numbers for number in found)


@together(
    "date",
    [
        "March 24, 2025",
        "March 24,2025",
        "MARCH\u00a024,\n  2025",
        "24 March 2025",
        "Sept. 30, 2025",
        "26th day of May, 2025",
        "31-Dec-25",
        "March 2025",
        "June 30",
        "30 June",
        "03/24/2025",
        "3/4/25",
        "03-24-2025",
        "24.03.2025",
        "2025-03-24",
        "12/2025",
        "Q2 2025",
        "2Q25",
        "2025 Q2",
        "Q3'25",
        "H1 2025",
        "second quarter of fiscal 2025",
        "fiscal 2025",
        "FY25",
        "2025",
        "1 month",
        "2 years",
        "two years",
        "13-week",
        "three (3) months",
        "twenty-four consecutive months",
        "one hundred and eighty days",
        "1.5 years",
    ],
)
def test_find_facts_finds_the_whole_date_or_duration(date: str) -> None:
    assert _found(f"due {date}, or later", "date") == [date]
    assert _found(f"({date})", "date") == [date]
    assert find_facts(f"x {date}")[0].end == 2 + len(date)


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("PERIODS JANUARY 2, 2025 THRU JANUARY 8, 2025", ["JANUARY 2, 2025", "JANUARY 8, 2025"]),
        ("twelve months ended June 30, 2025", ["twelve months", "June 30, 2025"]),
        ("2024-2025", ["2024", "2025"]),
        ("at 5 May 31, 2025", ["May 31, 2025"]),
        ("it may 5 times march 3", []),
        ("Mayor 5, 2,024 or 2024.5 or 1850", []),
    ],
)
def test_find_facts_tells_dates_apart(text: str, dates: list[str]) -> None:
    assert _found(text, "date") == dates


@pytest.mark.parametrize(
    "text",
    [
        "call (555) 010-4477 or 555-010-4477",
        "Ames, IA 50010-1234",
        "EIN 12-3456789, File 001-12345",
        "at 5:30 p.m.",
        "Section 30(h), 401(k), §12, Items 5 and 6",
        "Note 12, lines 3, 4 and 5b, page 62",
        "Form 10-K, No. 7",
        "1.2.3",
        "1. General",
        "(2) General",
    ],
)
def test_find_facts_leaves_what_only_looks_like_a_fact(text: str) -> None:
    assert _found(text, "number") == []


@pytest.mark.parametrize(
    ("cells", "facts"),
    [
        (("1,586", "1,702"), ["1,586", "1,702"]),
        (("20", "25"), ["20", "25"]),
        (("$", "2025", "x"), ["2025"]),
        # A closing parenthesis or percent sign alone in the next cell.
        (("(1,200", ")", "(3)"), ["(1,200)", "(3)"]),
        (("(1,200", " \n ", ")\n", "7 x"), ["(1,200 \n )", "7"]),
        (("(1.5", ")%", "7 x"), ["(1.5)%", "7"]),
        (("1.5", "%", "7 x"), ["1.5%", "7"]),
        (("1.5", "% of 7 x"), ["1.5", "7"]),
        (("(1,200", ") 7 x"), ["1,200", "7"]),
        (("(1,200", "(3)"), ["1,200", "(3)"]),
        (("-", "5 x"), ["5"]),
        (("June 30,", "2025"), ["June 30", "2025"]),
        (("June 30, 2025", "June 30, 2024"), ["June 30, 2025", "June 30, 2024"]),
        (("2 ", "years"), ["2"]),
        # The number of a page.
        (("Total 7", "- 44 -", "Total 8"), ["7", "8"]),
    ],
)
def test_find_facts_keeps_to_the_borders(cells: tuple[str, ...], facts: list[str]) -> None:
    text, borders = _cells(*cells)
    assert [text[fact.start : fact.end] for fact in find_facts(text, borders)] == facts


@drawn(bordered_texts(), examples=300)
def test_find_facts_are_ordered_disjoint_and_within_the_text(
    bordered: tuple[str, tuple[int, ...]],
) -> None:
    text, borders = bordered
    facts = find_facts(text, borders)
    edges = [edge for fact in facts for edge in (fact.start, fact.end)]
    assert edges == sorted(edges)
    assert all(0 <= fact.start < fact.end <= len(text) for fact in facts)
    for fact in facts:
        quote = text[fact.start : fact.end]
        assert quote == quote.strip()
        assert any(character.isalnum() for character in quote)
        crossed = [border for border in borders if fact.start < border < fact.end]
        assert all(set(text[border : fact.end]) <= set(" \x00\x01\u00a0\n)%") for border in crossed)
