"""Text for LaTeX."""

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


def escaped(text: str) -> str:
    """Text that LaTeX prints as it is; a line break, which would end a comment, is a space.

    >>> escaped("R&D, 50 %")
    'R\\\\&D, 50 \\\\%'
    """
    return " ".join(text.split()).translate(_SPECIAL)
