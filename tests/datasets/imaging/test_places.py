"""The areas of a fact on an image, computed by hand. The JavaScript tests have the same cases."""

from portal.datasets.imaging.drawing import areas_of

BOXES = [
    [0, 3, 100, 50, 30, 20],
    [4, 5, 140, 50, 5, 20],
    [5, 10, 145, 50, 50, 20],
    [10, 11, 195, 50, 5, 20],
    [12, 16, 100, 80, 40, 20],
]


def sides(start: int, end: int) -> list[tuple[float, float, float, float]]:
    return [(a.left, a.top, a.right, a.bottom) for a in areas_of(BOXES, start, end)]


def test_word_has_its_own_area_and_a_part_its_share() -> None:
    assert sides(5, 10) == [(145, 50, 195, 70)]
    assert sides(6, 8) == [(155, 50, 175, 70)]


def test_words_of_a_line_are_one_area() -> None:
    assert sides(0, 16) == [(100, 50, 200, 70), (100, 80, 140, 100)]


def test_columns_are_apart() -> None:
    assert len(areas_of([[0, 2, 0, 0, 20, 20], [2, 4, 300, 0, 20, 20]], 0, 4)) == 2


def test_hidden_text_has_no_area() -> None:
    assert sides(3, 4) == sides(20, 30) == []
    assert areas_of([], 0, 5) == []
