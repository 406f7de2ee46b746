"""Captures that move the page: turned, seen from the side, far away, cut off."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from PIL import Image

Rng = np.random.Generator
Point = tuple[float, float]
# The table on which a page lies, where it does not fill the image.
TABLE = (120, 108, 96)


def quarter(turns: int) -> Callable[..., tuple[Image.Image, dict[str, Any]]]:
    """A transform that turns the image clockwise by `turns` quarters, losing nothing."""
    ways = {
        1: Image.Transpose.ROTATE_270,
        2: Image.Transpose.ROTATE_180,
        3: Image.Transpose.ROTATE_90,
    }

    def turned(
        image: Image.Image, _strength: float, _rng: Rng, _others: Sequence[Image.Image]
    ) -> tuple[Image.Image, dict[str, Any]]:
        return image.transpose(ways[turns]), {"degrees": 90 * turns}

    return turned


def off_axis(
    image: Image.Image, strength: float, rng: Rng, _others: Sequence[Image.Image]
) -> tuple[Image.Image, dict[str, Any]]:
    """Each corner moves inwards by up to a third of the page, so that lines run together."""
    width, height = image.size
    reach = 0.33 * strength
    shifts = rng.uniform(0.4, 1.0, size=(4, 2)) * reach
    # One side goes away from the viewer, the other stays: else the page would only get smaller.
    near = int(rng.integers(4))
    shifts[near] *= 0.1
    signs = np.array([(1, 1), (-1, 1), (-1, -1), (1, -1)])
    corners = np.array([(0, 0), (width, 0), (width, height), (0, height)], dtype=float)
    moved = corners + shifts * signs * (width, height)
    page = image.transform(
        image.size,
        Image.Transform.PERSPECTIVE,
        perspective([tuple(c) for c in moved], [tuple(c) for c in corners]),
        Image.Resampling.BICUBIC,
        fillcolor=TABLE,
    )
    return page, {"corners": [[round(x), round(y)] for x, y in moved.tolist()]}


def perspective(seen: Sequence[Point], flat: Sequence[Point]) -> list[float]:
    """The eight numbers by which Pillow finds, for a point of the result, that of the page.

    `seen` are the page's four corners in the result, `flat` the same in the page.
    """
    rows, values = [], []
    for (x, y), (u, v) in zip(seen, flat, strict=True):
        rows.append([x, y, 1, 0, 0, 0, -u * x, -u * y])
        rows.append([0, 0, 0, x, y, 1, -v * x, -v * y])
        values += [u, v]
    solved: list[float] = np.linalg.solve(np.array(rows), np.array(values)).tolist()
    return solved


def small_region(
    image: Image.Image, strength: float, rng: Rng, _others: Sequence[Image.Image]
) -> tuple[Image.Image, dict[str, Any]]:
    """The page takes from two thirds down to an eighth of each side of the image."""
    scale = 0.66 - 0.54 * strength
    size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
    left = int(rng.integers(image.width - size[0] + 1))
    top = int(rng.integers(image.height - size[1] + 1))
    scene = Image.new("RGB", image.size, TABLE)
    scene.paste(image.resize(size, Image.Resampling.LANCZOS), (left, top))
    return scene, {"scale": round(scale, 4), "left": left, "top": top}


def crop(
    image: Image.Image, strength: float, rng: Rng, _others: Sequence[Image.Image]
) -> tuple[Image.Image, dict[str, Any]]:
    """Up to 45 % of the page's width and height are cut off, from edges that are drawn."""
    shares = rng.dirichlet(np.ones(2), size=2) * 0.45 * strength
    (left, right), (above, below) = shares
    box = (
        round(image.width * left),
        round(image.height * above),
        round(image.width * (1 - right)),
        round(image.height * (1 - below)),
    )
    return image.crop(box), {"box": list(box)}
