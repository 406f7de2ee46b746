"""The examples in the docstrings are true."""

import doctest
from importlib import import_module

import pytest

MODULES = [
    "attributes",
    "borders",
    "drift",
    "finding",
    "labels",
    "tag_reading",
    "text_paths",
    "values",
    "visible",
    "words",
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name: str) -> None:
    result = doctest.testmod(import_module(f"portal.facts.{name}"))
    assert result.attempted > 0
    assert result.failed == 0
