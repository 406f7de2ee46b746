"""Create stress variants of a dataset, and copy releases to them.

A copy is as secret as its original: `Document.objects.hidden` also checks the releases of the
original, and only organisers see the variant of a private dataset.

Each document is saved in one transaction, so that a second run creates the missing ones. The result
depends only on the seed of the variant and the names of documents.
"""

import hashlib
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import IntegrityError, transaction

from portal.accounts.models import User
from portal.audit.models import record_event
from portal.datasets.dataset_tasks import Steps, TaskError, TaskReport, start_task
from portal.datasets.documents.services import COPIED
from portal.datasets.imaging.pictures import Picture, PictureError, check_picture
from portal.datasets.imaging.services import store_picture
from portal.datasets.imports.layouts import CCOCR
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
from portal.datasets.models.copies import copy_name
from portal.datasets.releases.gold import ReleaseError
from portal.web.refusals import Refused

from .carrying import carry_release, gold_of_capture

if TYPE_CHECKING:
    from PIL.Image import Image

    from .captures import Capture


# The largest safe integer of JSON and JavaScript.
LARGEST_SEED = 2**53 - 1
_LONGEST_SLUG, _LONGEST_TITLE = 80, 160


class VariantError(Refused):
    """A variant cannot be created."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message, field=field)


@dataclass(frozen=True)
class VariantSpec:
    """The parameters of a variant. `names` of documents is None for all with an image.

    `release` is the release of the base to copy, or None.
    """

    kind: str
    strength: float
    seed: int
    names: Sequence[str] | None = None
    release: Release | None = None


def suggest_slug(base: Dataset, spec: VariantSpec) -> str:
    """Return BASE-KIND-PERCENT-SEED; a long base is cut.

    The strength is in per cent, because a slug cannot contain a point.
    """
    parts = [spec.kind.replace("_", "-")]
    if capture_of(spec.kind).has_strength:
        parts.append(f"{100 * spec.strength:g}".replace(".", "-"))
    ending = "-".join([*parts, str(spec.seed)])
    return f"{base.slug[: _LONGEST_SLUG - len(ending) - 1]}-{ending}"


def create_variant(
    *, base: Dataset, spec: VariantSpec, slug: str = "", actor: User | None
) -> Dataset:
    """Create an empty private variant for `start_deriving` or a command.

    Returns the existing variant if it has the same parameters. Raises VariantError.
    """
    capture = _checked(base, spec)
    slug = slug or suggest_slug(base, spec)
    derivation = _derivation(capture, spec)
    if same := _existing(base, slug, derivation):
        return same
    title = f", simulated: {_words(capture, spec)}, seed {spec.seed}"
    variant = Dataset(
        slug=slug,
        title=base.title[: _LONGEST_TITLE - len(title)] + title,
        description=_description(base, capture, spec),
        licence=base.licence,
        visibility=Dataset.Visibility.PRIVATE,
        is_sample=base.is_sample,
        derived_from=base,
        derivation=derivation,
        created_by=actor,
    )
    if not re.fullmatch(r"[-a-zA-Z0-9_]{1,80}", slug) or slug == "new":
        raise VariantError(
            "slug", f"“{slug}” is not a slug. Use letters and digits, joined by hyphens."
        )
    try:
        with transaction.atomic():
            variant.save()
            record_event(
                verb="create_variant", subject=variant, actor=actor, base=base.slug, **derivation
            )
    except IntegrityError as error:
        if same := _existing(base, slug, derivation):
            return same
        raise VariantError("slug", f"Another dataset is already named “{slug}”.") from error
    return variant


def start_deriving(*, variant: Dataset, spec: VariantSpec, actor: User | None) -> DatasetTask:
    """Queue the task, or return the running one."""
    options = task_options(variant, spec)
    return start_task(dataset=variant, kind=DatasetTask.Kind.DERIVE, options=options, actor=actor)


def task_options(variant: Dataset, spec: VariantSpec) -> dict[str, Any]:
    """Return the options of the task, which do not change once it is queued."""
    assert variant.derived_from is not None
    newest = variant.derived_from.documents.order_by("pk").values_list("pk", flat=True).last()
    return {
        "names": sorted(spec.names) if spec.names is not None else None,
        "newest": newest or 0,
        "release": spec.release.pk if spec.release else None,
    }


def source_documents(base: Dataset) -> Any:
    """Return the active documents with an image, by name."""
    active = base.documents.filter(state=Document.State.ACTIVE, images__isnull=False)
    return active.order_by("name").distinct()


def capture_of(kind: str) -> "Capture":
    """Return a kind of capture. Raises VariantError if it does not exist."""
    from .captures import CAPTURES

    if kind not in CAPTURES:
        raise VariantError("kind", f"Unknown kind {kind!r}. Use {', '.join(CAPTURES)}.")
    return CAPTURES[kind]


def _checked(base: Dataset, spec: VariantSpec) -> "Capture":
    capture = capture_of(spec.kind)
    if base.derived_from_id is not None:
        raise VariantError("kind", "This dataset is a variant. Use the original dataset.")
    if not 0 < spec.strength <= 1:
        raise VariantError("strength", "The strength must be above 0 and at most 1.")
    if not 0 <= spec.seed <= LARGEST_SEED:
        raise VariantError("seed", f"The seed must be from 0 to {LARGEST_SEED}.")
    if spec.release is not None and spec.release.dataset_id != base.pk:
        raise VariantError("release", "The release belongs to another dataset.")
    _check_names(base, capture, spec.names)
    if capture.keeps_normal and _other_gold(base).exists():
        raise VariantError(
            "kind", f"“{capture.title}” is for CC-OCR, whose gold states the orientation of images."
        )
    return capture


def _other_gold(base: Dataset) -> Any:
    """Return the documents with an image whose record is not of CC-OCR."""
    return source_documents(base).exclude(record__benchmark=CCOCR)


def _check_names(base: Dataset, capture: "Capture", names: Sequence[str] | None) -> None:
    there = set(source_documents(base).values_list("name", flat=True))
    if not there:
        raise VariantError("names", "No document of this dataset has an image.")
    if capture.needs_others and len(there) < 2:
        raise VariantError("kind", f"“{capture.title}” needs at least two documents with images.")
    if names is None:
        return
    if not names:
        raise VariantError("names", "Choose at least one document.")
    if unknown := sorted(set(names) - there):
        more = f" and {len(unknown) - 1:,} more" if len(unknown) > 1 else ""
        raise VariantError("names", f"No document with an image has the name {unknown[0]}{more}.")


def _derivation(capture: "Capture", spec: VariantSpec) -> dict[str, Any]:
    from .captures import VERSION

    return {
        "kind": capture.key,
        "title": capture.title,
        "strength": spec.strength if capture.has_strength else None,
        "seed": spec.seed,
        "version": VERSION,
    }


def _existing(base: Dataset, slug: str, derivation: dict[str, Any]) -> Dataset | None:
    """Return the variant with this slug and derivation; its derivation may have more keys."""
    there = Dataset.objects.filter(slug=slug, derived_from=base).first()
    if there is None or not there.derivation:
        return None
    return there if derivation.items() <= there.derivation.items() else None


def _words(capture: "Capture", spec: VariantSpec) -> str:
    title = capture.title[:1].lower() + capture.title[1:]
    return f"{title} {spec.strength:g}" if capture.has_strength else title


def _description(base: Dataset, capture: "Capture", spec: VariantSpec) -> str:
    return (
        f"The page images of {base.title} as simulated captures: {_words(capture, spec)}, seed"
        f" {spec.seed}. {capture.help} Text and facts are those of the original."
    )


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

    with image.file.open("rb") as file, Image.open(file) as opened:
        return opened.convert("RGB")


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
