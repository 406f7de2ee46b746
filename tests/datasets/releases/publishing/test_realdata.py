"""Real pages as a release: exported, described, checked and read back."""

import json
from collections.abc import Iterator
from pathlib import Path

import mlcroissant as mlc
import pytest

from portal.datasets.access import ALL_GOLD
from portal.datasets.models import Release
from portal.datasets.releases.exports import release_archive
from portal.datasets.releases.gold import GoldItem
from portal.datasets.releases.publishing.diff import diff_releases
from portal.datasets.releases.publishing.formats import PARQUET, read_parquet
from portal.datasets.releases.publishing.rows import PublishedItem
from portal.datasets.releases.publishing.verify import verify_release
from portal.datasets.releases.services import freeze_release
from portal.facts import Span
from tests.datasets.factories import LABELS, add_image
from tests.datasets.releases.publishing.examples import unpack
from tests.factories import empty_dataset, make_document
from tests.shared import REALDATA, needs_realdata

pytestmark = [
    needs_realdata,
    pytest.mark.django_db,
    pytest.mark.filterwarnings("ignore::DeprecationWarning:rdflib"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:mlcroissant"),
]
PAGES = 40


@pytest.fixture
def release() -> Release:
    """The first pages; the first of them with its image."""
    dataset = empty_dataset(slug="dev")
    items = []
    for line in (REALDATA / "gold.jsonl").read_text().splitlines()[:PAGES]:
        gold = json.loads(line)
        html = (REALDATA / "pages" / f"{gold['id']}.html").read_text()
        document = make_document(dataset, gold["id"], html)
        spans = [Span(fact["start"], fact["end"], fact["type"]) for fact in gold["facts"]]
        items.append(GoldItem(document, spans))
        if len(items) == 1:
            add_image(document, (REALDATA / "images" / f"{gold['id']}.png").read_bytes())
    return freeze_release(dataset=dataset, version="1.0.0", items=items, labels=LABELS)


def test_real_pages_are_released_as_files(release: Release, tmp_path: Path) -> None:
    path = tmp_path / "dev.zip"
    path.write_bytes(b"".join(release_archive(release, ALL_GOLD, images=True)))
    found = verify_release(path, expected=release.sha256)
    assert (found.faults, found.items) == ([], PAGES)
    folder = unpack(path.read_bytes(), tmp_path / "dev")
    assert verify_release(folder).faults == []
    records = list(mlc.Dataset(str(folder / "croissant.json")).records("items"))
    assert sum(len(record["items/facts"]) for record in records) == release.fact_count
    assert release.fact_count > PAGES

    def items() -> Iterator[PublishedItem]:
        with (folder / PARQUET).open("rb") as file:
            yield from read_parquet(file)

    assert diff_releases(items(), items(), versions=("1.0.0", "1.0.0")).unchanged == PAGES
