"""Packages that no requirement file of the tests has."""

import os
from importlib.util import find_spec

import pytest


def require_package(name: str) -> None:
    """A missing package skips the test, or fails it with REQUIRE_EXTRAS (docs/testing.md)."""
    if find_spec(name) is None:
        message = f"NO {name.upper()}: install it to run this"
        if os.environ.get("REQUIRE_EXTRAS", "") not in {"", "0"}:
            pytest.fail(message)
        pytest.skip(message)
