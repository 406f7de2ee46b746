import pytest

from sample.generator.figures import (
    Draw,
    amount,
    divided,
    grouped,
    percent,
    shares_of,
    signed_percent,
)
from sample.generator.markup import prose


@pytest.mark.parametrize(
    ("value", "places", "text"),
    [(1_234_567, 0, "1,234,567"), (-123_456, 2, "1,234.56"), (5, 2, "0.05"), (0, 1, "0.0")],
)
def test_grouped_writes_digits_without_sign(value: int, places: int, text: str) -> None:
    assert grouped(value, places) == text


def test_amount_puts_a_loss_in_parentheses_and_leaves_nil_untagged() -> None:
    assert amount(-1204) == "<Number>(1,204)</Number>"
    assert amount(0) == "—"


def test_percentages_keep_their_sign_in_both_styles() -> None:
    assert percent(-42) == "<Number>(4.2)%</Number>"
    assert signed_percent(-42) == "<Number>-0.42%</Number>"


@pytest.mark.parametrize(("dividend", "quotient"), [(5, 3), (-5, -3), (4, 2), (-4, -2), (7, 4)])
def test_divided_rounds_half_away_from_zero(dividend: int, quotient: int) -> None:
    assert divided(dividend, 2) == quotient


@pytest.mark.parametrize("parts", [[1, 1, 1], [85, 70, 52, 42], [1, 999_999], [5]])
def test_shares_add_up_to_one_hundred_percent(parts: list[int]) -> None:
    shares = shares_of(parts)
    assert sum(shares) == 1000
    for part, share in zip(parts, shares, strict=True):
        assert abs(share - 1000 * part / sum(parts)) < 1


def test_draw_repeats_for_a_page_and_differs_between_pages() -> None:
    first, again, other = (Draw(page) for page in ("a", "a", "b"))
    series = [first.between(0, 10**9) for _ in range(4)]
    assert series == [again.between(0, 10**9) for _ in range(4)]
    assert series != [other.between(0, 10**9) for _ in range(4)]


def test_draw_reaches_both_ends_of_a_range() -> None:
    draw = Draw("ends")
    assert {draw.between(3, 5) for _ in range(200)} == {3, 4, 5}


def test_prose_marks_facts_and_fills_in_values() -> None:
    text = "due <d>May 1,\n  2030</d>, ${amount} or <n>1/3</n>"
    assert prose(text, amount=amount(-7)) == (
        "due <Date>May 1, 2030</Date>, $<Number>(7)</Number> or <Number>1/3</Number>"
    )


def test_prose_without_a_value_it_names_is_an_error() -> None:
    with pytest.raises(KeyError, match="amount"):
        prose("{amount}")
