"""Programs of the system that some tests call."""

import os
import shutil

import pytest


def require_program(name: str) -> str:
    """Where the program is; without it the test is skipped, or fails where services must run."""
    found = shutil.which(name)
    if found is None:
        message = f"NO {name.upper()}: install it to run this"
        if os.environ.get("REQUIRE_SERVICES", "") not in {"", "0"}:
            pytest.fail(message)
        pytest.skip(message)
    return found
