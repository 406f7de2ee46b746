"""The examples in the docstrings are true."""

import doctest
from importlib import import_module
from pkgutil import walk_packages

import pytest

from portal import facts

MODULES = [found.name for found in walk_packages(facts.__path__, "portal.facts.")]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name: str) -> None:
    assert doctest.testmod(import_module(name)).failed == 0


def test_there_are_examples() -> None:
    """So that the test above does not pass for want of any."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    examples = [case for name in MODULES for case in finder.find(import_module(name))]
    assert sum(bool(case.examples) for case in examples) > 10
