"""Counts the work of a call. The count is the same on every machine, however busy.

Compiled code is not counted, because it runs between two lines of Python. Pass a text as
`ScannedText` to count how many of its characters are read.
"""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, SupportsIndex

# Twice the work, with a margin for constant costs.
LINEAR = 2.2


def lines_run(call: Callable[[], object]) -> int:
    """Returns the number of Python lines that a call runs, in all modules."""
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
    """Returns lines run for twice the size / lines run for the size. Linear cost: at most LINEAR.

    One call before the count fills the caches.
    """
    call(size)
    small = lines_run(lambda: call(size))
    return lines_run(lambda: call(2 * size)) / small


class ScannedText(str):
    """A text that counts the characters that its own `find` and slices read."""

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
