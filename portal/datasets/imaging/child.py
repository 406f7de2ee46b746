"""The rendering process: `python -m portal.datasets.imaging.child CHROMIUM LIMITS`.

It reads a line of JSON per document, {html, text, folder}, and writes one for each:
{"similarity", "pictures": [{file, width, height, boxes, thumbnail}]} or {"code", "reason"}. Its
first line is {"ready": true}, or {"no_browser"} with the reason. It ends when its input ends, so
that it does not outlive its worker.
"""

import json
import sys
from pathlib import Path
from typing import Any

from .drawing import draw_document, png
from .pictures import thumbnail
from .renderer import Limits, NoBrowserError, RenderingError, open_tab


def main(executable: str, limits: Limits) -> None:
    try:
        with open_tab(executable) as tab:
            _answer({"ready": True})
            for line in sys.stdin:
                _answer(_render(tab, json.loads(line), limits))
    except NoBrowserError as error:
        _answer({"no_browser": str(error)})


def _render(tab: Any, asked: dict[str, str], limits: Limits) -> dict[str, Any]:
    html = Path(asked["html"]).read_text(encoding="utf-8")
    text = Path(asked["text"]).read_text(encoding="utf-8")
    folder = Path(asked["folder"])
    try:
        drawing = draw_document(tab, html, text, limits)
    except RenderingError as error:
        return {"code": error.code, "reason": error.reason}
    pictures = []
    for number, drawn in enumerate(drawing.pictures, start=1):
        file, small = folder / f"{number}.png", folder / f"{number}.webp"
        file.write_bytes(png(drawn.picture))
        small.write_bytes(thumbnail(drawn.picture))
        width, height = drawn.picture.size
        pictures.append({"file": file.name, "thumbnail": small.name, "width": width})
        pictures[-1] |= {"height": height, "boxes": drawn.boxes}
    return {"similarity": drawing.similarity, "pictures": pictures}


def _answer(answer: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1], Limits(**json.loads(sys.argv[2])))
