"""An image that changed or vanished on disk is never served."""

import logging
import os
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from portal.datasets.imaging import stored
from portal.datasets.imaging.stored import StoredFile, StoredFileError, check_stored, read_stored
from portal.datasets.models import PageImage, Release
from tests.datasets.factories import body_of, make_world, png
from tests.fixture_types import ApiOf, ClientOf

pytestmark = pytest.mark.django_db


@pytest.fixture
def image() -> PageImage:
    """The image of a public release."""
    make_world("public", "public")
    return PageImage.objects.get()


def change(image: PageImage, kind: str) -> None:
    path = Path(image.file.path)
    if kind == "missing":
        path.unlink()
    else:
        data = path.read_bytes()
        path.write_bytes(png(shade=9) if kind == "other" else data[:-1] + b"\0")
        # Long before or after the time of the check.
        os.utime(path, (1, 1))


PROBLEMS = {"other": "was changed", "bit": "was changed", "missing": "is missing"}


@pytest.mark.parametrize("kind", PROBLEMS)
def test_changed_image_is_not_served(
    image: PageImage, kind: str, api_of: ApiOf, client_of: ClientOf, caplog: Any
) -> None:
    release = Release.objects.get()
    page = release.get_absolute_url()
    api = "/api/v1/datasets/world/releases/1.0.0/"
    for url in (f"{page}download/?images=1", f"{api}download/?images=1"):
        assert body_of(client_of(None).get(url)).startswith(b"PK")
    change(image, kind)
    with caplog.at_level(logging.ERROR):
        shown = client_of(None).get("/datasets/world/documents/secret/images/1/")
    assert shown.status_code == 500
    assert PROBLEMS[kind] in shown.json()["detail"]
    assert any(PROBLEMS[kind] in record.getMessage() for record in caplog.records)
    assert api_of(None).get("/api/v1/datasets/world/documents/secret/images/1/").status_code == 500
    answer = api_of(None).get(f"{api}download/?images=true")
    assert answer.status_code == 500
    assert PROBLEMS[kind] in answer.json()["detail"]
    followed = client_of(None).get(f"{page}download/?images=1", follow=True)
    assert f"{PROBLEMS[kind]}; restore it from a backup" in followed.content.decode()


def test_starter_kit_of_a_changed_image_is_refused(api_of: ApiOf, client_of: ClientOf) -> None:
    make_world("public", "gold_hidden")
    change(PageImage.objects.get(), "bit")
    page = Release.objects.get().get_absolute_url()
    followed = client_of(None).get(f"{page}starter-kit/", follow=True)
    assert "was changed; restore it from a backup" in followed.content.decode()
    answer = api_of(None).get("/api/v1/datasets/world/releases/1.0.0/starter-kit/")
    assert answer.status_code == 500
    assert "was changed" in answer.json()["detail"]


def test_release_without_images_is_downloaded_all_the_same(
    image: PageImage, client_of: ClientOf
) -> None:
    change(image, "missing")
    page = Release.objects.get().get_absolute_url()
    assert body_of(client_of(None).get(f"{page}download/")).startswith(b"PK")


def test_command_writes_no_archive_of_a_changed_image(image: PageImage, tmp_path: Path) -> None:
    change(image, "other")
    out = tmp_path / "a.zip"
    with pytest.raises(CommandError, match="was changed"):
        call_command("export_release", "world", "1.0.0", images=True, out=out)
    assert not list(tmp_path.glob("a.zip*"))


def test_files_are_read_once_until_they_change(
    image: PageImage, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[str] = []

    def counted(path: str, sha256: str) -> bytes:
        reads.append(path)
        return read_stored(path, sha256)

    monkeypatch.setattr(stored, "read_stored", counted)
    file = StoredFile(str(image.file.name), image.sha256)
    for _ in range(3):
        check_stored([file])
    assert len(reads) == 1
    os.utime(image.file.path, (5, 5))
    check_stored([file])
    assert len(reads) == 2
    with pytest.raises(StoredFileError, match="was changed"):
        check_stored([file._replace(sha256="0" * 64)])
