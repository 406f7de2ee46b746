"""Marks compared with gold: outcomes and counts, and properties of span agreement."""

from hypothesis import given
from hypothesis import strategies as st

from annotation.spans import Tally, compare_with_gold, span_f1, spans_of, tally, tally_by_label
from portal.facts import Span
from tests.scoring.metrics.plain import span_agreement

TEXT = "Net 1,200 and (310) on 31 March 2025, total 1,200."
NET, LOSS = Span(4, 9, "Number"), Span(14, 19, "Number")
DATE, TOTAL = Span(23, 36, "Date"), Span(44, 49, "Number")
GOLD = [NET, LOSS, DATE, TOTAL]


def outcomes(marked: list[Span]) -> list[str]:
    return [each.outcome for each in compare_with_gold(TEXT, GOLD, marked)]


def test_texts_are_where_the_spans_say() -> None:
    assert [TEXT[span.start : span.end] for span in GOLD] == [
        "1,200", "(310)", "31 March 2025", "1,200",
    ]  # fmt: skip


def test_every_kind_of_error_is_distinguished() -> None:
    marked = [NET, Span(15, 18, "Number"), Span(23, 36, "Number"), Span(37, 43, "Number")]
    assert outcomes(marked) == ["right", "boundary", "label", "extra", "missed"]


def test_white_space_at_the_ends_is_no_error() -> None:
    assert outcomes([Span(3, 10, "Number")]) == ["right", "missed", "missed", "missed"]


def test_one_mark_over_two_facts_is_one_stretch_with_both() -> None:
    (found,) = compare_with_gold("1 2", [Span(0, 1, "A"), Span(2, 3, "A")], [Span(0, 3, "A")])
    assert (found.outcome, found.start, found.end) == ("boundary", 0, 3)
    assert (len(found.gold), len(found.marked)) == (2, 1)
    assert tally([found]) == Tally(boundary=2, marked=1, expected=2)


def test_counts_by_hand() -> None:
    marked = [NET, Span(15, 18, "Number"), Span(23, 36, "Number"), Span(37, 43, "Number")]
    found = compare_with_gold(TEXT, GOLD, marked)
    assert tally_by_label(found) == {
        # A date marked as a number counts as an error of dates and as a mark of numbers.
        "Number": Tally(matched=1, boundary=1, missed=1, extra=1, marked=4, expected=3),
        "Date": Tally(label=1, expected=1),
    }
    total = tally(found)
    assert total == Tally(matched=1, label=1, boundary=1, missed=1, extra=1, marked=4, expected=4)
    assert (total.precision, total.recall, total.f1, total.errors) == (1 / 4, 1 / 4, 1 / 4, 4)


def test_rates_without_anything_to_divide_by_are_none() -> None:
    nothing = tally(compare_with_gold(TEXT, [], []))
    assert (nothing.precision, nothing.recall, nothing.f1) == (None, None, None)
    missed = tally(compare_with_gold(TEXT, GOLD, []))
    assert (missed.precision, missed.recall, missed.f1) == (None, 0.0, 0.0)


def test_f1_by_hand() -> None:
    assert span_f1(3, 4, 5) == 6 / 9
    assert span_f1(0, 0, 0) is None


def test_stored_spans_lose_what_follows_the_label() -> None:
    assert spans_of([[4, 9, "Number", "1200", "plain"], (0, 2, "Date")]) == [
        NET,
        Span(0, 2, "Date"),
    ]


@st.composite
def disjoint(draw: st.DrawFn) -> list[Span]:
    borders = sorted(draw(st.sets(st.integers(0, 40), max_size=12)))
    labels = st.sampled_from(["Number", "Date"])
    return [
        Span(start, end, draw(labels))
        for start, end in zip(borders[::2], borders[1::2], strict=False)
    ]


@given(disjoint(), disjoint())
def test_counts_add_up_and_equal_span_agreement(gold: list[Span], marked: list[Span]) -> None:
    text = "x" * 41
    found = compare_with_gold(text, gold, marked)
    total = tally(found)
    assert total.expected == len(gold)
    assert total.marked == len(marked)
    assert total.matched + total.label + total.boundary + total.missed == total.expected
    other = span_agreement(gold, marked)
    assert (total.matched, total.f1) == (other.exact, other.exact_f1)
    assert [each.start for each in found] == sorted(each.start for each in found)


@given(disjoint())
def test_gold_against_itself_is_right(gold: list[Span]) -> None:
    assert {each.outcome for each in compare_with_gold("x" * 41, gold, gold)} <= {"right"}
