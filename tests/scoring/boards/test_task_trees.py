"""The task tree: from the steps of the work to tasks and examples, without hidden gold."""

from collections.abc import Mapping
from typing import Any

import pytest

from portal.accounts.models import User
from portal.datasets.models import Dataset, Release
from portal.datasets.releases.services import freeze_lines
from scoring.benchmarks import get_benchmark
from scoring.boards.protection import NewPhase
from scoring.boards.selectors import open_phase, task_examples
from scoring.boards.services import create_board, set_board_state
from scoring.models import Board
from tests.factories import empty_dataset
from tests.fixture_types import ClientOf

pytestmark = pytest.mark.django_db

PAGE = "/boards/credit/tasks/"


def gold(name: str, task: str, subtask: str) -> dict[str, Any]:
    """The answer says which item it belongs to."""
    return {
        "id": name,
        "task": task,
        "subtask": subtask,
        "robustness": "Small ROIs",
        "response": f'{{"answer": "secret of {name}"}}',
    }


LINES = {
    line["id"]: line
    for line in (
        *(gold(f"kie-{number}", "KIE", "inf_ext_001") for number in range(5)),
        gold("kie-other", "KIE", "en.inf_ext_002"),
        gold("rr-1", "RR", "rea_chk_001"),
    )
}


def credit_board(
    visibility: str = Release.Visibility.PUBLIC,
    dataset: str = Dataset.Visibility.PUBLIC,
    splits: Mapping[str, str] | None = None,
) -> Board:
    release = freeze_lines(
        dataset=empty_dataset(visibility=dataset),
        version="1.0.0",
        benchmark="fcmbench",
        lines=LINES,
        visibility=visibility,
        splits=splits,
    )
    board = create_board(
        slug="credit",
        title="Credit",
        benchmark="fcmbench",
        phase=NewPhase(slug="test", title="Test", release=release),
        actor=None,
    )
    return set_board_state(board=board, state=Board.State.OPEN, actor=None, confirm_disclosure=True)


def examples(board: Board) -> dict[str, list[str]]:
    phase, tree = open_phase(board), board.spec.task_tree
    assert phase is not None
    assert tree is not None
    return {
        task: [example.item.name for example in found]
        for task, found in task_examples(phase, tree).items()
        if found
    }


def test_every_task_stands_in_a_step_and_every_step_names_tasks() -> None:
    tree = get_benchmark("fcmbench").task_tree
    assert tree is not None
    named = {key for stage in tree.stages for key in stage.tasks}
    assert named == {task.key for task in tree.tasks}
    assert [task.key for task in tree.tasks] == ["IQE", "DTR", "KIE", "CC", "VC", "NC", "RR"]


def test_examples_are_of_different_questions_first() -> None:
    assert examples(credit_board()) == {"KIE": ["kie-0", "kie-other", "kie-1"], "RR": ["rr-1"]}


@pytest.mark.parametrize(
    ("visibility", "dataset"),
    [
        (Release.Visibility.GOLD_HIDDEN, Dataset.Visibility.PUBLIC),
        (Release.Visibility.PRIVATE, Dataset.Visibility.PUBLIC),
        (Release.Visibility.PUBLIC, Dataset.Visibility.PRIVATE),
    ],
)
def test_hidden_gold_gives_no_example_to_anybody(
    client_of: ClientOf, organiser: User, visibility: str, dataset: str
) -> None:
    credit_board(visibility, dataset)
    for user in (None, organiser):
        page = client_of(user).get(PAGE).content.decode()
        assert "No examples" in page
        assert "secret of" not in page
        assert "kie-" not in page


def test_of_a_release_in_two_parts_only_the_open_one_is_shown(client_of: ClientOf) -> None:
    splits = {name: "dev" if name in {"kie-3", "rr-1"} else "test" for name in LINES}
    board = credit_board(Release.Visibility.GOLD_HIDDEN, splits=splits)
    assert examples(board) == {"KIE": ["kie-3"], "RR": ["rr-1"]}
    page = client_of(None).get(PAGE).content.decode()
    assert page.count("secret of") == 2


def test_a_draft_has_no_tasks_for_others(client_of: ClientOf, organiser: User) -> None:
    set_board_state(board=credit_board(), state=Board.State.DRAFT, actor=organiser)
    assert client_of(None).get(PAGE).status_code == 404
    assert client_of(organiser).get(PAGE).status_code == 200


def test_the_board_leads_there_and_back(client_of: ClientOf) -> None:
    credit_board()
    client = client_of(None)
    assert f'href="{PAGE}"' in client.get("/boards/credit/").content.decode()
    assert 'href="/boards/credit/"' in client.get(PAGE).content.decode()


def test_a_benchmark_without_a_tree_has_no_such_page(client_of: ClientOf, board: Board) -> None:
    assert client_of(None).get("/boards/board/tasks/").status_code == 404
    assert "/boards/board/tasks/" not in client_of(None).get("/boards/board/").content.decode()


def test_query_budget(client_of: ClientOf, django_assert_num_queries: Any) -> None:
    credit_board()
    client = client_of(None)
    # The board, its phases, whether the gold is open, seven tasks. No item has a picture.
    with django_assert_num_queries(10):
        client.get(PAGE)
