"""Words of names and places: what is the same without a judge, by hand, and edits."""

from typing import Literal

from hypothesis import given
from hypothesis import strategies as st

from scoring.metrics.receipts import FIELDS, compare_field
from tests.counting import LINEAR, growth
from tests.many import together

RULES = {rule.name: rule for rule in FIELDS}
Field = Literal["seller_name", "place", "departure", "orig_invoice_time"]


def is_same(field: str, gold: str, prediction: str) -> bool:
    found = {
        compare_field(RULES[field], *pair).counts.tp == 1
        for pair in ((gold, prediction), (prediction, gold))
    }
    assert len(found) == 1, "either may be the gold"
    return found.pop()


@together(
    "field first second",
    [
        ("seller_name", "The Grand Hotel", "Grand Hotel"),
        ("seller_name", "Acme Co.", "Acme Company"),
        ("seller_name", "Acme Co., Ltd.", "ACME CO LTD"),
        ("seller_name", "Hotel Müller GmbH & Co. KG", "Hotel Müller GmbH"),
        ("seller_name", "株式会社ローソン", "ローソン"),
        ("seller_name", "McDonald’s", "mcdonalds"),
        ("seller_name", "Wal-Mart", "Walmart"),
        ("seller_name", "Starbucks Cofee", "Starbucks Coffee"),
        ("seller_name", "Café Zürich", "Cafe\u0301 Zu\u0308rich"),
        ("seller_name", "A&amp;B Store", "A&B Store"),
        ("seller_name", "ＡＢＣ　Ｓｔｏｒｅ", "ABC Store"),
        ("seller_name", "7-Eleven", "7-ELEVEN"),
        ("departure", "NORTH STATION", "North Stn."),
        ("departure", "Sydney Intl Airport", "Sydney International Airport"),
        ("departure", "St. Pancras Station", "Saint Pancras Stn"),
        ("departure", "Terminal 2", "Terminal Two"),
        ("place", "USA-New York", "United States-New York"),
        ("place", "U.S.A.-New York", "usa-new york"),
        ("place", "France-Orléans", "France-Orleans"),
        ("place", "Sydney, Australia", "Australia-Sydney"),
        ("place", "Philippines-Manila", "Philipines-Manila"),
        ("orig_invoice_time", "15-July-24", "2024-07-15"),
        ("orig_invoice_time", "令和6年5月1日", "2024年5月1日"),
        ("orig_invoice_time", "10:15 AM 06/07/2024", "10:15 06-07-2024"),
    ],
)
def test_the_same_meaning(field: str, first: str, second: str) -> None:
    assert is_same(field, first, second)


@together(
    "field first second",
    [
        ("departure", "North Station", "South Station"),
        ("departure", "Sydney North Station", "Sydney South Station"),
        ("departure", "Gate A", "Gate B"),
        ("departure", "Gate 12A", "Gate 12B"),
        ("departure", "Gate A, Hall B", "Gate B, Hall A"),
        ("departure", "Gate 5, Terminal 2", "Terminal 5, Gate 2"),
        ("departure", "Platform IV", "Platform VI"),
        ("departure", "London Heathrow Terminal 2", "London Heathrow Terminal 3"),
        ("departure", "北京南站", "北京西站"),
        ("departure", "서울역", "부산역"),
        ("departure", "Москва Казанский вокзал", "Москва Курский вокзал"),
        ("departure", "Kansas City, MO", "Kansas City, KS"),
        ("place", "China-Suzhou", "China-Fuzhou"),
        ("place", "China-Hangzhou", "China-Changzhou"),
        ("place", "India-Bangalore", "India-Mangalore"),
        ("place", "USA-Charleston", "USA-Charlestown"),
        ("place", "USA-Portland", "USA-Portlands"),
        ("departure", "Newtown Station", "Newton Station"),
        ("place", "Japan-Tokyo", "Japan-Kyoto"),
        ("place", "Australia-Sydney", "Austria-Sydney"),
        ("place", "United States-New York", "United States-York"),
        ("seller_name", "John Smith Ltd", "Joan Smith Ltd"),
        ("seller_name", "Hotel Nord Paris", "Hotel Sud Paris"),
        ("seller_name", "7-Eleven Store A", "7-Eleven Store B"),
        ("seller_name", "Grand Hotel 164", "Grand Hotel 165"),
        ("orig_invoice_time", "15-July-24", "16-July-24"),
        ("seller_name", "!!!", "???"),
        ("seller_name", "!!!", "Grand Hotel " * 500),
    ],
)
def test_another_meaning(field: str, first: str, second: str) -> None:
    assert not is_same(field, first, second)


NAMES = st.text(st.characters(categories=["Lu", "Ll", "Lo", "Nd", "Zs"]), min_size=1, max_size=30)


@given(NAMES.filter(str.strip), st.sampled_from(["seller_name", "place", "orig_start_time"]))
def test_case_and_spaces_change_nothing(text: str, field: str) -> None:
    assert is_same(field, text, f" {text.lower()}\n")
    assert is_same(field, text, text.replace(" ", "  "))


WORDS = st.lists(st.from_regex("[b-z]{3,9}", fullmatch=True), min_size=2, max_size=4, unique=True)


@given(WORDS, st.data())
def test_another_letter_is_another_place(words: list[str], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(words) - 1))
    letter = data.draw(st.integers(0, len(words[at]) - 1))
    changed = f"{words[at][:letter]}a{words[at][letter + 1 :]}"
    edited = [*words[:at], changed, *words[at + 1 :]]
    assert not is_same("place", " ".join(words), " ".join(edited))


def test_the_work_grows_with_the_text() -> None:
    def compare(size: int) -> None:
        compare_field(RULES["place"], "gate a " * size, "gate b " * size)

    assert growth(compare, 500) <= LINEAR
