"""The key of an endpoint: where it comes from."""

import os
from pathlib import Path

from scoring.offline.terminal import BadInput

# Local endpoints take it as a key. It is no secret.
NO_KEY = "none"


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
