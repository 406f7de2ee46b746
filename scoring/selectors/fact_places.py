"""Where gold facts stand on the page's images. For readers who may see the gold, and no others."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from portal.datasets.imaging.places import Area, areas_of
from portal.datasets.models import PageImage, ReleaseItem, TextBoxes


@dataclass(frozen=True)
class FactPlace:
    """One line of a fact on an image; `is_first`: links to the fact lead here."""

    n: int
    text: str
    correct: bool
    area: Area
    is_first: bool


@dataclass(frozen=True)
class ItemImage:
    """A page image with the facts whose place on it is known."""

    image: PageImage
    places: list[FactPlace] = field(default_factory=list)


def item_images(
    images: Sequence[PageImage], item: int, verdicts: dict[int, tuple[str, bool]]
) -> list[ItemImage]:
    """The images with the facts of `item`, a ReleaseItem's key, that `verdicts` knows by number.

    Two queries more if any image was rendered here; others do not know where their text lies.
    """
    sheets = [ItemImage(image) for image in images]
    rendered = [image.pk for image in images if image.is_rendered]
    if not rendered or not verdicts:
        return sheets
    found = TextBoxes.objects.filter(image__in=rendered).values_list("image", "boxes")
    boxes = dict(found)
    facts = ReleaseItem.objects.values_list("facts", flat=True).get(pk=item)
    for fact in facts:
        if fact["n"] not in verdicts:
            continue
        is_first = True
        for sheet in sheets:
            for area in areas_of(boxes.get(sheet.image.pk, []), fact["start"], fact["end"]):
                sheet.places.append(FactPlace(fact["n"], *verdicts[fact["n"]], area, is_first))
                is_first = False
    return sheets


def placed(sheets: Sequence[ItemImage]) -> frozenset[int]:
    """Numbers of the facts that have a place on an image."""
    return frozenset(place.n for sheet in sheets for place in sheet.places)
