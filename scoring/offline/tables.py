"""Plain tables for a terminal. Text from a site or a file is untrusted, so control characters in it
are escaped."""

from collections.abc import Iterator, Sequence


def printable(text: str) -> str:
    """
    >>> printable("a\\x1b[31m\\n")
    'a\\\\x1b[31m\\\\n'
    """
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def table(rows: Sequence[Sequence[str]], numbers_from: int = 1) -> Iterator[str]:
    """Lines with aligned columns; those from `numbers_from` on are aligned to the right."""
    clean = [[printable(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*clean, strict=True)]
    for row in clean:
        cells = (
            cell.ljust(width) if number < numbers_from else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  ".join(cells).rstrip()


def shown_value(value: float | None, unit: str, decimals: int) -> str:
    """As a leaderboard shows it.

    >>> shown_value(0.12345, "%", 2), shown_value(None, "", 2)
    ('12.35%', 'n/a')
    """
    if value is None:
        return "n/a"
    return f"{value * (100 if unit == '%' else 1):.{decimals}f}{unit}"
