"""Benchmarks are imported on first use, and the site starts without them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from scoring.benchmarks import Benchmark, Registry
from scoring.benchmarks.findoc import FINDOC

from .models import embedding_name_of, model_folder

# The imports of a site's process once it can respond, and its known benchmarks.
STARTED = """
import sys, django
django.setup()
import portal.urls
from scoring.benchmarks import BENCHMARKS
assert "fincriticaled" in BENCHMARKS and len(list(BENCHMARKS)) == 5
heavy = {"numba", "numpy", "openai", "scipy", "sentence_transformers", "torch"}
print(*sorted(heavy & sys.modules.keys()))
"""

# With an embedding set up, the benchmark is built and its options are checked without loading it.
CHECKED = """
import sys, django
django.setup()
from scoring.benchmarks import get_benchmark
spec = get_benchmark("receiptbench")
options = spec.check_options({"weights": "A"})
print(options["embedding"], spec.lacking(options) or "-", "sentence_transformers" in sys.modules)
"""


def _printed(program: str, tmp_path: Path, **settings: str) -> list[str]:
    settings |= {"DJANGO_SETTINGS_MODULE": "portal.settings", "VAR_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | settings,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.split()


def _embedding(tmp_path: Path) -> dict[str, str]:
    """Settings with a model, and packages whose import would be noticed."""
    model = model_folder(tmp_path / "tiny")
    packages = tmp_path / "packages"
    packages.mkdir()
    (packages / "sentence_transformers.py").write_text("print('imported')")
    path = os.pathsep.join([str(packages), os.environ.get("PYTHONPATH", "")])
    return {"EMBEDDING_MODEL": str(model), "PYTHONPATH": path}


@pytest.mark.slow
def test_the_site_starts_without_what_only_gradings_need(tmp_path: Path) -> None:
    assert _printed(STARTED, tmp_path) == []


def test_an_embedding_is_named_without_being_loaded(tmp_path: Path) -> None:
    settings = _embedding(tmp_path)
    name = embedding_name_of(tmp_path / "tiny")
    # One process checks both: the imports at start, and those of a benchmark's options.
    assert _printed(STARTED + CHECKED, tmp_path, **settings) == [name, "-", "False"]


def test_a_benchmark_is_resolved_once_and_only_when_asked_for() -> None:
    registry = Registry({"findoc": "scoring.benchmarks.findoc:FINDOC", "gone": "no_such:MODULE"})
    assert list(registry) == ["findoc", "gone"]
    assert "gone" in registry
    assert registry["findoc"] is FINDOC
    with pytest.raises(ModuleNotFoundError):
        registry["gone"]
    with pytest.raises(KeyError):
        registry["other"]


def test_a_known_benchmark_is_built_once_by_a_function() -> None:
    registry = Registry({"findoc": "scoring.benchmarks.findoc:FINDOC", "gone": "no_such:MODULE"})
    built = []

    def build() -> Benchmark:
        built.append(FINDOC)
        return FINDOC

    registry.build_by("findoc", build)
    assert (list(registry), built) == (["findoc", "gone"], [])
    assert registry["findoc"] is registry["findoc"] is FINDOC
    assert built == [FINDOC]
    with pytest.raises(KeyError):
        registry.build_by("other", build)


def test_a_registry_is_changed_like_a_dict() -> None:
    registry = Registry({})
    registry["findoc"] = FINDOC
    assert (len(registry), registry["findoc"]) == (1, FINDOC)
    del registry["findoc"]
    assert "findoc" not in registry
