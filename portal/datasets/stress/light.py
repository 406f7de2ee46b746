"""Captures that change light and sharpness: shadows, glare, blur, the grid of a screen."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFilter

Rng = np.random.Generator
Floats = NDArray[np.float32]


def uneven_light(
    image: Image.Image, strength: float, rng: Rng, _others: Sequence[Image.Image]
) -> tuple[Image.Image, dict[str, Any]]:
    """Light falls off in a drawn direction, down to almost nothing, and the dark part is noisy."""
    angle = float(rng.uniform(0, 2 * np.pi))
    across = _ramp(image.size, angle)
    shade = 1 - 0.97 * strength * across**1.5
    pixels = _pixels(image) * shade[..., None]
    # A dark photo is noisy, and that is what hides small print in it.
    noise = rng.normal(0, 14 * strength, size=across.shape).astype(np.float32)
    pixels += (noise * across)[..., None]
    return _image(pixels), {"angle": round(angle, 4)}


def reflection(
    image: Image.Image, strength: float, rng: Rng, _others: Sequence[Image.Image]
) -> tuple[Image.Image, dict[str, Any]]:
    """Bright patches that grow with the strength, white in the middle."""
    width, height = image.size
    count = 1 + round(4 * strength)
    centres = rng.uniform(0.1, 0.9, size=(count, 2))
    sizes = rng.uniform(0.05, 0.09, size=count) + 0.22 * strength
    x = np.linspace(0, 1, width, dtype=np.float32)[None, :]
    y = np.linspace(0, height / width, height, dtype=np.float32)[:, None]
    glare = np.zeros((height, width), dtype=np.float32)
    for (cx, cy), size in zip(centres, sizes, strict=True):
        distance = (x - cx) ** 2 + (y - cy * height / width) ** 2
        glare += np.exp(-((distance / size**2) ** 2)).astype(np.float32) * 1.6
    shine = np.clip(glare, 0, 1)[..., None]
    pixels = _pixels(image) * (1 - shine) + 255 * shine
    return _image(pixels), {"patches": np.round(np.c_[centres, sizes], 4).tolist()}


def out_of_focus(
    image: Image.Image, strength: float, _rng: Rng, _others: Sequence[Image.Image]
) -> tuple[Image.Image, dict[str, Any]]:
    """Blur by up to 0.6 % of the page's width: letters of body text touch each other there."""
    radius = 0.006 * strength * image.width
    return image.filter(ImageFilter.GaussianBlur(radius)), {"radius": round(radius, 3)}


def secondary(
    image: Image.Image, strength: float, rng: Rng, _others: Sequence[Image.Image]
) -> tuple[Image.Image, dict[str, Any]]:
    """A screen photographed: fewer pixels than the page, the moiré of its grid, a colour cast."""
    scale = 1 - 0.78 * strength
    shown = image.resize(
        (max(1, round(image.width * scale)), max(1, round(image.height * scale))),
        Image.Resampling.BILINEAR,
    ).resize(image.size, Image.Resampling.NEAREST)
    period = float(rng.uniform(3.1, 5.3))
    angle = float(rng.uniform(0.05, 0.35))
    y, x = np.mgrid[0 : image.height, 0 : image.width].astype(np.float32)
    wave = np.sin(2 * np.pi * (x * np.cos(angle) + y * np.sin(angle)) / period)
    wave += np.sin(2 * np.pi * (y * np.cos(angle) - x * np.sin(angle)) / (period * 1.07))
    cast = np.array([0.94, 1.0, 1.06], dtype=np.float32)
    pixels = _pixels(shown) * cast + (wave * 26 * strength)[..., None]
    return _image(pixels), {
        "scale": round(scale, 4),
        "period": round(period, 4),
        "angle": round(angle, 4),
    }


def _ramp(size: tuple[int, int], angle: float) -> Floats:
    """From 0 at one edge to 1 at the opposite one, along `angle`."""
    width, height = size
    x = np.linspace(-0.5, 0.5, width, dtype=np.float32)[None, :]
    y = np.linspace(-0.5, 0.5, height, dtype=np.float32)[:, None]
    along = x * np.float32(np.cos(angle)) + y * np.float32(np.sin(angle))
    ramp: Floats = (along - along.min()) / (along.max() - along.min())
    return ramp


def _pixels(image: Image.Image) -> Floats:
    return np.asarray(image, dtype=np.float32)


def _image(pixels: Floats) -> Image.Image:
    return Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8), "RGB")
