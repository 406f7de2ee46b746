"""Datasets of real filings: import, rendering, freezing, export, deletion and restoring."""

import re
import zipfile
from io import StringIO
from pathlib import Path

import mlcroissant as mlc
import pytest
from django.core.management import call_command

from portal.datasets.models import Dataset, Document, ImportItem, Release
from tests.shared import FILINGS, REALDATA, needs_filings, needs_realdata

pytestmark = pytest.mark.django_db(transaction=True)

PAGES = 132
FACTS = sum(
    len(re.findall(r"<(?:Number|Date)>", path.read_text()))
    for path in (REALDATA / "gold").glob("*.html")
)
# Only a small filing is rendered, to save time.
SMALL_FILING = "8-K_0000887919-21-000012.html"


def run_command(command: str, *arguments: str) -> str:
    out = StringIO()
    call_command(command, *arguments, stdout=out, stderr=out)
    return out.getvalue()


# The deprecated calls are inside the libraries.
@pytest.mark.filterwarnings("ignore::DeprecationWarning:rdflib")
@pytest.mark.filterwarnings("ignore::DeprecationWarning:mlcroissant")
@pytest.mark.slow
@needs_realdata
def test_real_pages_are_read_as_croissant_and_survive_a_wiped_site(tmp_path: Path) -> None:
    run_command("import_dataset", "dev", str(REALDATA), "--create", "--visibility", "public")
    dataset = Dataset.objects.get()
    assert dataset.documents.count() == PAGES
    assert not ImportItem.objects.filter(outcome="refused").exists()
    run_command(
        "freeze_release", "dev", "1.0.0", "--gold", str(REALDATA / "gold"), "--test-share", "0.5"
    )
    release = Release.objects.get()
    assert (release.item_count, release.fact_count) == (PAGES, FACTS)
    assert 0 < release.items.filter(split="test").count() < PAGES
    splits = dict(release.items.values_list("name", "split"))

    plain, archive = tmp_path / "plain.zip", tmp_path / "dev.zip"
    run_command("export_release", "dev", "1.0.0", "--out", str(plain))
    check_croissant(plain, tmp_path / "release")
    run_command("export_release", "dev", "1.0.0", "--images", "--out", str(archive))
    run_command("verify_release", str(archive), "--sha256", release.sha256)
    call_command("flush", interactive=False)
    assert not Document.objects.exists()

    run_command("import_release", str(archive), "again", "--create")
    restored = Release.objects.get()
    assert restored.sha256 == release.sha256
    assert (restored.item_count, restored.fact_count) == (PAGES, FACTS)
    assert dict(restored.items.values_list("name", "split")) == splits
    assert Document.objects.filter(images__isnull=False).distinct().count() == PAGES


def check_croissant(archive: Path, folder: Path) -> None:
    """Checks that the reference reader of Croissant reads every page."""
    with zipfile.ZipFile(archive) as bundle:
        bundle.extractall(folder)
    described = mlc.Dataset(str(folder / "croissant.json"))
    assert not described.metadata.ctx.issues.errors
    records = list(described.records("items"))
    assert len(records) == PAGES
    names = {record["items/id"].decode() for record in records}
    assert names == {path.stem for path in (REALDATA / "pages").glob("*.html")}


@pytest.mark.slow
@needs_filings
def test_whole_filings_become_pages() -> None:
    output = run_command("import_dataset", "filings", str(FILINGS), "--form", "filing", "--create")
    pages = Document.objects.filter(dataset__slug="filings")
    for filing in FILINGS.iterdir():
        parts = pages.filter(name__startswith=filing.stem).count()
        named = filing.name in output
        assert parts > 0 or named, f"{filing.name} was neither imported nor refused by name"
    tagged = pages.filter(xbrl_facts__isnull=False)
    kinds = {
        fact[2] for facts in tagged.values_list("xbrl_facts__facts", flat=True) for fact in facts
    }
    assert kinds == {"number", "date"}


@needs_filings
@pytest.mark.browser
def test_a_filing_is_rendered_page_by_page() -> None:
    source = str(FILINGS / SMALL_FILING)
    run_command("import_dataset", "small", source, "--form", "filing", "--create")
    pages = Document.objects.filter(dataset__slug="small")
    run_command("render_pages", "small")
    assert pages.count() > 1
    for document in pages:
        images = list(document.images.all())
        assert images, document.name
        for image in images:
            assert image.is_rendered
            assert image.text_similarity is not None
            assert image.text_similarity > 0.95
            assert image.text_boxes.boxes
