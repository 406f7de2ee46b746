"""Store, render, upload and remove the page images of documents.

Rendering is a task that saves each document together with its progress in one transaction, so that
it continues after the last document if the worker is killed.

Images of a released document never change.
"""

import hashlib
import io
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from django.conf import settings
from django.core.files.base import ContentFile
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from portal.accounts.models import User
from portal.audit.models import record_event
from portal.datasets.dataset_tasks import (
    OptionsError,
    Steps,
    TaskError,
    TaskReport,
    refuse_others,
    start_task,
)
from portal.datasets.models import (
    Dataset,
    DatasetTask,
    Document,
    DocumentContent,
    PageImage,
    ReleaseItem,
    TextBoxes,
)
from portal.datasets.models.images import image_path, thumbnail_path

from .pictures import Picture, thumbnail_of
from .renderer import Limits, NoBrowserError, Rendered, RenderedImage, Renderer, RenderingError
from .stored import read_stored


def release_reason(document: Document) -> str:
    """Return why the document's images cannot change, or "" if it is not in a release.

    The caller must lock the document's row, as freezing a release does.
    """
    items = document.release_items.select_related("release").order_by("release__pk")
    versions = [item.release.version for item in items.defer("gold", "facts", "pinned")]
    if not versions:
        return ""
    return (
        f"the document is in a release ({', '.join(versions)}), which never changes; import"
        " the document under another name and use that one in the next release"
    )


def is_pinned(document: Document, sha256s: Sequence[str]) -> bool:
    """Whether every release with the document has exactly these images in this order."""
    pinned = document.release_items.values_list("pinned", flat=True)
    return all(
        pins is not None and [image["sha256"] for image in pins["images"]] == list(sha256s)
        for pins in pinned
    )


def store_picture(document: Document, picture: Picture, number: int = 1) -> PageImage:
    """Store an image under its content's hash. An incomplete file is replaced."""
    image = PageImage(
        document=document,
        number=number,
        width=picture.width,
        height=picture.height,
        sha256=picture.sha256,
    )
    storage = image.file.storage
    path = image_path(image, f"page{picture.suffix}")
    if storage.exists(path) and storage.size(path) != len(picture.data):
        storage.delete(path)
    if not storage.exists(path):
        path = storage.save(path, ContentFile(picture.data))
    image.file.name = path
    image.save()
    return image


# Documents per query; their HTML is loaded one by one.
_AT_ONCE = 200
AFTER = "after"


class ImageRefusedError(Exception):
    """An image of a document cannot be added, replaced or removed."""

    field = "file"


def check_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Check the option `again`: also replace rendered images. Raises OptionsError."""
    refuse_others(options, {"again"})
    again = options.get("again", False)
    if not isinstance(again, bool):
        raise OptionsError("again: must be true or false")
    return {"again": again}


def start_rendering(*, dataset: Dataset, again: bool, actor: User | None) -> DatasetTask:
    """Queue the rendering of documents without an image, or return the running task."""
    return start_task(
        dataset=dataset, kind=DatasetTask.Kind.RENDER, options={"again": again}, actor=actor
    )


def documents_to_render(dataset: Dataset, *, again: bool) -> QuerySet[Document]:
    """Return pages without an image, and with `again` also pages with only rendered images.

    Released documents are excluded, even those without an image.
    """
    frozen = ReleaseItem.objects.filter(document=OuterRef("pk"))
    return _without_images(dataset, again=again).filter(~Exists(frozen)).order_by("pk")


def _without_images(dataset: Dataset, *, again: bool) -> QuerySet[Document]:
    images = PageImage.objects.filter(document=OuterRef("pk"))
    if again:
        images = images.filter(is_rendered=False)
    return dataset.documents.filter(~Exists(images), kind=Document.Kind.PAGE)


def render_documents(task: DatasetTask, steps: Steps) -> TaskReport | None:
    """Run a task of the kind "render". Raises TaskError without Chromium."""
    report = _report_so_far(task)
    after = task.report.get(AFTER, 0)
    again = bool(task.options.get("again"))
    waiting = documents_to_render(task.dataset, again=again).filter(pk__gt=after)
    done = sum(report.counts.values()) - report.counts.get("images", 0)
    pages = _without_images(task.dataset, again=False)
    released = pages.filter(release_items__isnull=False).distinct().count()
    total = done + waiting.count()
    steps.progress(done, total)
    try:
        with Renderer(settings.CHROMIUM, Limits()) as renderer:
            while batch := list(waiting.filter(pk__gt=after)[:_AT_ONCE]):
                for document in batch:
                    if steps.stop():
                        return None
                    _render_one(renderer, task, document, report)
                    after, done = document.pk, done + 1
                    steps.progress(done, max(total, done))
    except NoBrowserError as error:
        raise TaskError(str(error)) from error
    if released:
        report.count("released documents without an image, not rendered", released)
    return report


def _report_so_far(task: DatasetTask) -> TaskReport:
    saved = task.report
    return TaskReport(
        dict(saved.get("counts", {})),
        list(saved.get("faults", [])),
        saved.get("faults_left_out", 0),
    )


def _render_one(
    renderer: Renderer, task: DatasetTask, document: Document, report: TaskReport
) -> None:
    """Render the document, and save its images with the report so far in one transaction."""
    content = DocumentContent.objects.get(pk=document.pk)
    rendered = None
    try:
        rendered = renderer.render(content.html, content.text)
    except RenderingError as error:
        report.fault(document.name, error.code, error.reason)
    with transaction.atomic():
        if rendered is None:
            report.count("documents rejected")
        elif _store(document, rendered):
            report.count("documents rendered")
            report.count("images", len(rendered.images))
        else:
            report.count("documents skipped: image added or document released meanwhile")
        progress = report.as_json() | {AFTER: document.pk}
        DatasetTask.objects.filter(pk=task.pk).update(report=progress)


def _store(document: Document, rendered: Rendered) -> bool:
    """Replace rendered images; False if the document has another image or a release by now."""
    Document.objects.select_for_update().get(pk=document.pk)
    stored = list(document.images.all())
    if release_reason(document) or any(not image.is_rendered for image in stored):
        return False
    document.images.all().delete()
    for number, image in enumerate(rendered.images, start=1):
        _store_image(document, image, number, rendered.similarity)
    used = {hashlib.sha256(image.png).hexdigest() for image in rendered.images}
    for old in stored:
        if old.sha256 not in used:
            transaction.on_commit(partial(_forget_files, old))
    return True


def _store_image(document: Document, image: RenderedImage, number: int, similarity: float) -> None:
    digest = hashlib.sha256(image.png).hexdigest()
    picture = Picture(image.png, image.width, image.height, ".png", digest)
    stored = store_picture(document, picture, number)
    stored.is_rendered = True
    stored.text_similarity = similarity
    stored.thumbnail.name = store_thumbnail(stored, image.thumbnail)
    stored.save(update_fields=["is_rendered", "text_similarity", "thumbnail"])
    TextBoxes.objects.create(image=stored, boxes=image.boxes)


def _forget_files(image: PageImage) -> None:
    """Delete the files of a deleted image unless another image uses them."""
    if PageImage.objects.filter(file=image.file.name).exists():
        return
    for file in (image.file, image.thumbnail):
        if file:
            file.storage.delete(str(file.name))


def store_thumbnail(image: PageImage, data: bytes) -> str:
    """Store a WebP under the hash of its image's content, and return its path."""
    storage = image.thumbnail.storage
    path = thumbnail_path(image, "")
    if storage.exists(path) and storage.size(path) != len(data):
        storage.delete(path)
    return path if storage.exists(path) else str(storage.save(path, ContentFile(data)))


def ensure_thumbnail(image: PageImage) -> bytes:
    """Return the image's thumbnail, and create it on the first request.

    Raises OSError or ValueError if the image file is missing or damaged.
    """
    if image.thumbnail:
        try:
            with image.thumbnail.open("rb") as file:
                stored: bytes = file.read()
                return stored
        except OSError:
            pass  # create it again
    data = thumbnail_of(io.BytesIO(read_stored(str(image.file.name), image.sha256)))
    PageImage.objects.filter(pk=image.pk).update(thumbnail=store_thumbnail(image, data))
    return data


@transaction.atomic
def add_image(
    *, document: Document, picture: Picture, replaces: int | None = None, actor: User | None
) -> PageImage:
    """Add an uploaded image after the existing ones, or replace image number `replaces`.

    Raises ImageRefusedError for a released document, for an image that the document already has,
    and if the document has rendered images, which show all of it.
    """
    Document.objects.select_for_update().get(pk=document.pk)
    images = list(document.images.all())
    _check_not_released(document)
    if any(image.sha256 == picture.sha256 for image in images):
        raise ImageRefusedError("The document already has this image.")
    if any(image.is_rendered for image in images):
        raise ImageRefusedError("Remove the rendered images of the document first.")
    if replaces is not None:
        return _replace_image(document, images, picture, replaces, actor)
    number = max((image.number for image in images), default=0) + 1
    stored = store_picture(document, picture, number)
    record_event(verb="add_page_image", subject=stored, actor=actor, document=document.name)
    return stored


def _check_not_released(document: Document) -> None:
    if reason := release_reason(document):
        raise ImageRefusedError(f"The images cannot be changed: {reason}.")


def _replace_image(
    document: Document,
    images: Sequence[PageImage],
    picture: Picture,
    number: int,
    actor: User | None,
) -> PageImage:
    if document.kind == Document.Kind.PICTURE:
        raise ImageRefusedError(
            "Images of an image document cannot be replaced. Import the new image under "
            "another name."
        )
    old = next((image for image in images if image.number == number), None)
    if old is None:
        raise ImageRefusedError(f"The document has no image {number}.")
    old.delete()
    stored = store_picture(document, picture, number)
    transaction.on_commit(partial(_forget_files, old))
    record_event(
        verb="replace_page_image",
        subject=stored,
        actor=actor,
        document=document.name,
        before=old.sha256,
    )
    return stored


def replace_images(*, document: Document, pictures: Sequence[Picture], actor: User | None) -> None:
    """Replace all images of a document, rendered ones too. The caller has locked its row.

    Raises ImageRefusedError for a released document.
    """
    _check_not_released(document)
    old = list(document.images.all())
    document.images.all().delete()
    for number, picture in enumerate(pictures, start=1):
        store_picture(document, picture, number)
    for image in old:
        transaction.on_commit(partial(_forget_files, image))
    record_event(
        verb="replace_page_images",
        subject=document,
        actor=actor,
        before=[image.sha256 for image in old],
    )


@transaction.atomic
def remove_rendered_images(*, document: Document, actor: User | None) -> int:
    """Remove the rendered images of a document and return their number.

    Raises ImageRefusedError for a released document.
    """
    Document.objects.select_for_update().get(pk=document.pk)
    _check_not_released(document)
    rendered = list(document.images.filter(is_rendered=True))
    document.images.filter(is_rendered=True).delete()
    for image in rendered:
        transaction.on_commit(partial(_forget_files, image))
    if rendered:
        record_event(
            verb="remove_rendered_images", subject=document, actor=actor, images=len(rendered)
        )
    return len(rendered)
