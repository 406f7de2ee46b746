"""Small starter kits for tests."""

import json
from pathlib import Path
from typing import Any

from tests.datasets.factories import png

PNG = png()


def make_kit(
    folder: Path,
    count: int = 3,
    *,
    benchmark: str = "fincriticaled",
    question: str = "",
    ids: list[str] | None = None,
    image: bytes = PNG,
    **about: Any,
) -> Path:
    """A starter kit as a folder, with one image per item."""
    names = ids or [f"p{number:04}" for number in range(count)]
    (folder / "images").mkdir(parents=True)
    lines = []
    for number, name in enumerate(names):
        file = f"images/{number:04}.png"
        # Every item has an image of its own, so that no two requests are the same.
        (folder / file).write_bytes(image + str(number).encode())
        lines.append(json.dumps({"id": name, "prompt": question, "images": [file]}))
    (folder / "items.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    whole = {"dataset": "filings", "version": "1.0.0", "benchmark": benchmark, **about}
    (folder / "kit.json").write_text(json.dumps(whole), encoding="utf-8")
    return folder
