"""Comparisons of releases: hand-made tables, properties and the Markdown notes."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from portal.datasets.releases.publishing import diff as notes_module
from portal.datasets.releases.publishing.diff import (
    FieldChange,
    ReleaseDiff,
    change_notes,
    code,
    compare_facts,
    diff_releases,
)
from portal.datasets.releases.publishing.rows import PublishedItem
from portal.facts import Fact
from tests.datasets.releases.publishing.examples import ITEMS, TEXTS, item, number, published
from tests.many import drawn

VERSIONS = ("1.0.0", "1.1.0")


def diff(before: Sequence[PublishedItem], after: Sequence[PublishedItem]) -> ReleaseDiff:
    return diff_releases(before, after, versions=VERSIONS)


def changes_of(before: Sequence[Fact], after: Sequence[Fact], **options: bool) -> list[Any]:
    return [
        (change.kind, change.aspects, change.before, change.after)
        for change in compare_facts(before, after, **options)
    ]


SALES = number("1,200", 4)
YEAR = number("2025", 20, 1)


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ([SALES, YEAR], []),
        ([replace(SALES, n=1), replace(YEAR, n=0)], []),
        ([SALES], [("removed", (), YEAR, None)]),
        (
            [SALES, YEAR, number("7", 30)],
            [("added", (), None, number("7", 30))],
        ),
        (
            [SALES, replace(YEAR, type="Date")],
            [("changed", ("label",), YEAR, replace(YEAR, type="Date"))],
        ),
        (
            [replace(SALES, value="1.200"), YEAR],
            [("changed", ("value",), SALES, replace(SALES, value="1.200"))],
        ),
        (
            [number("$1,200", 3), YEAR],
            [("changed", ("borders", "value"), SALES, number("$1,200", 3))],
        ),
        # One fact became two: the one with more in common is the same.
        (
            [number("1,2", 4), number("00", 7), YEAR],
            [
                ("changed", ("borders", "value"), SALES, number("1,2", 4)),
                ("added", (), None, number("00", 7)),
            ],
        ),
        # The label weighs more than the characters in common.
        (
            [number("1,2", 4, label="Date"), number("00", 7), YEAR],
            [
                ("added", (), None, number("1,2", 4, label="Date")),
                ("changed", ("borders", "value"), SALES, number("00", 7)),
            ],
        ),
    ],
)
def test_facts_are_matched_by_their_places(after: list[Fact], expected: list[Any]) -> None:
    assert changes_of([SALES, YEAR], after) == expected


def test_facts_of_another_text_are_matched_by_what_they_say() -> None:
    moved = [number("1,200", 14), number("7", 20), number("2025", 30, label="Date")]
    assert changes_of([SALES, YEAR], moved, same_text=False) == [
        ("added", (), None, moved[1]),
        ("removed", (), YEAR, None),
        ("added", (), None, moved[2]),
    ]


@st.composite
def facts(draw: st.DrawFn) -> list[Fact]:
    """Non-overlapping facts in any order."""
    borders = sorted(draw(st.sets(st.integers(0, 40), max_size=12)))
    pairs = list(zip(borders[::2], borders[1::2], strict=False))
    labels = st.sampled_from(["Number", "Date"])
    found = [Fact(n, draw(labels), f"{start}", start, end) for n, (start, end) in enumerate(pairs)]
    return draw(st.permutations(found))


@given(facts(), facts(), st.booleans())
def test_every_fact_is_in_one_change(before: list[Fact], after: list[Fact], same: bool) -> None:
    changes = compare_facts(before, after, same_text=same)
    was = [change.before for change in changes if change.before]
    now = [change.after for change in changes if change.after]
    assert len(set(was)) == len(was)
    assert len(set(now)) == len(now)
    assert set(was) <= set(before)
    assert set(now) <= set(after)
    # Facts without a change are on both sides, with the same labels and values.
    assert sorted((f.type, f.value) for f in before if f not in was) == sorted(
        (f.type, f.value) for f in after if f not in now
    )
    assert all(change.aspects for change in changes if change.kind == "changed")
    # No change leaves anything that could be paired.
    if same:
        lost = [change.before for change in changes if change.kind == "removed" and change.before]
        new = [change.after for change in changes if change.kind == "added" and change.after]
        assert not any(a.start < b.end and b.start < a.end for a in lost for b in new)


@given(facts(), st.booleans())
def test_facts_that_stay_are_no_change(facts: list[Fact], same: bool) -> None:
    assert not compare_facts(facts, facts, same_text=same)


def test_items_are_matched_by_name() -> None:
    before = [item("a", [SALES]), item("b", [SALES]), item("c")]
    after = [item("b", [SALES, YEAR]), item("c"), item("d", [SALES, YEAR])]
    found = diff(before, after)
    assert [(change.name, change.kind) for change in found.items] == [
        ("a", "removed"),
        ("b", "changed"),
        ("d", "added"),
    ]
    assert found.unchanged == 1
    assert [found.facts_of_kind(kind) for kind in ("added", "removed", "changed")] == [3, 1, 0]


def test_a_gold_line_is_compared_field_by_field() -> None:
    before = item("a", fields={"total": "12", "items": [{"n": 1}, {"n": 2}], "old": 0}, flag=1)
    after = item("a", fields={"total": "13", "items": [{"n": 1}, {"n": 3}]}, flag=True)
    (change,) = diff([before], [after]).items
    assert change.fields == (
        FieldChange("fields.items[1].n", 2, 3),
        FieldChange("fields.old", 0, None),
        FieldChange("fields.total", "12", "13"),
        FieldChange("flag", 1, True),
    )


def test_lists_of_other_lengths_are_one_change() -> None:
    (change,) = diff([item("a", x=[1, 2])], [item("a", x=[2])]).items
    assert change.fields == (FieldChange("x", [1, 2], [2]),)


def test_text_markup_and_split_are_told_apart() -> None:
    page = item("a", html="<p>x</p>")
    (markup,) = diff([page], [item("a", html="<div>x</div>")]).items
    assert (markup.markup, markup.text, markup.fields) == (True, False, ())
    (text,) = diff([page], [item("a", html="<p>y</p>", text_sha256="6" * 64)]).items
    assert (text.markup, text.text) == (False, True)
    (split,) = diff([replace(page, split="dev")], [replace(page, split="test")]).items
    assert (split.splits, split.facts, split.markup) == (("dev", "test"), (), False)


def test_gold_is_compared_where_both_sides_have_it() -> None:
    hidden = replace(item("a", [SALES]), gold=None)
    assert diff([hidden], [item("a", [YEAR])]).unchanged == 1


def test_items_must_be_sorted() -> None:
    with pytest.raises(ValueError, match="sorted by name: a comes after b"):
        diff([item("b"), item("a")], [])


@drawn(published(), published())
def test_every_item_is_told_of_once(
    before: list[PublishedItem], after: list[PublishedItem]
) -> None:
    found = diff(before, after)
    names = {item.name for item in before} | {item.name for item in after}
    assert len(found.items) + found.unchanged == len(names)
    assert not diff(before, before).items
    # Notes can be written for any change.
    assert change_notes(found, gold_is_open=lambda _: True).startswith("Since 1.0.0: ")


def test_notes_tell_of_every_change() -> None:
    before = [item("a", [SALES, YEAR]), item("b", total="1"), item("gone", [SALES])]
    after = [
        replace(item("a", [number("1,200.5", 4)]), split="dev"),
        item("b", total=None),
        item("new"),
    ]
    assert change_notes(diff(before, after), gold_is_open=lambda _: True) == (
        "Since 1.0.0: items 1 added, 1 removed, 2 changed, 0 unchanged. "
        "Facts 0 added, 2 removed, 1 changed.\n"
        "\n"
        "### Items added\n"
        "\n"
        "- `new` (0 facts)\n"
        "\n"
        "### Items removed\n"
        "\n"
        "- `gone` (1 fact)\n"
        "\n"
        "### Items changed\n"
        "\n"
        "- `a`\n"
        "  - split: none → dev\n"
        "  - borders and value changed: Number `1,200` at 4–9 → Number `1,200.5` at 4–11\n"
        "  - removed: Number `2025` at 20–24\n"
        "- `b`\n"
        '  - `total`: `"1"` → none\n'
    )


def test_notes_say_nothing_of_hidden_gold() -> None:
    before = [item("a", [SALES]), item("b", [SALES]), item("d", [number("77", 0)])]
    after = [item("a", [YEAR]), item("b", [YEAR]), item("c", [number("99", 0)])]
    note = change_notes(diff(before, after), gold_is_open=lambda name: name == "a")
    assert "Facts 1 added, 1 removed, 0 changed, in items whose gold is open." in note
    assert [line for line in note.splitlines() if "hidden" in line] == [
        "- `c`: the gold is hidden",
        "- `d`: the gold is hidden",
    ]
    assert "items 1 added, 1 removed, 1 changed, 1 unchanged" in note
    assert "`b`" not in note
    assert note.count("2025") == 1
    assert "77" not in note
    assert "99" not in note
    shut = change_notes(diff(before, after), gold_is_open=lambda _: False)
    assert "Facts" not in shut
    assert "2025" not in shut


def test_long_notes_are_cut_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notes_module, "MOST_ITEMS", 2)
    monkeypatch.setattr(notes_module, "MOST_CHANGES", 1)
    after = [item(name, [SALES, YEAR]) for name in "abcd"]
    before = [item(name) for name in "abcd"]
    note = change_notes(diff(before, after), gold_is_open=lambda _: True)
    assert note.count("  - and 1 more") == 2
    assert note.endswith("\n- and 2 more\n")


@drawn(st.text(st.sampled_from("`a *_<b>|\n[]()\\&"), max_size=20))
def test_quoted_text_is_never_markup(text: str) -> None:
    line = " ".join(text.split())
    html = MarkdownIt().renderInline(code(text))
    if line:
        shown = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        assert html == f"<code>{shown}</code>"
    else:
        assert html == "(empty)"


@given(TEXTS)
def test_quoted_text_is_one_line(text: str) -> None:
    assert "\n" not in code(text)


def test_the_examples_are_sorted() -> None:
    """The releases of other tests are sorted, so they can be compared."""
    assert diff(ITEMS, ITEMS).unchanged == len(ITEMS)
