"""Bad archives and pages: a clear message, and no partial data."""

import io
import stat
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from rest_framework.test import APIClient

from portal.accounts.models import User
from portal.datasets.imports.services import import_path, start_import
from portal.datasets.models import Dataset, Document, ImportRun
from portal.jobs.models import Job
from tests.datasets.factories import (
    outcomes,
    page,
    png,
    write_folder,
    zip_bytes,
    zip_upload,
)
from tests.datasets.imaging.test_pictures import png_claiming
from tests.factories import empty_dataset

pytestmark = pytest.mark.django_db


def zipped_link() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as bundle:
        bundle.writestr("pages/a.html", page())
        info = zipfile.ZipInfo("pages/b.html")
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        bundle.writestr(info, "/etc/passwd")
    return stream.getvalue()


def encrypted() -> bytes:
    """Sets the encryption flag in both headers of the entry."""
    data = bytearray(zip_bytes({"pages/a.html": page()}))
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = data.index(signature) + offset
        (flags,) = struct.unpack_from("<H", data, place)
        struct.pack_into("<H", data, place, flags | 1)
    return bytes(data)


BAD_ARCHIVES: dict[str, tuple[Callable[[], bytes], str]] = {
    "text": (lambda: b"this is not a ZIP", "not a readable ZIP archive"),
    "empty": (lambda: zip_bytes({}), "the source has no files named"),
    "no pages": (lambda: zip_bytes({"a.html": page()}), "the source has no files named"),
    "truncated": (lambda: zip_bytes({"pages/a.html": page()})[:-30], "not a readable ZIP archive"),
    "traversal": (lambda: zip_bytes({"../pages/a.html": page()}), "file name not accepted"),
    "absolute": (lambda: zip_bytes({"/pages/a.html": page()}), "file name not accepted"),
    "backslashes": (lambda: zip_bytes({"pages\\..\\..\\a.html": page()}), "file name not accepted"),
    "link": (zipped_link, "links are not accepted"),
    "encrypted": (encrypted, "encrypted archives are not accepted"),
    "bomb": (lambda: zip_bytes({"pages/a.html": b"0" * 30_000_000}), "may be a ZIP bomb"),
}


@pytest.mark.parametrize("kind", BAD_ARCHIVES)
def test_bad_archive_is_refused_by_the_page(
    kind: str, organiser: User, client_of: Callable[[User], Client]
) -> None:
    make, message = BAD_ARCHIVES[kind]
    dataset = empty_dataset(slug="set")
    upload = SimpleUploadedFile("bad.zip", make(), "application/zip")
    response = client_of(organiser).post("/datasets/set/import/", {"file": upload})
    assert response.status_code == 400
    assert message in response.content.decode()
    assert not dataset.imports.exists()
    assert not Job.objects.exists()


@pytest.mark.parametrize("kind", BAD_ARCHIVES)
def test_bad_archive_is_refused_by_the_api(
    kind: str, organiser: User, api_of: Callable[[User], APIClient]
) -> None:
    make, message = BAD_ARCHIVES[kind]
    empty_dataset(slug="set")
    upload = SimpleUploadedFile("bad.zip", make(), "application/zip")
    response = api_of(organiser).post(
        "/api/v1/datasets/set/imports/", {"file": upload}, format="multipart"
    )
    assert response.status_code == 400
    assert message in response.json()["file"][0]
    assert not ImportRun.objects.exists()


def test_too_large_upload_is_refused_with_the_limit(
    organiser: User,
    client_of: Callable[[User], Client],
    api_of: Callable[[User], APIClient],
    settings: Any,
) -> None:
    settings.UPLOAD_LIMIT = settings.MEGABYTE
    empty_dataset(slug="set")
    big = SimpleUploadedFile("big.zip", b"x" * (settings.MEGABYTE + 1), "application/zip")
    response = client_of(organiser).post("/datasets/set/import/", {"file": big})
    assert response.status_code == 413
    assert "The file is larger than 1 MB." in response.content.decode()
    big.seek(0)
    answer = api_of(organiser).post(
        "/api/v1/datasets/set/imports/", {"file": big}, format="multipart"
    )
    assert (answer.status_code, answer.json()) == (413, {"file": ["The file is larger than 1 MB."]})
    assert not ImportRun.objects.exists()


def test_upload_without_a_file_says_so(
    organiser: User, client_of: Callable[[User], Client], api_of: Callable[[User], APIClient]
) -> None:
    empty_dataset(slug="set")
    response = client_of(organiser).post("/datasets/set/import/", {})
    assert response.status_code == 400
    assert "This field is required." in response.content.decode()
    answer = api_of(organiser).post("/api/v1/datasets/set/imports/", {}, format="multipart")
    assert (answer.status_code, list(answer.json())) == (400, ["file"])


def test_pages_of_bad_content_are_refused_by_name_and_the_rest_goes_on(
    tmp_path: Path, settings: Any
) -> None:
    settings.ARCHIVE_MEMBER_LIMIT = 3_000_000
    bad = {
        "deep": b"<div>" * 10_000 + b"x",
        "formatting": b"<b><i>" * 20_000 + b"x",
        "nul": b"<p>a\0b</p>",
        "pdf": b"%PDF-1.4 ...",
        "utf16": "<p>x</p>".encode("utf-16-le"),
        "wrong": b'<meta charset="utf-8"><p>\xff\xfe\xfd</p>',
        "large": b"<p>" + b"x" * 3_000_001,
        "swallowed": b"<p>x</p><!-- never closed <p>rest</p>",
    }
    files: dict[str, bytes | str] = {f"pages/{name}.html": data for name, data in bad.items()}
    files["pages/zz_good.html"] = page()
    run = import_path(dataset=empty_dataset(), path=write_folder(tmp_path, files))
    found = outcomes(run)
    refused = {name: code for name, (outcome, code) in found.items() if outcome == "refused"}
    assert refused.keys() == {f"pages/{name}.html" for name in bad}
    assert refused["pages/large.html"] == "too_large"
    assert refused["pages/deep.html"] == "too_deep"
    assert refused["pages/wrong.html"] == "encoding"
    assert [document.name for document in Document.objects.all()] == ["zz_good"]


def test_scripts_and_handlers_never_get_in(tmp_path: Path) -> None:
    source = (
        b"<body onload=a()><p onclick=b()>Total 1,200<script>c()</script>"
        b"<a href='javascript:d()'>link</a><img src=x onerror=e()><iframe srcdoc='<script>f()'>"
        b"</iframe><svg><script>g()</script></svg><style>@import 'h'</style>"
        b"<form action=/accounts/logout/><button>i</button></form></p>"
    )
    import_path(dataset=empty_dataset(), path=write_folder(tmp_path, {"pages/a.html": source}))
    html = Document.objects.get().content.html
    for trace in (
        "script",
        "onload",
        "onclick",
        "onerror",
        "href",
        "iframe",
        "svg",
        "form",
        "@import",
    ):
        assert trace not in html
    assert "Total 1,200" in html


def test_image_bomb_is_refused_and_its_page_imported(tmp_path: Path) -> None:
    files = {"pages/a.html": page(), "images/a.png": png_claiming(60_000, 60_000)}
    run = import_path(dataset=empty_dataset(), path=write_folder(tmp_path, files))
    assert outcomes(run) == {
        "images/a.png": ("refused", "image_too_large"),
        "pages/a.html": ("imported", "no_image"),
    }


def test_member_with_a_wrong_checksum_is_refused_by_name(
    organiser: User, run_jobs: Callable[[], int]
) -> None:
    files = {"pages/a.html": page("A 1"), "pages/b.html": page("B 2")}
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as bundle:
        for name, data in files.items():
            bundle.writestr(name, data)
    damaged = stream.getvalue().replace(b"A 1", b"A 7", 1)
    run = start_import(
        dataset=empty_dataset(),
        upload=SimpleUploadedFile("d.zip", damaged),
        source_name="d.zip",
        actor=organiser,
    )
    run_jobs()
    assert outcomes(run) == {
        "pages/a.html": ("refused", "damaged"),
        "pages/b.html": ("imported", "no_image"),
    }


def test_name_of_the_upload_never_becomes_a_path(
    organiser: User, client_of: Callable[[User], Client]
) -> None:
    empty_dataset(slug="set")
    upload = zip_upload({"pages/a.html": page(), "images/a.png": png()}, name="../../<b>evil.zip")
    response = client_of(organiser).post("/datasets/set/import/", {"file": upload})
    run = ImportRun.objects.get()
    assert response.status_code == 302
    assert str(run.upload.name).startswith("imports/")
    assert "evil" not in str(run.upload.name)
    shown = client_of(organiser).get(run.get_absolute_url()).content.decode()
    assert "<b>evil" not in shown


def test_odd_characters_in_the_name_of_an_upload_are_spelled_out(organiser: User) -> None:
    run = start_import(
        dataset=empty_dataset(),
        upload=zip_upload({"pages/a.html": page()}),
        source_name="a\x00b\udc80\n.zip",
        actor=organiser,
    )
    run.refresh_from_db()
    assert run.source_name == r"a\x00b\udc80\n.zip"


def test_impossible_names_in_addresses_are_not_found(
    client_of: Callable[[User | None], Client], api_of: Callable[[User | None], APIClient]
) -> None:
    dataset = empty_dataset(slug="set", visibility=Dataset.Visibility.PUBLIC)
    assert dataset.slug == "set"
    for path in (
        "/datasets/set/documents/%00/",
        "/datasets/set/documents/..%2F..%2Fetc/",
        "/datasets/set/documents/a/images/99999999999999999999/",
        "/datasets/set/releases/%00/",
        "/datasets/set/releases/1.0.0'--/download/",
    ):
        assert client_of(None).get(path).status_code == 404
        assert api_of(None).get(f"/api/v1{path}").status_code == 404


def test_odd_questions_to_the_document_table_are_harmless(
    client_of: Callable[[User | None], Client], api_of: Callable[[User | None], APIClient]
) -> None:
    empty_dataset(slug="set", visibility=Dataset.Visibility.PUBLIC)
    for query in ("q=%00", "q=%25%27", "type=novel", "page=-7", "page=x", "q=" + "a" * 5000):
        assert client_of(None).get(f"/datasets/set/?{query}").status_code == 200
    response = api_of(None).get("/api/v1/datasets/set/documents/?doc_type=novel")
    assert (response.status_code, list(response.json())) == (400, ["doc_type"])
