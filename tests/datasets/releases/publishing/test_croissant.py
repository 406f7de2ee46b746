"""Croissant files load with the reference reader, which finds the items in them. No network."""

import hashlib
import json
import socket
from pathlib import Path
from typing import Any

import mlcroissant as mlc
import pytest

from portal.datasets.releases.publishing.croissant import (
    CONFORMS_TO,
    CROISSANT,
    DistributedFile,
    ItemFile,
    bibtex,
    croissant,
    croissant_bytes,
    read_citation,
)
from portal.datasets.releases.publishing.formats import (
    GOLD_LINES,
    PARQUET,
    gold_lines,
    parquet_pieces,
)
from tests.datasets.releases.publishing.examples import ITEMS, PNG, item, number, release

# The reader and rdflib, by which it reads JSON-LD, use what is deprecated.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning:rdflib"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:mlcroissant"),
]

CITED = {
    "authors": ["Doe, Jane", "Institute of Records"],
    "year": 2023,
    "doi": "10.5281/zenodo.1234",
    "url": "https://example.org/set",
}


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise AssertionError("the network was asked for")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def write(folder: Path, *, gold: bool = True, images: bool = True, **fields: Any) -> Path:
    """Parquet, gold lines and their Croissant file."""
    data = b"".join(parquet_pieces(ITEMS, gold=gold, images=images))
    contents = {PARQUET: data} | ({GOLD_LINES: b"".join(gold_lines(ITEMS))} if gold else {})
    files = []
    for name, content in contents.items():
        (folder / name).write_bytes(content)
        digest = hashlib.sha256(content).hexdigest()
        files.append(DistributedFile(name, name, len(content), digest, f"The file {name}."))
    row = release(**{"citation": read_citation(CITED), "licence": "CC-BY-4.0", **fields})
    path = folder / CROISSANT
    path.write_bytes(croissant_bytes(row, files, ItemFile(PARQUET, gold=gold, images=images)))
    return path


def load(path: Path) -> mlc.Dataset:
    """The data set, for whose metadata the reader has neither an error nor a warning."""
    loaded = mlc.Dataset(str(path))
    issues = loaded.metadata.ctx.issues
    assert (list(issues.errors), list(issues.warnings)) == ([], [])
    return loaded


def records(path: Path) -> list[dict[str, Any]]:
    return [
        {key.removeprefix("items/"): value for key, value in record.items()}
        for record in load(path).records("items")
    ]


def test_croissant_tells_of_the_release(tmp_path: Path) -> None:
    metadata = load(write(tmp_path, page="https://example.org/set/1.0.0")).metadata
    assert metadata.conforms_to == [CONFORMS_TO] or metadata.conforms_to == CONFORMS_TO
    assert (metadata.version, metadata.license) == ("1.0.0", ["CC-BY-4.0"])
    assert metadata.cite_as == bibtex(release(citation=read_citation(CITED)))
    assert metadata.date_published.isoformat().startswith("2024-05-06")
    assert metadata.url == "https://example.org/set/1.0.0"
    assert [person.name for person in metadata.creators] == ["Jane Doe", "Institute of Records"]
    assert {file.id: file.sha256 for file in metadata.file_objects} == {
        name: hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()
        for name in (PARQUET, GOLD_LINES)
    }


def test_croissant_leads_to_the_items(tmp_path: Path) -> None:
    first, second, third = records(write(tmp_path))
    # The id stays a text, although it looks like a number.
    assert (first["id"], first["split"]) == (b"001", b"dev")
    assert first["html"].decode() == "<Number>1,200</Number><Date>2025</Date>"
    assert [fact["items/facts/value"] for fact in first["facts"]] == [b"1,200", b"2025"]
    assert [fact["items/facts/start"] for fact in first["facts"]] == [4, 12]
    assert [image.size for image in first["image"]] == [(40, 30), (40, 30)]
    assert (second["id"], second["prompt"], second["html"]) == (b"IC:x.jpg", b"What?", None)
    assert json.loads(second["record"])["response"] == "ü 𝟙\n"
    assert (second["facts"], second["image"]) == ([], [])
    assert third["split"] == b"test"
    assert third["sha256"].decode() == (ITEMS[2].gold.sha256 if ITEMS[2].gold else None)


def test_croissant_of_hidden_gold_has_no_field_of_it(tmp_path: Path) -> None:
    path = write(tmp_path, gold=False)
    assert set(records(path)[0]) == {"id", "split", "prompt", "image"}
    assert not any(word in path.read_text() for word in ("html", "facts", 'record"', "1,200"))


def test_croissant_without_images_has_no_field_of_them(tmp_path: Path) -> None:
    assert "image" not in records(write(tmp_path, images=False))[0]


@pytest.mark.parametrize("version", ["1.0.0-rc.1", "0.1.0", "10.20.30"])
def test_croissant_takes_any_version(tmp_path: Path, version: str) -> None:
    assert load(write(tmp_path, version=version)).metadata.version == version


def test_croissant_is_valid_as_1_0_too(tmp_path: Path) -> None:
    path = write(tmp_path)
    path.write_text(path.read_text().replace(CONFORMS_TO, "http://mlcommons.org/croissant/1.0"))
    assert len(records(path)) == len(ITEMS)


def test_croissant_takes_awkward_texts(tmp_path: Path) -> None:
    title = 'A "set"\n{of} \\texts & <more> @id é𝟙'
    loaded = load(write(tmp_path, title=title, description="", licence="by word of mouth"))
    assert loaded.metadata.name == title


def test_croissant_finds_a_file_that_was_changed(tmp_path: Path) -> None:
    path = write(tmp_path)
    (tmp_path / PARQUET).write_bytes(b"".join(parquet_pieces(ITEMS[:1], gold=True, images=True)))
    with pytest.raises(mlc.GenerationError) as refused:
        records(path)
    assert "Hash of downloaded file" in str(refused.value.__cause__)


def test_files_that_make_no_sense_are_refused() -> None:
    file = DistributedFile("a.zip", "https://example.org/a.zip", 1, "0" * 64)
    with pytest.raises(ValueError, match="same name"):
        croissant(release(), [file, file])
    with pytest.raises(ValueError, match=r"items\.parquet is none of the files"):
        croissant(release(), [file], ItemFile(PARQUET, gold=True, images=False))


def test_an_archive_is_described_by_its_address() -> None:
    file = DistributedFile("a.zip", "https://example.org/a.zip", len(PNG), "0" * 64)
    content = croissant(release([item("a", [number("1", 0)])]), [file])
    assert "recordSet" not in content
    assert mlc.Dataset(content).metadata.file_objects[0].encoding_formats == ["application/zip"]
