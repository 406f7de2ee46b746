"""The examples in the docstrings of the readers hold."""

import doctest
from importlib import import_module

import pytest


@pytest.mark.parametrize("name", ["filing_types", "image_paths", "items"])
def test_examples_hold(name: str) -> None:
    result = doctest.testmod(import_module(f"portal.datasets.sources.{name}"))
    assert result.attempted
    assert not result.failed
