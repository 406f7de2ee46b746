"""Where items come from: kits, releases, gold with images, and a site; and what is refused."""

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from django.test import Client as Browser

from factboard.client import Client
from factboard.client.connection import NotFoundError
from factboard.targets import SAMPLES, FetchError, fetch_kit, open_sample
from portal.datasets.models import Release
from scoring.answering.kits import KitError, open_kit
from scoring.answering.prompts import PromptError, PromptSet, named_prompts, prompt_of_file
from scoring.benchmarks import ItemPrompt
from tests.scoring.answering.kit_files import PNG, make_kit
from tests.scoring.factories import make_board, make_release


def test_kit_in_a_zip_is_that_of_its_folder(tmp_path: Path) -> None:
    folder = make_kit(tmp_path / "kit")
    with zipfile.ZipFile(tmp_path / "kit.zip", "w") as bundle:
        for file in folder.rglob("*"):
            bundle.write(file, file.relative_to(folder))
    with open_kit(folder) as unpacked, open_kit(tmp_path / "kit.zip") as packed:
        assert packed.fingerprint == unpacked.fingerprint
        assert [item.id for item in packed.items] == ["p0000", "p0001", "p0002"]
        for one, other in zip(packed.items, unpacked.items, strict=True):
            assert one.images[0].read() == other.images[0].read()


def test_prompts_that_a_kit_pins_are_used(tmp_path: Path) -> None:
    folder = make_kit(tmp_path / "kit")
    line = {"version": "published", "name": "item", "text": "In their words.", "source": "paper"}
    (folder / "prompts.jsonl").write_text(json.dumps(line), encoding="utf-8")
    with open_kit(folder) as kit:
        prompts = named_prompts(kit.benchmark, "published", kit.prompts)
    assert prompts.text("", "") == "In their words."


def test_kind_of_a_ccocr_item_is_that_of_its_subset(tmp_path: Path) -> None:
    ids = ["IC15:a.jpg", "Table_scan_en:b", "unknown:c"]
    with open_kit(make_kit(tmp_path / "kit", benchmark="ccocr", ids=ids)) as kit:
        kinds = [item.kind for item in kit.items]
    assert kinds[1:] == ["table", ""]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["{"], r"items.jsonl:1: not valid JSON"),
        (['{"id": "a", "images": []}', '{"id": 7}'], r"items.jsonl:2: id: must be a string"),
        (['{"prompt": "Read."}'], r"items.jsonl:1: id: must have 1 to"),
        (['{"id": "a", "images": "b.png"}'], r"images: must be a list of paths"),
        (['{"id": "a", "images": ["../../etc/passwd"]}'], r"is missing"),
        (['{"id": "a", "images": ["images/no.png"]}'], r"download the release with its images"),
        (['{"id": "a"}', '{"id": "a"}'], "duplicate ID 'a'"),
        ([], r"contains no items"),
    ],
)
def test_wrong_kit_is_refused_by_line_and_field(
    tmp_path: Path, lines: list[str], said: str
) -> None:
    folder = make_kit(tmp_path / "kit")
    (folder / "items.jsonl").write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(KitError, match=said), open_kit(folder):
        pass


def test_kit_without_its_benchmark_needs_the_option(tmp_path: Path) -> None:
    folder = make_kit(tmp_path / "kit")
    (folder / "kit.json").unlink()
    with pytest.raises(KitError, match="--benchmark"), open_kit(folder):
        pass
    with open_kit(folder, benchmark="findoc") as kit:
        assert kit.benchmark == "findoc"
    with pytest.raises(KitError, match="did you mean"), open_kit(folder, benchmark="findok"):
        pass


def test_gold_with_images_needs_no_kit_and_gives_no_gold(tmp_path: Path) -> None:
    gold = {"id": "a", "html": "<p><Number>1,204</Number></p>"}
    (tmp_path / "gold.jsonl").write_text(json.dumps(gold), encoding="utf-8")
    (tmp_path / "images").mkdir()
    for name in ("a.png", "a-2.png", "b.png"):
        (tmp_path / "images" / name).write_bytes(PNG)
    with open_kit(tmp_path / "gold.jsonl", benchmark="fincriticaled") as kit:
        (item,) = kit.items
    assert [image.name for image in item.images] == ["a.png", "a-2.png"]
    assert "1,204" not in repr(kit)


def test_gold_without_an_image_is_refused(tmp_path: Path) -> None:
    (tmp_path / "gold.jsonl").write_text('{"id": "a", "html": "<p>"}', encoding="utf-8")
    with (
        pytest.raises(KitError, match="--images"),
        open_kit(tmp_path / "gold.jsonl", benchmark="fincriticaled"),
    ):
        pass
    (tmp_path / "images").mkdir()
    with (
        pytest.raises(KitError, match=r"gold.jsonl:1: a: no image found"),
        open_kit(tmp_path / "gold.jsonl", benchmark="fincriticaled"),
    ):
        pass


@pytest.mark.parametrize("name", list(SAMPLES))
def test_every_item_of_a_sample_can_be_asked(name: str) -> None:
    kit = open_sample(name)
    prompts = named_prompts(kit.benchmark, "paper-1")
    for item in kit.items:
        assert prompts.text(item.question, item.kind)
        assert item.images
        assert item.images[0].read()


def test_sample_needs_a_checkout(tmp_path: Path) -> None:
    with pytest.raises(KitError, match="checkout"):
        open_sample("sample", tmp_path / "none")


def test_prompt_has_question_and_language_and_leaves_amounts_alone(tmp_path: Path) -> None:
    file = tmp_path / "own.md"
    file.write_text("Answer in $language: $question It cost $1,204.", encoding="utf-8")
    prompts = prompt_of_file(file, "German")
    assert prompts.text("What is $language?", "kie") == (
        "Answer in German: What is $language? It cost $1,204."
    )


def test_prompt_without_its_question_is_refused() -> None:
    with pytest.raises(PromptError, match="has no question"):
        PromptSet("v", {"item": "$question"}).text(" ", "")


def test_unknown_prompt_names_the_known_ones() -> None:
    pinned = [ItemPrompt("published", "item", "x", "paper")]
    with pytest.raises(PromptError, match="choose from own, paper-1, published"):
        named_prompts("findoc", "v9", pinned)


@pytest.fixture
def site() -> Iterator[Client]:
    """A client of the real site, without a network."""

    def respond(request: httpx2.Request) -> httpx2.Response:
        url = request.url.raw_path.decode()
        given = {"Authorization": request.headers.get("authorization", "")}
        answer: Any = Browser().get(url, headers={k: v for k, v in given.items() if v})
        data = answer.getvalue() if answer.streaming else answer.content
        return httpx2.Response(answer.status_code, headers=dict(answer.headers), content=data)

    with Client("http://testserver", transport=httpx2.MockTransport(respond)) as client:
        yield client


def board_of(visibility: str) -> Release:
    release = make_release(visibility=visibility)
    make_board(release)
    return release


@pytest.mark.django_db
@pytest.mark.parametrize("visibility", ["public", "gold_hidden"])
def test_board_is_fetched_from_its_site(site: Client, tmp_path: Path, visibility: str) -> None:
    release = board_of(visibility)
    for item in release.items.all():
        assert item.document is not None

    fetched = fetch_kit(site, "board", to=tmp_path)

    with open_kit(fetched.path) as kit:
        assert (kit.benchmark, kit.version) == ("fincriticaled", release.version)
        assert [item.id for item in kit.items] == list(
            release.items.order_by("position").values_list("name", flat=True)
        )
    assert fetched.phase
    assert not list(tmp_path.glob("*.partial"))


@pytest.mark.django_db
def test_board_that_cannot_be_fetched_gets_the_reason_of_the_site(
    site: Client, tmp_path: Path
) -> None:
    board_of("private")
    with pytest.raises(FetchError, match="did you mean board"):
        fetch_kit(site, "boards", to=tmp_path)
    with pytest.raises(NotFoundError):
        fetch_kit(site, "board", to=tmp_path)
    assert not list(tmp_path.iterdir())
