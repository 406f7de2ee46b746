"""The lines of a page as they were written: which word is in which column of which line.

The visible text of a page has single spaces. Tables in plain text, Markdown or LaTeX need the lines
and columns that this removes, so the reader of a page records them for all text outside of HTML
table cells.
"""

import re
from typing import NamedTuple

_PARTS = re.compile(r"\S+|[\n\t]")
_TAB = 8
# A page of more words is none of a document; the rest has no lines.
_MOST_WORDS = 100_000
_PIPE = "|"
# Dots that lead the eye from a label to its value.
LEADER = re.compile(r"[._·…](?:[._·…]{3,}|(?<=…)…*)")
LEADING = "._·…"


class Word(NamedTuple):
    """A word `[start, end)` of the visible text.

    `column` is where it begins in its line, in characters; `field` counts the tabs before it.
    """

    start: int
    end: int
    column: int
    field: int


Line = tuple[Word, ...]


class LineReader:
    """Collects the lines of a page, node by node. A blank line is an empty one."""

    def __init__(self) -> None:
        self._lines: list[Line] = []
        self._words: list[Word] = []
        self._column = 0
        self._field = 0
        self._is_piped = False
        self._is_new = False
        self._count = 0

    def text(self, text: str, places: list[tuple[int, int]]) -> None:
        """Add a text node, whose words are at `places` of the visible text; a word at an empty
        place is not visible."""
        self._count += len(places)
        if self._count > _MOST_WORDS:
            return
        if self._is_new and not self._words:
            text = _without_break(text)
        self._is_new = self._is_new and not places
        is_plain = " ".join(text.split()) == text.strip(" ") and not LEADER.search(text)
        if places and is_plain and all(start < end for start, end in places):
            self._plain_text(text, places)
        else:
            self._set_text(text, places)

    def _plain_text(self, text: str, places: list[tuple[int, int]]) -> None:
        """Add words with single spaces between them, so that their places show their columns."""
        if not self._words:
            self._is_piped = text.lstrip().startswith(_PIPE)
        shift = self._column + len(text) - len(text.lstrip()) - places[0][0]
        field, new = self._field, tuple.__new__
        # A page has thousands of words: they are created without calling the NamedTuple.
        self._words += [new(Word, (start, end, start + shift, field)) for start, end in places]
        self._column = places[-1][1] + shift + len(text) - len(text.rstrip())

    def _set_text(self, text: str, places: list[tuple[int, int]]) -> None:
        """Add words with other gaps between them."""
        line_start = -self._column
        words = iter(places)
        for match in _PARTS.finditer(text):
            part = match.group()
            if part == "\n":
                self._end(blank=True)
                line_start = match.end()
            elif part == "\t":
                self._field += 1
                # The columns behind a tab are as far right as in a terminal.
                reached = match.start() - line_start
                line_start -= _TAB - reached % _TAB - 1
            else:
                start, end = next(words)
                if start < end:
                    self._add(part, Word(start, end, match.start() - line_start, self._field))
                # Marks of facts in a word have no width.
                line_start += len(part) - (end - start)
        self._column = len(text) - line_start

    def end(self, *, is_break: bool = False) -> None:
        """End the line. A line break inside a row of a Markdown table does not."""
        if not (is_break and self._is_piped):
            self._end(blank=False)
            self._is_new = True

    def part(self) -> None:
        """End the line, and what may be one table with the lines that follow."""
        self._end(blank=False)
        self._end(blank=True)
        self._is_new = True

    def lines(self) -> tuple[Line, ...]:
        self._end(blank=False)
        return tuple(self._lines)

    def _add(self, part: str, word: Word) -> None:
        if not self._words:
            self._is_piped = part.startswith(_PIPE)
        if len(part) != word.end - word.start or not LEADER.search(part):
            self._words.append(word)
            return
        at = 0
        for match in [*LEADER.finditer(part), None]:
            stop = match.start() if match else len(part)
            pieces = [(at, stop), match.span() if match else (0, 0)]
            self._words += [
                Word(word.start + first, word.start + end, word.column + first, word.field)
                for first, end in pieces
                if first < end
            ]
            at = match.end() if match else stop

    def _end(self, *, blank: bool) -> None:
        if self._words or (blank and self._lines and self._lines[-1]):
            self._lines.append(tuple(self._words))
        self._words = []
        self._column = self._field = 0
        self._is_piped = False


def _without_break(text: str) -> str:
    """Return the text of a node at the beginning of a block without its line break, if it is not a
    blank line before words."""
    content = text.lstrip()
    before = text[: len(text) - len(content)]
    if not content:
        return ""
    return text[before.index("\n") + 1 :] if before.count("\n") == 1 else text
