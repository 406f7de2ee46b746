"""Boxes of runs, computed by hand: characters are ten pixels wide and twenty high."""

import pytest
from PIL import Image

from portal.datasets.imaging.drawing import Glyph, Run, align, find_runs, has_colour, is_visible


def line(text: str, *, top: float = 0, left: float = 0, sheet: int = 0) -> list[Glyph]:
    return [
        Glyph(char, sheet, left + 10 * n, top, left + 10 * n + 10, top + 20)
        for n, char in enumerate(text)
        if not char.isspace()
    ]


def boxes(text: str, glyphs: list[Glyph]) -> list[list[int]]:
    pairs = align(text, [glyph.char for glyph in glyphs])
    return [run.box() for run in find_runs(text, glyphs, pairs)]


def test_words_are_runs() -> None:
    assert boxes("Net sales", line("Net sales")) == [
        [0, 3, 0, 0, 30, 20],
        [4, 9, 40, 0, 50, 20],
    ]


def test_brackets_and_currency_are_separate_from_the_number() -> None:
    found = boxes("($1,200)", line("($1,200)"))
    assert [[start, end] for start, end, *_ in found] == [[0, 1], [1, 2], [2, 7], [7, 8]]
    assert found[2] == [2, 7, 20, 0, 50, 20]


def test_word_broken_over_two_lines_has_two_boxes() -> None:
    glyphs = [*line("semi-", left=200), *line("annual", top=25)]
    assert boxes("semi-annual", glyphs) == [[0, 5, 200, 0, 50, 20], [5, 11, 0, 25, 60, 20]]


def test_neighbouring_cells_without_space_are_apart() -> None:
    glyphs = [*line("12"), *line("34", left=100)]
    assert boxes("1234", glyphs) == [[0, 2, 0, 0, 20, 20], [2, 4, 100, 0, 20, 20]]


def test_sheets_are_apart() -> None:
    glyphs = [*line("12"), *line("34", left=20, sheet=1)]
    text = "1234"
    runs = list(find_runs(text, glyphs, align(text, list(text))))
    assert [(run.start, run.end, run.sheet) for run in runs] == [(0, 2, 0), (2, 4, 1)]


def test_box_covers_every_pixel_that_is_touched() -> None:
    assert Run(0, 1, 0, 0.6, 1.2, 9.1, 10.0).box() == [0, 1, 0, 1, 10, 9]


@pytest.mark.parametrize(("ink", "visible"), [(0, True), (220, True), (240, False), (255, False)])
def test_invisible_text_is_not_shown(ink: int, visible: bool) -> None:
    picture = Image.new("L", (50, 50), 255)
    picture.putpixel((5, 5), ink)
    assert is_visible(Run(0, 1, 0, 0, 0, 10, 10), picture) is visible
    assert not is_visible(Run(0, 1, 0, 20, 20, 30, 30), picture)
    assert not is_visible(Run(0, 1, 0, 5, 5, 5, 9), picture)


def test_text_that_differs_only_in_colour_is_shown() -> None:
    picture = Image.new("RGB", (50, 50), (255, 0, 0))
    picture.putpixel((5, 5), (0, 130, 0))
    assert is_visible(Run(0, 1, 0, 0, 0, 10, 10), picture)
    assert not is_visible(Run(0, 1, 0, 20, 20, 30, 30), picture)


@pytest.mark.parametrize(
    ("colour", "expected"),
    [((0, 0, 0), False), ((120, 124, 118), False), ((120, 120, 140), True), ((200, 0, 0), True)],
)
def test_a_picture_has_colour_where_one_point_is_no_grey(
    colour: tuple[int, int, int], expected: bool
) -> None:
    picture = Image.new("RGB", (50, 50), (255, 255, 255))
    picture.putpixel((5, 5), colour)
    assert has_colour(picture) is expected
