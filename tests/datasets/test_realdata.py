"""Real filings: every page of the shared set imports, freezes and exports unchanged."""

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
from portal.datasets.imports import storing as pages
from portal.datasets.imports.labelled_pages import read_gold_pages
from portal.datasets.imports.services import import_path, start_import
from portal.datasets.models import Dataset, PageImage
from portal.datasets.releases.gold import place_gold
from portal.datasets.releases.services import freeze_release
from portal.facts import canonicalise
from portal.files.archives import ArchiveLimits
from tests.datasets.factories import LABELS
from tests.factories import empty_dataset
from tests.many import SOME, part_of
from tests.shared import REALDATA, needs_realdata

pytestmark = [pytest.mark.django_db, needs_realdata]


@pytest.fixture(params=["some", pytest.param("all", marks=pytest.mark.slow)])
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The shared set, or a part of it in the same layout for quick runs."""
    if request.param == "all":
        return REALDATA
    return some_pages(tmp_path / "dev")


def some_pages(folder: Path) -> Path:
    for name in ("pages", "images", "gold"):
        (folder / name).mkdir(parents=True)
        for path in part_of(sorted((REALDATA / name).iterdir()), SOME):
            shutil.copy(path, folder / name)
    kept = {path.stem for path in (folder / "pages").iterdir()}
    for name in ("meta.jsonl", "gold.jsonl"):
        chosen = [line for line in lines(REALDATA / name) if line["id"] in kept]
        (folder / name).write_text("".join(json.dumps(line) + "\n" for line in chosen))
    return folder


@pytest.fixture
def dataset() -> Dataset:
    return empty_dataset(slug="dev")


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_real_pages_import_with_nothing_refused(dataset: Dataset, source: Path) -> None:
    run = import_path(dataset=dataset, path=source)
    number, predictions = (132, {"predictions/": 1056}) if source == REALDATA else (33, {})
    assert Counter(run.items.values_list("outcome", "code")) == {("imported", ""): number}
    assert run.ignored == {"gold.jsonl": 1, "gold/": number, **predictions}
    assert PageImage.objects.count() == number
    for line in lines(source / "meta.jsonl"):
        document = dataset.documents.get(name=line["id"])
        assert document.company == line["company"]
        assert document.doc_type == line["doc_type"]
        assert str(document.fiscal_year) == line["fiscal_year"]
        assert document.metadata["source_path"] == line["source_path"]


def test_real_pages_import_from_an_uploaded_zip(
    dataset: Dataset, tmp_path: Path, organiser: User, run_jobs: Callable[[], int]
) -> None:
    part = some_pages(tmp_path / "root" / "dev")
    shutil.rmtree(part / "gold")
    (part / "gold.jsonl").unlink()
    archive = Path(shutil.make_archive(str(tmp_path / "dev"), "zip", tmp_path / "root"))
    upload = SimpleUploadedFile("dev.zip", archive.read_bytes())
    run = start_import(dataset=dataset, upload=upload, source_name="dev.zip", actor=organiser)
    run_jobs()
    assert Counter(run.items.values_list("outcome", "code")) == {("imported", ""): 33}


@pytest.mark.parametrize(
    ("source", "layout"),
    [
        ("some", "folder"),
        ("some", "lines"),
        pytest.param("all", "folder", marks=pytest.mark.slow),
    ],
    indirect=["source"],
)
def test_real_gold_freezes_with_every_fact(
    dataset: Dataset, tmp_path: Path, source: Path, layout: str
) -> None:
    import_path(dataset=dataset, path=source)
    path = source / "gold"
    if layout == "lines":
        path = tmp_path / "lines.jsonl"
        with path.open("w") as file:
            for page in sorted((source / "gold").iterdir()):
                file.write(json.dumps({"id": page.stem, "html": page.read_text()}) + "\n")
    pages = read_gold_pages(path, ArchiveLimits())
    items = place_gold(dataset=dataset, pages=pages, labels=LABELS)
    release = freeze_release(dataset=dataset, version="1.0.0", items=items, labels=LABELS)
    assert release.items.count() == len(lines(source / "gold.jsonl"))
    for line in lines(source / "gold.jsonl"):
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
