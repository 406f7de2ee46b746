"""Starter kits: their content and a valid empty submission."""

import hashlib
import io
import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from portal.datasets.imaging.pictures import bare_image
from portal.datasets.models import Release
from portal.datasets.releases.freezing import gold_of_records
from portal.datasets.releases.gold import empty_line_of, gold_formats, prompts_of
from portal.datasets.releases.services import freeze_gold
from scoring.benchmark_setup import TITLES
from scoring.benchmarks import BENCHMARKS, check_predictions, get_benchmark
from scoring.judge import use_folder
from tests.datasets.factories import jpeg
from tests.datasets.releases.worlds import (
    RECORDS,
    SECRET_IN_IMAGE,
    freeze_split,
    page_records,
    record_world,
    split_world,
    titled_png,
    unzipped,
)
from tests.datasets.test_access import body
from tests.fixture_types import ClientOf

pytestmark = pytest.mark.django_db


def freeze(benchmark: str) -> Release:
    dataset = page_records() if benchmark == "fincriticaled" else record_world(benchmark)
    return freeze_gold(
        dataset=dataset,
        gold=gold_of_records(dataset=dataset, benchmark=benchmark, labels=["Number"]),
        version="1.0.0",
        notes="",
        visibility="gold_hidden",
        licence="",
        citation={},
        splits=None,
        actor=None,
    )


def test_every_benchmark_is_known_by_its_title() -> None:
    assert {one.key: one.title for one in gold_formats()} == TITLES
    assert {key: BENCHMARKS[key].title for key in BENCHMARKS} == TITLES


@pytest.mark.parametrize("benchmark", ["fincriticaled", *RECORDS])
def test_the_empty_submission_of_a_kit_is_valid(benchmark: str, client_of: ClientOf) -> None:
    release = freeze(benchmark)
    kit = unzipped(body(client_of(None).get(f"{release.get_absolute_url()}starter-kit/")))
    names = list(release.items.values_list("name", flat=True))
    spec = get_benchmark(benchmark)
    lines = spec.read_predictions(io.BytesIO(kit["submission.jsonl"]))
    check = check_predictions(lines, names)
    assert (check.faults, check.missing, sorted(check.lines)) == ((), (), sorted(names))


def test_an_id_with_a_colon_comes_back_whole() -> None:
    line = empty_line_of("ccocr")("IC15:a:b")
    assert line == {"id": "a:b", "subset": "IC15", "response": ""}


def pinned(release: Release) -> dict[str, Any]:
    return dict(release.about or {})


def test_a_kit_of_a_release_in_parts_has_the_test_part(client_of: ClientOf) -> None:
    release = split_world()
    kit = unzipped(body(client_of(None).get(f"{release.get_absolute_url()}starter-kit/")))
    files = {"README.md", "kit.json", "items.jsonl", "submission.jsonl", "images/secret.png"}
    assert set(kit) == files | {"prompts.jsonl", "prompts/paper-1/item.md", "CANARY.txt"}
    canary = pinned(release)["canary"]
    assert canary in kit["CANARY.txt"].decode()
    assert canary in kit["README.md"].decode()
    [prompt] = [json.loads(line) for line in kit["prompts.jsonl"].splitlines()]
    assert prompt["version"] == "paper-1"
    assert prompt["sha256"] == hashlib.sha256(kit["prompts/paper-1/item.md"]).hexdigest()
    assert pinned(release)["prompts"] == [prompt]
    assert SECRET_IN_IMAGE.encode() not in kit["images/secret.png"]


def test_the_prompts_of_a_release_can_be_downloaded_and_never_change(
    client_of: ClientOf, tmp_path: Path
) -> None:
    release = split_world()
    url = f"{release.get_absolute_url()}files/prompts.jsonl"
    before = body(client_of(None).get(url))
    (tmp_path / "fincriticaled").mkdir()
    (tmp_path / "fincriticaled" / "item.md").write_text("Given later.")
    use_folder(tmp_path)
    try:
        assert body(client_of(None).get(url)) == before
        assert [each["text"] for each in prompts_of("fincriticaled")][1:] == ["Given later."]
    finally:
        use_folder(None)
    assert "Prompts (JSONL)" in client_of(None).get(release.get_absolute_url()).content.decode()


def test_every_release_with_hidden_gold_has_a_canary_of_its_own() -> None:
    hidden = split_world()
    other = freeze_split(hidden.dataset, version="2.0.0", visibility="gold_hidden")
    assert pinned(hidden)["canary"].startswith("factboard canary ")
    assert pinned(hidden)["canary"] != pinned(other)["canary"]


def test_public_gold_has_no_canary() -> None:
    assert "canary" not in pinned(split_world("public"))


def test_public_gold_has_no_kit(client_of: ClientOf) -> None:
    release = split_world("public")
    assert client_of(None).get(f"{release.get_absolute_url()}starter-kit/").status_code == 404


def pixels(data: bytes) -> bytes:
    with Image.open(io.BytesIO(data)) as image:
        return image.convert("RGB").tobytes()


def test_a_bare_png_has_its_pixels_and_nothing_else() -> None:
    data = titled_png() + b"after the end"
    bare = bare_image(data)
    assert SECRET_IN_IMAGE.encode() in data
    assert SECRET_IN_IMAGE.encode() not in bare
    assert b"after the end" not in bare
    assert pixels(bare) == pixels(titled_png())


def test_a_bare_jpeg_has_its_pixels_and_nothing_else() -> None:
    plain = jpeg()
    note = SECRET_IN_IMAGE.encode()
    comment = b"\xff\xfe" + (len(note) + 2).to_bytes(2, "big") + note
    exif = b"\xff\xe1" + (len(note) + 8).to_bytes(2, "big") + b"Exif\0\0" + note
    marked = plain[:2] + comment + exif + plain[2:] + note
    assert pixels(marked) == pixels(plain)
    bare = bare_image(marked)
    assert note not in bare
    assert pixels(bare) == pixels(plain)
    assert bare == bare_image(plain)


def test_an_image_of_another_form_is_packed_anew() -> None:
    stream = io.BytesIO()
    Image.new("RGB", (4, 3), "red").save(stream, "BMP")
    bare = bare_image(stream.getvalue())
    assert bare.startswith(b"\x89PNG")
    assert pixels(bare) == pixels(stream.getvalue())
    with pytest.raises(OSError, match="cannot identify"):
        bare_image(b"no picture")
