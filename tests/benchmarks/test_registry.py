"""Benchmarks are imported when they are asked for, and the site starts without them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from scoring.benchmarks.findoc import FINDOC
from scoring.benchmarks.registry import Registry

# What a process of the site has imported once it can answer, and of which benchmarks it knows.
STARTED = """
import sys, django
django.setup()
import portal.urls
from scoring.benchmarks import BENCHMARKS
assert "fincriticaled" in BENCHMARKS and len(list(BENCHMARKS)) == 5
print(*sorted({"numba", "numpy", "scipy"} & sys.modules.keys()))
"""


def test_the_site_starts_without_numerical_libraries(tmp_path: Path) -> None:
    settings = {"DJANGO_SETTINGS_MODULE": "portal.settings", "VAR_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", STARTED],
        env=os.environ | settings,
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == []


def test_a_benchmark_is_resolved_once_and_only_when_asked_for() -> None:
    registry = Registry({"findoc": "scoring.benchmarks.findoc:FINDOC", "gone": "no_such:MODULE"})
    assert list(registry) == ["findoc", "gone"]
    assert "gone" in registry
    assert registry["findoc"] is FINDOC
    with pytest.raises(ModuleNotFoundError):
        registry["gone"]
    with pytest.raises(KeyError):
        registry["other"]


def test_a_registry_is_changed_like_a_dict() -> None:
    registry = Registry({})
    registry["findoc"] = FINDOC
    assert (len(registry), registry["findoc"]) == (1, FINDOC)
    del registry["findoc"]
    assert "findoc" not in registry
