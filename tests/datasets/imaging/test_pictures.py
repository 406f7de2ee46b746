"""Page images: accepted and refused files."""

import contextlib
import io
import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from portal.datasets.imaging.pictures import PIXEL_LIMIT, PictureError, check_picture
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
