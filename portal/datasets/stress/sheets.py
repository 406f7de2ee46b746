"""A contact sheet: one page under every capture, to be looked at."""

from collections.abc import Sequence

from PIL import Image, ImageDraw, ImageFont

_MARGIN, _CAPTION = 12, 26


def contact_sheet(
    pictures: Sequence[tuple[str, Image.Image]], *, columns: int = 4, width: int = 260
) -> Image.Image:
    """The pictures in rows of `columns`, each `width` pixels wide with its caption beneath.

    Raises ValueError when there is none.
    """
    if not pictures:
        raise ValueError("a contact sheet needs at least one picture")
    tiles = [(caption, _tile(picture, width)) for caption, picture in pictures]
    rows = [tiles[first : first + columns] for first in range(0, len(tiles), columns)]
    heights = [max(tile.height for _, tile in row) + _CAPTION + _MARGIN for row in rows]
    size = (columns * (width + _MARGIN) + _MARGIN, sum(heights) + _MARGIN)
    sheet = Image.new("RGB", size, "white")
    draw, font = ImageDraw.Draw(sheet), ImageFont.load_default(15)
    top = _MARGIN
    for row, height in zip(rows, heights, strict=True):
        for number, (caption, tile) in enumerate(row):
            left = _MARGIN + number * (width + _MARGIN)
            sheet.paste(tile, (left, top))
            draw.text((left, top + tile.height + 4), caption, fill="black", font=font)
        top += height
    return sheet


def _tile(picture: Image.Image, width: int) -> Image.Image:
    tile = picture.convert("RGB")
    tile.thumbnail((width, width * 2), Image.Resampling.LANCZOS)
    return tile
