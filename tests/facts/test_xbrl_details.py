"""Details of inline-XBRL facts, from the header and from each fact."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.facts import canonicalise, read_xbrl
from portal.facts.xbrl import Context, Period, XbrlResources, read_resources, read_xbrl_details
from tests.counting import LINEAR, growth

INSTANT = "<x:context id='c'><x:period><x:instant>2024-03-31</x:instant></x:period></x:context>"


def test_context_has_its_period_and_members() -> None:
    member = '<d:explicitMember dimension="a:Axis">a:Part</d:explicitMember>'
    header = f'<x:context id="c">{member}<x:instant> 2024-03-31\n</x:instant></x:context>'
    assert read_resources(header).contexts == {
        "c": Context(Period("", "2024-03-31"), {"a:Axis": "a:Part"})
    }


@pytest.mark.parametrize(
    ("inside", "spelled"),
    [
        ("<m:measure>iso4217:EUR</m:measure>", "EUR"),
        ("<m:measure>pure</m:measure>", "pure"),
        ("<m:measure>a:x</m:measure><m:measure>b:y</m:measure>", "x*y"),
        (
            "<m:divide><m:unitNumerator><m:measure>i:USD</m:measure></m:unitNumerator>"
            "<m:unitDenominator><m:measure>m:shares</m:measure></m:unitDenominator></m:divide>",
            "USD/shares",
        ),
        ("", ""),
    ],
)
def test_unit_is_spelled_without_prefixes(inside: str, spelled: str) -> None:
    assert read_resources(f'<m:unit id="u">{inside}</m:unit>').units == {"u": spelled}


def test_entity_is_read_from_the_header_and_the_page() -> None:
    html = (
        '<ix:header><ix:nonNumeric name="dei:AmendmentFlag">false</ix:nonNumeric></ix:header>'
        '<p><ix:nonNumeric name="dei:EntityRegistrantName"><b>A</b> &amp;\n Sons</ix:nonNumeric>'
        '<ix:nonNumeric name="dei:EntityRegistrantName">later</ix:nonNumeric>'
        '<ix:nonNumeric name="us-gaap:Note">no</ix:nonNumeric></p>'
    )
    assert read_resources(html).entity == {
        "AmendmentFlag": "false",
        "EntityRegistrantName": "A & Sons",
    }


def test_page_without_inline_xbrl_has_no_resources() -> None:
    assert read_resources("<p>ratio 1:2, unit: none</p>") == XbrlResources()


def test_details_are_those_of_the_fact() -> None:
    page = (
        '<p><ix:nonFraction name="a:X" contextRef="c" unitRef="u" scale="-2" format="ixt:n"'
        ">12</ix:nonFraction>% at <ix:nonNumeric name='a:D' contextRef='c' format='ixt:date-x'"
        ">May 1</ix:nonNumeric></p>"
    )
    resources = read_resources(f'{INSTANT}<x:unit id="u"><x:measure>x:pure</x:measure></x:unit>')
    canonical = canonicalise(page)
    number, date = read_xbrl_details(page, canonical, resources).details
    assert [number.fact, date.fact] == read_xbrl(page, canonical)
    assert number[1:] == ("", -2, "pure", ("", "2024-03-31"), (), "ixt:n")
    assert date[1:] == ("", 0, "", ("", "2024-03-31"), (), "ixt:date-x")


@pytest.mark.parametrize("scale", ["", "x", "999", "1.5", "١"])
def test_scale_that_is_none_is_zero(scale: str) -> None:
    page = f'<p><ix:nonFraction name="a:X" scale="{scale}">12</ix:nonFraction></p>'
    (detail,) = read_xbrl_details(page, canonicalise(page), XbrlResources()).details
    assert detail.scale == 0


@given(
    st.lists(
        st.sampled_from(
            [
                *('<x:context id="c">', "</x:context>", "<x:instant>", "</x:instant>", "text"),
                *('<x:unit id="u">', "</x:unit>", "<x:measure>", "</x:measure>", "<x:unit/>"),
                *('<ix:nonNumeric name="dei:A">', "</ix:nonNumeric>", "<ix:nonNumeric/>", "<p>"),
            ]
        ),
        max_size=30,
    )
)
def test_any_header_can_be_read(pieces: list[str]) -> None:
    resources = read_resources("".join(pieces))
    assert set(resources.contexts) <= {"c"}
    assert set(resources.units) <= {"u"}
    assert set(resources.entity) <= {"A"}


def test_reading_grows_with_the_filing() -> None:
    def read(size: int) -> None:
        html = f'{INSTANT}<ix:nonNumeric name="dei:A">x</ix:nonNumeric>' * size
        assert read_resources(html).contexts

    assert growth(read, 200) <= LINEAR


@pytest.mark.parametrize(
    ("before", "sign", "quote"),
    [
        ("Result \u2011 ", "-", "\u2011 154"),
        ("Loss \u25b3", "-", "\u25b3154"),
        ("Loss -$", "-", "-$154"),
        ("Result \u2011 ", "", "154"),
        ("Loss ", "-", "154"),
        ("10\u2013", "-", "154"),
    ],
)
def test_sign_in_front_of_a_negative_fact_belongs_to_it(before: str, sign: str, quote: str) -> None:
    html = f'<p>{before}<ix:nonFraction name="a:Loss" sign="{sign}">154</ix:nonFraction></p>'
    canonical = canonicalise(html)
    (detail,) = read_xbrl_details(html, canonical, XbrlResources()).details
    assert canonical.text[detail.fact.start : detail.fact.end] == quote
