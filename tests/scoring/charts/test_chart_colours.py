"""The colours of groups, for readers with any kind of colour blindness."""

from itertools import combinations
from math import dist
from operator import mul, truediv

import pytest

from scoring.charts.look import COLOURS, PAPER, dark_twin

# Machado, Oliveira and Fernandes (2009), full strength: how readers with each kind of colour
# blindness see linear RGB.
BLINDNESS = {
    "none": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
Rgb = tuple[float, float, float]


def linear(colour: str) -> Rgb:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts)
    return red, green, blue


def lab(rgb: Rgb) -> tuple[float, float, float]:
    to_xyz = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
    xyz = [sum(map(mul, row, rgb)) for row in to_xyz]
    x, y, z = (
        t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116
        for t in map(truediv, xyz, (0.9505, 1, 1.089))
    )
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def seen(colour: str, blindness: str) -> tuple[float, float, float]:
    rgb = linear(colour)
    red, green, blue = (min(1, max(0, sum(map(mul, row, rgb)))) for row in BLINDNESS[blindness])
    return lab((red, green, blue))


def contrast(one: str, other: str) -> float:
    low, high = sorted(lab(linear(each))[0] for each in (one, other))
    return (luminance(high) + 0.05) / (luminance(low) + 0.05)


def luminance(lightness: float) -> float:
    y = (lightness + 16) / 116
    return y**3 if y > 6 / 29 else 3 * (6 / 29) ** 2 * (y - 4 / 29)


@pytest.mark.parametrize("blindness", BLINDNESS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_colours_of_groups_differ_for_all_readers(blindness: str, scheme: str) -> None:
    """Distances of CIELAB: 2 can just be seen, neighbours in a box of crayons have about 20."""
    [paper, *colours] = [
        each if scheme == "light" else dark_twin(each) for each in (PAPER, *COLOURS)
    ]
    for one, other in combinations(colours, 2):
        assert dist(seen(one, blindness), seen(other, blindness)) > 14, (one, other)
    # WCAG asks for this contrast of graphics.
    assert all(contrast(paper, colour) > 3 for colour in colours)


def test_contrast_is_that_of_wcag() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21, abs=0.01)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)
