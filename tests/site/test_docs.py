"""All files and functions that the documentation names exist."""

import re
from pathlib import Path

from django.conf import settings

ROOT = Path(settings.BASE_DIR)
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def test_every_file_that_the_architecture_names_exists() -> None:
    named = set(re.findall(r"`([a-z_]+/[a-z_/]*[a-z_]+\.(?:py|html))`", ARCHITECTURE))
    assert len(named) > 40
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


def test_every_function_of_the_walks_exists() -> None:
    steps = re.findall(r"^\d+\. `([^`]+\.py)`(.*)$", ARCHITECTURE, flags=re.MULTILINE)
    assert len(steps) > 40
    missing = [
        f"{path}: {name}"
        for path, text in steps
        for name in re.findall(r"`(\w+)`", text)
        if not re.search(rf"\b(def|class) {name}\b", (ROOT / path).read_text(encoding="utf-8"))
    ]
    assert missing == []
