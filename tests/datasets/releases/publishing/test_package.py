"""Rules for the whole package."""

import subprocess
import sys
from pkgutil import iter_modules

from portal.datasets.releases import publishing as package

NAMES = [module.name for module in iter_modules(package.__path__)]


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
