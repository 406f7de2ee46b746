"""The pixels of an image as a viewer shows them. No Django."""

import struct

from PIL import Image, ImageOps

_ORIENTATION = 0x0112
_AS_STORED = 1
# Pillow raises these for damaged metadata, which viewers ignore.
_DAMAGE = (OSError, SyntaxError, ValueError, EOFError, struct.error, IndexError, KeyError)
# Pixels of 16 bits, of which Pillow would cut off all above 255.
_DEEP = ("I", "F")


def is_turned(image: Image.Image) -> bool:
    """Whether the metadata say that viewers turn or mirror the image, as cameras write them."""
    try:
        return image.getexif().get(_ORIENTATION, _AS_STORED) in range(2, 9)
    except _DAMAGE:
        return False


def upright(image: Image.Image) -> Image.Image:
    """The image as viewers turn it, without metadata that would turn it again."""
    return ImageOps.exif_transpose(image) if is_turned(image) else image


def as_rgb(image: Image.Image) -> Image.Image:
    """The image in RGB: upright, transparent parts on white, and 16 bits scaled to 8."""
    image = upright(image)
    if image.mode.startswith(_DEEP):
        image = image.convert("I").point(lambda value: value * (1 / 257) + 0).convert("L")
    if image.has_transparency_data:
        image = image.convert("RGBA")
        white = Image.new("RGBA", image.size, "white")
        image = Image.alpha_composite(white, image)
    return image.convert("RGB")
