"""With the default settings of hidden gold, ten people learn next to nothing about it in a year.

The knowledge of each attacker at the end is listed after the run, under MEASURED.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pytest
from rest_framework.test import APIClient

from tests.conftest import MEASURED

from .attackers import (
    EVER,
    Belief,
    ask_again,
    ask_item_by_item,
    probe_threshold,
    split_groups,
    weigh,
    weigh_by_rank,
)
from .sheets import SHEETS
from .world import Knowledge, World

pytestmark = pytest.mark.django_db
Attacker = Callable[[World], Belief]
Attack = Callable[..., Knowledge]
BY_RANK = "weighs by rank"
# Of eight items, these need few scores.
QUICK = ("item by item", "weighs 60 facts, 60 scores")
# The share of the facts that may be known of a large release.
GOAL = 0.01
UNPROTECTED = {"score_decimals": None, "takes_incomplete": True}


def _some(world: World, count: int) -> list[int]:
    drawn: list[int] = world.random.choice(
        world.facts, min(count, world.facts), replace=False
    ).tolist()
    return sorted(drawn)


def _weigh(world: World, *, facts: int, most: int = EVER) -> Belief:
    return weigh(world, _some(world, facts), most)


def _weigh_by_rank(world: World) -> Belief:
    return weigh_by_rank(world, _some(world, 200))


ATTACKERS: Mapping[str, Attacker] = {
    "weighs 200 facts": partial(_weigh, facts=200),
    "weighs 30 facts": partial(_weigh, facts=30),
    "weighs 60 facts, 60 scores": partial(_weigh, facts=60, most=60),
    "weighs all facts": partial(_weigh, facts=100_000),
    BY_RANK: _weigh_by_rank,
    "item by item": partial(ask_item_by_item, most=20),
    "asks again": ask_again,
    "halves groups": partial(split_groups, size=32),
    "probes a threshold": probe_threshold,
}


@pytest.fixture
def attack(record_property: Callable[[str, object], None]) -> Attack:
    """Return what an attacker knows at the end of a year."""

    def run(benchmark: str, items: int, name: str, **settings: Any) -> Knowledge:
        world = World(benchmark, items, **settings)
        knowledge = world.knowledge(ATTACKERS[name](world))
        setting = " without protection" if settings else ""
        record_property(MEASURED, f"{benchmark}, {items} items{setting}, {name}: {knowledge}")
        check_api(world)
        return knowledge

    return run


def check_api(world: World) -> None:
    """The API shows a submitter the scores that attackers got, and no others."""
    client = APIClient()
    submission = world.submissions[-1]
    client.force_authenticate(submission.owner)
    grading = client.get(f"/api/v1/submissions/{submission.pk}/").json()["grading"]
    scores = {key: value for key, value in grading["scores"].items() if value is not None}
    assert scores == world.shown(submission)


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[] if name in QUICK else [pytest.mark.slow]) for name in ATTACKERS],
)
def test_attackers_succeed_where_nothing_protects_gold(name: str, attack: Attack) -> None:
    """Without this, attackers that know nothing would prove nothing."""
    knowledge = attack("receiptbench", 8, name, **UNPROTECTED)
    assert knowledge.share > 0.4
    assert knowledge.right > 0.9 * knowledge.decided


@pytest.mark.parametrize("benchmark", SHEETS)
def test_scores_on_eight_items_say_nothing(benchmark: str, attack: Attack) -> None:
    knowledge = attack(benchmark, 8, "item by item")
    assert (knowledge.decided, knowledge.worth) == (0, 0)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["weighs 200 facts", "probes a threshold"])
@pytest.mark.parametrize("items", [8, 100])
def test_no_attacker_learns_from_scores_on_few_receipts(
    items: int, name: str, attack: Attack
) -> None:
    assert attack("receiptbench", items, name).known <= 0


@pytest.mark.slow
@pytest.mark.parametrize("benchmark", SHEETS)
def test_ranks_on_eight_items_are_worth_less_than_half(benchmark: str, attack: Attack) -> None:
    """The rank of a file is all that is shown. Ten people who publish 200 files learn from it."""
    knowledge = attack(benchmark, 8, BY_RANK)
    assert knowledge.worth < knowledge.facts / 2


def test_a_short_attack_on_a_large_release_learns_little(attack: Attack) -> None:
    assert attack("fincriticaled", 500, "weighs 60 facts, 60 scores").share < GOAL


@pytest.mark.slow
@pytest.mark.parametrize(
    ("benchmark", "items", "name"),
    [
        *((benchmark, 500, "weighs 200 facts") for benchmark in SHEETS),
        ("fincriticaled", 500, "weighs all facts"),
        ("fincriticaled", 500, BY_RANK),
        ("fincriticaled", 500, "item by item"),
        ("findoc", 500, "asks again"),
        ("findoc", 500, "halves groups"),
        ("findoc", 500, "probes a threshold"),
        ("fincriticaled", 859, "weighs 200 facts"),
    ],
)
def test_ten_people_learn_less_than_the_goal_in_a_year(
    benchmark: str, items: int, name: str, attack: Attack
) -> None:
    assert attack(benchmark, items, name).share < GOAL


@pytest.mark.parametrize("benchmark", SHEETS)
def test_no_file_chooses_how_exactly_its_scores_are_shown(benchmark: str) -> None:
    world = World(benchmark, 8)
    figures = world.spec.gold_figures(world.options)
    blank, right, drawn = (
        {key: share for key, share in world.shares_of(guess).items() if key in figures}
        for guess in (world.blank(), world.truth, world.drawn())
    )
    assert blank
    assert blank == right == drawn
