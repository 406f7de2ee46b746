"""Pictures as files: checked before they are stored, made small, and stripped of metadata.

`check_picture` refuses what is not a sound PNG or JPEG. `thumbnail` makes the small WebP of
lists. `bare_image` copies the picture alone: what a program wrote beside the pixels, such as a
title, a path or a comment, may show what is in the picture. The pixels themselves are copied,
not packed anew. No Django.
"""

import hashlib
import io
import struct
import warnings
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from PIL import Image, UnidentifiedImageError

# A page of 300 dpi has 9 million pixels, a long one a few times that.
PIXEL_LIMIT = 40_000_000
SIDE_LIMIT = 30_000
_SIGNATURES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff")
# What Pillow's decoders raise on damaged files.
_DAMAGE = (OSError, SyntaxError, ValueError, EOFError, struct.error, zlib.error, IndexError)


class PictureError(ValueError):
    """An image that cannot be taken, with a code for programs."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code


@dataclass(frozen=True)
class Picture:
    """An image found sound: its bytes as they came, `width` and `height` in pixels."""

    data: bytes
    width: int
    height: int
    suffix: str
    sha256: str


def check_picture(data: bytes) -> Picture:
    """Opens and decodes a PNG or JPEG; raises PictureError with the reason.

    The size is read from the header before anything is decoded, so that a decompression bomb
    costs nothing. The name's suffix is not trusted: the content decides.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(data), formats=("PNG", "JPEG")) as image:
                _check_size(image.width, image.height)
                image.load()
                # A JPEG of several pictures, as some cameras write it, calls itself MPO.
                suffix = ".png" if image.format == "PNG" else ".jpg"
                width, height = image.size
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise PictureError("image_too_large", f"more pixels than {PIXEL_LIMIT:,}") from error
    except UnidentifiedImageError as error:
        if data.startswith(_SIGNATURES):
            raise PictureError("image_broken", "the image is damaged at its beginning") from error
        raise PictureError("image_format", "neither a PNG nor a JPEG image") from error
    except PictureError:
        raise
    except _DAMAGE as error:
        raise PictureError("image_broken", f"the image is damaged: {error}") from error
    return Picture(data, width, height, suffix, hashlib.sha256(data).hexdigest())


def _check_size(width: int, height: int) -> None:
    if width * height > PIXEL_LIMIT or max(width, height) > SIDE_LIMIT:
        raise PictureError(
            "image_too_large",
            f"{width} × {height} pixels; at most {PIXEL_LIMIT:,} and {SIDE_LIMIT:,} on a side",
        )


# Pixels; shown at half of it, so that it is sharp on dense screens.
SIDES = (240, 320)


def thumbnail(picture: "Image.Image") -> bytes:
    """The top of a page as WebP, at most 240 × 320 pixels; a long page is cut, not shrunk away."""
    from PIL import Image

    width, height = picture.size
    longest = width * SIDES[1] // SIDES[0]
    if height > longest:
        picture = picture.crop((0, 0, width, max(longest, 1)))
    if picture.mode not in {"L", "RGB"}:
        picture = picture.convert("RGB")
    small = picture.copy() if height <= longest else picture
    small.thumbnail(SIDES, Image.Resampling.LANCZOS, reducing_gap=2)
    stream = io.BytesIO()
    small.convert("RGB").save(stream, "WEBP", quality=70)
    return stream.getvalue()


def thumbnail_of(file: BinaryIO) -> bytes:
    """The same of a stored PNG or JPEG, which was checked when it was stored.

    Raises OSError or ValueError for a file that was damaged since.
    """
    from PIL import Image

    with Image.open(file, formats=("PNG", "JPEG")) as picture:
        picture.draft("RGB", (SIDES[0] * 2, SIDES[1] * 2))
        return thumbnail(picture)


_PNG = b"\x89PNG\r\n\x1a\n"
_JPEG = b"\xff\xd8"
# What a PNG cannot be shown without; transparency belongs to the picture.
_PNG_KEPT = frozenset({b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND"})
# Application data and comments; APP0 says only that this is a JPEG, APP14 how its colours are told.
_APP0, _APP14, _APP15, _COMMENT = 0xE0, 0xEE, 0xEF, 0xFE
_APP0_LENGTH = 16
_START_OF_SCAN, _END = 0xDA, 0xD9
# Markers without a length: restarts, and fill bytes before a marker.
_ALONE = frozenset({*range(0xD0, 0xD8), 0x01})


def bare_image(data: bytes) -> bytes:
    """The PNG or JPEG without text, dates, previews and whatever follows its end.

    One whose parts cannot be told apart is packed anew from its pixels. Raises OSError if there
    are none.
    """
    try:
        if data.startswith(_PNG):
            return _PNG + b"".join(_png_chunks(data))
        if data.startswith(_JPEG):
            return _JPEG + b"".join(_jpeg_segments(data))
    except (struct.error, ValueError):
        pass
    return _packed_anew(data)


def _png_chunks(data: bytes) -> Iterator[bytes]:
    at = len(_PNG)
    while True:
        length, kind = struct.unpack_from(">I4s", data, at)
        end = at + 12 + length
        if end > len(data):
            raise ValueError("a chunk is longer than the file")
        if kind in _PNG_KEPT:
            yield data[at:end]
        if kind == b"IEND":
            return
        at = end


def _jpeg_segments(data: bytes) -> Iterator[bytes]:
    at = len(_JPEG)
    while True:
        (prefix, marker) = struct.unpack_from(">BB", data, at)
        if prefix != 0xFF:
            raise ValueError("no marker where one must be")
        if marker == 0xFF:
            at += 1
            continue
        if marker == _END:
            yield b"\xff\xd9"
            return
        (length,) = (0,) if marker in _ALONE else struct.unpack_from(">H", data, at + 2)
        end = at + 2 + length
        if end > len(data):
            raise ValueError("a segment is longer than the file")
        if _is_kept(marker, length):
            yield data[at:end]
        at = end
        if marker == _START_OF_SCAN:
            start, at = at, _scan_end(data, at)
            yield data[start:at]


def _is_kept(marker: int, length: int) -> bool:
    """APP0 only as long as it is without a preview."""
    if marker == _APP0:
        return length == _APP0_LENGTH
    return marker == _APP14 or not (_APP0 < marker <= _APP15 or marker == _COMMENT)


def _scan_end(data: bytes, at: int) -> int:
    """Where the packed pixels end: at the next marker that is neither escaped nor a restart."""
    while True:
        at = data.find(b"\xff", at)
        if at < 0 or at + 1 >= len(data):
            raise ValueError("the pixels have no end")
        if data[at + 1] != 0x00 and data[at + 1] not in _ALONE:
            return at
        at += 2


def _packed_anew(data: bytes) -> bytes:
    from PIL import Image

    stream = io.BytesIO()
    with Image.open(io.BytesIO(data)) as image:
        image.load()
        pixels = image.convert("RGB")
    pixels.info.clear()
    pixels.save(stream, "PNG")
    return stream.getvalue()
