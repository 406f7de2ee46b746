"""The kinds of simulated captures, and the one function that applies them.

Rotations follow CC-OCR's multi-orientation images; the ten others simulate the capture conditions
of FCMBench, table 2. Everything is drawn from the seed, so that the same page, kind, strength and
seed give the same pixels with the same version of this package.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL import Image

from . import geometry, light, overlays

# Grows whenever the same input would give other pixels.
VERSION = "1"

Rng = np.random.Generator
Params = Mapping[str, Any]
Transform = Callable[[Image.Image, float, Rng, Sequence[Image.Image]], tuple[Image.Image, Params]]


@dataclass(frozen=True)
class Capture:
    """A kind of capture: its published name, what it does, and whether it can be of any strength.

    `needs_others` says that other pages of the dataset are put beside it.
    """

    key: str
    title: str
    help: str
    transform: Transform
    has_strength: bool = True
    needs_others: bool = False


CAPTURES: dict[str, Capture] = {
    capture.key: capture
    for capture in (
        Capture(
            "rotate_90", "Rotated by 90°", "A quarter turn clockwise.", geometry.quarter(1), False
        ),
        Capture("rotate_180", "Rotated by 180°", "Upside down.", geometry.quarter(2), False),
        Capture(
            "rotate_270", "Rotated by 270°", "A quarter turn back.", geometry.quarter(3), False
        ),
        Capture(
            "off_axis", "Off-axis viewpoint", "Seen from the side and turned.", geometry.off_axis
        ),
        Capture(
            "uneven_light", "Uneven illumination", "Bright here and dark there.", light.uneven_light
        ),
        Capture(
            "reflection", "Specular reflection", "Glare that washes text out.", light.reflection
        ),
        Capture("out_of_focus", "Out of focus", "Blurred as a whole.", light.out_of_focus),
        Capture(
            "small_region",
            "Small region of interest",
            "The page is far away.",
            geometry.small_region,
        ),
        Capture(
            "secondary", "Secondary capture", "A photo of a screen, with its grid.", light.secondary
        ),
        Capture(
            "clutter",
            "Cluttered background",
            "Things lie around the page and over its edges.",
            overlays.clutter,
        ),
        Capture("watermark", "Overlaid watermark", "Words across the page.", overlays.watermark),
        Capture("crop", "Cropped capture", "The edges of the page are missing.", geometry.crop),
        Capture(
            "multi_document",
            "Several documents in one image",
            "Other pages lie beside it.",
            overlays.several,
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
    """The image as it would look when captured so, and the record of what was done.

    `strength` is above 0 up to 1, higher is worse; kinds without strength ignore it. `others` are
    further pages, for kinds that need them. The record holds kind, strength, seed, version and
    what was drawn. Raises ValueError for an unknown kind, a strength out of range or missing pages.
    """
    capture = CAPTURES.get(kind)
    if capture is None:
        raise ValueError(f"no capture is called {kind!r}; there are {', '.join(CAPTURES)}")
    if not 0 < strength <= 1:
        raise ValueError(f"the strength must be above 0 up to 1, not {strength}")
    if capture.needs_others and not others:
        raise ValueError(f"{kind} needs other pages to put beside this one")
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
