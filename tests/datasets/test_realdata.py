"""Real filings: every page of the shared set imports, freezes and comes out as it went in."""

import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from unittest.mock import Mock

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext

from portal.accounts.models import User
from portal.common.archives import ArchiveLimits
from portal.datasets.models import Dataset, PageImage
from portal.datasets.services import pages
from portal.datasets.services.gold import place_gold
from portal.datasets.services.imports import import_path, start_import
from portal.datasets.services.releases import freeze_release
from portal.datasets.sources.gold import read_gold_pages
from portal.facts import canonicalise
from tests.datasets.factories import LABELS
from tests.factories import empty_dataset
from tests.shared import REALDATA, needs_realdata

pytestmark = [pytest.mark.django_db, needs_realdata]


@pytest.fixture
def dataset() -> Dataset:
    return empty_dataset(slug="dev")


def lines(name: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in (REALDATA / name).read_text().splitlines()]


def test_real_pages_import_with_nothing_refused(dataset: Dataset) -> None:
    run = import_path(dataset=dataset, path=REALDATA)
    assert Counter(run.items.values_list("outcome", "code")) == {("imported", ""): 132}
    assert run.ignored == {"gold.jsonl": 1, "gold/": 132, "predictions/": 1056}
    assert PageImage.objects.count() == 132
    for line in lines("meta.jsonl"):
        document = dataset.documents.get(name=line["id"])
        assert document.company == line["company"]
        assert document.doc_type == line["doc_type"]
        assert str(document.fiscal_year) == line["fiscal_year"]
        assert document.metadata["source_path"] == line["source_path"]


def test_real_pages_import_from_an_uploaded_zip(
    dataset: Dataset, tmp_path: Path, organiser: User, run_jobs: Callable[[], int]
) -> None:
    for name in ("pages", "images"):
        shutil.copytree(REALDATA / name, tmp_path / "root" / "dev" / name)
    shutil.copy(REALDATA / "meta.jsonl", tmp_path / "root" / "dev")
    archive = Path(shutil.make_archive(str(tmp_path / "dev"), "zip", tmp_path / "root"))
    upload = SimpleUploadedFile("dev.zip", archive.read_bytes())
    run = start_import(dataset=dataset, upload=upload, source_name="dev.zip", actor=organiser)
    run_jobs()
    assert Counter(run.items.values_list("outcome", "code")) == {("imported", ""): 132}


@pytest.mark.parametrize("source", ["gold", "gold.jsonl"])
def test_real_gold_freezes_with_every_fact(dataset: Dataset, tmp_path: Path, source: str) -> None:
    import_path(dataset=dataset, path=REALDATA)
    path = REALDATA / "gold"
    if source == "gold.jsonl":
        path = tmp_path / source
        with path.open("w") as file:
            for page in sorted((REALDATA / "gold").iterdir()):
                file.write(json.dumps({"id": page.stem, "html": page.read_text()}) + "\n")
    pages = read_gold_pages(path, ArchiveLimits())
    items = place_gold(dataset=dataset, pages=pages, labels=LABELS)
    release = freeze_release(dataset=dataset, version="1.0.0", items=items, labels=LABELS)
    for line in lines("gold.jsonl"):
        wanted = [(fact["type"], fact["value"]) for fact in line["facts"]]  # type: ignore[attr-defined]
        item = release.items.select_related("document__content").get(name=line["id"])
        assert item.document is not None
        text = item.document.content.text
        assert [(fact["type"], fact["value"]) for fact in item.facts] == wanted
        assert [text[fact["start"] : fact["end"]] for fact in item.facts] == [
            fact["value"] for fact in item.facts
        ]


def test_the_import_of_a_page_costs_the_same_whatever_their_number(
    dataset: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clean = Mock(wraps=canonicalise)
    monkeypatch.setattr(pages, "canonicalise", clean)
    queries = []
    for number in (20, 40):
        folder = tmp_path / str(number) / "pages"
        folder.mkdir(parents=True)
        for page in sorted((REALDATA / "pages").iterdir())[:number]:
            shutil.copy(page, folder)
        with CaptureQueriesContext(connection) as captured:
            import_path(dataset=empty_dataset(slug=f"first-{number}"), path=folder.parent)
        queries.append(len(captured))
    assert clean.call_count == 20 + 40
    assert queries[1] <= 2 * queries[0]
