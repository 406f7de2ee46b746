"""Page images with nothing in the file but the picture.

What a program wrote beside the pixels, such as a title, a path or a comment, may tell what the
picture shows. The pixels themselves are copied, not packed anew.
"""

import io
import struct
from collections.abc import Iterator

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
