"""Check digits of numbers that name a card, an account or a person, over plain digits."""

import tomllib
from functools import cache
from pathlib import Path
from typing import NamedTuple


class Issuer(NamedTuple):
    """First digits `[low, high]` of a card, and how many digits such cards have."""

    low: str
    high: str
    lengths: tuple[int, ...]


# Source: ISO/IEC 7812 and what the issuers publish. Maestro and RuPay are left out: their ranges
# are so wide and their lengths so free that any long number in them would be one in ten times.
ISSUERS = (
    Issuer("4", "4", (13, 16, 19)),  # Visa
    Issuer("51", "55", (16,)),  # Mastercard
    Issuer("2221", "2720", (16,)),
    Issuer("34", "34", (15,)),  # American Express
    Issuer("37", "37", (15,)),
    Issuer("6011", "6011", (16, 19)),  # Discover
    Issuer("644", "649", (16, 19)),
    Issuer("65", "65", (16, 19)),
    Issuer("300", "305", (14, 16, 19)),  # Diners Club
    Issuer("3095", "3095", (14, 16, 19)),
    Issuer("36", "36", (14, 16, 19)),
    Issuer("38", "39", (14, 16, 19)),
    Issuer("3528", "3589", (16, 19)),  # JCB
    Issuer("62", "62", (16, 17, 18, 19)),  # UnionPay
)


def is_card(digits: str) -> bool:
    """Whether an issuer gives cards that begin and are as long as this, and Luhn's sum is right.

    >>> is_card("4111111111111111"), is_card("4111111111111112"), is_card("1111111111111117")
    (True, False, False)
    """
    return luhn(digits) and any(
        issuer.low <= digits[: len(issuer.low)] <= issuer.high and len(digits) in issuer.lengths
        for issuer in ISSUERS
    )


def luhn(digits: str) -> bool:
    """Whether every digit, every second from the right doubled, adds up to a multiple of 10.

    A doubled digit above 9 counts as the sum of its two. Source: ISO/IEC 7812-1, annex B.

    >>> luhn("79927398713"), luhn("79927398710")
    (True, False)
    """
    doubled = (int(digit) * 2 for digit in digits[-2::-2])
    total = sum(map(int, digits[-1::-2])) + sum(number // 10 + number % 10 for number in doubled)
    return total % 10 == 0


def is_iban(characters: str) -> bool:
    """Whether its country has account numbers as long as this, and mod 97 leaves 1.

    `characters` are upper-case letters and digits without spaces. The first four go to the end, a
    letter counts as its place in the alphabet + 9. Source: ISO 13616 and ISO 7064.

    >>> is_iban("GB82WEST12345698765432"), is_iban("GB82WEST12345698765433")
    (True, False)
    """
    if iban_lengths().get(characters[:2]) != len(characters):
        return False
    moved = characters[4:] + characters[:4]
    return int("".join(str(int(character, 36)) for character in moved)) % 97 == 1


@cache
def iban_lengths() -> dict[str, int]:
    """Characters of an IBAN by country code."""
    path = Path(__file__).with_name("iban_lengths.toml")
    return {country: int(length) for country, length in tomllib.loads(path.read_text()).items()}


def is_routing_number(digits: str) -> bool:
    """Whether nine digits can be an ABA routing number.

    Its first two are 00 to 12, 21 to 32, 61 to 72 or 80, and 3, 7, 1 times its digits in turn add
    up to a multiple of 10. Source: American Bankers Association.

    >>> is_routing_number("021000021"), is_routing_number("021000022")
    (True, False)
    """
    first = int(digits[:2])
    ranges = ((0, 12), (21, 32), (61, 72), (80, 80))
    if len(digits) != 9 or not any(low <= first <= high for low, high in ranges):
        return False
    weights = (3, 7, 1) * 3
    return sum(int(digit) * by for digit, by in zip(digits, weights, strict=True)) % 10 == 0


def is_ssn(digits: str) -> bool:
    """Whether nine digits can be a social security number; they have no check digit.

    Area 000, 666 and 900 up, group 00 and serial 0000 are never given. Source: US Social Security
    Administration.

    >>> is_ssn("219099998"), is_ssn("666121234"), is_ssn("123001234")
    (True, False, False)
    """
    area, group, serial = digits[:3], digits[3:5], digits[5:]
    return area not in {"000", "666"} and area < "900" and group != "00" and serial != "0000"
