"""Charts from rows to pictures, without the site."""

from collections.abc import Iterator
from datetime import date
from io import BytesIO
from typing import Any

import altair
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import ValidationError
from lxml import etree
from PIL import Image
from pypdfium2 import PdfDocument

from scoring.charts.drawing import draw_file, draw_svg
from scoring.charts.labels import place_labels
from scoring.charts.look import (
    COLOURS,
    LETTER,
    NARROW,
    SHAPES,
    WIDE,
    Room,
    Words,
    clean,
    short_names,
    size_of,
    with_words,
)
from scoring.charts.scatter import span
from scoring.charts.shapes import (
    Axis,
    Bar,
    Bars,
    Grid,
    GridRow,
    Point,
    Scatter,
    Shape,
    Slope,
    Slopes,
    front,
)
from scoring.charts.specs import specification
from tests.counting import LINEAR, growth

FFA = Axis("FFA", "%")
NAMES = ("Reader", "<script>alert(1)</script>", '😀 & "quoted" \\ datum.x', "Reader", "x" * 120)
SHOWN = (*NAMES[:3], "Reader (2)", "x" * 33 + "…")


def values(spec: dict[str, Any], layer: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = spec["layer"][layer]["data"]["values"]
    return found


def fields(rows: list[dict[str, Any]], *names: str) -> list[tuple[Any, ...]]:
    return [tuple(row[name] for name in names) for row in rows]


def shapes() -> dict[str, Shape]:
    """One chart of each kind, with untrusted names."""
    places = enumerate(NAMES)
    kinds = ("Dense", "Mixture of experts")
    points = [Point(name, 0.1 * i, 0.9 - 0.1 * i, kinds[i % 2]) for i, name in places]
    return {
        "pair": Scatter(Axis("Mean", "%"), FFA, tuple(points), kinds),
        "log": Scatter(
            Axis("Parameters", scale="log"),
            FFA,
            tuple(point._replace(x=10.0 ** (8 + i)) for i, point in enumerate(points)),
        ),
        "time": Scatter(
            Axis("Released", scale="time"),
            FFA,
            tuple(point._replace(x=date(2025, 1 + i, 1)) for i, point in enumerate(points)),
            line=((date(2025, 1, 1), 0.9), (date(2025, 2, 1), 0.9)),
        ),
        "slopes": Slopes(
            "by text", "by facts", tuple(map(Slope, NAMES, range(1, 6), (2, 1, 3, 3, 5)))
        ),
        "dots": Grid(
            "dots", "System", FFA, ("A", "B"), tuple(GridRow(n, (0.5, None)) for n in NAMES), 1
        ),
        "cells": Grid(
            "cells", "System", FFA, ("A", "B"), tuple(GridRow(n, (0.25, 0.5)) for n in NAMES)
        ),
        "bars": Grid(
            "bars",
            "System",
            FFA,
            ("A", "B ↓", "C", "D", "E"),
            tuple(
                GridRow(n, (0.1 * i, 0.5, None, 0.9, 1), ((0, 0.2), *[None] * 4), kinds[i % 2])
                for i, n in enumerate(NAMES)
            ),
            best=(0.4, 0.5, None, 0.9, 1),
            groups=kinds,
        ),
        "radar": Grid(
            "radar",
            "System",
            FFA,
            ("Key information", "Multilingual", "Documents", "Long name of an axis"),
            tuple(GridRow(n, (0.1 * i, 0.5, 0.6, 0.7)) for i, n in enumerate(NAMES)),
        ),
    }


@pytest.fixture(scope="module")
def both_sizes() -> list[str]:
    """Draw every chart in the usual size, then in the narrow one."""
    made = shapes().values()
    return [draw_svg(specification(each, room)) for room in (WIDE, NARROW) for each in made]


@pytest.fixture(scope="module")
def pictures(both_sizes: list[str]) -> dict[str, str]:
    made = shapes()
    return dict(zip(made, both_sizes[: len(made)], strict=True))


@pytest.mark.parametrize("kind", list(shapes()))
def test_every_picture_is_xml_with_every_name_as_text(pictures: dict[str, str], kind: str) -> None:
    root = etree.fromstring(with_words(pictures[kind], Words("A < B", "text & more")).encode())
    tags = {etree.QName(each).localname for each in root.iter(etree.Element)}
    assert not tags & {"script", "a", "image", "foreignObject"}
    texts = " | ".join(map(str, root.itertext()))
    for name in SHOWN:
        assert name in texts, name
    assert root[0].text == "A < B"
    assert root[1].text == "text & more"
    assert "prefers-color-scheme:dark" in str(root[2].text)


def test_a_picture_has_the_size_that_its_page_reserves(both_sizes: list[str]) -> None:
    """Vega would make it larger for axes and legends that do not fit their margins."""
    wanted = [
        size_of(specification(each, room)) for room in (WIDE, NARROW) for each in shapes().values()
    ]
    roots = [etree.fromstring(svg.encode()).attrib for svg in both_sizes]
    assert [(int(root["width"]), int(root["height"])) for root in roots] == wanted
    narrow = wanted[len(shapes()) :]
    # 390 without the margins of the page.
    assert max(size.width for size in narrow) <= 358
    assert min(size.width for size in wanted[: len(shapes())]) >= 440


def expressions(part: Any, key: str = "") -> Iterator[str]:
    """The parts of a specification that are evaluated."""
    if isinstance(part, dict):
        for name, value in part.items():
            if name != "values":
                yield from expressions(value, name)
    elif isinstance(part, list):
        for value in part:
            yield from expressions(value, key)
    elif key in {"expr", "test", "labelExpr", "zoom", "translate"}:
        yield str(part)


def test_expressions_contain_no_names() -> None:
    named = [set(expressions(specification(each))) for each in shapes().values()]
    other = "another name"
    points = tuple(Point(other, 0.1 * i, 0.5) for i in range(5))
    plain = set(expressions(specification(Scatter(Axis("Mean", "%"), FFA, points))))
    assert "highlight === '' || datum.name === highlight" in plain
    assert named[0] == plain
    assert not any(other in each for each in plain)
    assert not any(name in each for found in named for each in found for name in NAMES[1:])


def test_moments_are_written_for_the_interpreter() -> None:
    low, _ = specification(shapes()["time"])["encoding"]["x"]["scale"]["domain"]
    assert (low["utc"], low["year"], low["month"]) == (True, 2024, 12)


def test_bars_count_what_is_in_each_range() -> None:
    bars = Bars(Axis("Score", "%", 0), "Items", (Bar(0, 0.5, 3), Bar(0.5, 1, 0)))
    assert bars.table().texts == (("0", "50", "3"), ("50", "100", "0"))
    assert [bars.range_text(bar) for bar in bars.bars] == ["0 to below 50", "50 to 100"]
    assert fields(specification(bars)["data"]["values"], "low", "high", "number", "text") == [
        (0, 50, 3, "3"),
        (50, 100, 0, ""),
    ]


def test_every_colour_of_a_picture_has_a_dark_twin(pictures: dict[str, str]) -> None:
    styled = with_words("<svg>", Words("", ""))
    for svg in pictures.values():
        root = etree.fromstring(svg.encode())
        for name in ("fill", "stroke"):
            used = {str(each.attrib[name]) for each in root.iter() if name in each.attrib}
            for colour in used - {"none", "transparent"}:
                assert f'[{name}="{colour}"]' in styled, colour


def test_a_png_is_twice_the_size(pictures: dict[str, str]) -> None:
    width = int(etree.fromstring(pictures["slopes"].encode()).attrib["width"])
    with Image.open(BytesIO(draw_file(specification(shapes()["slopes"]), "png"))) as png:
        assert (png.format, png.width) == ("PNG", 2 * width)


def test_a_pdf_has_one_page_of_vectors_with_its_texts() -> None:
    chart = specification(shapes()["bars"])
    [page] = PdfDocument(draw_file(chart, "pdf"))
    size = size_of(chart)
    assert page.get_size() == size
    text = page.get_textpage().get_text_range()
    assert "Reader (2)" in text
    assert "100.00" in text


def test_a_scatter_has_its_points_times_100() -> None:
    points = (Point("A", 0.25, 0.5, "Dense"), Point("B", 0.75, 1.0, "Dense"))
    spec = specification(Scatter(Axis("Mean", "%"), FFA, points, ("Dense",)))
    assert fields(values(spec, 0), "x", "y", "group", "text_x", "text_y") == [
        (25, 50, "Dense", "25.00", "50.00"),
        (75, 100, "Dense", "75.00", "100.00"),
    ]
    # 8 % of 50 at both ends.
    assert spec["encoding"]["x"]["scale"]["domain"] == [21, 79]
    assert spec["encoding"]["x"]["title"] == "Mean (%)"
    assert [each["name"] for each in values(spec, 1)] == ["A", "B"]


def test_slopes_are_in_the_order_of_their_ranks() -> None:
    chart = Slopes("by text", "by facts", (Slope("A", 2, 1), Slope("B", 1, 2), Slope("C", 2, 3)))
    spec = specification(chart)
    assert fields(values(spec, 0), "name", "x", "y", "change") == [
        ("A", 0, 1, "better on the right"),
        ("A", 1, 0, "better on the right"),
        ("B", 0, 0, "worse on the right"),
        ("B", 1, 1, "worse on the right"),
        # Tied with A on the left, and below it.
        ("C", 0, 2, "worse on the right"),
        ("C", 1, 2, "worse on the right"),
    ]
    head, texts = spec["layer"][1]["layer"]
    assert fields(head["data"]["values"], "text") == [("by text",)]
    assert fields(texts["data"]["values"], "text") == [("A  2",), ("B  1",), ("C  2",)]


def test_cells_show_their_figures_and_are_empty_without_a_score() -> None:
    grid = Grid(
        "cells", "System", Axis("Share", "%", 1), ("X", "Y"), (GridRow("A", (0.125, None)),)
    )
    found = specification(grid)["data"]["values"]
    assert fields(found, "name", "column", "value", "text") == [("A", "X", 12.5, "12.5")]
    assert grid.table().texts == (("A", "12.5", "–"),)
    assert grid.table().lines == (("A", 0.125, None),)


def marks(spec: dict[str, Any], mark: str) -> list[list[dict[str, Any]]]:
    return [each["data"]["values"] for each in spec["layer"] if each["mark"]["type"] == mark]


def test_bars_share_an_axis_and_the_best_have_stars() -> None:
    rows = (GridRow("A", (0.5, 0.25), ((0.25, 0.75), None)), GridRow("B", (1.0, None)))
    spec = specification(Grid("bars", "System", FFA, ("X", "Y ↓"), rows, best=(1.0, 0.25)))
    [bars] = marks(spec, "rect")
    lengths = [bar["x2"] - bar["x"] for bar in bars]
    assert fields(bars, "name", "column", "shown", "is_best") == [
        ("A", "X", "50.00", False),
        ("B", "X", "100.00", True),
        ("A", "Y ↓", "25.00", True),
    ]
    assert lengths == pytest.approx([lengths[1] / 2, lengths[1], lengths[1] / 4])
    _, intervals = marks(spec, "rule")
    [interval] = intervals
    # The figure and the interval of A in X have the same middle.
    middle = (interval["x"] + interval["x2"]) / 2
    assert middle == pytest.approx(bars[0]["x2"])
    assert interval["x2"] - interval["x"] == pytest.approx(lengths[1] / 2)
    stars = [each for values in marks(spec, "text") for each in values if each["text"] == "★"]
    assert [star["y"] for star in stars] == [bars[1]["middle"], bars[2]["middle"]]


def test_a_radar_has_closed_lines_of_rows_with_all_figures() -> None:
    rows = tuple(GridRow(f"S{n}", (0.5, 1.0, 0.5, 0.25)) for n in range(6))
    part = GridRow("Part", (0.9, None, 0.9, 0.9))
    columns = ("up", "right", "down", "left")
    spec = specification(Grid("radar", "System", FFA, columns, (part, *rows)))
    _, corners = marks(spec, "line")
    assert {each["name"] for each in corners} == {f"S{n}" for n in range(5)}
    line = [(each["x"], each["y"]) for each in corners if each["name"] == "S0"]
    assert len(line) == 5
    assert line[0] == pytest.approx(line[4])
    (x, top), (right, y), (_, bottom), (left, _) = line[:4]
    centre, radius = (x, y), right - x
    assert top == pytest.approx(centre[1] - radius / 2)
    assert bottom == pytest.approx(centre[1] + radius / 2)
    assert left == pytest.approx(centre[0] - radius / 4)


def test_a_radar_needs_three_figures_and_a_row_with_all() -> None:
    for columns, values in ((("A", "B"), (0.5, 0.5)), (("A", "B", "C"), (0.5, None, 0.5))):
        with pytest.raises(ValueError, match="three figures"):
            specification(Grid("radar", "System", FFA, columns, (GridRow("S", values),)))


def test_intervals_of_points_are_lines_on_both_axes() -> None:
    points = (
        Point("A", 0.5, 0.5, x_ends=(0.25, 0.75), y_ends=(0.4, 0.6)),
        Point("B", 0.6, 0.6),
    )
    chart = Scatter(FFA, Axis("N-FFA", "%"), points)
    across, up = marks(specification(chart), "rule")
    assert fields(across, "name", "x", "to", "y") == [("A", 25, 75, 50)]
    assert fields(up, "name", "y", "to", "x") == [("A", 40, 60, 50)]
    # The axes have room for the intervals: 8 % of 50 and of 20 at both ends.
    assert specification(chart)["encoding"]["x"]["scale"]["domain"] == [21, 79]
    assert specification(chart)["encoding"]["y"]["scale"]["domain"] == pytest.approx([38.4, 61.6])
    assert chart.table().heads == (
        *("Model", "FFA", "FFA low", "FFA high"),
        *("N-FFA", "N-FFA low", "N-FFA high"),
    )
    assert chart.table().lines[0] == ("A", 0.5, 0.25, 0.75, 0.5, 0.4, 0.6)
    assert chart.table().texts[1] == ("B", "60.00", "–", "–", "60.00", "–", "–")


def test_a_group_keeps_its_colour_and_shape_in_every_chart() -> None:
    kinds = ("OCR", "Open", "Other")
    for used in (("OCR", "Open"), ("Open", "Other"), ("Open",)):
        points = tuple(Point(kind, 0.5, 0.5, kind) for kind in used)
        spec = specification(Scatter(FFA, FFA, points, kinds))
        for channel, values in (("color", COLOURS), ("shape", SHAPES)):
            scale = spec["layer"][0]["encoding"][channel]["scale"]
            assert dict(zip(scale["domain"], scale["range"], strict=True))["Open"] == values[1]


def test_only_the_first_rows_of_dots_have_colours() -> None:
    rows = tuple(GridRow(f"S{number}", (0.1 * number,)) for number in range(7))
    spec = specification(Grid("dots", "System", FFA, ("X",), rows))
    grey, coloured = values(spec, 0), values(spec, 1)
    assert {each["row"] for each in grey} == {"Others"}
    assert len(grey) == 2
    assert [each["row"] for each in coloured] == ["S0", "S1", "S2", "S3", "S4"]


@pytest.mark.parametrize(
    "shape", [Scatter(FFA, FFA, ()), Slopes("", "", ()), Grid("dots", "", FFA, ("A",), ())]
)
def test_nothing_cannot_be_drawn(shape: Shape) -> None:
    with pytest.raises(ValueError, match="at least one"):
        specification(shape)


def test_the_front_has_what_no_other_beats() -> None:
    points = [
        Point(n, x, y) for n, x, y in [("a", 1, 0.2), ("b", 1, 0.3), ("c", 2, 0.3), ("d", 3, 0.9)]
    ]
    assert [each.name for each in front(points, higher_is_better=True)] == ["b", "d"]
    assert [each.name for each in front(points, higher_is_better=False)] == ["a"]


def test_names_are_each_another_and_hold_nothing_that_xml_cannot() -> None:
    assert clean("a\x0b\ud800b\n c\ufffe") == "ab c"
    assert short_names(["", "\x0b", "A (2)", "A", "A"]) == ["?", "? (2)", "A (2)", "A", "A (3)"]


@given(st.lists(st.floats(1e-6, 1e12), min_size=1, max_size=30), st.booleans())
def test_places_and_values_of_an_axis_are_inverse(found: list[float], is_log: bool) -> None:
    room = span(found, 500, is_log=is_log)
    for value in found:
        assert 0 <= room.place(value) <= 500
        assert room.value(room.place(value)) == pytest.approx(value, rel=1e-6, abs=1e-3)


def test_names_of_points_that_are_close_do_not_cover_each_other() -> None:
    points = [(250.0, 150.0), (250.0, 152.0), (251.0, 149.0), (495.0, 5.0)]
    found = place_labels(points, ["first", "second", "third", "at the edge"], 500, 300)
    labels = [label for label in found if label is not None]
    assert len(labels) == 4
    lefts = [
        x + label.x - {"left": 0, "center": 20, "right": 40}[label.align]
        for (x, _), label in zip(points, labels, strict=True)
    ]
    middles = [y + label.y for (_, y), label in zip(points, labels, strict=True)]
    boxes = [(x, x + 40, y - 6, y + 6) for x, y in zip(lefts[:3], middles[:3], strict=True)]
    for place, one in enumerate(boxes):
        for other in boxes[place + 1 :]:
            assert (
                one[1] <= other[0] or other[1] <= one[0] or one[3] <= other[2] or other[3] <= one[2]
            )
    assert labels[3].align == "right"


def test_a_line_leads_from_a_point_to_a_distant_name() -> None:
    """Twelve names at one point: a name two lines away has a line to the edge of its text."""
    points = [(100.0, 150.0)] * 12
    labels = [label for label in place_labels(points, ["reader"] * 12, 200, 300) if label]
    far = [label for label in labels if abs(label.y) >= 2 * 14]
    assert far
    assert [label.is_far for label in labels] == [label in far for label in labels]
    crowd = tuple(Point(f"Reader {n}", 0.5, 0.5) for n in range(12))
    apart = Point("Far away", 0.1, 0.1)
    spec = specification(Scatter(Axis("Mean", "%"), FFA, (*crowd, apart), ()))
    leaders, texts = values(spec, 1), values(spec, 2)
    assert spec["layer"][1]["mark"]["type"] == "rule"
    assert fields(leaders, "name") == [(each["name"],) for each in texts if abs(each["dy"]) > 14]
    assert all(abs(each["to_y"]) == abs(each["dy"]) - 7 for each in leaders)
    assert "Far away" not in {each["name"] for each in leaders}


def test_a_name_for_which_there_is_no_room_is_left_out() -> None:
    """A picture of three lines has no room for twelve names at one point."""
    labels = place_labels([(100.0, 20.0)] * 12, ["a name of some length"] * 12, 330, 40)
    shown = [label for label in labels if label is not None]
    assert 0 < len(shown) < 12
    assert labels[0] is not None
    tops = sorted((label.y, label.x, label.align) for label in shown)
    assert len(set(tops)) == len(tops)


def test_names_in_a_crowd_cover_two_points_at_most() -> None:
    """A grid of 500 points, of which the first ten have names."""
    points = [(12.0 * (n % 50) + 6, 34.0 * (n // 50) + 17) for n in range(500)]
    labels = place_labels(points, ["reader"] * 10, 600, 340)
    assert len(labels) == 10
    shown = [(points[n], label) for n, label in enumerate(labels) if label is not None]
    assert shown
    length = 6 * 6.4
    for (x, y), label in shown:
        left = x + label.x - length * {"left": 0, "center": 0.5, "right": 1}[label.align]
        middle = y + label.y
        whole = [
            other
            for other, up in points
            if left <= other - 5 and other + 5 <= left + length and abs(up - middle) <= 1.5
        ]
        assert len(whole) <= 2


def test_a_legend_is_no_wider_than_its_plot() -> None:
    """Long names are listed one below the other, in full; short ones side by side."""
    for names, columns in (
        (("Qwen3-VL-8B (SFT+GRPO)", "Qwen3-VL-4B (SFT+GRPO)"), 1),
        (("A", "B"), 5),
    ):
        rows = tuple(GridRow(name, (0.5,)) for name in names)
        spec = specification(Grid("dots", "System", FFA, ("Perception",), rows), NARROW)
        colour = spec["layer"][-1]["encoding"]["color"]
        assert colour["scale"]["domain"] == list(names)
        assert colour["legend"]["columns"] == columns
        # This many characters, each name with its mark.
        assert columns * (34 + LETTER * len(names[0])) <= spec["width"]


@pytest.mark.parametrize("room", [WIDE, NARROW])
def test_specifications_keep_the_schema_of_vega_lite(room: Room) -> None:
    """Vega ignores unknown properties and wrong values; the schema does not."""
    for shape in shapes().values():
        altair.LayerChart.from_dict(specification(shape, room))
    with pytest.raises(ValidationError):
        altair.LayerChart.from_dict({**specification(shape, room), "widht": 3})


def test_the_cost_of_a_scatter_chart_is_linear_in_its_points() -> None:
    """Equal names, which are numbered, intervals of one axis only, and names in a crowd."""

    def points(size: int) -> list[Point]:
        ends = (0.2, 0.8)
        return [Point("Reader", n % 97, n % 89, y_ends=ends) for n in range(size)]

    def chart(size: int) -> Scatter:
        return Scatter(Axis("Mean"), Axis("Score"), tuple(points(size)))

    assert growth(lambda size: short_names(["Reader"] * size), 100) <= LINEAR
    assert growth(lambda size: chart(size).table(), 100) <= LINEAR
    assert growth(lambda size: specification(chart(size)), 100) <= LINEAR

    def labels(size: int) -> object:
        """As many names in a crowd of any size, which are compared with the points near them."""
        crowd = [(7.0 * (n % 83), 3.0 * (n % 97)) for n in range(size)]
        return place_labels(crowd, ["Reader"] * 24, 600, 300)

    assert growth(labels, 100) <= 1.3
