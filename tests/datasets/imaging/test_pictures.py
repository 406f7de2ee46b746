"""Page images: accepted and refused files."""

import contextlib
import io
import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from portal.datasets.imaging.pictures import (
    PIXEL_LIMIT,
    PictureError,
    bare_image,
    check_picture,
    thumbnail_of,
    upright_picture,
)
from portal.files.pixels import as_rgb
from tests.datasets.factories import jpeg, png


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png_claiming(width: int, height: int) -> bytes:
    """A PNG of a few bytes with any size in its header."""
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    body = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0" * 100)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


def code_of(data: bytes) -> str:
    with pytest.raises(PictureError) as caught:
        check_picture(data)
    return caught.value.code


def test_png_is_taken_as_it_is() -> None:
    data = png(40, 30)
    picture = check_picture(data)
    assert (picture.width, picture.height, picture.suffix) == (40, 30, ".png")
    assert picture.data == data


def test_jpeg_is_taken() -> None:
    assert check_picture(jpeg()).suffix == ".jpg"


@pytest.mark.parametrize("side", [7_000, 100_000, 2**31 - 1])
def test_bomb_is_refused_by_its_header(side: int) -> None:
    assert side * side > PIXEL_LIMIT
    assert code_of(png_claiming(side, side)) == "image_too_large"


def test_long_thin_image_is_refused() -> None:
    assert code_of(png_claiming(31_000, 10)) == "image_too_large"


@pytest.mark.parametrize(
    "data", [b"", b"hello", b"<svg xmlns='http://www.w3.org/2000/svg'/>", b"%PDF-1.4"]
)
def test_other_files_are_refused(data: bytes) -> None:
    assert code_of(data) == "image_format"


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "TIFF", "BMP"])
def test_other_formats_are_refused(kind: str) -> None:
    stream = io.BytesIO()
    Image.new("L", (8, 8)).save(stream, kind)
    assert code_of(stream.getvalue()) == "image_format"


def test_truncated_images_are_refused() -> None:
    noise = Image.effect_noise((200, 200), 50)
    for kind in ("PNG", "JPEG"):
        stream = io.BytesIO()
        noise.save(stream, kind)
        assert code_of(stream.getvalue()[: stream.tell() // 2]) == "image_broken"


def test_png_with_a_wrong_checksum_is_refused() -> None:
    data = bytearray(png())
    data[data.index(b"IDAT") + 6] ^= 0xFF
    assert code_of(bytes(data)) == "image_broken"


@given(st.binary(min_size=1, max_size=40), st.integers(min_value=0, max_value=200))
def test_damage_never_escapes_as_another_error(junk: bytes, place: int) -> None:
    data = bytearray(png())
    data[place : place + len(junk)] = junk
    with contextlib.suppress(PictureError):
        check_picture(bytes(data))


def photographed(orientation: int, kind: str = "JPEG", mode: str = "RGB") -> bytes:
    """60 × 40 pixels as stored; upright, the top is red. Every orientation shows the same."""
    shown = Image.new("RGB", (40, 60) if orientation > 4 else (60, 40), "blue")
    shown.paste("red", (0, 0, shown.width, 10))
    stored = {
        2: [Image.Transpose.FLIP_LEFT_RIGHT],
        3: [Image.Transpose.ROTATE_180],
        4: [Image.Transpose.FLIP_TOP_BOTTOM],
        5: [Image.Transpose.TRANSPOSE],
        6: [Image.Transpose.ROTATE_90],
        7: [Image.Transpose.TRANSVERSE],
        8: [Image.Transpose.ROTATE_270],
    }.get(orientation, [])
    for method in stored:
        shown = shown.transpose(method)
    exif = Image.Exif()
    exif[0x0112] = orientation
    exif[0x8825] = {1: "N", 2: (1.0, 2.0, 3.0)}
    stream = io.BytesIO()
    shown.convert(mode).save(stream, kind, exif=exif)
    return stream.getvalue()


def is_upright(data: bytes) -> bool:
    with Image.open(io.BytesIO(data)) as image:
        assert not image.getexif()
        rgb = image.convert("RGB")
    top, bottom = rgb.getpixel((5, 3)), rgb.getpixel((rgb.width - 5, rgb.height - 3))
    assert isinstance(top, tuple)
    assert isinstance(bottom, tuple)
    return top[0] > 150 > top[2] and bottom[2] > 150 > bottom[0]


@pytest.mark.parametrize("kind", ["JPEG", "PNG"])
@pytest.mark.parametrize("orientation", range(2, 9))
def test_photograph_is_turned_as_its_camera_says(orientation: int, kind: str) -> None:
    data = photographed(orientation, kind)
    picture = upright_picture(data)
    expected = (40, 60) if orientation > 4 else (60, 40)
    assert (picture.width, picture.height) == expected
    assert picture.suffix == (".jpg" if kind == "JPEG" else ".png")
    assert is_upright(picture.data)
    assert upright_picture(picture.data) == picture
    # Images from before keep their metadata in storage.
    assert is_upright(bare_image(data))
    assert is_upright(thumbnail_of(io.BytesIO(data)))


@pytest.mark.parametrize("orientation", [0, 1, 9, 777])
def test_photograph_that_is_upright_is_taken_as_it_is(orientation: int) -> None:
    data = photographed(orientation)
    assert upright_picture(data).data == data


def test_turned_image_keeps_its_palette_and_transparency() -> None:
    image = Image.new("P", (60, 40), 1)
    image.putpalette([255, 0, 0, 0, 0, 255])
    exif = Image.Exif()
    exif[0x0112] = 6
    stream = io.BytesIO()
    image.save(stream, "PNG", exif=exif, transparency=1)
    with Image.open(io.BytesIO(upright_picture(stream.getvalue()).data)) as turned:
        assert (turned.mode, turned.size) == ("P", (40, 60))
        assert turned.convert("RGBA").getpixel((5, 5)) == (0, 0, 255, 0)


@pytest.mark.parametrize("mode", ["RGBA", "LA", "P", "I;16"])
def test_paper_is_white_in_every_mode(mode: str) -> None:
    """Transparent paper, or 16-bit paper with grey text at 40 %."""
    if mode == "I;16":
        image = Image.new("I;16", (300, 300), 65535)
        image.paste(26214, (0, 0, 150, 300))
    elif mode == "P":
        image = Image.new("P", (300, 300), 0)
        image.putpalette([0, 0, 0, 102, 102, 102])
        image.paste(1, (0, 0, 150, 300))
    else:
        image = Image.new("RGBA", (300, 300), (0, 0, 0, 0)).convert(mode)
        image.paste(Image.new("RGBA", (150, 300), (102, 102, 102, 255)).convert(mode), (0, 0))
    stream = io.BytesIO()
    image.save(stream, "PNG", **({"transparency": 0} if mode == "P" else {}))
    for data in (thumbnail_of(io.BytesIO(stream.getvalue())), stream.getvalue()):
        with Image.open(io.BytesIO(data)) as opened:
            shown = as_rgb(opened).convert("L")
        row = shown.tobytes()[: shown.width]
        assert abs(row[20] - 102) < 6
        assert row[-20] > 250
