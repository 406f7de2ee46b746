"""What holds for the package as a whole."""

import doctest
import subprocess
import sys
from importlib import import_module
from pkgutil import iter_modules

import pytest

import portal.datasets.publishing as package

NAMES = [module.name for module in iter_modules(package.__path__)]


@pytest.mark.parametrize("name", ["change_notes", "citation", "starter_kit"])
def test_examples_in_docstrings(name: str) -> None:
    result = doctest.testmod(import_module(f"{package.__name__}.{name}"))
    assert result.attempted > 0
    assert result.failed == 0


def test_it_loads_neither_django_nor_what_takes_long() -> None:
    assert {"manifest", "verify"} <= set(NAMES)
    code = (
        "import sys\n"
        + "".join(f"import {package.__name__}.{name}\n" for name in NAMES)
        + "print(*{'django', 'numpy', 'pandas', 'pyarrow', 'yaml'} & set(sys.modules))"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == ""
