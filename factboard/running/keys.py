"""The key of an endpoint: where it comes from, and how it stays out of everything that is kept."""

import os
from pathlib import Path

from factboard.errors import BadInput

# Local endpoints take it as a key. It is no secret.
NO_KEY = "none"
# A shorter one, such as EMPTY, is no secret either, and can be a word of an answer.
_SHORTEST = 8
_MASK = "[key]"


class UnusableKey(BadInput):
    """The key cannot be read; the message names the variable or the file."""


def read_key(variable: str, file: Path | None, *, is_required: bool = False) -> str:
    """The key in a file or an environment variable; `none` where neither is set."""
    if file is not None:
        try:
            key = file.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise UnusableKey(f"{file}: the key cannot be read") from error
        where = str(file)
    else:
        key, where = os.environ.get(variable, "").strip(), f"the variable {variable}"
        if not key and not is_required:
            return NO_KEY
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise UnusableKey(f"{where} holds no key: one word of ASCII characters was expected")
    return key


def masked(text: str, key: str) -> str:
    """The text without the key.

    >>> masked("Incorrect API key provided: sk-1234567", "sk-1234567")
    'Incorrect API key provided: [key]'
    """
    return text.replace(key, _MASK) if len(key) >= _SHORTEST else text
