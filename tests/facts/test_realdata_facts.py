"""Real filings: what a double click gives, against every fact of the gold."""

from collections import Counter
from functools import cache

from portal.facts import (
    LABEL_SETS,
    FactSpan,
    Span,
    TaggedPage,
    check_value,
    decode_html,
    find_facts,
    read_span_elements,
    read_tags,
    read_value,
    snap,
    span_warnings,
    text_borders,
    write_span_elements,
)
from tests.many import each_part, part_of
from tests.shared import REALDATA, needs_realdata

# The gold leaves a percent sign out when a space precedes it, and days and months that are
# counted ("30 days") are numbers to it; annotation rules B.1.3 want both as find_facts has them.
SHARE_OF_NUMBERS = 0.985


CUT = {"some": {"cut_fact": 1}, "rest": {"cut_fact": 6}}
# How many facts the gold has in each part of the pages.
FACTS = {"some": {"Number": 925, "Date": 98}, "rest": {"Number": 2932, "Date": 265}}


@cache
def _gold_pages(part: str) -> list[TaggedPage]:
    paths = part_of(sorted((REALDATA / "gold").iterdir()), part)
    return [read_tags(decode_html(path.read_bytes()), LABEL_SETS["v1"]) for path in paths]


def _fact(text: str, span: Span) -> FactSpan:
    quote = text[span.start : span.end]
    place = span.start, span.end, quote
    return FactSpan(f"k{span.start}", span.label, *place, *read_value(quote, span.label))


@needs_realdata
@each_part
def test_a_double_click_anywhere_in_a_fact_gives_the_fact(part: str) -> None:
    whole: Counter[str] = Counter()
    facts: Counter[str] = Counter()
    for page in _gold_pages(part):
        text, borders = page.canonical.text, text_borders(page.canonical.html)
        found = find_facts(text, borders)
        for span in page.spans:
            places = range(span.start, span.end)
            meant = {snap(text, borders, found, place, place) for place in places}
            facts[span.label] += 1
            whole[span.label] += meant == {(span.start, span.end)}
    assert facts == FACTS[part]
    assert whole["Date"] == facts["Date"]
    assert whole["Number"] / facts["Number"] > SHARE_OF_NUMBERS


@needs_realdata
@each_part
def test_every_real_fact_has_a_value_and_is_hardly_warned_of(part: str) -> None:
    codes: Counter[str] = Counter()
    for page in _gold_pages(part):
        text, borders = page.canonical.text, text_borders(page.canonical.html)
        for span in page.spans:
            value, sign = read_value(text[span.start : span.end], span.label)
            assert value
            assert check_value(value, sign, span.label) is None
            found = span_warnings(text, borders, span.start, span.end, span.label)
            codes.update(warning.code for warning in found)
    # The percent signs that the gold leaves out.
    assert codes == CUT[part]


@needs_realdata
@each_part
def test_the_facts_of_every_real_page_come_back_from_elements(part: str) -> None:
    for page in _gold_pages(part):
        text = page.canonical.text
        spans = [_fact(text, span) for span in page.spans]
        result = read_span_elements(write_span_elements(page.canonical.html, spans))
        assert result.canonical == page.canonical
        assert result.spans == spans
