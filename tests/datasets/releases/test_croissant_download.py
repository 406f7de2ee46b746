"""The Croissant file of a release, as the site hands it out, loads and leads to its records."""

import hashlib
import json
from pathlib import Path

import mlcroissant as mlc
import pytest
from django.test import Client

from portal.datasets.curation.draws import SplitDraw
from portal.datasets.models import Release
from portal.datasets.releases.gold import GoldItem
from portal.datasets.releases.services import freeze_release
from portal.facts import Span
from tests.datasets.factories import LABELS
from tests.datasets.releases.worlds import split_world
from tests.datasets.test_access import body
from tests.factories import empty_dataset, make_document
from tests.fixture_types import ClientOf
from tests.shared import REALDATA, needs_realdata

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.filterwarnings("ignore::DeprecationWarning:rdflib"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:mlcroissant"),
]
HOST = "http://testserver"
PAGES = 20


def loaded(client: Client, release: Release, folder: Path) -> mlc.Dataset:
    """The file with its URLs mapped to local downloads."""
    content = client.get(f"{release.get_absolute_url()}files/croissant.json").json()
    assert content["url"] == f"{HOST}{release.get_absolute_url()}"
    for file in content["distribution"]:
        assert file["contentUrl"].startswith(f"{HOST}{release.get_absolute_url()}files/")
        data = body(client.get(file["contentUrl"].removeprefix(HOST)))
        assert hashlib.sha256(data).hexdigest() == file["sha256"]
        assert file["contentSize"] == f"{len(data)} B"
        (folder / file["name"]).write_bytes(data)
        file["contentUrl"] = file["name"]
    path = folder / "croissant.json"
    path.write_text(json.dumps(content))
    dataset = mlc.Dataset(str(path))
    assert not dataset.metadata.ctx.issues.errors
    return dataset


def test_those_who_see_a_part_get_a_file_that_fits(client_of: ClientOf, tmp_path: Path) -> None:
    release = split_world(citation={"authors": ["Doe, Jane"], "doi": "10.5281/zenodo.1"})
    dataset = loaded(client_of(None), release, tmp_path)
    records = list(dataset.records("items"))
    assert [record["items/id"] for record in records] == [b"open", b"secret"]
    assert [record["items/split"] for record in records] == [b"dev", b"test"]
    assert [bool(record["items/html"]) for record in records] == [True, False]


@needs_realdata
def test_real_pages_are_led_to(client_of: ClientOf, tmp_path: Path) -> None:
    dataset = empty_dataset(slug="dev", visibility="public")
    items = []
    for line in (REALDATA / "gold.jsonl").read_text().splitlines()[:PAGES]:
        gold = json.loads(line)
        html = (REALDATA / "pages" / f"{gold['id']}.html").read_text()
        spans = [Span(fact["start"], fact["end"], fact["type"]) for fact in gold["facts"]]
        items.append(GoldItem(make_document(dataset, gold["id"], html), spans))
    release = freeze_release(
        dataset=dataset,
        version="1.0.0",
        items=items,
        labels=LABELS,
        splits=SplitDraw(0.5, 1),
    )
    records = list(loaded(client_of(None), release, tmp_path).records("items"))
    opened = [record for record in records if record["items/split"] == b"dev"]
    assert (len(records), len(opened)) == (PAGES, PAGES // 2)
    facts = sum(len(item.facts) for item in release.items.filter(split="dev"))
    assert sum(len(record["items/facts"]) for record in opened) == facts
