"""Derive the documents of a stress variant: copies with captures as images, and a contact sheet.

Each document is saved in one transaction, so that a second run creates the missing ones. The result
depends only on the seed of the variant and the names of documents.
"""

import hashlib
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import transaction

from portal.datasets.dataset_tasks import Steps, TaskError, TaskReport
from portal.datasets.documents.services import COPIED
from portal.datasets.imaging.pictures import Picture, PictureError, check_picture
from portal.datasets.imaging.services import store_picture
from portal.datasets.imaging.stored import read_stored
from portal.datasets.models import (
    Dataset,
    DatasetTask,
    Document,
    DocumentContent,
    DocumentRecord,
    PageImage,
    Release,
    XbrlFacts,
)
from portal.datasets.models.documents import copy_name
from portal.datasets.releases.gold import ReleaseError
from portal.files.pixels import as_rgb

from .services import carry_release, gold_of_capture, source_documents

if TYPE_CHECKING:
    from PIL.Image import Image

# The number of other pages in captures of several documents.
OTHERS = 3
# Documents on the contact sheet, each before and after.
SHOWN = 6
JPEG_QUALITY = 92
_COPIED = (*COPIED, "name", "metadata", "html_sha256", "text_sha256")


@dataclass(frozen=True)
class _Captured:
    """A captured picture with its parameters."""

    number: int
    picture: Picture
    record: dict[str, Any]


def derive(task: DatasetTask, steps: Steps) -> TaskReport | None:
    """Create the documents of a variant. Returns None if stopped. Raises TaskError."""
    variant = task.dataset
    if variant.derived_from is None or not variant.derivation:
        raise TaskError("this dataset is not a stress variant")
    report, options = TaskReport(), task.options
    sources = source_documents(variant.derived_from).filter(pk__lte=options["newest"])
    pages = list(sources.values_list("name", flat=True))
    wanted = pages if options["names"] is None else sorted(set(options["names"]) & set(pages))
    there = set(variant.documents.values_list("name", flat=True))
    for number, name in enumerate(wanted, 1):
        if steps.stop():
            return None
        if name not in there:
            _derive_one(variant, name, pages, report)
        steps.progress(number, len(wanted))
    _finish(variant, options["release"], report)
    return report


def image_seed(seed: int, name: str, number: int) -> int:
    """Return the seed of one image, which does not depend on other images."""
    digest = hashlib.sha256(f"{seed}:{number}:{name}".encode()).digest()
    return int.from_bytes(digest[:6])


def sheet_path(variant: Dataset) -> str:
    return f"datasets/{variant.pk}/contact-sheet.jpg"


def _derive_one(variant: Dataset, name: str, pages: Sequence[str], report: TaskReport) -> None:
    assert variant.derived_from is not None
    related = variant.derived_from.documents.select_related("content", "record", "xbrl_facts")
    original = related.prefetch_related("images").get(name=name)
    try:
        captured = [_capture(variant, original, image, pages) for image in original.images.all()]
    except (OSError, PictureError) as error:
        report.fault(name, "image", f"the image cannot be captured: {error}")
        return
    normal = _normal(original) if "original" in captured[0].record else ()
    _store(variant, original, captured, normal)


def _normal(original: Document) -> list[_Captured]:
    """The images of a document as they are."""
    return [
        _Captured(image.number, check_picture(_encoded(_opened(image), lossless=True)), {})
        for image in original.images.all()
    ]


def _capture(
    variant: Dataset, original: Document, image: PageImage, pages: Sequence[str]
) -> _Captured:
    from .captures import CAPTURES, simulate

    assert variant.derivation is not None
    kind, seed = variant.derivation["kind"], variant.derivation["seed"]
    names = _following(original.name, pages) if CAPTURES[kind].needs_others else []
    others = [_first_image(variant, name) for name in names]
    picture, record = simulate(
        _opened(image),
        kind,
        strength=variant.derivation["strength"] or 1.0,
        seed=image_seed(seed, original.name, image.number),
        others=others,
    )
    data = _encoded(picture, lossless=not CAPTURES[kind].has_strength)
    record |= {"variant_seed": seed, "source_sha256": image.sha256}
    if names:
        record["others"] = names
    if CAPTURES[kind].keeps_normal:
        record["original"] = original.name
    return _Captured(image.number, check_picture(data), record)


def _following(name: str, pages: Sequence[str]) -> list[str]:
    """Return the next pages; after the last one comes the first."""
    at = pages.index(name)
    following = [*pages[at + 1 :], *pages[:at]]
    return following[:OTHERS]


def _first_image(variant: Dataset, name: str) -> "Image":
    images = PageImage.objects.filter(document__dataset=variant.derived_from, document__name=name)
    return _opened(images.order_by("number")[0])


def _opened(image: PageImage) -> "Image":
    from PIL import Image

    data = read_stored(str(image.file.name), image.sha256)
    with Image.open(io.BytesIO(data)) as opened:
        return as_rgb(opened)


def _encoded(picture: "Image", *, lossless: bool) -> bytes:
    """Encode a picture as PNG without loss, or as JPEG like a camera."""
    stream = io.BytesIO()
    if lossless:
        picture.save(stream, "PNG")
    else:
        picture.save(stream, "JPEG", quality=JPEG_QUALITY, subsampling=0)
    return stream.getvalue()


@transaction.atomic
def _store(
    variant: Dataset,
    original: Document,
    captured: Sequence[_Captured],
    normal: Sequence[_Captured] = (),
) -> None:
    """Store the copy of a document with its content and captures. If the `normal` images are kept,
    they are those of the copy with its name, and the captures have another copy."""
    Dataset.objects.select_for_update().get(pk=variant.pk)
    if variant.documents.filter(name=original.name).exists():
        return
    if not normal:
        _store_copy(variant, original, captured)
        return
    _store_copy(variant, original, normal)
    name = copy_name(original.name, captured[0].record["degrees"])
    # Two documents of a dataset cannot have the same content.
    digest = hashlib.sha256(f"{original.html_sha256} {name}".encode()).hexdigest()
    _store_copy(variant, original, captured, name=name, html_sha256=digest)


def _store_copy(
    variant: Dataset, original: Document, captured: Sequence[_Captured], **changed: str
) -> None:
    copied = {field: getattr(original, field) for field in _COPIED} | changed
    document = Document.objects.create(dataset=variant, **copied)
    if content := getattr(original, "content", None):
        DocumentContent.objects.create(document=document, html=content.html, text=content.text)
    if record := getattr(original, "record", None):
        DocumentRecord.objects.create(
            document=document,
            benchmark=record.benchmark,
            gold=gold_of_capture(record.gold, record.benchmark, captured[0].record),
            prompt=record.prompt,
        )
    if xbrl := getattr(original, "xbrl_facts", None):
        XbrlFacts.objects.create(document=document, facts=xbrl.facts)
    for each in captured:
        image = store_picture(document, each.picture, each.number)
        PageImage.objects.filter(pk=image.pk).update(transform=each.record or None)


def _finish(variant: Dataset, release: int | None, report: TaskReport) -> None:
    images = PageImage.objects.filter(document__dataset=variant)
    report.count("documents", variant.documents.count())
    report.count("images", images.count())
    if not images.exists():
        raise TaskError("none of the images could be captured")
    store_sheet(variant)
    if release is not None:
        source = Release.objects.select_related("dataset").get(pk=release)
        try:
            carried = carry_release(release=source, variant=variant, actor=None)
        except ReleaseError as error:
            report.fault(source.version, "release", str(error))
        else:
            report.count("items in the release", carried.item_count)


def store_sheet(variant: Dataset) -> None:
    """Create or replace the contact sheet of a variant with at least one image."""
    from .captures import contact_sheet

    shown = PageImage.objects.filter(document__dataset=variant, number=1, transform__isnull=False)
    pictures: list[tuple[str, Image]] = []
    for image in shown.select_related("document").order_by("document__name")[:SHOWN]:
        name = (image.transform or {}).get("original", image.document.name)
        pictures.append((_caption(name), _first_image(variant, name)))
        pictures.append(("simulated", _opened(image)))
    stream = io.BytesIO()
    contact_sheet(pictures, columns=4).save(stream, "JPEG", quality=85)
    path = sheet_path(variant)
    if default_storage.exists(path):
        default_storage.delete(path)
    default_storage.save(path, ContentFile(stream.getvalue()))
    digest = hashlib.sha256(stream.getvalue()).hexdigest()[:12]
    with transaction.atomic():
        stored = Dataset.objects.select_for_update().get(pk=variant.pk)
        stored.derivation = {**(stored.derivation or {}), "sheet": digest}
        stored.save(update_fields=["derivation"])


def _caption(name: str) -> str:
    return name if len(name) <= 30 else f"{name[:14]}…{name[-15:]}"
