"""Text for LaTeX."""

import re
from collections.abc import Callable, Iterator

_SPECIAL = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        # In LaTeX's default encoding these would print as other characters.
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        **{letter: f"\\{letter}" for letter in "&%$#_{}"},
    }
)
_BREAK = r"\allowbreak{}"
_ENDS = "|:,;/_.=+@()-"
_MARKED = re.compile(rf"[^{re.escape(_ENDS)}]+[{re.escape(_ENDS)}]*|[{re.escape(_ENDS)}]+")
_LONG_WORD = 16
LONG_IN_TYPEWRITER = 20
"""Letters of a word that find room in a line of a caption."""


def escaped(text: str) -> str:
    """Text that LaTeX prints as it is; a line break, which would end a comment, is a space.

    >>> escaped("R&D, 50 %")
    'R\\\\&D, 50 \\\\%'
    """
    return " ".join(text.split()).translate(_SPECIAL)


def breakable(
    text: str,
    escape: Callable[[str], str] = escaped,
    *,
    longest: int = _LONG_WORD,
    piece: int = _LONG_WORD // 2,
) -> str:
    """The same, with places for a line to end in words longer than `longest`, such as signatures
    and hashes: after their marks, and after every `piece` letters of what is still too long.

    >>> breakable("A short name"), breakable("labels:Number,Date")
    ('A short name', 'labels:\\\\allowbreak{}Number,\\\\allowbreak{}Date')
    """
    return " ".join(
        _BREAK.join(map(escape, _pieces(word, longest, piece))) for word in text.split()
    )


def _pieces(word: str, longest: int, piece: int) -> Iterator[str]:
    for part in _MARKED.findall(word) if len(word) > longest else [word]:
        step = piece if len(part) > longest else longest
        for first in range(0, len(part), step):
            yield part[first : first + step]
