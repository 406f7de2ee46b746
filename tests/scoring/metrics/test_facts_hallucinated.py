"""Numbers and dates that a prediction has and its gold page does not."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.metrics.facts.normalise import (
    LONGEST_SHOWN,
    MOST_SHOWN,
    hallucinated,
    normalise,
    number_and_date_tokens,
)

TEXTS = st.lists(
    st.sampled_from(["12", "1,200", "(3.5)", "May 27, 2021", "31 Dec", "2021-06-30", "$", "and"])
).map(" ".join)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("a loss of $(1,200.5) or 3%", ["1,200.5", "3"]),
        ("1,234 and 1’234 and 1.", ["1,234", "1'234", "1"]),
        ("1,200, 1,300.", ["1,200", "1,300"]),
        ("December 31, 2023", ["dec 31", "2023"]),
        ("31 December 2023 or Dec. 31", ["dec 31", "2023", "dec 31"]),
        ("Sept 5 is Sep. 05", ["sep 5", "sep 5"]),
        ("May 2021, may 1,200 units, march 5.5", ["2021", "1,200", "5.5"]),
        ("due 2021-06-30, 6/30/2021", ["2021-06-30", "6/30/2021"]),
        ("2020-2021", ["2020", "2021"]),
        ("10-K of FY2023, Q3, 1.2B", ["10", "2023", "3", "1.2"]),
        ("１２ and 1\u00a0200", ["12", "1", "200"]),
        ("five mayors, decisions", []),
        ("June 30,2023 and 31,2022", ["jun 30", "2023", "31", "2022"]),
        ("5 May 10 June 3", ["may 5", "jun 10", "3"]),
        ("May5, 7December", ["may 5", "dec 7"]),
        ("5 Mayıs, dismay 6, 7 junes, 8 x may", ["5", "6", "7", "8"]),
        ("5 - May, June - 6, May  ) 7", ["5", "6", "7"]),
    ],
)
def test_number_like_and_date_like_tokens(text: str, tokens: list[str]) -> None:
    assert number_and_date_tokens(normalise(text).text) == tokens


def test_the_third_copy_of_a_value_that_occurs_twice_is_one() -> None:
    found = hallucinated("12 of 12 and 7", "12 12 12, 8 and 7")
    assert (found.tokens, found.count, found.shown) == (5, 2, ("12", "8"))


def test_a_date_in_another_form_or_broken_over_lines_is_no_hallucination() -> None:
    gold = "June 30, December 31, 2025 2024"
    assert hallucinated(gold, "30 June 2025 | Dec. 31, 2024").count == 0
    assert hallucinated(gold, "June 20, 2025").shown == ("jun 20",)


def test_other_separators_are_another_number() -> None:
    assert hallucinated("1,200 and 3.5", "1.200 and 3,5").count == 2


def test_the_whole_text_of_the_gold_counts_and_what_is_left_out_does_not() -> None:
    assert hallucinated("Note 7: 1,200", "7").count == 0


def test_the_list_is_bounded_and_all_tokens_are_counted() -> None:
    found = hallucinated("", "9" * 1000 + " 8" * 1000)
    assert found.count == 1001
    assert len(found.shown) == MOST_SHOWN
    assert found.shown[0] == "9" * LONGEST_SHOWN


@given(TEXTS, TEXTS)
def test_it_is_the_difference_of_the_multisets(gold: str, prediction: str) -> None:
    found = hallucinated(gold, prediction)
    mine, theirs = (Counter(number_and_date_tokens(text)) for text in (prediction, gold))
    assert found.tokens == mine.total()
    assert found.count == mine.total() - (mine & theirs).total()


@given(st.text() | TEXTS)
def test_a_page_read_as_it_is_has_none(text: str) -> None:
    assert hallucinated(text, text).count == 0
