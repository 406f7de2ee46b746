"""The contract of the command's imports in pyproject.toml names every module of the site."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CONTRACT = "The command uses only what computes"
# The modules that the command may use, and the packages that hold some of them.
COMPUTES = set(
    "portal.facts portal.files.archives portal.files.member_names portal.files.pixels "
    "portal.files.tables portal.datasets.releases.publishing "
    "scoring.answering scoring.benchmarks scoring.judge scoring.metrics scoring.offline".split()
)
SPLIT = {"portal", "portal.datasets", "portal.datasets.releases", "portal.files", "scoring"}


def modules_of(package: str) -> set[str]:
    folder = ROOT / package.replace(".", "/")
    packages = {path.name for path in folder.iterdir() if any(path.glob("*.py"))}
    modules = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    return {f"{package}.{name}" for name in packages | modules}


def test_every_module_of_the_site_is_forbidden_to_the_command() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    [forbidden] = [each["forbidden_modules"] for each in contracts if each["name"] == CONTRACT]
    site = set[str]().union(*map(modules_of, SPLIT))
    assert set(forbidden) == {"annotation", "sample"} | site - SPLIT - COMPUTES
