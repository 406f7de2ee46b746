"""Importing again: different images and metadata update existing documents, after a preview."""

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.core.management import call_command

from portal.accounts.models import User
from portal.audit.models import Event
from portal.datasets.imports.services import import_path
from portal.datasets.models import Dataset, Document, ImportRun
from tests.datasets.factories import (
    make_release,
    meta_lines,
    outcomes,
    page,
    png,
    stored_bytes,
    write_folder,
    zip_upload,
)
from tests.factories import empty_dataset
from tests.fixture_types import ApiOf, ClientOf, RunJobs

# Files are deleted on commit.
pytestmark = pytest.mark.django_db(transaction=True)

UPDATE = ImportRun.Differences.UPDATE
CHANGED = "image replaced; metadata changed: company (Old name → New name), page (3 → 4)"
NEW: dict[str, Any] = {"id": "a", "company": "New name", "page": 4}


def _files(shade: int, line: dict[str, Any]) -> dict[str, bytes | str]:
    return {
        "pages/a.html": page(),
        "images/a.png": png(shade=shade),
        "meta.jsonl": meta_lines(line),
    }


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    """A dataset with a document, whose folder then has another image and other metadata."""
    dataset = empty_dataset(slug="set")
    line = {"id": "a", "company": "Old name", "page": 3, "form_type": "10-K"}
    import_path(dataset=dataset, path=write_folder(tmp_path, _files(1, line)))
    write_folder(tmp_path, _files(2, NEW))
    return dataset


def _state() -> tuple[str, str, dict[str, Any], list[bytes]]:
    document = Document.objects.get()
    images = [stored_bytes(image) for image in document.images.order_by("number")]
    return document.company, document.form_type, document.metadata, images


BEFORE = ("Old name", "10-K", {"page": 3}, [png(shade=1)])
AFTER = ("New name", "10-K", {"page": 4}, [png(shade=2)])


def test_update_replaces_image_and_metadata(
    dataset: Dataset, tmp_path: Path, organiser: User
) -> None:
    [old] = Document.objects.get().images.all()
    run = import_path(dataset=dataset, path=tmp_path, actor=organiser, differences=UPDATE)
    assert outcomes(run) == {"pages/a.html": ("updated", "")}
    assert run.items.get().reason == CHANGED
    assert _state() == AFTER
    assert not default_storage.exists(str(old.file.name))
    edit = Event.objects.get(verb="edit_document")
    assert edit.actor == organiser
    assert edit.data["before"] == {"company": "Old name", "metadata": {"page": 3}}
    again = import_path(dataset=dataset, path=tmp_path, differences=UPDATE)
    assert outcomes(again) == {"pages/a.html": ("unchanged", "")}


def test_preview_reports_the_same_and_changes_nothing(dataset: Dataset, tmp_path: Path) -> None:
    files = {"pages/new.html": page("New 5"), "images/new.png": png(shade=9)}
    write_folder(tmp_path, files)
    events = Event.objects.exclude(verb__contains="import").count()
    preview = import_path(dataset=dataset, path=tmp_path, differences=UPDATE, dry_run=True)
    assert _state() == BEFORE
    assert Event.objects.exclude(verb__contains="import").count() == events
    done = import_path(dataset=dataset, path=tmp_path, differences=UPDATE)
    fields = ("name", "outcome", "code", "reason")
    assert [*preview.items.values_list(*fields)] == [*done.items.values_list(*fields)]
    assert outcomes(preview)["pages/new.html"] == ("imported", "")


def test_document_in_a_release_is_not_updated(dataset: Dataset, tmp_path: Path) -> None:
    make_release(dataset)
    run = import_path(dataset=dataset, path=tmp_path, differences=UPDATE)
    assert outcomes(run) == {"pages/a.html": ("kept", "")}
    reason = run.items.get().reason
    assert reason.startswith("image not imported: the document is in a release (")
    assert "different values not imported: company, page: the document is in a release" in reason
    assert _state() == BEFORE


def test_preview_on_the_page_is_carried_out_with_its_files(
    dataset: Dataset, client_of: ClientOf, organiser: User, run_jobs: RunJobs
) -> None:
    client = client_of(organiser)
    sent = {
        "file": zip_upload(_files(2, NEW)), "form": "pages", "differences": "update",
        "dry_run": "on",
    }  # fmt: skip
    answer = client.post("/datasets/set/import/", sent)
    run_jobs()
    url = answer["Location"]
    shown = client.get(url).content.decode()
    assert CHANGED in shown
    assert "Preview: nothing has been changed." in shown
    assert "Import these files" in shown
    assert _state() == BEFORE
    done = client.post(f"{url}carry-out/")
    run_jobs()
    assert done["Location"] != url
    assert _state() == AFTER
    assert "Import these files" not in client.get(url).content.decode()
    assert "Preview" not in client.get(done["Location"]).content.decode()
    again = client.post(f"{url}carry-out/", follow=True).content.decode()
    assert "The files of this preview are no longer stored. Upload them again." in again
    assert _uploads() == set()


def _uploads() -> set[Path]:
    """The uploads of imports that are still stored."""
    return set(Path(default_storage.path("imports")).rglob("*.upload"))


def test_only_the_latest_preview_keeps_its_files(
    dataset: Dataset, api_of: ApiOf, organiser: User, run_jobs: RunJobs
) -> None:
    api = api_of(organiser)

    def preview() -> dict[str, Any]:
        file = zip_upload(_files(2, NEW))
        sent = {"file": file, "differences": "update", "dry_run": "true"}
        answer = api.post("/api/v1/datasets/set/imports/", sent, format="multipart")
        assert answer.status_code == 202, answer.json()
        run_jobs()
        made: dict[str, Any] = api.get(
            f"/api/v1/datasets/set/imports/{answer.json()['id']}/"
        ).json()
        return made

    first, second = preview(), preview()
    assert (second["dry_run"], second["differences"]) == (True, "update")
    assert second["outcomes"]["updated"] == 1
    assert len(_uploads()) == 1
    path = "/api/v1/datasets/set/imports"
    assert api.post(f"{path}/{first['id']}/carry-out/").status_code == 409
    done = api.post(f"{path}/{second['id']}/carry-out/")
    run_jobs()
    assert (done.status_code, done.json()["dry_run"]) == (202, False)
    assert _state() == AFTER
    assert _uploads() == set()
    no_preview = api.post(f"{path}/{done.json()['id']}/carry-out/")
    assert (no_preview.status_code, no_preview.json()["detail"]) == (
        409, "This import is not a preview.",
    )  # fmt: skip


def test_command_previews_and_updates(dataset: Dataset, tmp_path: Path) -> None:
    def run(*words: str) -> str:
        out = StringIO()
        call_command("import_dataset", "set", str(tmp_path), *words, stdout=out, stderr=StringIO())
        return out.getvalue()

    kept = run()
    assert "1 kept" in kept
    shown = run("--differences", "update", "--dry-run")
    assert shown.startswith("set: preview, nothing was changed: 0 imported, 1 updated")
    assert f"pages/a.html: {CHANGED}" in shown
    assert _state() == BEFORE
    assert "set: 0 imported, 1 updated" in run("--differences", "update")
    assert _state() == AFTER
