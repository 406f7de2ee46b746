"""Captures with more in the image than the page: clutter, watermarks, further documents."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from .geometry import TABLE

Rng = np.random.Generator
_WORDS = ("SAMPLE", "COPY", "VOID", "CONFIDENTIAL")


def clutter(
    image: Image.Image, strength: float, rng: Rng, _others: Sequence[Image.Image]
) -> tuple[Image.Image, dict[str, Any]]:
    """The page lies smaller on a table full of shapes, some of which lie over its edges."""
    scale = 0.92 - 0.25 * strength
    width, height = image.size
    scene = Image.new("RGB", image.size, TABLE)
    things = round(30 + 120 * strength)
    _scatter(scene, things, rng)
    size = (round(width * scale), round(height * scale))
    left, top = (width - size[0]) // 2, (height - size[1]) // 2
    scene.paste(image.resize(size, Image.Resampling.LANCZOS), (left, top))
    over = round(14 * strength)
    _scatter(scene, over, rng, frame=(left, top, left + size[0], top + size[1]))
    return scene, {"scale": round(scale, 4), "things": things, "over_edges": over}


def _scatter(
    scene: Image.Image, count: int, rng: Rng, frame: tuple[int, int, int, int] | None = None
) -> None:
    """Draws ellipses and boxes anywhere, or with their middle on the edge of `frame`."""
    draw = ImageDraw.Draw(scene)
    for _ in range(count):
        x, y = _on_edge(frame, rng) if frame else rng.uniform(0, 1, 2) * scene.size
        reach = rng.uniform(0.02, 0.11, 2) * scene.width
        colour = tuple(int(c) for c in rng.integers(30, 226, 3))
        box = [x - reach[0], y - reach[1], x + reach[0], y + reach[1]]
        shape = draw.ellipse if rng.random() < 0.5 else draw.rectangle
        shape([float(value) for value in box], fill=colour)


def _on_edge(frame: tuple[int, int, int, int], rng: Rng) -> tuple[float, float]:
    left, top, right, bottom = frame
    along = float(rng.random())
    side = int(rng.integers(4))
    x = (left, right)[side % 2] if side < 2 else left + along * (right - left)
    y = top + along * (bottom - top) if side < 2 else (top, bottom)[side % 2]
    return float(x), float(y)


def watermark(
    image: Image.Image, strength: float, rng: Rng, _others: Sequence[Image.Image]
) -> tuple[Image.Image, dict[str, Any]]:
    """A word, repeated in slanting lines over the page; darker and closer with the strength."""
    word = _WORDS[int(rng.integers(len(_WORDS)))]
    angle = float(rng.uniform(20, 50))
    size = round(image.width * (0.05 + 0.03 * strength))
    font = ImageFont.load_default(size)
    side = round(np.hypot(*image.size))
    sheet = Image.new("L", (side, side), 0)
    draw = ImageDraw.Draw(sheet)
    step = round(size * (3.2 - 1.9 * strength))
    line = "   ".join([word] * (side // (size * 2) + 2))
    for number, y in enumerate(range(0, side, step)):
        draw.text((-(number % 3) * size, y), line, fill=round(45 + 200 * strength), font=font)
    turned = sheet.rotate(angle, Image.Resampling.BILINEAR)
    left, top = (side - image.width) // 2, (side - image.height) // 2
    mask = turned.crop((left, top, left + image.width, top + image.height))
    marked = image.copy()
    marked.paste(Image.new("RGB", image.size, (70, 70, 80)), (0, 0), mask)
    return marked, {"word": word, "angle": round(angle, 4)}


def several(
    image: Image.Image, strength: float, rng: Rng, others: Sequence[Image.Image]
) -> tuple[Image.Image, dict[str, Any]]:
    """The page and one to three others on one image of the same size, the place drawn."""
    count = 2 if strength <= 0.5 else 4
    places = [(0, 0), (1, 0)] if count == 2 else [(0, 0), (1, 0), (0, 1), (1, 1)]
    rows = max(y for _, y in places) + 1
    cell = (image.width // 2, image.height // rows)
    scene = Image.new("RGB", image.size, TABLE)
    own = int(rng.integers(count))
    for number, (x, y) in enumerate(places):
        page = image if number == own else others[number % len(others)].convert("RGB")
        small = page.copy()
        small.thumbnail((round(cell[0] * 0.96), round(cell[1] * 0.96)), Image.Resampling.LANCZOS)
        at = (
            x * cell[0] + (cell[0] - small.width) // 2,
            y * cell[1] + (cell[1] - small.height) // 2,
        )
        scene.paste(small, at)
    return scene, {"documents": count, "place": own}
