"""Small pictures for lists."""

import io
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from PIL import Image

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
