"""A board whose items have page images, and a scripted model that reads them."""

import base64
import hashlib
from collections.abc import Mapping
from io import BytesIO
from typing import Any

from PIL import Image

from portal.accounts.models import User
from portal.datasets.models import Dataset, Release
from portal.datasets.releases.gold import GoldItem
from portal.datasets.releases.services import freeze_release
from portal.facts import read_tags
from scoring.judging.services import set_endpoint
from scoring.models import Board, ModelRun
from scoring.models.judging import Purpose
from scoring.running.services import check_decoding, start_model_run
from tests.datasets.factories import add_image
from tests.factories import empty_dataset, make_documents
from tests.scoring.factories import FLAWED, GOLD, LABELS, first_phase, make_board
from tests.scoring.judge.server import Call, Reply
from tests.scoring.judges import endpoint_values

MODEL = "reader-1"
KEY = "sk-of-the-model-endpoint"


def picture(name: str) -> bytes:
    """An image of its own for each name."""
    digest = hashlib.sha256(name.encode()).digest()
    file = BytesIO()
    Image.new("RGB", (60 + digest[3], 80), (digest[0], digest[1], digest[2])).save(file, "PNG")
    return file.getvalue()


def board_with_images(
    gold: Mapping[str, str] = GOLD,
    visibility: str = Release.Visibility.PUBLIC,
    **phase: Any,
) -> Board:
    dataset = empty_dataset(visibility=Dataset.Visibility.PUBLIC)
    pages = {name: read_tags(html, LABELS) for name, html in gold.items()}
    documents = make_documents(dataset, {name: page.canonical.html for name, page in pages.items()})
    for document in documents:
        add_image(document, picture(document.name))
    items = [
        GoldItem(document=document, spans=page.spans)
        for document, page in zip(documents, pages.values(), strict=True)
    ]
    release = freeze_release(
        dataset=dataset, version="1.0.0", items=items, labels=LABELS, visibility=visibility
    )
    return make_board(release, **phase)


def give_endpoint(board: Board, url: str, **changes: Any) -> None:
    values = endpoint_values(url, model=MODEL, price_input=0.0, price_output=0.0) | changes
    set_endpoint(board=board, values=values, key=KEY, actor=None, purpose=Purpose.MODEL)


def start(board: Board, actor: User, **changes: Any) -> ModelRun:
    values: dict[str, Any] = {
        "phase": first_phase(board),
        "model": MODEL,
        "prompt_version": "paper-1",
        "decoding": check_decoding({"max_tokens": 100}),
        "concurrency": 2,
        "budget": None,
        "actor": actor,
    }
    return start_model_run(**values | changes)


def _size(data: bytes) -> tuple[Any, ...]:
    with Image.open(BytesIO(data)) as image:
        return image.size, image.convert("RGB").getpixel((0, 0))


class Reader:
    """Answers with the page on the image. `failing` maps a page to the replies that come first."""

    def __init__(self, pages: Mapping[str, str] = FLAWED) -> None:
        self.pages = dict(pages)
        self.asked: list[str] = []
        self.failing: dict[str, list[Reply | None]] = {}
        self._by_image = {_size(picture(name)): name for name in self.pages}

    def name_of(self, call: Call) -> str:
        [image] = [
            part["image_url"]["url"]
            for part in call.body["messages"][-1]["content"]
            if part["type"] == "image_url"
        ]
        return self._by_image[_size(base64.b64decode(image.partition(",")[2]))]

    def __call__(self, call: Call) -> Reply | None:
        name = self.name_of(call)
        self.asked.append(name)
        if waiting := self.failing.get(name):
            return waiting.pop(0)
        return Reply(f"```html\n{self.pages[name]}\n```")
