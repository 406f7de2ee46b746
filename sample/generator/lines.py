"""Lines of a statement: a label and its figure in every period."""

from collections.abc import Mapping, Sequence

from sample.generator.figures import Draw, Figures, added, amounts
from sample.generator.tables import Row

Line = tuple[str, Figures]


def drawn(
    draw: Draw, ranges: Sequence[tuple[str, int, int]], periods: int, percent: int = 12
) -> list[Line]:
    """Lines with figures in the given ranges; earlier periods lie within `percent` of the last."""
    return [(label, draw.series(low, high, periods, percent)) for label, low, high in ranges]


def sums(lines: Sequence[Line]) -> Figures:
    """The total of every period."""
    return added(*(figures for _, figures in lines))


def rows(
    lines: Sequence[Line], notes: Mapping[str, str] | None = None, indent: int = 1
) -> list[Row]:
    """Rows of a statement; `notes` gives the note number of some labels."""
    marks = notes or {}
    return [
        Row(label, amounts(figures), indent=indent, note=marks.get(label, ""))
        for label, figures in lines
    ]
