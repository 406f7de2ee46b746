"""The draw of a release's splits, read from untrusted archives."""

from typing import Any

import pytest

from portal.datasets.releases.publishing.rows import (
    PublishingError,
    draw_deviations,
    draw_words,
    read_draw,
)

DRAW = {"share": 0.5, "seed": 7, "group_by": "filing", "items": 9, "test_items": 4}


def test_a_draw_without_what_is_not_published() -> None:
    assert read_draw({**DRAW, "kinds": [{"kind": "x"}], "note": "x"}) == DRAW
    assert read_draw(None) == read_draw({}) == {}


@pytest.mark.parametrize(
    ("draw", "field"),
    [
        ([1], "draw"),
        ({**DRAW, "share": 1}, "draw.share"),
        ({**DRAW, "share": True}, "draw.share"),
        ({**DRAW, "share": "0.5"}, "draw.share"),
        ({**DRAW, "group_by": 3}, "draw.group_by"),
        ({**DRAW, "group_by": "x" * 41}, "draw.group_by"),
        ({**DRAW, "seed": -1}, "draw.seed"),
        ({**DRAW, "items": 2.5}, "draw.items"),
    ],
)
def test_a_bad_draw_is_refused_by_its_field(draw: Any, field: str) -> None:
    with pytest.raises(PublishingError) as caught:
        read_draw(draw)
    assert caught.value.where == field


def test_words_name_groups_that_were_divided_before() -> None:
    words = draw_words({**DRAW, "groups": 3, "divided": 1})
    assert words.endswith("Groups in both splits because of earlier releases: 1.")
    assert draw_words({}) == draw_words({"share": 0.5, "group_by": "none"}) == ""


def test_a_difference_below_one_item_is_no_deviation() -> None:
    kinds = [{"kind": "", "items": 5, "test_items": 2}, {"kind": "x", "items": 4, "test_items": 2}]
    assert draw_deviations({"share": 0.5, "kinds": kinds}) == ""
    kinds[0]["test_items"] = 4
    assert draw_deviations({"share": 0.5, "kinds": kinds}) == (
        "Document types that differ from the requested share: no type 4 of 5 (2.5 requested)."
    )
