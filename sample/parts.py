"""Shared code of the loader's parts."""

from pathlib import Path

from portal.accounts.models import User
from portal.facts import LABEL_SETS

FOLDER = Path(__file__).resolve().parent
DATA = FOLDER / "data"
BENCHMARKS = FOLDER / "benchmarks"
TEXTS = FOLDER / "texts"
SLUG = "sample"
VERSION = "1.0.0"
LABELS = LABEL_SETS["v1"]

# People by the keys of people.py.
Cast = dict[str, User]


class SampleError(Exception):
    """The sample could not be loaded; the message explains why."""
