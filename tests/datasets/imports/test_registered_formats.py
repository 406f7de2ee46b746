"""A format that registers itself works on the page, in the API and by command."""

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command

from portal.accounts.models import User
from portal.datasets.imports import formats
from portal.datasets.imports.formats import ImportFormat, register_format
from portal.datasets.imports.items import SourceItem, SourceItems
from portal.datasets.imports.opening import Source, open_source
from portal.datasets.models import Document, ImportRun
from portal.files.archives import ArchiveLimits
from tests.factories import empty_dataset
from tests.fixture_types import ApiOf, ClientOf

pytestmark = pytest.mark.django_db


def read_toy(source: Source, name: str, limits: ArchiveLimits) -> SourceItems:
    with open_source(source, name, limits) as files:
        for path in files.needed("no_toy", ".toy", ".toy"):
            yield SourceItem(path, path.removesuffix(".toy"), files.read(path).decode())


TOY = ImportFormat("toy", "toy pages", read_toy, (".toy",), (".toy",), "One page in each file.")


@pytest.fixture(autouse=True)
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "_formats", dict(formats._formats))
    register_format(TOY)


def toy_file() -> SimpleUploadedFile:
    return SimpleUploadedFile("a.toy", b"<p>Net 1,200</p>")


def test_page_offers_it_and_shows_its_report(
    organiser: User, client_of: ClientOf, run_jobs: Callable[[], int]
) -> None:
    empty_dataset(slug="set")
    client = client_of(organiser)
    html = client.get("/datasets/set/import/").content.decode()
    for shown in ("Toy pages", "One page in each file.", "<code>.toy</code>"):
        assert shown in html
    client.post("/datasets/set/import/", {"form": "toy", "file": toy_file()})
    run_jobs()
    assert Document.objects.get().name == "a"
    report = client.get(ImportRun.objects.get().get_absolute_url()).content.decode()
    assert "Toy pages. Started" in report


def test_api_takes_it(organiser: User, api_of: ApiOf, run_jobs: Callable[[], int]) -> None:
    empty_dataset(slug="set")
    url = "/api/v1/datasets/set/imports/"
    answer = api_of(organiser).post(url, {"form": "toy", "file": toy_file()}, format="multipart")
    assert (answer.status_code, answer.json()["form"]) == (202, "toy")
    run_jobs()
    assert api_of(organiser).get(url).json()["results"][0]["form"] == "toy"
    wrong = {"form": "toys", "file": toy_file()}
    assert api_of(organiser).post(url, wrong, format="multipart").status_code == 400


def test_command_takes_it(tmp_path: Path) -> None:
    (tmp_path / "a.toy").write_bytes(b"<p>Net 1,200</p>")
    call_command(
        "import_dataset", "set", str(tmp_path), create=True, form="toy", stdout=io.StringIO()
    )
    assert Document.objects.get().name == "a"
    with pytest.raises(CommandError, match="invalid choice: 'toys'"):
        call_command("import_dataset", "set", str(tmp_path), "--form", "toys")


def test_report_of_a_format_that_is_gone_is_shown(organiser: User, client_of: ClientOf) -> None:
    run = ImportRun.objects.create(
        dataset=empty_dataset(slug="set"), form="gone", source_name="a", state="done"
    )
    assert "Gone. Started" in client_of(organiser).get(run.get_absolute_url()).content.decode()


def test_key_is_registered_once() -> None:
    with pytest.raises(ValueError, match="there is already an import format 'toy'"):
        register_format(TOY)
    with pytest.raises(ValueError, match="1 to 14 characters"):
        register_format(ImportFormat("a" * 15, "", read_toy, ()))
