"""Checking a page image before it is stored."""

import hashlib
import io
import struct
import warnings
import zlib
from dataclasses import dataclass

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
