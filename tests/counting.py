"""How much work a call does, counted: the same on every machine, however busy.

What is compiled runs between two lines of Python and is not counted; texts are given as
`ScannedText` where it matters how often they are gone over.
"""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, SupportsIndex

# Twice the work, and what does not grow with it.
LINEAR = 2.2


def lines_run(call: Callable[[], object]) -> int:
    """How many lines of Python a call runs, in all modules."""
    count = 0

    def trace(_frame: FrameType, event: str, _argument: Any) -> Callable[..., Any]:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return count


def growth(call: Callable[[int], object], size: int) -> float:
    """Lines run for twice the size / lines run for the size: at most LINEAR if cost is linear.

    The call is made once before, so that whatever is cached by then is not counted.
    """
    call(size)
    small = lines_run(lambda: call(size))
    return lines_run(lambda: call(2 * size)) / small


class ScannedText(str):
    """A text that counts the characters that its own `find` and slices go over."""

    scanned = 0

    def find(
        self, sub: str, start: SupportsIndex | None = None, end: SupportsIndex | None = None
    ) -> int:
        found = super().find(sub, start, end)
        last = found + len(sub) if found >= 0 else len(self) if end is None else int(end)
        self.scanned += max(0, last - (0 if start is None else int(start)))
        return found

    def __getitem__(self, key: SupportsIndex | slice) -> str:
        part = super().__getitem__(key)
        self.scanned += len(part)
        return part
