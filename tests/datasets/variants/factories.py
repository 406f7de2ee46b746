"""A dataset with page images, and variants of it."""

import io

import numpy as np
from PIL import Image

from portal.datasets.dataset_tasks import run_here
from portal.datasets.models import Dataset, DatasetTask, PageImage
from portal.datasets.variants.deriving import derive
from portal.datasets.variants.services import VariantSpec, create_variant, task_options
from tests.datasets.factories import add_image, stored_bytes
from tests.factories import empty_dataset, make_document

OFF_AXIS = VariantSpec(kind="off_axis", strength=0.5, seed=7)


def page_png(number: int) -> bytes:
    """A small page with unique pixels."""
    y, x = np.mgrid[0:60, 0:80]
    pixels = np.stack([x * 3, y * 4, (x + y + 20 * number) % 256], -1).astype(np.uint8)
    stream = io.BytesIO()
    Image.fromarray(pixels, "RGB").save(stream, "PNG")
    return stream.getvalue()


def base_dataset(*, pages: int = 3, slug: str = "base", visibility: str = "public") -> Dataset:
    """Pages p0, p1, …, each with a fact “1,200” and an image."""
    dataset = empty_dataset(slug=slug, title="Base", visibility=visibility)
    for number in range(pages):
        document = make_document(dataset, f"p{number}", f"<p>Sales 1,200 of page {number}</p>")
        add_image(document, page_png(number))
    return dataset


def derived(base: Dataset, spec: VariantSpec = OFF_AXIS, slug: str = "") -> Dataset:
    """Create the variant in this process."""
    variant = create_variant(base=base, spec=spec, slug=slug, actor=None)
    run_here(
        dataset=variant,
        kind=DatasetTask.Kind.DERIVE,
        run=derive,
        options=task_options(variant, spec),
    )
    variant.refresh_from_db()
    return variant


def image_bytes(dataset: Dataset) -> dict[str, bytes]:
    """The images of a dataset by document."""
    images = PageImage.objects.filter(document__dataset=dataset).select_related("document")
    return {image.document.name: stored_bytes(image) for image in images}
