"""Layouts of charts, worked out by hand."""

import pytest

from portal.web.charts import Amount, Line, Point, column_chart, line_chart, row_chart


def test_columns_are_as_high_as_they_count() -> None:
    chart = column_chart(
        "k", "T", [Amount("a", 4), Amount("b", 2), Amount("c", 0)], axis="name", unit="pages"
    )
    a, b, c = chart.bars
    assert a.height == 2 * b.height > c.height == 0
    assert a.y + a.height == b.y + b.height
    assert a.x + a.width <= b.x
    assert [text.text for text in chart.writings if text.anchor == "end"][:5] == list("01234")
    assert chart.description == "Pages by name. a: 4; b: 2; c: 0."


def test_names_that_would_run_into_each_other_are_left_out() -> None:
    chart = column_chart(
        "k", "T", [Amount(str(year), 1) for year in range(1990, 2030)], axis="year", unit="pages"
    )
    names = [text.text for text in chart.writings if text.text.isdigit() and len(text.text) == 4]
    assert names[:2] == ["1990", "1993"]
    assert len(names) <= 15


def test_rows_tell_their_amounts_and_shorten_long_names() -> None:
    chart = row_chart("k", "T", [Amount("a" * 40, 2_000), Amount("b", 0)], axis="t", unit="u")
    assert chart.bars[0].width > chart.bars[1].width == 0
    assert [text.text for text in chart.writings] == ["a" * 27 + "…", "2,000", "b", "0"]
    assert "a" * 40 in chart.description


def test_nothing_is_not_drawn() -> None:
    for draw in (
        lambda: column_chart("k", "T", [], axis="a", unit="u"),
        lambda: row_chart("k", "T", [], axis="a", unit="u"),
        lambda: line_chart("k", "T", [], [], axis="a"),
    ):
        with pytest.raises(ValueError, match="nothing to draw"):
            draw()


@pytest.mark.parametrize(
    ("low", "step", "least", "first"),
    [
        (0.93, 0.05, None, "0.90"),
        (0.5, 0.2, 0.0, "0.0"),
        (-0.3, 0.2, 0.0, "-0.4"),
        (1.0, 0.05, None, "0.95"),
    ],
)
def test_axis_begins_at_a_round_number_below(
    low: float, step: float, least: float | None, first: str
) -> None:
    points = [Point(1.0, low, 1.0, "p")]
    chart = line_chart(
        "k", "T", ["1"], [Line("first", "n", points)], axis="a", step=step, least=least
    )
    assert chart.rules[0][1] == first
    assert chart.rules[-1][1].startswith("1.0")
    mark = chart.lines[0].marks[0]
    assert mark.bottom is not None
    assert mark.y <= mark.bottom <= chart.bottom
