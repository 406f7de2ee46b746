"""Letters and marks that are read for digits, and marks that mean nothing beside a value."""

_DIGITS = {
    **dict.fromkeys("OoQD", "0"),
    **dict.fromkeys("lIi|]", "1"),
    **dict.fromkeys("Zz", "2"),
    **dict.fromkeys("Ss", "5"),
    **dict.fromkeys("Gb", "6"),
    "B": "8",
    **dict.fromkeys("gq", "9"),
}
LOOK_ALIKES = frozenset(_DIGITS)
_AS_DIGITS = str.maketrans(_DIGITS)

# What a page or its reader sets beside a value without changing it: quotes, rules, bullets.
HARMLESS = frozenset("\"'|_~*[]{}:;!?<>•·=")


def as_digits(text: str) -> str:
    """The text with every look-alike as the digit it looks like; as long as before.

    >>> as_digits("1,ooo"), as_digits("3l")
    ('1,000', '31')
    """
    return text.translate(_AS_DIGITS)


def digits_of(text: str) -> str:
    return "".join(filter(str.isdigit, text))


def alnum_of(text: str) -> str:
    return "".join(filter(str.isalnum, text))
