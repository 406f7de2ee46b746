"""A killed import is completed by another worker, without duplicates or gaps."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.datasets.factories import Files, page, png, zip_bytes
from tests.e2e.site import Site
from tests.jobs import processes

from .layouts import QUESTION, Form, json_lines

pytestmark = pytest.mark.processes

ITEMS = 300
START = """
from pathlib import Path
from django.core.files import File
from portal.datasets.models import Dataset
from portal.datasets.imports.services import start_import
dataset = Dataset.objects.create(slug="set", title="Set")
with Path({path!r}).open("rb") as file:
    run = start_import(dataset=dataset, upload=File(file), source_name="source.zip", actor=None,
        form={form!r})
print(run.pk)
"""
REPORT = """
import json
from portal.datasets.models import Document, ImportItem, PageImage
items = ImportItem.objects.values_list("name", "outcome")
print(json.dumps({
    "names": sorted(name for name, _ in items),
    "outcomes": sorted({outcome for _, outcome in items}),
    "documents": sorted(Document.objects.values_list("name", flat=True)),
    "images": PageImage.objects.count(),
    "unread": sum(1 for image in PageImage.objects.all()
        if image.file.size == 0),
}))
"""


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    site = Site(tmp_path)
    site.prepare()
    yield site
    site.stop()


def source(form: str) -> Files:
    if form == Form.PAGES:
        files: dict[str, bytes | str] = {}
        for number in range(ITEMS):
            files[f"pages/p{number:03}.html"] = page(f"Page {number}")
            files[f"images/p{number:03}.png"] = png(shade=number % 256)
        return files
    lines = [{**QUESTION, "id": f"p{number:03}"} for number in range(ITEMS)]
    return {"bench.jsonl": json_lines(*lines), "images/card.png": png()}


def reported(site: Site) -> int:
    return int(processes.rows(site.env, "SELECT count(*) FROM datasets_importitem")[0][0])


def start_worker(site: Site) -> subprocess.Popen[bytes]:
    return processes.start_worker(site.env, site.folder / "worker.log", concurrency=1)


@pytest.mark.parametrize("form", [Form.PAGES, Form.FCMBENCH])
def test_killed_import_is_completed_by_another_worker(form: str, site: Site) -> None:
    path = site.folder / "source.zip"
    path.write_bytes(zip_bytes(source(form)))
    site.shell(START.format(path=str(path), form=str(form)))
    worker = start_worker(site)
    try:
        processes.wait_until(lambda: reported(site) >= 10, seconds=300, what="ten items are there")
    finally:
        processes.kill_group(worker)
    before = reported(site)
    assert before < ITEMS, "it was done before it could be killed"

    worker = start_worker(site)
    try:
        processes.wait_until(
            lambda: processes.rows(site.env, "SELECT state FROM datasets_importrun") == [("done",)],
            seconds=300,
            what="the import is done",
        )
    finally:
        processes.kill_group(worker)
    found = site.shell(REPORT)
    names = [f"p{number:03}" for number in range(ITEMS)]
    assert found["documents"] == names
    assert found["outcomes"] == ["imported"]
    assert len(found["names"]) == ITEMS
    assert (found["images"], found["unread"]) == (ITEMS, 0)
