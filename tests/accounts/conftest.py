"""Tests of accounts share the users they start from."""

from tests.worlds import _worlds_end, pytest_fixture_setup

__all__ = ["_worlds_end", "pytest_fixture_setup"]
