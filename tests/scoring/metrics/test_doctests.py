"""The docstring examples are correct."""

import doctest
import importlib
import pkgutil

import scoring.benchmarks
import scoring.judge
import scoring.metrics
from tests.many import together

MODULES = [
    module.name
    for package in (scoring.metrics, scoring.judge, scoring.benchmarks)
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
]


@together("name", MODULES)
def test_docstring_examples(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0
