"""Amounts in the notations of many countries, by hand, and invariants."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.metrics.receipts.amounts import (
    LARGEST_AMOUNT,
    currency_in,
    currency_of,
    read_amount,
    read_amount_as_published,
)
from scoring.metrics.receipts.values import same_amount
from tests.many import together

NBSP, NARROW = "\u00a0", "\u202f"


@together(
    "text value",
    [
        ("45.00", 45),
        ("45,00", 45),
        ("1,200.00", 1200),
        ("1.000,00", 1000),
        ("1.234.567,89", 1234567.89),
        ("1,234,567.89", 1234567.89),
        ("1,234,567", 1234567),
        ("1.234.567", 1234567),
        ("1234,5", 1234.5),
        ("0,125", 0.125),
        ("1234.567", 1234.567),
        ("12.3456", 12.3456),
        (".50", 0.5),
        (",5", 0.5),
        ("50.", 50),
        ("007", 7),
        # Groups by spaces and apostrophes.
        ("1 234,50", 1234.5),
        (f"1{NBSP}234{NBSP}567,8", 1234567.8),
        (f"1{NARROW}234.50", 1234.5),
        ("12 000", 12000),
        ("1'234.50", 1234.5),
        ("1’234’567.00", 1234567),
        # Indian groups.
        ("12,34,567.50", 1234567.5),
        ("1,23,456", 123456),
        ("₹12,34,56,789", 123456789),
        # A mark that groups and is decimal too.
        ("1.234.56", 1234.56),
        ("1,234,56", 1234.56),
        # Signs and codes of currencies, on either side.
        ("€45.00", 45),
        ("45,00 €", 45),
        ("EUR 1.000,00", 1000),
        ("1000.00EUR", 1000),
        ("usd45", 45),
        ("$45.00 USD", 45),
        ("US$ 1,200", 1200),
        ("R$ 1.234,56", 1234.56),
        ("Rp 50.000", 50000),
        ("Rp50.000,-", 50000),
        ("Rs. 1,200.00", 1200),
        ("CHF 1'234.50", 1234.5),
        ("CHF 45.-", 45),
        ("45,–", 45),
        ("1.000,--", 1000),
        ("1,200/-", 1200),
        ("kr 1.234,50", 1234.5),
        ("1 234,50 zł", 1234.5),
        ("1 234 Kč", 1234),
        ("99,90 lei", 99.9),
        ("¥1,200", 1200),
        ("1,200円", 1200),
        ("￥１，２００", 1200),
        ("12,000원", 12000),
        ("12€50", 12.5),
        ("120 THB", 120),
        ("٣٫٥", 3.5),
        # As printed on receipts.
        ("US $12.50", 12.5),
        ("U.S. $12.50", 12.5),
        ("US-$ 12.50", 12.5),
        ("HK $12.50", 12.5),
        ("NT 1,500", 1500),
        ("¥1,500-", 1500),
        ("\\1,500", 1500),
        ("1,500円(税込)", 1500),
        ("（税込）￥1,500", 1500),
        ("金1,500円也", 1500),
        ("1500.00元整", 1500),
        ("1.500đ", 1500),
        ("Ksh. 1,500/=", 1500),
        ("Gs. 1.500", 1500),
        ("BD 1.500", 1.5),
        ("FCFA 1 500", 1500),
        ("1.500 F CFA", 1500),
        ("1,500 บาท", 1500),
        ("人民币1500元", 1500),
        ("합계 12,000원", 12000),
        ("*12.30", 12.3),
        ("**12.30*", 12.3),
        ("12,50 € TTC", 12.5),
        ("£12·50", 12.5),
        ("CHF 12.–", 12),
        ("1ʼ234.50", 1234.5),
        ("&yen;1,500", 1500),
        ("1&nbsp;500,00&nbsp;&euro;", 1500),
        # Negative ones.
        ("(1,500円)", -1500),
        ("$12.50-", -12.5),
        ("-79.33", -79.33),
        ("−79,33", -79.33),
        ("– 79.33", -79.33),
        ("(79.33)", -79.33),
        ("( 79.33 )", -79.33),
        ("($79.33)", -79.33),
        ("$(79.33)", -79.33),
        ("-$79.33", -79.33),
        ("$-79.33", -79.33),
        ("79.33-", -79.33),
        ("79,33 €-", -79.33),
        ("79.33 CR", -79.33),
        ("79.33 DR", 79.33),
        ("-(79.33)", -79.33),
        ("(1.234,50 €)", -1234.5),
        ("+45.00", 45),
        (45, 45),
        (-45.5, -45.5),
    ],
)
def test_an_amount_of_one_reading(text: Any, value: float) -> None:
    assert read_amount(text) == pytest.approx((value,))


@together(
    "text currency expected",
    [
        ("1.234", "", (1234, 1.234)),
        ("1,234", "", (1234, 1.234)),
        ("(1.234)", "", (-1234, -1.234)),
        ("1.234", "EUR", (1234,)),
        ("1,234", "EUR", (1234,)),
        ("1.234", "BRL", (1234,)),
        ("1.234", "IDR", (1234,)),
        ("1.234", "JPY", (1234,)),
        ("1.234", "USD", (1.234,)),
        ("1,234", "USD", (1234,)),
        ("1.234", "KWD", (1.234,)),
        ("1,234", "TND", (1234, 1.234)),
        # The text's own currency comes first, a sign of several currencies last.
        ("€1.234", "USD", (1234,)),
        ("$1.234", "", (1.234,)),
        ("$1.234", "COP", (1234,)),
        ("$ 1.234 CLP", "", (1234,)),
        ("¥1,234", "", (1234,)),
        # Where a currency has no cents, a dash in their place is no sign.
        ("1,500-", "JPY", (1500,)),
        ("1,500-", "", (-1500, -1.5)),
        # Digits decide before the currency.
        ("0.234", "EUR", (0.234,)),
        ("1234.567", "EUR", (1234.567,)),
        ("1.23", "EUR", (1.23,)),
        ("1.000,00", "USD", (1000,)),
    ],
)
def test_an_ambiguous_amount(text: str, currency: str, expected: tuple[float, ...]) -> None:
    assert read_amount(text, currency) == pytest.approx(expected)


@pytest.mark.parametrize(
    "value",
    [
        None, "", " ", "€", "free", "ten", "5 kg", "5%", "A5", "4-5", "12/07", "1e3", "nan", "inf",
        "(79.33", "79.33)", "--5", "1..2", "1,,200", "1.2.3", "12 50", "1 2 000", "12,34.56,78",
        "12€5", "12⁵⁰", "1,234 and 5", "$", ".", "-", "()", True, False, [5], {"amount": 5},
        10**400, 1e300, float("nan"), float("inf"), "9" * 16, "1" * 101,
    ],
)  # fmt: skip
def test_no_amount(value: Any) -> None:
    assert read_amount(value) == ()


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("$1,200.00", (1200,)),
        ("1.000,00", (1,)),
        ("12,50", (1250,)),
        ("12 000", (12000,)),
        ("1e3", (1000,)),
        ("€5", ()),
        ("(5)", ()),
        ("", ()),
        (True, ()),
        ("nan", ()),
        (10**400, ()),
    ],
)
def test_the_published_cleaning(value: Any, expected: tuple[float, ...]) -> None:
    assert read_amount_as_published(value) == expected


def test_the_currency_of_a_receipt() -> None:
    assert currency_of("eur") == currency_of("", ["Lyon", " € "]) == currency_of("€") == "EUR"
    assert currency_of("EUR", ["$"]) == currency_of("", ["$", "EUR"]) == "EUR"
    assert currency_of("", ["$", "Toronto"]) == "$"
    nothing: list[Any] = [None, "", "Toronto", 5, ["EUR"], {}]
    assert [currency_of(code) for code in nothing] == [""] * len(nothing)
    assert [currency_in(text) for text in ("45 EUR", "$5", "R$ 5", "5", 5, "€" * 200)] == [
        "EUR", "$", "BRL", "", "", "",
    ]  # fmt: skip


@together(
    "gold prediction currency expected",
    [
        ("$5", "€5", "", False),
        ("5", "€5", "USD", False),
        ("5", "€5", "", True),
        ("5", "$5", "AUD", True),
        ("US$5", "A$5", "", False),
        ("¥5", "5元", "", True),
        ("¥5", "5円", "", True),
        ("5円", "5元", "", False),
        ("5", "Rs. 5", "PKR", True),
        ("5", "kr 5", "SEK", True),
        ("5", "5 FCFA", "XAF", True),
        ("NT$5", "5元", "TWD", True),
        # The text of the gold comes before the currency of the receipt.
        ("$5", "$5", "EUR", True),
    ],
)
def test_another_currency_is_another_amount(
    gold: str, prediction: str, currency: str, expected: bool
) -> None:
    assert same_amount(gold, prediction, currency=currency) == expected


AMOUNTS = st.decimals(min_value=0, max_value=10**12, places=2)


def _notations(amount: Decimal) -> list[str]:
    """Return one amount in the notations of many countries."""
    plain = f"{amount:,.2f}"
    swapped = plain.translate(str.maketrans(",.", ".,"))
    return [
        f"{amount:.2f}",
        f"${plain}",
        f"{swapped} €",
        swapped.replace(".", NARROW) + " EUR",
        "CHF " + plain.replace(",", "'"),
        f"R$ {swapped}",
        plain.translate({ord(c): ord(c) + 0xFEE0 for c in "0123456789,."}),
    ]


@given(AMOUNTS)
def test_an_amount_is_the_same_in_every_notation(amount: Decimal) -> None:
    for text in _notations(amount):
        assert read_amount(text) == pytest.approx((float(amount),), rel=1e-12)


@given(AMOUNTS.filter(bool))
def test_an_accounting_negative_is_the_negative_amount(amount: Decimal) -> None:
    for text in _notations(amount):
        (value,) = read_amount(text)
        assert read_amount(f"({text})") == read_amount(f"-{text}") == (-value,)
        assert not same_amount(text, f"({text})")


@given(AMOUNTS, AMOUNTS)
def test_different_amounts_are_different_in_every_notation(one: Decimal, other: Decimal) -> None:
    for text in _notations(one):
        assert same_amount(text, f"{other:.2f}") == (one == other)


@given(st.text("0123456789.,' ()-$€kr", max_size=15), st.sampled_from(["", "EUR", "USD"]))
def test_any_text_is_read(text: str, currency: str) -> None:
    found = read_amount(text, currency)
    assert len(found) <= 2
    assert all(abs(value) < LARGEST_AMOUNT for value in found)
    assert same_amount(text, text, currency=currency)
    assert set(found) <= set(read_amount(text, "")) or currency_in(text) or currency
