"""Imports: the outcome for each file, and the stored data."""

import hashlib
from pathlib import Path

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from portal.audit.models import Event
from portal.datasets.imports.services import import_path
from portal.datasets.models import Dataset, Document, ImportRun, PageImage
from tests.datasets.factories import (
    jpeg,
    meta_lines,
    outcomes,
    page,
    png,
    stored_bytes,
    write_folder,
)
from tests.factories import empty_dataset

pytestmark = pytest.mark.django_db


@pytest.fixture
def dataset() -> Dataset:
    return empty_dataset(slug="set")


def test_import_stores_canonical_content_hashes_metadata_and_image(
    dataset: Dataset, tmp_path: Path
) -> None:
    source = (
        b"<html><body>\n<p onclick='x()'>Net <b>1,200</b></p><script>y()</script></body></html>"
    )
    line = {"id": "a", "doc_type": "tax_form", "company": "Acme", "fiscal_year": 2024, "sheet": 7}
    write_folder(
        tmp_path,
        {"pages/a.html": source, "images/a.png": png(40, 30), "meta.jsonl": meta_lines(line)},
    )
    run = import_path(dataset=dataset, path=tmp_path)
    document = Document.objects.select_related("content").get()
    content = document.content
    assert (content.html, content.text) == ("<p>Net <b>1,200</b></p>", "Net 1,200")
    assert document.text_chars == 9
    assert document.text_sha256 == hashlib.sha256(b"Net 1,200").hexdigest()
    assert document.html_sha256 == hashlib.sha256(content.html.encode()).hexdigest()
    assert document.source_sha256 == hashlib.sha256(source).hexdigest()
    assert (document.doc_type, document.company, document.fiscal_year) == ("tax_form", "Acme", 2024)
    assert document.metadata == {"sheet": 7}
    image = document.images.get()
    assert (image.number, image.width, image.height) == (1, 40, 30)
    assert stored_bytes(image) == png(40, 30)
    assert outcomes(run) == {"pages/a.html": ("imported", "")}
    assert (run.state, run.total) == ("done", 1)


def test_import_reports_every_refusal_and_goes_on(dataset: Dataset, tmp_path: Path) -> None:
    write_folder(
        tmp_path,
        {
            "pages/a_good.html": page("One 1"),
            "pages/b_empty.html": b"<script>x()</script>",
            "pages/c_blank.html": b" \n ",
            "pages/d_binary.html": png(),
            "pages/e_encoding.html": b"<p>caf\xe9</p>",
            "pages/f_twin.html": page("One 1"),
            "pages/g_meta.html": page("Two 2"),
            "pages/h_image.html": page("Three 3"),
            "pages/i_text.txt": b"hi",
            "pages/z_good.html": page("Last 9"),
            "images/h_image.png": png()[:40],
            "images/nobody.png": png(),
            "meta.jsonl": b'{"id": "g_meta", "doc_type": "novel"}\n{"id": "ghost"}\nnope\n',
        },
    )
    run = import_path(dataset=dataset, path=tmp_path)
    assert outcomes(run) == {
        "pages/a_good.html": ("imported", "no_image"),
        "pages/b_empty.html": ("refused", "empty"),
        "pages/c_blank.html": ("refused", "empty"),
        "pages/d_binary.html": ("refused", "binary"),
        "pages/e_encoding.html": ("refused", "encoding"),
        "pages/f_twin.html": ("refused", "duplicate_content"),
        "pages/g_meta.html": ("refused", "bad_meta"),
        "pages/h_image.html": ("imported", "no_image"),
        "pages/i_text.txt": ("refused", "not_html"),
        "pages/z_good.html": ("imported", "no_image"),
        "images/h_image.png": ("refused", "image_broken"),
        "images/nobody.png": ("refused", "image_without_page"),
        "meta.jsonl:2": ("refused", "unknown_id"),
        "meta.jsonl:3": ("refused", "bad_meta"),
    }
    assert set(dataset.documents.values_list("name", flat=True)) == {"a_good", "h_image", "z_good"}
    assert run.total == 10


def test_refusals_name_the_conflicting_document(dataset: Dataset, tmp_path: Path) -> None:
    write_folder(tmp_path, {"pages/a.html": page("One 1"), "pages/b.html": page("One 1")})
    run = import_path(dataset=dataset, path=tmp_path)
    twin = run.items.get(name="pages/b.html")
    assert twin.reason == "has the same content as a"
    assert twin.document == Document.objects.get(name="a")


def test_importing_again_changes_nothing(dataset: Dataset, tmp_path: Path) -> None:
    write_folder(tmp_path, {"pages/a.html": page(), "images/a.png": png()})
    import_path(dataset=dataset, path=tmp_path)
    before = list(Document.objects.values())
    again = import_path(dataset=dataset, path=tmp_path)
    assert outcomes(again) == {"pages/a.html": ("unchanged", "")}
    assert again.items.get().reason == ""
    assert list(Document.objects.values()) == before
    assert PageImage.objects.count() == 1


def test_changed_page_under_a_taken_name_is_refused(dataset: Dataset, tmp_path: Path) -> None:
    import_path(dataset=dataset, path=write_folder(tmp_path / "1", {"pages/a.html": page("Old 1")}))
    run = import_path(
        dataset=dataset, path=write_folder(tmp_path / "2", {"pages/a.html": page("New 2")})
    )
    assert outcomes(run) == {"pages/a.html": ("refused", "name_taken")}
    assert Document.objects.get().content.text == "Old 1"


def test_other_datasets_do_not_stand_in_the_way(dataset: Dataset, tmp_path: Path) -> None:
    write_folder(tmp_path, {"pages/a.html": page()})
    import_path(dataset=empty_dataset(), path=tmp_path)
    assert outcomes(import_path(dataset=dataset, path=tmp_path))["pages/a.html"][0] == "imported"


def test_image_that_comes_later_is_added(dataset: Dataset, tmp_path: Path) -> None:
    import_path(dataset=dataset, path=write_folder(tmp_path, {"pages/a.html": page()}))
    run = import_path(dataset=dataset, path=write_folder(tmp_path, {"images/a.jpg": jpeg()}))
    assert run.items.get().reason == "image added"
    image = PageImage.objects.get()
    assert image.media_type == "image/jpeg"
    assert str(image.file.name).endswith(".jpg")


def test_what_is_stored_is_kept_and_the_difference_reported(
    dataset: Dataset, tmp_path: Path
) -> None:
    about = {"company": "Old name", "doc_type": "tax_form", "page": 3}
    files = {
        "pages/a.html": page(),
        "images/a.png": png(shade=1),
        "meta.jsonl": meta_lines({"id": "a", **about}),
    }
    import_path(dataset=dataset, path=write_folder(tmp_path, files))
    line = meta_lines({"id": "a", "company": "New name", "page": 4})
    changed = {"images/a.png": png(shade=2), "meta.jsonl": line}
    run = import_path(dataset=dataset, path=write_folder(tmp_path, changed))
    assert outcomes(run) == {"pages/a.html": ("kept", "")}
    assert run.items.get().reason == (
        "different image not imported; different values not imported: company, page"
    )
    document = Document.objects.get()
    assert (document.company, document.doc_type, document.metadata) == (
        "Old name", "tax_form", {"page": 3},
    )  # fmt: skip
    assert stored_bytes(document.images.get()) == png(shade=1)


def test_missing_metadata_is_added(dataset: Dataset, tmp_path: Path) -> None:
    first = meta_lines({"id": "a", "company": "Acme", "page": 3})
    files = {"pages/a.html": page(), "images/a.png": png(), "meta.jsonl": first}
    import_path(dataset=dataset, path=write_folder(tmp_path, files))
    line = {
        "id": "a", "company": "Other", "fiscal_year": 2024, "doc_type": "tax_form",
        "source_url": "https://www.sec.gov/a", "dpi": 144,
    }  # fmt: skip
    run = import_path(
        dataset=dataset, path=write_folder(tmp_path, {"meta.jsonl": meta_lines(line)})
    )
    assert outcomes(run) == {"pages/a.html": ("updated", "")}
    assert run.items.get().reason == (
        "metadata added: doc_type, dpi, fiscal_year, source_url;"
        " different values not imported: company"
    )
    document = Document.objects.get()
    assert (document.company, document.fiscal_year, document.doc_type, document.source) == (
        "Acme", 2024, "tax_form", "sec.gov",
    )  # fmt: skip
    assert document.metadata == {"page": 3, "dpi": 144}
    again = import_path(dataset=dataset, path=tmp_path)
    assert outcomes(again) == {"pages/a.html": ("kept", "")}


def test_source_without_metadata_is_no_difference(dataset: Dataset, tmp_path: Path) -> None:
    line = meta_lines({"id": "a", "company": "Acme", "page": 3})
    files = {"pages/a.html": page(), "meta.jsonl": line}
    import_path(dataset=dataset, path=write_folder(tmp_path, files))
    bare = write_folder(tmp_path, {"meta.jsonl": meta_lines({"id": "a"})})
    assert outcomes(import_path(dataset=dataset, path=bare)) == {"pages/a.html": ("unchanged", "")}


def test_two_pages_with_the_same_image_share_its_file(dataset: Dataset, tmp_path: Path) -> None:
    files = {f"pages/{name}.html": page(name) for name in "ab"}
    images = {f"images/{name}.png": png() for name in "ab"}
    import_path(dataset=dataset, path=write_folder(tmp_path, files | images))
    first, second = PageImage.objects.all()
    assert first.file.name == second.file.name
    assert stored_bytes(first) == png()


def test_image_file_cut_off_by_a_kill_is_replaced(dataset: Dataset, tmp_path: Path) -> None:
    source = write_folder(tmp_path, {"pages/a.html": page(), "images/a.png": png()})
    import_path(dataset=dataset, path=source)
    name = str(PageImage.objects.get().file.name)
    other = empty_dataset()
    partial = name.replace(f"datasets/{dataset.pk}/", f"datasets/{other.pk}/")
    default_storage.save(partial, ContentFile(png()[:10]))
    import_path(dataset=other, path=source)
    image = PageImage.objects.get(document__dataset=other)
    assert image.file.name == partial
    assert stored_bytes(image) == png()


def test_ignored_files_are_counted_by_folder(dataset: Dataset, tmp_path: Path) -> None:
    files = {"pages/a.html": page(), "gold/a.html": page(), "gold/b.html": page(), "x.txt": b""}
    run = import_path(dataset=dataset, path=write_folder(tmp_path, files))
    assert run.ignored == {"gold/": 2, "x.txt": 1}


def test_import_is_logged(dataset: Dataset, tmp_path: Path) -> None:
    run = import_path(dataset=dataset, path=write_folder(tmp_path, {"pages/a.html": page()}))
    verbs = Event.objects.filter(subject_type="datasets.importrun", subject_id=str(run.pk))
    assert [event.verb for event in verbs] == ["import_done", "start_import"]


def test_a_run_ends_once(dataset: Dataset, tmp_path: Path) -> None:
    from portal.datasets.dataset_tasks import end_work

    run = import_path(dataset=dataset, path=write_folder(tmp_path, {"pages/a.html": page()}))
    end_work(work=run, state=ImportRun.State.FAILED, error="too late")
    run.refresh_from_db()
    assert (run.state, run.error) == ("done", "")
