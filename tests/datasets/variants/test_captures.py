"""Simulated captures: repeatable by seed, recorded, and harder to read with more strength."""

import io
import os
import subprocess
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from rapidfuzz.distance import Levenshtein

from portal.datasets.variants.captures import (
    CAPTURES,
    VERSION,
    contact_sheet,
    perspective,
    simulate,
)
from tests.programs import require_program

IMAGES = Path(__file__).parents[3] / "sample" / "data" / "images"
WITH_STRENGTH = [key for key, capture in CAPTURES.items() if capture.has_strength]
WEAK, STRONG = 0.2, 1.0
# The OCR engine is slow; the pixels and records of all kinds are always tested.
READ_AT_EVERY_CHANGE = ("small_region",)


def page(number: int = 0) -> Image.Image:
    with Image.open(sorted(IMAGES.iterdir())[number]) as image:
        return image.convert("RGB")


@cache
def small_page() -> Image.Image:
    """A page in which every pixel has a unique colour."""
    y, x = np.mgrid[0:60, 0:80]
    return Image.fromarray(np.stack([x * 3, y * 4, (x + y) % 256], -1).astype(np.uint8), "RGB")


def captured(kind: str, **options: float | int) -> Image.Image:
    others = [small_page().rotate(180)]
    return simulate(small_page(), kind, others=others, **options)[0]  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", CAPTURES)
def test_same_seed_gives_the_same_pixels_and_record(kind: str) -> None:
    others = [small_page().rotate(180)]
    first = simulate(small_page(), kind, seed=7, strength=0.6, others=others)
    again = simulate(small_page(), kind, seed=7, strength=0.6, others=others)
    assert first[0].tobytes() == again[0].tobytes()
    assert first[1] == again[1]


@pytest.mark.parametrize("kind", [kind for kind in WITH_STRENGTH if kind != "out_of_focus"])
def test_another_seed_gives_another_picture(kind: str) -> None:
    pictures = {captured(kind, seed=seed).tobytes() for seed in range(6)}
    assert len(pictures) > 1


@pytest.mark.parametrize("kind", CAPTURES)
def test_record_has_the_parameters_and_is_marked_as_simulated(kind: str) -> None:
    _, record = simulate(small_page(), kind, seed=3, strength=0.4, others=[small_page()])
    assert record["simulated"] is True
    assert (record["kind"], record["seed"], record["version"]) == (kind, 3, VERSION)
    assert record["strength"] == (0.4 if CAPTURES[kind].has_strength else None)


def test_quarter_turns_lose_nothing() -> None:
    turned = {kind: captured(kind) for kind in ("rotate_90", "rotate_180", "rotate_270")}
    assert turned["rotate_90"].size == (60, 80)
    # Clockwise: the bottom left corner moves to the top left.
    assert turned["rotate_90"].getpixel((0, 0)) == small_page().getpixel((0, 59))
    assert turned["rotate_270"].getpixel((0, 79)) == small_page().getpixel((0, 0))
    assert turned["rotate_180"].rotate(180).tobytes() == small_page().tobytes()


def test_crop_takes_a_part_of_the_page() -> None:
    picture, record = simulate(small_page(), "crop", strength=1, seed=1)
    left, top, right, bottom = record["box"]
    assert picture.tobytes() == small_page().crop((left, top, right, bottom)).tobytes()
    assert (right - left) / 80 == pytest.approx(0.55, abs=0.03)


def test_perspective_maps_corners_to_corners() -> None:
    flat = [(0.0, 0.0), (80.0, 0.0), (80.0, 60.0), (0.0, 60.0)]
    seen = [(5.0, 2.0), (78.0, 9.0), (70.0, 58.0), (3.0, 50.0)]
    a, b, c, d, e, f, g, h = perspective(seen, flat)
    for (x, y), (u, v) in zip(seen, flat, strict=True):
        weight = g * x + h * y + 1
        assert ((a * x + b * y + c) / weight, (d * x + e * y + f) / weight) == pytest.approx((u, v))


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("blur", {}, "unknown capture 'blur'"),
        ("crop", {"strength": 0}, "the strength must be above 0"),
        ("crop", {"strength": 1.1}, "the strength must be above 0 and at most 1, not 1.1"),
        ("multi_document", {}, "multi_document needs other pages"),
    ],
)
def test_invalid_arguments_are_refused(kind: str, options: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        simulate(small_page(), kind, **options)  # type: ignore[arg-type]


def test_contact_sheet_holds_every_picture() -> None:
    pictures = [(f"picture {number}", small_page()) for number in range(5)]
    sheet = contact_sheet(pictures, columns=2, width=80)
    assert sheet.size == (2 * 92 + 12, 3 * (60 + 26 + 12) + 12)
    with pytest.raises(ValueError, match="at least one image"):
        contact_sheet([])


def read(picture: Image.Image) -> str:
    buffer = io.BytesIO()
    picture.convert("RGB").save(buffer, "PNG")
    done = subprocess.run(
        [require_program("tesseract"), "-", "-", "--psm", "3"],
        input=buffer.getvalue(),
        capture_output=True,
        check=True,
        # With several threads, OCR of one page is slower, especially in parallel tests.
        env={**os.environ, "OMP_THREAD_LIMIT": "1"},
    )
    return done.stdout.decode()


def half(picture: Image.Image) -> Image.Image:
    """The upper half is enough to measure the quality of the OCR."""
    return picture.crop((0, 0, picture.width, picture.height // 2))


@cache
def plainly_read() -> str:
    return read(half(page()))


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, marks=() if kind in READ_AT_EVERY_CHANGE else pytest.mark.slow)
        for kind in WITH_STRENGTH
    ],
)
def test_ocr_engine_gets_worse_as_the_capture_gets_stronger(kind: str) -> None:
    weak, strong = (
        Levenshtein.normalized_similarity(
            plainly_read(),
            read(
                simulate(half(page()), kind, strength=strength, seed=3, others=[half(page(1))])[0]
            ),
        )
        for strength in (WEAK, STRONG)
    )
    assert strong < weak - 0.05
