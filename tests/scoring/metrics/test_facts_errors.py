"""Error types of damaged forms, from real OCR output."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.metrics.facts import ERROR_TYPES
from scoring.metrics.facts.errors import explain, is_found
from scoring.metrics.facts.occurrences import FactKind
from tests.many import together


@together(
    "value form expected",
    [
        ("(3,627)", "(3,627)", ""),
        # One error.
        ("(3,627)", "3,627)", "sign"),
        ("(245)", "(245}", "sign"),
        ("-2,175", '"2,175', "sign"),
        ("(333)", "1333)", "sign"),
        ("46,211", "4621)", "sign"),
        ("3,627", "(3,627)", "sign"),
        ("(2,144)", "(2,1_}", "sign"),
        # With the marks in their places no sign was lost, even if every digit is wrong.
        ("(79)", "(64)", "digit"),
        ("(9)", "(6)", "digit"),
        ("$(79)", "$(64)", "digit"),
        ("(9)%", "(6)%", "digit"),
        ("-9", "-6", "digit"),
        ("$9", "$6", "digit"),
        ("9%", "6%", "digit"),
        ("(1,234)", "(9,876,541,234)", "digit"),
        ("(9)", "6)", "sign"),
        ("(12)", "-(12)", "sign"),
        ("(15)", "(15%)", "unit"),
        ("(12)", "(.12)", "decimal"),
        ("2.71", "271", "decimal"),
        ("271", "2.71", "decimal"),
        ("2.37", "2 37", "decimal"),
        ("2,357.4", "2,3574", "decimal"),
        ("23,222.9", "23,2229", "decimal"),
        ("5,831.5", "5.8315", "decimal"),
        ("36,659", "366.59", "decimal"),
        ("60,013,807", "60.013807", "decimal"),
        ("1,789,475", "1,.789,475", "decimal"),
        ("1,200", "1,200.5", "decimal"),
        ("1,000", "1,ooo", "digit"),
        ("31", "3l", "digit"),
        ("4,276,992", "14,276,992", "digit"),
        ("919", "616", "digit"),
        ("23.3%", "23.39%", "digit"),
        ("1,200", "1,20", "digit"),
        ("1,200", "200", "digit"),
        ("3%", "396", "unit"),
        ("5.3%", "5.30/o", "unit"),
        ("$1,200", "81,200", "unit"),
        ("450", "450%", "unit"),
        ("4,568", "4568", "separator"),
        ("36,659", "36 659", "separator"),
        ("36,659", "36.659", "separator"),
        ("1,234.56", "1.234.56", "separator"),
        ("310", "3 1 0", "spacing"),
        ("21,237", "21 , 237", "spacing"),
        ("1.10", "1. 10", "spacing"),
        ("1.10", "$1. 10", "spacing"),
        ("(1,200)", "(1,2 00)", "spacing"),
        ("5 years", "5years", "spacing"),
        ("1,200 million", "1,200million", "spacing"),
        ("3 1/2", "31/2", "separator"),
        ("10 000", "10000", "separator"),
        ("8.88", "$8_.88", "other"),
        ("64,250", "250", "truncated"),
        ("89,748", "89,7_", "truncated"),
        ("(1,543)", "543)", "truncated"),
        ("44,186", "_,186", "truncated"),
        ("13,057.7", "13,057.7-12,134.4", "merged"),
        ("12,134.4", "13,057.7-12,134.4", "merged"),
        ("95,000", "95,000retainer", "merged"),
        # Several errors: the gravest.
        ("(107,458)", "207,458", "sign"),
        ("(297)", "97)", "sign"),
        ("(515)", "G15)", "sign"),
        ("(51,641)", "1641)", "sign"),
        ("(8,304)", "8.304)", "sign"),
        ("1,263,219", "1268-219)", "sign"),
        ("2.70", "280", "decimal"),
        ("18.5%", "18596", "decimal"),
        ("0.15", "01s", "decimal"),
        ("36,659", "36.658", "digit"),
        ("15,000", "15,oo0to", "digit"),
        ("487,881", "7881", "separator"),
        ("76,111", "76111281", "separator"),
    ],
)
def test_error_type_of_numbers(value: str, form: str, expected: str) -> None:
    assert explain(value, form, "number") == expected
    assert is_found(value, form, "number")


@pytest.mark.parametrize(
    ("value", "form", "before", "behind", "expected"),
    [
        # The gold text around the fact, and the prediction's.
        ("1,000", "S1,000", "of $", " each", ""),
        ("30", "&30", "of $", " each", ""),
        ("177", "196$177", "$ 196 $ ", "", ""),
        ("1,854", "(1.854", "of (", " shares)", "separator"),
        ("238", "of8238", "of $", " million", "unit"),
        ("18,298,000", "318,298,000", "$", "", "unit"),
        ("3.60", "$83.60,", "of $", ".", "digit"),
        ("3.1", "3.10/o", "", " %", "unit"),
        ("54,666", "54,6662)", "", " (2) D", "merged"),
        ("54,666", "54,666t2t", "", " (2) D", "merged"),
        ("54,666", "54,666(2)", "", " (2) D", ""),
        ("1,660.6", "-1,660.6", "issued - ", "", "sign"),
        ("20", "10-20", "10 - ", "", ""),
        ("88,331", "25)88.331", "line 25) ", "", "separator"),
        ("0.0001", "Bo.000l", "US$", "", "digit"),
    ],
)
def test_gold_text_next_to_a_number_counts(
    value: str, form: str, before: str, behind: str, expected: str
) -> None:
    assert explain(value, form, "number", before[::-1], behind) == expected


@together(
    "value form expected",
    [
        ("May 27, 2021", "May 27, 2021", ""),
        ("May 27, 2021", "May 27, 202l", "date"),
        ("April 16, 2025", "Apeil 16, 2025", "date"),
        ("Q2 2023", "Q3 2023", "date"),
        ("December 31", "December 315", "date"),
        ("12/13/2022", "12/3/2022", "date"),
        ("04/14/2028", "0a/1aJ20e8", "date"),
        ("June 18, 2020", "June 18 5020", "date"),
        ("November 22, 2024", "Novernber22,2024", "date"),
        ("December 31, 2024", "December 31", "truncated"),
        ("December 31, 2024", "31, 2024", "truncated"),
        ("November 22, 2024", "November22,2024", "spacing"),
        ("November 22, 2024", "November 22,2024", "spacing"),
        ("December 31, 2023", "December 31,2023", "spacing"),
        ("Q2 2023", "Q22023", "spacing"),
        ("07-01-2021", "07-01 -2021", "spacing"),
        ("07-01-2021", "07012021", "other"),
        ("January 12, 2023", "onJanuary12,2023,the", "merged"),
        ("December 31, 2023", "ofDecember 31, 2023", "merged"),
        ("June 30, 2023", "June 30 2023", "other"),
        ("June 30, 2023", "June 30. 2023", "other"),
        ("July 2022", "JuLy 2022", "other"),
        ("March 31, 2023", "March 3 1, 2023", "spacing"),
    ],
)
def test_error_type_of_dates(value: str, form: str, expected: str) -> None:
    assert explain(value, form, "date") == expected
    assert is_found(value, form, "date")


@pytest.mark.parametrize(
    ("value", "form", "expected"),
    [
        ("Adobe Inc.", "Adobe", "truncated"),
        ("Adobe", "Adobe Inc.", ""),
        ("Adobe", "theAdobe", "merged"),
        ("Adobe Inc.", "AdobeInc.", "spacing"),
        ("Adobe Inc.", "Ado be Inc.", "spacing"),
        ("Adobe Inc.", "theAdobeInc.", "merged"),
        ("Adobe", "Adohe", "other"),
    ],
)
def test_error_type_of_text(value: str, form: str, expected: str) -> None:
    assert explain(value, form, "text") == expected


@pytest.mark.parametrize(
    ("value", "form", "kind"),
    [
        ("(390)", "(3%", "number"),
        ("(333)", "(3)", "number"),
        ("1,000", "&l,ooo", "number"),
        ("100%", "IOO%", "number"),
        ("42,448", "42,_", "number"),
        ("0.82", "oaz", "number"),
        ("7", "1", "number"),
        ("26.3", "total", "number"),
        ("May 27, 2021", "Revenue", "date"),
        ("March 31, 2023", "2023", "date"),
        ("December 31, 2022", "fiscal 2022", "date"),
    ],
)
def test_less_than_half_of_a_value_is_not_found(value: str, form: str, kind: FactKind) -> None:
    assert not is_found(value, form, kind)


def _amount(parts: list[int], marks: str) -> str:
    return marks.replace("N", ",".join(map(str, parts)))


@given(
    st.lists(st.integers(0, 999), min_size=1, max_size=4),
    st.lists(st.integers(0, 999), min_size=1, max_size=4),
    st.sampled_from(["(N)", "$(N)", "(N)%", "(N.5)"]),
)
def test_a_number_that_keeps_its_parentheses_never_lost_its_sign(
    parts: list[int], other: list[int], marks: str
) -> None:
    value, form = _amount(parts, marks), _amount(other, marks)
    assert explain(value, form, "number") != "sign"
    assert bool(explain(value, form, "number")) == (value != form)


KINDS = st.sampled_from(["number", "date", "text"])
FORMS = st.text("0123456789.,'()-$%/oOlIB_ |aMy", max_size=20)


@given(FORMS.filter(str.strip), FORMS, KINDS, FORMS, FORMS)
def test_any_form_has_an_error_type(
    value: str, form: str, kind: FactKind, before: str, behind: str
) -> None:
    assert explain(value, form, kind, before, behind) in {"", *ERROR_TYPES} - {"missing"}
    assert is_found(value, form, kind) in {True, False}
