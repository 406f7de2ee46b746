"""Data for checking a file in the browser before the upload: the ids, if they are public."""

import io
import json

import pytest

from portal.accounts.models import User
from portal.datasets.models import Dataset
from scoring.benchmarks import BENCHMARKS, PredictionLine, ReadFault, ReadLimits
from scoring.models import Phase
from tests.fixture_types import ApiOf, ClientOf
from tests.scoring.factories import make_board, make_release

pytestmark = pytest.mark.django_db


URL = "/api/v1/boards/board/phases/test/ids/"


@pytest.mark.parametrize(
    ("release", "dataset", "wanted"),
    [
        ("public", "public", (200, 200, 200)),
        # The starter kit contains the ids of a release with hidden gold.
        ("gold_hidden", "public", (200, 200, 200)),
        ("private", "public", (404, 404, 200)),
        ("public", "private", (404, 404, 200)),
    ],
)
def test_ids_are_told_where_the_release_is_open(
    api_of: ApiOf,
    client_of: ClientOf,
    researcher: User,
    organiser: User,
    release: str,
    dataset: str,
    wanted: tuple[int, ...],
) -> None:
    board = make_board(make_release(visibility=release))
    Dataset.objects.update(visibility=dataset)
    answers = [api_of(user).get(URL) for user in (None, researcher, organiser)]
    assert tuple(answer.status_code for answer in answers) == wanted
    assert answers[-1].json() == {"ids": ["page-1", "page-2", "page-3"]}
    page = client_of(researcher).get(f"/boards/{board.slug}/submit/").content.decode()
    assert (URL in page) == (wanted[1] == 200)


def test_ids_of_a_split_are_its_own(api_of: ApiOf) -> None:
    make_board(make_release(splits={"page-1": "dev", "page-2": "test", "page-3": "dev"}))
    Phase.objects.update(split="test")
    assert api_of(None).get(URL).json() == {"ids": ["page-2"]}


@pytest.mark.parametrize("key", BENCHMARKS)
def test_the_example_line_names_its_item_by_the_id_keys(key: str) -> None:
    """Browser and reader use the same names of items."""
    benchmark = BENCHMARKS[key]
    file = io.BytesIO(f"{benchmark.example}\n".encode())
    [line] = benchmark.read_predictions(file, limits=ReadLimits())
    assert isinstance(line, PredictionLine), line
    example = json.loads(benchmark.example)
    assert ":".join(example[key] for key in benchmark.id_keys) == line.id


@pytest.mark.parametrize("key", BENCHMARKS)
def test_a_line_without_an_answer_key_is_rejected(key: str) -> None:
    """In the words that the browser shows before the upload; see precheck.test.mjs."""
    benchmark = BENCHMARKS[key]
    example = json.loads(benchmark.example)
    line = {name: value for name, value in example.items() if name not in benchmark.answer_keys}
    assert len(line) < len(example)
    file = io.BytesIO(json.dumps(line).encode())
    [fault] = benchmark.read_predictions(file, limits=ReadLimits())
    names = [f"'{name}'" for name in benchmark.answer_keys]
    words = "has neither" if len(names) > 1 else "has no"
    assert isinstance(fault, ReadFault)
    assert fault.message == f"{words} {' nor '.join(names)}"


def test_the_submit_page_names_the_answer_keys(client_of: ClientOf, researcher: User) -> None:
    board = make_board()
    page = client_of(researcher).get(f"/boards/{board.slug}/submit/")
    assert page.context["precheck"]["answerKeys"] == ("html",)
