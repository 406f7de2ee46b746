"""What a result shows of a text: its beginning, as it can be stored."""

MOST_CHARACTERS = 200


def excerpt(text: str) -> str:
    """The beginning of a text that came from JSON, which may hold what no database can store: NUL
    and halves of surrogate pairs are replaced.

    >>> excerpt("Net\\0 loss \\ud83d")
    'Net\ufffd loss ?'
    """
    short = text[:MOST_CHARACTERS].replace("\0", "\N{REPLACEMENT CHARACTER}")
    return short.encode("utf-8", "replace").decode("utf-8")
