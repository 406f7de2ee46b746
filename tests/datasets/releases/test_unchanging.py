"""A release never changes: every page, endpoint and command refuses a change of its data, and
what may change afterwards is pinned by it.
"""

import re
import zipfile
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from portal.accounts.models import User
from portal.audit.models import Event
from portal.datasets.access import ALL_GOLD
from portal.datasets.documents.services import (
    Hold,
    bulk_edit_documents,
    edit_dataset,
    edit_document,
)
from portal.datasets.imaging.pictures import check_picture
from portal.datasets.imaging.services import (
    ImageRefusedError,
    add_image,
    documents_to_render,
    is_pinned,
    remove_rendered_images,
)
from portal.datasets.imports.services import import_path
from portal.datasets.models import Dataset, Document, DocumentRecord, Release
from portal.datasets.releases.exports import release_archive
from portal.datasets.releases.gold import GoldItem
from portal.datasets.releases.services import freeze_release
from tests.datasets.factories import LABELS, jpeg, png, spans_of, stored_bytes
from tests.datasets.factories import add_image as import_image
from tests.factories import empty_dataset, make_document
from tests.fixture_types import ApiOf, ClientOf

pytestmark = pytest.mark.django_db


@pytest.fixture
def dataset() -> Dataset:
    return empty_dataset(slug="set", title="Set", licence="MIT")


@pytest.fixture
def page(dataset: Dataset) -> Document:
    """A page without an image."""
    return make_document(dataset, "a", "<p>Total 1,200</p>")


def freeze(document: Document, version: str = "1.0.0") -> Release:
    items = [GoldItem(document, spans_of(document, Number=["1,200"]))]
    return freeze_release(
        dataset=document.dataset, version=version, items=items, labels=LABELS, visibility="public"
    )


def archive_of(release: Release) -> bytes:
    return b"".join(release_archive(Release.objects.get(pk=release.pk), ALL_GOLD, images=True))


def upload(data: bytes | None = None) -> SimpleUploadedFile:
    return SimpleUploadedFile("scan.png", data or png(), "image/png")


REASON = "the document is in a release (1.0.0), which never changes"


def test_an_image_uploaded_by_page_or_api_is_refused(
    page: Document, client_of: ClientOf, api_of: ApiOf, organiser: User
) -> None:
    release = freeze(page)
    before = archive_of(release)
    path = "/datasets/set/documents/a/images/"
    shown = client_of(organiser).post(path, {"file": upload()})
    assert shown.status_code == 400
    assert REASON in shown.content.decode()
    response = api_of(organiser).post(f"/api/v1{path}", {"file": upload()}, format="multipart")
    assert response.status_code == 400
    assert REASON in response.json()["file"][0]
    assert archive_of(release) == before
    assert not page.images.exists()


def test_the_page_says_why_instead_of_offering_a_form(
    page: Document, client_of: ClientOf, organiser: User
) -> None:
    client = client_of(organiser)
    assert "Upload an image" in client.get(page.get_absolute_url()).content.decode()
    freeze(page)
    shown = client.get(page.get_absolute_url()).content.decode()
    assert "Upload an image" not in shown
    assert "You cannot change the images, because the document is in a release." in shown


def test_replacing_and_removing_are_refused(page: Document) -> None:
    import_image(page)
    freeze(page)
    with pytest.raises(ImageRefusedError, match=re.escape(REASON)):
        add_image(document=page, picture=check_picture(jpeg()), replaces=1, actor=None)
    page.images.update(is_rendered=True)
    with pytest.raises(ImageRefusedError, match=re.escape(REASON)):
        remove_rendered_images(document=page, actor=None)


def test_two_releases_are_both_named(page: Document) -> None:
    freeze(page)
    freeze(page, "1.1.0")
    with pytest.raises(ImageRefusedError, match=r"\(1\.0\.0, 1\.1\.0\)"):
        add_image(document=page, picture=check_picture(png()), actor=None)


def test_a_released_page_without_an_image_is_not_rendered(dataset: Dataset, page: Document) -> None:
    other = make_document(dataset, "b", "<p>Total 7</p>")
    freeze(page)
    for again in (False, True):
        assert list(documents_to_render(dataset, again=again)) == [other]


def test_images_are_pinned_when_every_release_has_exactly_them(page: Document) -> None:
    import_image(page)
    image = page.images.get()
    assert is_pinned(page, [image.sha256])
    freeze(page)
    assert is_pinned(page, [image.sha256])
    assert not is_pinned(page, ["0" * 64])
    assert not is_pinned(page, [])


def test_an_import_leaves_a_late_image_out_and_says_so(
    dataset: Dataset, page: Document, tmp_path: Path
) -> None:
    release = freeze(page)
    before = archive_of(release)
    path = tmp_path / "pages.zip"
    with zipfile.ZipFile(path, "w") as bundle:
        bundle.writestr("pages/a.html", "<p>Total 1,200</p>")
        bundle.writestr("images/a.png", png())
    run = import_path(dataset=dataset, path=path)
    (item,) = run.items.all()
    assert item.reason == (
        f"image not imported: {REASON}; import the document under another name and use that"
        " one in the next release"
    )
    assert archive_of(release) == before


def test_what_is_put_right_afterwards_is_shown_by_the_next_release_only(
    dataset: Dataset, page: Document
) -> None:
    release = freeze(page)
    before = archive_of(release)
    edit_document(document=page, changes={"company": "Acme", "metadata": {"cik": 7}}, actor=None)
    documents = dataset.documents.all()
    changes = {"doc_type": "tax_form"}
    bulk_edit_documents(dataset=dataset, documents=documents, changes=changes, actor=None)
    edit_dataset(dataset=dataset, changes={"title": "Other", "licence": "CC0-1.0"}, actor=None)
    DocumentRecord.objects.create(document=page, benchmark="findoc", gold={}, prompt="What?")
    hold = Hold("a copy")
    bulk_edit_documents(dataset=dataset, documents=documents, hold=hold, actor=None)
    assert archive_of(release) == before
    bulk_edit_documents(dataset=dataset, documents=documents, hold=Hold(), actor=None)
    dataset.refresh_from_db()
    after = archive_of(freeze(Document.objects.get(pk=page.pk), "1.1.0"))
    assert b"Acme" not in before
    assert after != before


def test_an_imported_image_is_replaced_before_a_release(
    page: Document, client_of: ClientOf, api_of: ApiOf, organiser: User
) -> None:
    import_image(page)
    add_image(document=page, picture=check_picture(png(41)), actor=None)
    path = "/datasets/set/documents/a/images/"
    shown = client_of(organiser).get(page.get_absolute_url()).content.decode()
    assert "Replace image 2" in shown
    other = jpeg()
    client_of(organiser).post(path, {"file": upload(other), "replaces": "2"})
    assert [stored_bytes(image) for image in page.images.order_by("number")] == [png(), other]
    api = api_of(organiser)
    answer = api.post(
        f"/api/v1{path}", {"file": upload(png(50)), "replaces": 1}, format="multipart"
    )
    assert (answer.status_code, answer.json()["number"]) == (201, 1)
    assert page.images.get(number=1).width == 50
    answer = api.post(
        f"/api/v1{path}", {"file": upload(png(60)), "replaces": 3}, format="multipart"
    )
    assert answer.json() == {"file": ["The document has no image 3."]}
    assert Event.objects.filter(verb="replace_page_image").count() == 2
