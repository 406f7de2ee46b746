"""What readers ask of a line's id and of its texts, in one wording for every benchmark."""

from typing import Any

from scoring.benchmarks.reading import LONGEST_ID, Record, quoted

# Numbers from here on are not shown in messages.
_LARGE = 1e12


def check_id(record: Record) -> str | None:
    """What is wrong with the record's `id`, if anything."""
    if problem := check_text(record, "id", LONGEST_ID):
        return problem
    item = record.value["id"]
    if not item.strip() or not item.isprintable():
        return f"'id' must have 1 to {LONGEST_ID} printable characters"
    return None


def check_text(record: Record, key: str, longest: int) -> str | None:
    """What is wrong with the text under a key, if anything: it may be empty."""
    if key not in record.value:
        return f"has no {key!r}"
    text = record.value[key]
    if not isinstance(text, str):
        return f"{key!r} must be a string, not {kind_of(text)}"
    if "\0" in text:
        return f"{key!r} holds a NUL character"
    if len(text) > longest:
        return f"{key!r} is longer than {longest:,} characters"
    return None


def holds_nul(value: Any) -> bool:
    """Whether a key or string in a JSON value has a NUL character, which no database stores."""
    stack = [value]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            stack.extend(node)
            stack.extend(node.values())
        elif isinstance(node, list):
            stack.extend(node)
        elif isinstance(node, str) and "\0" in node:
            return True
    return False


def kind_of(value: object) -> str:
    """A JSON value's kind in words.

    >>> kind_of(None), kind_of(True), kind_of([1])
    ('null', 'true or false', 'a list')
    """
    if value is None:
        return "null"
    names = {str: "a string", bool: "true or false", int: "a number", float: "a number"}
    return {**names, list: "a list"}.get(type(value), "an object")


def named(value: object) -> str:
    """A JSON value as a message names it: a short text or number itself, anything else its kind.

    >>> named("kie"), named(45), named([[1]]), named(10**100)
    ("'kie'", '45', 'a list', 'a number')
    """
    if isinstance(value, str):
        return quoted(value)
    is_short = isinstance(value, int | float) and abs(value) < _LARGE
    return str(value) if is_short else kind_of(value)
