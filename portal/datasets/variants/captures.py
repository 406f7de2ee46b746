"""Simulated captures: page images that are degraded in a repeatable way. No Django.

Rotations follow CC-OCR's multi-orientation images; the ten others simulate the capture
conditions of FCMBench, table 2. The same page, kind, strength and seed give the same pixels with
the same `VERSION`. `CAPTURES` lists all kinds, `simulate` applies one, and `contact_sheet` shows
pictures side by side.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFilter, ImageFont

Rng = np.random.Generator
Point = tuple[float, float]
# The colour of the table around a page that does not fill the image.
TABLE = (120, 108, 96)


def quarter(turns: int) -> Callable[..., tuple[Image.Image, dict[str, Any]]]:
    """Return a lossless transform that turns the image clockwise by `turns` quarters."""
    ways = {
        1: Image.Transpose.ROTATE_270,
        2: Image.Transpose.ROTATE_180,
        3: Image.Transpose.ROTATE_90,
    }

    def turned(
        image: Image.Image, _strength: float, _rng: Rng, _others: Sequence[Image.Image]
    ) -> tuple[Image.Image, dict[str, Any]]:
        way = ways.get(turns)
        return image if way is None else image.transpose(way), {"degrees": 90 * turns}

    return turned


def any_quarter(
    image: Image.Image, strength: float, rng: Rng, others: Sequence[Image.Image]
) -> tuple[Image.Image, dict[str, Any]]:
    """Turn the image by 0, 90, 180 or 270 degrees."""
    return quarter(int(rng.integers(4)))(image, strength, rng, others)


def off_axis(
    image: Image.Image, strength: float, rng: Rng, _others: Sequence[Image.Image]
) -> tuple[Image.Image, dict[str, Any]]:
    """Move each corner inwards by up to a third of the page."""
    width, height = image.size
    reach = 0.33 * strength
    shifts = rng.uniform(0.4, 1.0, size=(4, 2)) * reach
    # One corner hardly moves, because otherwise the page would only get smaller.
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
    """Return the eight coefficients with which Pillow maps a point of the result to the page.

    `seen` are the four corners in the result, `flat` the same corners in the page.
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
    """Shrink the page to two thirds down to an eighth of each side of the image."""
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
    """Cut off up to 45% of the width and height, at random edges."""
    shares = rng.dirichlet(np.ones(2), size=2) * 0.45 * strength
    (left, right), (above, below) = shares
    box = (
        round(image.width * left),
        round(image.height * above),
        round(image.width * (1 - right)),
        round(image.height * (1 - below)),
    )
    return image.crop(box), {"box": list(box)}


Floats = NDArray[np.float32]


def uneven_light(
    image: Image.Image, strength: float, rng: Rng, _others: Sequence[Image.Image]
) -> tuple[Image.Image, dict[str, Any]]:
    """Darken the page in a random direction down to almost black, and add noise there."""
    angle = float(rng.uniform(0, 2 * np.pi))
    across = _ramp(image.size, angle)
    shade = 1 - 0.97 * strength * across**1.5
    pixels = _pixels(image) * shade[..., None]
    # Dark photos have noise, which hides small print.
    noise = rng.normal(0, 14 * strength, size=across.shape).astype(np.float32)
    pixels += (noise * across)[..., None]
    return _image_of(pixels), {"angle": round(angle, 4)}


def reflection(
    image: Image.Image, strength: float, rng: Rng, _others: Sequence[Image.Image]
) -> tuple[Image.Image, dict[str, Any]]:
    """Add bright patches with white centres that grow with the strength."""
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
    return _image_of(pixels), {"patches": np.round(np.c_[centres, sizes], 4).tolist()}


def out_of_focus(
    image: Image.Image, strength: float, _rng: Rng, _others: Sequence[Image.Image]
) -> tuple[Image.Image, dict[str, Any]]:
    """Blur by up to 0.6% of the page's width, so that characters of body text run together."""
    radius = 0.006 * strength * image.width
    return image.filter(ImageFilter.GaussianBlur(radius)), {"radius": round(radius, 3)}


def secondary(
    image: Image.Image, strength: float, rng: Rng, _others: Sequence[Image.Image]
) -> tuple[Image.Image, dict[str, Any]]:
    """Simulate a photo of a screen: fewer pixels, the moiré of its grid, and a colour cast."""
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
    return _image_of(pixels), {
        "scale": round(scale, 4),
        "period": round(period, 4),
        "angle": round(angle, 4),
    }


def _ramp(size: tuple[int, int], angle: float) -> Floats:
    """Return a gradient from 0 to 1 in the direction of `angle`."""
    width, height = size
    x = np.linspace(-0.5, 0.5, width, dtype=np.float32)[None, :]
    y = np.linspace(-0.5, 0.5, height, dtype=np.float32)[:, None]
    along = x * np.float32(np.cos(angle)) + y * np.float32(np.sin(angle))
    ramp: Floats = (along - along.min()) / (along.max() - along.min())
    return ramp


def _pixels(image: Image.Image) -> Floats:
    return np.asarray(image, dtype=np.float32)


def _image_of(pixels: Floats) -> Image.Image:
    return Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8), "RGB")


_WORDS = ("SAMPLE", "COPY", "VOID", "CONFIDENTIAL")


def clutter(
    image: Image.Image, strength: float, rng: Rng, _others: Sequence[Image.Image]
) -> tuple[Image.Image, dict[str, Any]]:
    """Place a smaller page on a table with shapes, some of which cover its edges."""
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
    """Draw ellipses and boxes at random, or centred on the edges of `frame`."""
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
    """Repeat a word in slanted lines over the page; darker and denser with the strength."""
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
    """Place the page and one or three others on one image, in a random order."""
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


_MARGIN, _CAPTION = 12, 26


def contact_sheet(
    pictures: Sequence[tuple[str, Image.Image]], *, columns: int = 4, width: int = 260
) -> Image.Image:
    """Arrange pictures in rows of `columns`, each `width` pixels wide with a caption.

    Raises ValueError without pictures.
    """
    if not pictures:
        raise ValueError("a contact sheet needs at least one image")
    tiles = [(caption, _tile(picture, width)) for caption, picture in pictures]
    rows = [tiles[first : first + columns] for first in range(0, len(tiles), columns)]
    heights = [max(tile.height for _, tile in row) + _CAPTION + _MARGIN for row in rows]
    size = (columns * (width + _MARGIN) + _MARGIN, sum(heights) + _MARGIN)
    sheet = Image.new("RGB", size, "white")
    draw, font = ImageDraw.Draw(sheet), ImageFont.load_default(15)
    top = _MARGIN
    for row, height in zip(rows, heights, strict=True):
        for number, (caption, tile) in enumerate(row):
            left = _MARGIN + number * (width + _MARGIN)
            sheet.paste(tile, (left, top))
            draw.text((left, top + tile.height + 4), caption, fill="black", font=font)
        top += height
    return sheet


def _tile(picture: Image.Image, width: int) -> Image.Image:
    tile = picture.convert("RGB")
    tile.thumbnail((width, width * 2), Image.Resampling.LANCZOS)
    return tile


# Increase it whenever the same input would give other pixels.
VERSION = "1"
Params = Mapping[str, Any]
Transform = Callable[[Image.Image, float, Rng, Sequence[Image.Image]], tuple[Image.Image, Params]]


@dataclass(frozen=True)
class Capture:
    """A kind of capture with its published name and description.

    `needs_others`: the image also shows other pages of the dataset. `keeps_normal`: the variant
    also has the normal images; `params` of such a capture have `degrees`.
    """

    key: str
    title: str
    help: str
    transform: Transform
    has_strength: bool = True
    needs_others: bool = False
    keeps_normal: bool = False


CAPTURES: dict[str, Capture] = {
    capture.key: capture
    for capture in (
        Capture("rotate_90", "Rotated by 90°", "A quarter turn right.", quarter(1), False),
        Capture("rotate_180", "Rotated by 180°", "Upside down.", quarter(2), False),
        Capture("rotate_270", "Rotated by 270°", "A quarter turn left.", quarter(3), False),
        Capture(
            "rotate_any",
            "Rotated by 0°, 90°, 180° or 270°",
            "A random rotation for each image.",
            any_quarter,
            False,
        ),
        Capture(
            "normal_and_rotated",
            "Normal and rotated",
            "Each image unchanged, and a randomly rotated copy.",
            any_quarter,
            has_strength=False,
            keeps_normal=True,
        ),
        Capture("off_axis", "Off-axis viewpoint", "Photographed at an angle.", off_axis),
        Capture("uneven_light", "Uneven illumination", "Bright and dark areas.", uneven_light),
        Capture("reflection", "Specular reflection", "Glare that hides text.", reflection),
        Capture("out_of_focus", "Out of focus", "The whole image is blurred.", out_of_focus),
        Capture(
            "small_region",
            "Small region of interest",
            "The page is far away.",
            small_region,
        ),
        Capture("secondary", "Secondary capture", "A photo of a screen.", secondary),
        Capture(
            "clutter",
            "Cluttered background",
            "Objects around the page and on its edges.",
            clutter,
        ),
        Capture("watermark", "Overlaid watermark", "Text across the page.", watermark),
        Capture("crop", "Cropped capture", "The edges of the page are missing.", crop),
        Capture(
            "multi_document",
            "Several documents in one image",
            "Other documents around the page.",
            several,
            needs_others=True,
        ),
    )
}


def simulate(
    image: Image.Image,
    kind: str,
    *,
    strength: float = 0.5,
    seed: int = 0,
    others: Sequence[Image.Image] = (),
) -> tuple[Image.Image, dict[str, Any]]:
    """Apply a capture to an image, and return the result with its parameters.

    `strength` is above 0 and at most 1, and higher is worse; some kinds ignore it. `others` are
    other pages for kinds that need them. The parameters include kind, strength, seed and version.
    Raises ValueError for an unknown kind, a strength out of range or missing pages.
    """
    capture = CAPTURES.get(kind)
    if capture is None:
        raise ValueError(f"unknown capture {kind!r}; use {', '.join(CAPTURES)}")
    if not 0 < strength <= 1:
        raise ValueError(f"the strength must be above 0 and at most 1, not {strength}")
    if capture.needs_others and not others:
        raise ValueError(f"{kind} needs other pages")
    rng = np.random.Generator(np.random.PCG64(seed))
    captured, params = capture.transform(image.convert("RGB"), strength, rng, others)
    record = {
        "kind": kind,
        "strength": strength if capture.has_strength else None,
        "seed": seed,
        "version": VERSION,
        "simulated": True,
        **params,
    }
    return captured, record
