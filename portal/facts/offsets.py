"""Offsets in UTF-16 code units, as browsers count, and in code points, as everything else here
does."""

import re
from bisect import bisect_left
from collections.abc import Sequence

_ASTRAL = re.compile("[\U00010000-\U0010ffff]")


def utf16_to_codepoint(text: str, offsets: Sequence[int]) -> list[int]:
    """The code-point offset of each UTF-16 offset into `text`, in the given order.

    Time is linear in the text. Raises ValueError for an offset outside the text or inside a
    surrogate pair.
    """
    # Where each astral character begins in UTF-16: every earlier one has pushed it by one unit.
    astral = [match.start() + k for k, match in enumerate(_ASTRAL.finditer(text))]
    length = len(text) + len(astral)
    converted = []
    for offset in offsets:
        if not 0 <= offset <= length:
            raise ValueError(f"UTF-16 offset {offset} is outside 0 to {length}")
        before = bisect_left(astral, offset)
        if before and astral[before - 1] == offset - 1:
            raise ValueError(f"UTF-16 offset {offset} is inside a character")
        converted.append(offset - before)
    return converted


def codepoint_to_utf16(text: str, offsets: Sequence[int]) -> list[int]:
    """The UTF-16 offset of each code-point offset into `text`, in the given order.

    Time is linear in the text. Raises ValueError for an offset outside the text.
    """
    astral = [match.start() for match in _ASTRAL.finditer(text)]
    converted = []
    for offset in offsets:
        if not 0 <= offset <= len(text):
            raise ValueError(f"offset {offset} is outside 0 to {len(text)}")
        converted.append(offset + bisect_left(astral, offset))
    return converted
