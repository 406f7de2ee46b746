"""System programs that some tests call."""

import os
import shutil

import pytest


def require_program(name: str) -> str:
    """Returns the path. A missing program skips the test, or fails it with REQUIRE_SERVICES."""
    found = shutil.which(name)
    if found is None:
        message = f"NO {name.upper()}: install it to run this"
        if os.environ.get("REQUIRE_SERVICES", "") not in {"", "0"}:
            pytest.fail(message)
        pytest.skip(message)
    return found
