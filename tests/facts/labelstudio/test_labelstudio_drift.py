"""Regions whose offsets do not match the document are found by their text, or reported."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from portal.facts import (
    LabelledBy,
    Page,
    Placement,
    RefusedHtml,
    Region,
    SourcePage,
    canonicalise,
    place_regions,
    write_task,
)
from portal.facts.labelstudio.placing import Note, seen
from tests.facts.labelstudio.test_labelstudio import LABELS, _fact_at, fact, tasks_of
from tests.facts.strategies import PAGES, spans_over

ROWS = (
    "<table><tbody><tr><td>{}</td><td>1,200</td></tr><tr><td>Loss</td><td>1,200</td></tr></tbody>"
    "</table>"
)
PATH = "/p[1]/text()[1]"


def region(text: str, first: int = 0, last: int = 1, **fields: Any) -> Region:
    told: dict[str, Any] = {"id": "r1", "labels": ("Number",), "start": PATH, "end": PATH}
    return Region(**told | {"start_offset": first, "end_offset": last, "text": text} | fields)


def placed(html: str, *regions: Region, source: str = "") -> Placement:
    return place_regions(Page(html), regions, LABELS, SourcePage(source) if source else None)


def places(placement: Placement) -> list[tuple[int, int]]:
    return [(span.start, span.end) for span in placement.spans]


def reasons(placement: Placement) -> list[str]:
    return [note.reason for note in placement.unplaced]


def test_a_region_that_drifted_is_found_nearest_to_its_offsets() -> None:
    html = "<p>1,200 and, of late, 1,200 and again 1,200</p>"
    placement = placed(html, region("1,200", 18, 23))
    assert places(placement) == [(20, 25)]
    assert [str(note) for note in placement.moved] == ["result r1 '1,200': moved by 2"]


def test_of_two_places_the_one_is_taken_that_moved_as_the_nearest_region_did() -> None:
    html = "<p>500 12 abcdef 12 abcdef 4,321</p>"
    stays = region("500", 0, 3, id="stays")
    moved = region("4,321", 20, 25, id="moved")
    # Offset 8 is 4 away from the first 12 and 6 from the second; the nearest region did not move.
    placement = placed(html, stays, moved, region("12", 8, 10, id="either"))
    assert places(placement) == [(0, 3), (4, 6), (24, 29)]
    # Offset 9 is as far from one as from the other, which shows that no shift was added.
    placement = placed(html, stays, moved, region("12", 9, 11, id="either"))
    assert len(placement.unplaced) == 1


def test_what_stood_around_a_region_tells_more_than_its_offsets() -> None:
    source = ROWS.format("Net revenue of the whole year")
    first, second = ("/x/text()[1]",) * 2
    told = region("1,200", 0, 5, start=first, end=second, global_offsets=(38, 43))
    assert SourcePage(source).context(told).before.endswith("1,200Loss")
    # In the document the row before is short, so that the first 1,200 is the nearer one.
    html = f"<p>{'x' * 32}</p>" + ROWS.format("Net")
    placement = placed(html, told, source=source)
    assert places(placement) == [(44, 49)]
    assert placement.moved[0].reason == "moved by 6"


def test_offsets_of_former_versions_count_utf16_units() -> None:
    html = "<p>\U0001f4b6\U0001f4b6 12 and 12</p>"
    # Code points 3 to 5 are 5 to 7 in UTF-16; as code points these would read " a".
    assert places(placed(html, region("12", 5, 7))) == [(3, 5)]
    assert places(placed(html, region("12", 3, 5))) == [(3, 5)]
    assert placed(html, region("12", 5, 7)).moved == []


def test_offsets_over_the_page_stand_in_where_a_path_leads_nowhere() -> None:
    html = "<p>12<br>12<br>12</p>"
    told = region("12", 0, 2, start="/div[4]/text()[1]", global_offsets=(6, 8))
    placement = placed(html, told)
    assert places(placement) == [(4, 6)]
    assert placement.moved == []


def test_text_is_compared_as_it_is_shown() -> None:
    html = "<p>May&nbsp;27,\n 2021</p>"
    assert places(placed(html, region("May 27,\\n2021", 0, 13, labels=("Date",)))) == [(0, 13)]


def test_plain_text_regions_have_offsets_alone() -> None:
    told = region("12", 4, 6, start="", end="")
    assert places(placed("<p>Net 12</p>", told)) == [(4, 6)]
    moved = placed("<p>The net 12</p>", told)
    assert places(moved) == [(8, 10)]
    assert moved.moved[0].reason == "moved by 4"


def test_a_number_is_not_found_inside_another() -> None:
    html = "<p>11,200 and 1,200,000 and FY200 and x 1,200.</p>"
    assert places(placed(html, region("1,200", 0, 5))) == [(37, 42)]


def test_cells_part_numbers_that_the_text_joins() -> None:
    html = "<table><tbody><tr><td>1,586</td><td>1,702</td></tr></tbody></table><p>x 1,7022</p>"
    assert places(placed(html, region("1,702", 7, 9))) == [(5, 10)]


def test_regions_in_place_come_before_those_that_moved() -> None:
    html = "<p>12 or 12</p>"
    placement = placed(html, region("12", 1, 3, id="a"), region("12", 0, 2, id="b"))
    assert [(span.key, span.start) for span in placement.spans] == [("b", 0), ("a", 6)]


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        (region("13"), "its text is not in the document"),
        (region(" \\n "), "its text is white space"),
        (
            region("", 0, 1, start="/div[9]/text()[1]"),
            "its offsets are not in this document, and it has no text to search for",
        ),
        (
            region("12", start="/div[9]/text()[1]"),
            "its text occurs 2 times, and its place is ambiguous",
        ),
        (region("12", 6, 8), "its text occurs twice, just as far before as after its offsets"),
        (region("12", labels=("Money",)), "the label 'Money' is not one of Number, Date"),
        (region("12", labels=("Number", "Date")), "it has 2 labels; a span has one"),
        (region("12", labels=()), "it has 0 labels; a span has one"),
    ],
)
def test_what_cannot_be_placed_is_told(told: Region, reason: str) -> None:
    placement = placed("<p>12 or xy or 12</p>", told)
    assert placement.spans == []
    assert reasons(placement)[0].startswith(reason)
    [note] = placement.unplaced
    assert isinstance(note, Note)
    assert note.region == "r1"


def test_what_overlaps_is_told() -> None:
    html = "<p>1,200 m</p>"
    placement = placed(html, region("1,200", 0, 5), region("1,200 m", 0, 7, id="r2"))
    assert places(placement) == [(0, 5)]
    assert reasons(placement) == ["characters 0–6: it overlaps another result"]
    twice = placed(html, region("1,200", 0, 5), region("1,200", 3, 8, id="r2"))
    assert reasons(twice) == ["its text is there, but marked already"]


def test_a_region_without_text_is_placed_where_nothing_gainsays_it() -> None:
    assert places(placed("<p>12</p>", region("", 0, 2))) == [(0, 2)]
    contradicted = placed("<p>12<br>12</p>", region("", 0, 2, global_offsets=(3, 5)))
    assert places(contradicted) == []
    assert reasons(contradicted) == [
        "its offsets can be read in several ways, and it has no text to search for"
    ]


@pytest.mark.parametrize(("first", "last"), [(2, 4), (3, 5)])
def test_a_region_without_text_after_an_emoji_is_the_place_that_cuts_no_word(
    first: int, last: int
) -> None:
    """As code points, and as UTF-16 code units."""
    placement = placed("<p>\U0001f4b6 12 a</p>", region("", first, last))
    assert places(placement) == [(2, 4)]
    assert [note.reason for note in placement.remarks] == [
        "placed at characters 2–3, because its other places would cut a word"
    ]


def test_a_value_that_cannot_be_one_is_derived_and_told() -> None:
    placement = placed("<p>12</p>", region("12", 0, 2, details={"value": "twelve"}))
    assert placement.spans[0].value == "12"
    assert placement.remarks[0].reason.startswith("its value was invalid and derived again: ")


def test_ids_that_are_no_keys_or_come_twice_get_new_ones() -> None:
    html = "<p>12 34 56</p>"
    told = [region("12", 0, 2, id="r/1"), region("34", 3, 5, id="k"), region("56", 6, 8, id="k")]
    assert [span.key for span in placed(html, *told).spans] == ["ls-0", "k", "ls-6"]


@settings(max_examples=100)
@given(html=PAGES, data=st.data())
def test_spans_are_found_again_or_told_where_text_came_before_them(html: str, data: Any) -> None:
    """If text is inserted before it, every region is placed on its own text or reported."""
    try:
        canonical = canonicalise(html)
        later = canonicalise(f"<p>New at the top: 4,711</p>{canonical.html}")
    except RefusedHtml:
        return
    facts = [_fact_at(canonical.text, s) for s in data.draw(spans_over(canonical.text, LABELS))]
    (task,) = tasks_of(write_task(1, {}, canonical.html, [LabelledBy(1, 1, facts)]))
    source = SourcePage(task.html) if task.html else None
    placement = place_regions(Page(later.html), task.annotations[0].regions, LABELS, source)
    assert len(placement.spans) + len(placement.unplaced) == len(facts)
    quotes = {span.key: span.quote for span in facts}
    for span in placement.spans:
        assert later.text[span.start : span.end] == span.quote
        assert seen(span.quote) == seen(quotes[span.key])


def test_a_page_with_a_new_beginning_keeps_every_fact_where_it_was() -> None:
    html = "<p>Net 1,200</p><p>Loss (310)</p><p>Again 1,200</p>"
    facts = [fact(html, "1,200"), fact(html, "(310)")]
    (task,) = tasks_of(write_task(1, {}, html, [LabelledBy(1, 1, facts)]))
    later = "<h2>Results</h2>" + html
    placement = placed(later, *task.annotations[0].regions, source=html)
    assert places(placement) == [(11, 16), (21, 26)]
    assert placement.moved == []
