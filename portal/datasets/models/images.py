"""Page images of documents, and the positions of the text on them."""

from django.db import models
from django.urls import reverse

from .documents import Document


def image_path(image: "PageImage", filename: str) -> str:
    """The storage path of an image, from dataset and content, never from an uploaded file name.

    The same image has the same path, so a resumed import finds the files it already stored.
    """
    suffix = "jpg" if filename.endswith(".jpg") else "png"
    digest = image.sha256
    return f"datasets/{image.document.dataset_id}/images/{digest[:2]}/{digest}.{suffix}"


def thumbnail_path(image: "PageImage", _filename: str) -> str:
    digest = image.sha256
    return f"datasets/{image.document.dataset_id}/thumbnails/{digest[:2]}/{digest}.webp"


class PageImage(models.Model):
    """An image of a page, PNG or JPEG; a document can have several."""

    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="images")
    number = models.PositiveSmallIntegerField(default=1)
    file = models.FileField(upload_to=image_path, max_length=200)
    width = models.PositiveIntegerField(help_text="Pixels.")
    height = models.PositiveIntegerField(help_text="Pixels.")
    sha256 = models.CharField(max_length=64)

    is_rendered = models.BooleanField(
        default=False, help_text="Rendered by the site from the HTML, not imported."
    )
    thumbnail = models.FileField(upload_to=thumbnail_path, max_length=200, blank=True)
    text_similarity = models.FloatField(
        null=True,
        help_text="Share of the page's text found in the image, 0 to 1; empty if not checked.",
    )
    transform = models.JSONField(
        null=True, help_text="{kind, strength, seed, …} of a simulated capture; null if real."
    )

    class Meta:
        ordering = ["document", "number"]
        constraints = [
            models.UniqueConstraint(fields=["document", "number"], name="image_number_in_document")
        ]

    def __str__(self) -> str:
        return f"image {self.number} of document {self.document_id}"

    def get_absolute_url(self) -> str:
        document = self.document
        return reverse(
            "datasets:document-image", args=[document.dataset.slug, document.name, self.number]
        )

    @property
    def text_percent(self) -> float | None:
        return None if self.text_similarity is None else 100 * self.text_similarity

    @property
    def suffix(self) -> str:
        """`.png` or `.jpg`, by content."""
        return ".jpg" if str(self.file).endswith(".jpg") else ".png"

    @property
    def media_type(self) -> str:
        return "image/jpeg" if self.suffix == ".jpg" else "image/png"


class TextBoxes(models.Model):
    """The positions of the canonical text on a rendered image, in one row per image."""

    image = models.OneToOneField(
        PageImage, on_delete=models.CASCADE, primary_key=True, related_name="text_boxes"
    )
    boxes = models.JSONField(
        help_text="[[start, end, left, top, width, height], …]: code points of the canonical text, "
        "pixels of the image."
    )

    def __str__(self) -> str:
        return f"text boxes of image {self.image_id}"
