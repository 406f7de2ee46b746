"""Detection of personal data, and of similar text in filings that must not match."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.datasets.curation.pii import (
    PiiMatch,
    find_pii,
    is_card,
    is_iban,
    is_routing_number,
    is_ssn,
    luhn,
)
from portal.facts import canonicalise, text_borders
from tests.counting import LINEAR, growth
from tests.many import together


def found(text: str, borders: tuple[int, ...] = ()) -> list[tuple[str, str]]:
    return [(match.rule, text[match.start : match.end]) for match in find_pii(text, borders)]


@together(
    "text rule value",
    [
        ("write to Jane.Doe+tax@mail.example.co.uk, please", "email", None),
        ("<jörg@büro.example>", "email", "jörg@büro.example"),
        ("(212) 555-0100", "phone", "(212) 555-0100"),
        ("(408)\u00a0996\u20111010", "phone", "(408)\u00a0996\u20111010"),
        ("tel. 212-555-0100 ext. 12.", "phone", "212-555-0100 ext. 12"),
        ("212.555.0100", "phone", "212.555.0100"),
        ("+1 212 555-0100", "phone", "+1 212 555-0100"),
        ("by calling 800 523-1918.", "toll_free", "800 523-1918"),
        ("1-888-555-0100", "toll_free", "1-888-555-0100"),
        ("Telephone: 2125550100", "phone", "2125550100"),
        ("+31 70 344 3210, internet", "phone", "+31 70 344 3210"),
        ("+44 (20) 7946 0958", "phone", "+44 (20) 7946 0958"),
        ("SSN 219-09-9998.", "ssn", "219-09-9998"),
        ("Social Security No. 219099998", "ssn", "219099998"),
        ("4111 1111 1111 1111", "card", "4111 1111 1111 1111"),
        ("5555-5555-5555-4444", "card", "5555-5555-5555-4444"),
        ("3782 822463 10005", "card", "3782 822463 10005"),
        ("card 6011111111111117,", "card", "6011111111111117"),
        ("DE89 3704 0044 0532 0130 00 BIC", "iban", "DE89 3704 0044 0532 0130 00"),
        ("NO9386011117947", "iban", "NO9386011117947"),
        ("ABA #021000021", "routing", "021000021"),
        ("Routing number: 0210-0002-1", "routing", "0210-0002-1"),
        ("bank account #000073-6910. Include", "account", "000073-6910"),
        ("Account No. 123456", "account", "123456"),
        ("Acct. 12345678", "account", "12345678"),
    ],
)
def test_personal_data_is_found(text: str, rule: str, value: str | None) -> None:
    assert found(text) == [(rule, value or "Jane.Doe+tax@mail.example.co.uk")]


@together(
    "text",
    [
        "Commission File Number 001-36743, CIK 0000320193, EIN 94-2404110",
        "0000320193-24-000123 0001193125-10-145855",
        "202310629349300511 93493062301053",  # numbers of objects and documents at the IRS
        "1,234,567 (1,200) $2,125,550,100 212,555,0100 0.2125550100 +10.5% +46% +1,234,567",
        "+1.23456789 +12.345",
        "2021 2022 2023 2024 in four columns",
        "4111 1111 1111 1112",  # wrong check digit
        "9111 1111 1111 1111 1234567890123",  # no issuer
        "DE89 3704 0044 0532 0130 01",
        "GB82 in 2024 and FR14 of 2023",
        "routing number 021000022",  # one digit off
        "shares 021000021 outstanding",  # no word says what it is
        "2125550100 219099998 212 555 0100",
        "000-12-3456 666-12-3456 912-12-3456 123-00-4567 123-45-0000",
        "CUSIP 037833-10-0, section 212-55-01001",
        "112-555-0100 212-911-0100 292-555-0100 (999) 055-0100",
        "account 2024, Accounts receivable 1,234,567 and account of 10,000,000",
        "March 24, 2025, 03/24/2025, 2025-03-24, pages 212-555",
        "user@localhost a@b 5 @ 3.50",
        "XXX-XX-1234",
    ],
)
def test_numbers_of_filings_are_no_personal_data(text: str) -> None:
    assert found(text) == []


def test_offsets_count_code_points() -> None:
    assert find_pii("𝒞𝒶𝓁𝓁 (212) 555-0100") == [PiiMatch(5, 19, "phone", "phone")]


def test_cells_of_a_table_are_not_read_together() -> None:
    canonical = canonicalise(
        "<table><tr><td>4111</td><td>1111</td><td>11111111</td></tr>"
        "<tr><td>212-555</td><td>-0100</td></tr><tr><td>219-09-</td><td>9998</td></tr></table>"
    )
    assert find_pii(canonical.text, text_borders(canonical.html)) == []
    inline = canonicalise("<p><b>212-</b>555-0100</p>")
    assert found(inline.text, text_borders(inline.html)) == [("phone", "212-555-0100")]


def test_numbers_next_to_a_border_are_complete() -> None:
    """Without a border, the number would continue in the next cell."""
    canonical = canonicalise(
        "<table><tr><td>(408)</td><td>996-1010</td><td>94-2404110</td></tr>"
        "<tr><td>SSN</td><td>219-09-9998</td><td>12</td></tr></table>"
    )
    assert found(canonical.text, text_borders(canonical.html)) == [
        ("phone", "(408)996-1010"),
        ("ssn", "219-09-9998"),
    ]


def test_more_certain_of_two_overlapping_matches_is_kept() -> None:
    assert found("Telephone account number 4111111111111111") == [("card", "4111111111111111")]
    assert found("ABA 021000021, account 12345678") == [
        ("routing", "021000021"),
        ("account", "12345678"),
    ]


@given(st.text(alphabet=st.sampled_from("0123456789 -.()+@aAB#:\u00a0𝒞"), max_size=200))
def test_any_text_is_accepted_and_matches_are_apart(text: str) -> None:
    matches = find_pii(text, tuple(range(0, len(text), 17)))
    reached = 0
    for match in matches:
        assert reached <= match.start < match.end <= len(text)
        reached = match.end


@given(st.integers(0, 10**15 - 1), st.integers(0, 14), st.integers(1, 9))
def test_check_digit_detects_any_wrong_digit(number: int, place: int, shift: int) -> None:
    body = f"{number:015}"
    card = next(body + last for last in "0123456789" if luhn(body + last))
    wrong = str((int(card[place]) + shift) % 10)
    assert not luhn(card[:place] + wrong + card[place + 1 :])


@pytest.mark.parametrize("digits", ["4222222222222", "371449635398431", "36000000000008"])
def test_card_numbers_of_other_lengths(digits: str) -> None:
    assert is_card(digits)
    assert not is_card(digits + "0")


def test_ranges_of_numbers_that_are_given() -> None:
    assert is_card("2720990000000007")
    assert luhn("2721000000000004")
    assert not is_card("2721000000000004")
    assert not is_iban("US64SVBKUS6S3300958879")  # the country has none
    # 3(0 + 0 + 0) + 7(1 + 1 + 0) + (6 + 0 + 0) = 20.
    assert is_routing_number("016010000")
    # 3(4 + 0 + 0) + 7(0 + 0 + 0) + (0 + 0 + 8) = 20, but there is no Federal Reserve district 40.
    assert not is_routing_number("400000008")
    assert not is_ssn("900121234")


@pytest.mark.parametrize(
    "unit",
    ["a@", "1-", "(212) ", "4111 1111 ", "account no ", "telephone ", "DE89 ", "+49 ", "x.y@z."],
)
def test_work_grows_with_the_text_alone(unit: str) -> None:
    assert growth(lambda count: find_pii(unit * count), 2000) <= LINEAR
