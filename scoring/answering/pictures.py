"""The content of a request: the images of an item as endpoints take them, the messages, and an
estimate of their tokens."""

import base64
import io
import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from PIL import Image, UnidentifiedImageError

from .core import RunItem

Message = dict[str, Any]
# The formats that endpoints take, by Pillow's names.
_MEDIA = {"PNG": "image/png", "JPEG": "image/jpeg", "WEBP": "image/webp", "GIF": "image/gif"}
# UTF-8 bytes per token, a safe estimate: prose has four, tables of digits two.
_BYTES_A_TOKEN = 2
# Additional tokens of the message format.
_FORM_TOKENS = 100
# Models cut an image into patches of 14 pixels; most merge four of them into one token.
_PATCH = 14
_LEAST_IMAGE_TOKENS = 256


class ImageError(ValueError):
    """An image that endpoints do not take; the message names it."""


@dataclass(frozen=True)
class Picture:
    """An image as endpoints take it; `size` is width and height in pixels."""

    media: str
    size: tuple[int, int]
    data: bytes

    @property
    def url(self) -> str:
        return f"data:{self.media};base64,{base64.b64encode(self.data).decode('ascii')}"


def pictures_of(item: RunItem) -> list[Picture]:
    """Reads the images of an item. Raises ImageError, and whatever reading raises."""
    pictures = []
    for image in item.images:
        data = image.read()
        pictures.append(Picture(*_look(image.name, data), data))
    return pictures


def messages_of(prompt: str, pictures: Sequence[Picture], system: str = "") -> list[Message]:
    """The system prompt, if any, and the images before the text."""
    parts = [{"type": "image_url", "image_url": {"url": picture.url}} for picture in pictures]
    content = [*parts, {"type": "text", "text": prompt}] if parts else prompt
    first = [{"role": "system", "content": system}] if system else []
    return [*first, {"role": "user", "content": content}]


def _look(name: str, data: bytes) -> tuple[str, tuple[int, int]]:
    try:
        with warnings.catch_warnings():
            # Only the header is read, so a huge image is harmless here.
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(data), formats=tuple(_MEDIA)) as image:
                return _MEDIA[image.format or ""], image.size
    except (UnidentifiedImageError, OSError, KeyError, ValueError, SyntaxError) as error:
        raise ImageError(f"{name}: not an image in {', '.join(_MEDIA)}") from error
    except Image.DecompressionBombError as error:
        raise ImageError(f"{name}: has too many pixels") from error


def input_tokens(prompt: str, system: str, sizes: Sequence[tuple[int, int]], each: int = 0) -> int:
    """The estimated number of input tokens, rather too high than too low. `each` is the number per
    image if it is known."""
    text = len((prompt + system).encode("utf-8", "replace")) // _BYTES_A_TOKEN + _FORM_TOKENS
    return text + sum(each or _image_tokens(*size) for size in sizes)


def _image_tokens(width: int, height: int) -> int:
    patches = math.ceil(width / _PATCH) * math.ceil(height / _PATCH)
    return max(patches, _LEAST_IMAGE_TOKENS)
