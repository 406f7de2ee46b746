"""Check image files, create thumbnails, and remove metadata. No Django.

`check_picture` accepts valid PNG and JPEG files; `upright_picture` also turns photographs as their
camera says, so that everyone who reads the pixels alone sees them upright. `bare_image` removes
metadata such as titles, paths and comments, which may reveal the content of a page. It copies the
compressed pixels without encoding them again.
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

from portal.files.pixels import as_rgb, is_turned, upright

# A page at 300 dpi has 9 million pixels, and long pages have more.
PIXEL_LIMIT = 40_000_000
SIDE_LIMIT = 30_000
_SIGNATURES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff")
# Pillow's decoders raise these for damaged files.
_DAMAGE = (OSError, SyntaxError, ValueError, EOFError, struct.error, zlib.error, IndexError)


class PictureError(ValueError):
    """The image cannot be used. `code` identifies the reason."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code


@dataclass(frozen=True)
class Picture:
    """A valid image: its original bytes, `width` and `height` in pixels."""

    data: bytes
    width: int
    height: int
    suffix: str
    sha256: str


def check_picture(data: bytes) -> Picture:
    """Decode a PNG or JPEG. Raises PictureError.

    The size is checked in the header before decoding, as a protection from decompression bombs. The
    content determines the format, not the file name.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(data), formats=("PNG", "JPEG")) as image:
                _check_size(image.width, image.height)
                image.load()
                # Pillow calls a JPEG with several pictures MPO.
                suffix = ".png" if image.format == "PNG" else ".jpg"
                width, height = image.size
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise PictureError("image_too_large", f"more pixels than {PIXEL_LIMIT:,}") from error
    except UnidentifiedImageError as error:
        if data.startswith(_SIGNATURES):
            raise PictureError("image_broken", "the image is damaged at its beginning") from error
        raise PictureError("image_format", "not a PNG or JPEG image") from error
    except PictureError:
        raise
    except _DAMAGE as error:
        raise PictureError("image_broken", f"the image is damaged: {error}") from error
    return Picture(data, width, height, suffix, hashlib.sha256(data).hexdigest())


# Almost without loss; a photograph is encoded again only if it is turned.
_TURNED_QUALITY = 95


def upright_picture(data: bytes) -> Picture:
    """Decode a PNG or JPEG, and turn it as its metadata say. Raises PictureError.

    A turned image is encoded again, without metadata other than its colour profile.
    """
    picture = check_picture(data)
    turned = _turned(data)
    return check_picture(turned) if turned else picture


def _turned(data: bytes) -> bytes:
    """The turned image in the same format; empty if it is upright."""
    stream = io.BytesIO()
    with Image.open(io.BytesIO(data), formats=("PNG", "JPEG")) as image:
        if not is_turned(image):
            return b""
        kind = "PNG" if image.format == "PNG" else "JPEG"
        pixels = upright(image)
        kept = {key: image.info[key] for key in ("icc_profile",) if key in image.info}
    if kind == "JPEG":
        kept |= {"quality": _TURNED_QUALITY, "subsampling": 0}
        pixels.info.clear()
    pixels.save(stream, kind, **kept)
    return stream.getvalue()


def _check_size(width: int, height: int) -> None:
    if width * height > PIXEL_LIMIT or max(width, height) > SIDE_LIMIT:
        raise PictureError(
            "image_too_large",
            f"{width} × {height} pixels; at most {PIXEL_LIMIT:,} and {SIDE_LIMIT:,} on a side",
        )


# Pixels. Thumbnails are displayed at half this size, so that they are sharp on dense screens.
SIDES = (240, 320)


def thumbnail(picture: "Image.Image") -> bytes:
    """Return the top of a page as WebP of up to 240 × 320 pixels; long pages are cropped."""
    picture = upright(picture)
    width, height = picture.size
    longest = width * SIDES[1] // SIDES[0]
    if height > longest:
        picture = picture.crop((0, 0, width, max(longest, 1)))
    picture = as_rgb(picture)
    small = picture.copy() if height <= longest else picture
    small.thumbnail(SIDES, Image.Resampling.LANCZOS, reducing_gap=2)
    stream = io.BytesIO()
    small.convert("RGB").save(stream, "WEBP", quality=70)
    return stream.getvalue()


def thumbnail_of(file: BinaryIO) -> bytes:
    """Return the thumbnail of a stored file. Raises OSError or ValueError if it is damaged."""
    with Image.open(file, formats=("PNG", "JPEG")) as picture:
        picture.draft("RGB", (SIDES[0] * 2, SIDES[1] * 2))
        return thumbnail(picture)


_PNG = b"\x89PNG\r\n\x1a\n"
_JPEG = b"\xff\xd8"
# The chunks that a PNG needs to be displayed, including transparency.
_PNG_KEPT = frozenset({b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND"})
# Application data and comments. APP0 identifies a JPEG, and APP14 contains its colour transform.
_APP0, _APP14, _APP15, _COMMENT = 0xE0, 0xEE, 0xEF, 0xFE
_APP0_LENGTH = 16
_START_OF_SCAN, _END = 0xDA, 0xD9
# Markers without a length: restarts, and fill bytes before a marker.
_ALONE = frozenset({*range(0xD0, 0xD8), 0x01})


def bare_image(data: bytes) -> bytes:
    """Return a PNG or JPEG without text, dates, previews and data after its end.

    An image that its metadata turn, or with an invalid structure, is encoded again from its pixels.
    Raises OSError if it cannot be decoded.
    """
    try:
        # Only images from before photographs were turned at their import.
        data = _turned(data) or data
        if data.startswith(_PNG):
            return _PNG + b"".join(_png_chunks(data))
        if data.startswith(_JPEG):
            return _JPEG + b"".join(_jpeg_segments(data))
    except (struct.error, ValueError, SyntaxError, UnidentifiedImageError):
        pass
    return _encoded_again(data)


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
            raise ValueError("a marker is missing")
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
    """Whether a segment is kept; APP0 only without a preview."""
    if marker == _APP0:
        return length == _APP0_LENGTH
    return marker == _APP14 or not (_APP0 < marker <= _APP15 or marker == _COMMENT)


def _scan_end(data: bytes, at: int) -> int:
    """Return the end of the compressed pixels: the next marker not escaped and not a restart."""
    while True:
        at = data.find(b"\xff", at)
        if at < 0 or at + 1 >= len(data):
            raise ValueError("the pixels have no end")
        if data[at + 1] != 0x00 and data[at + 1] not in _ALONE:
            return at
        at += 2


def _encoded_again(data: bytes) -> bytes:
    stream = io.BytesIO()
    with Image.open(io.BytesIO(data)) as image:
        image.load()
        pixels = as_rgb(image)
    pixels.info.clear()
    pixels.save(stream, "PNG")
    return stream.getvalue()
