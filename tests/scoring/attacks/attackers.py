"""People who try to find out hidden gold, each in a way of their own.

An attacker sees the figures that are shown for each file, has the benchmark's scorer, and ends with
a belief: by fact, the probability that its second reading is the right one.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, product
from math import comb
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from scoring.benchmarks.base import deciding_column

from .world import FIRST, SECOND, Guess, OutOfAttempts, Shown, World

Belief = Mapping[int, float]
Vector = npt.NDArray[np.float64]
EVER = 10_000


@dataclass
class Log:
    """The files of an attacker, and what was shown for each."""

    guesses: list[Guess] = field(default_factory=list)
    shown: list[Shown] = field(default_factory=list)

    @property
    def keys(self) -> list[str]:
        return sorted({key for shown in self.shown for key in shown})

    def figure(self, key: str) -> Vector:
        values = np.array([shown.get(key, np.nan) for shown in self.shown])
        return np.where(np.isnan(values), np.nanmean(values), values)


def ask_all(world: World, guesses: Iterator[Guess], most: int = EVER) -> Log:
    """Submit files until no one has an attempt left."""
    log = Log()
    for guess in islice(guesses, most):
        try:
            log.shown.append(world.ask(guess))
        except OutOfAttempts:
            break
        log.guesses.append(guess)
    return log


def deciding(world: World) -> str:
    return deciding_column(world.spec.columns_for(world.options)).key


# Coin weighing: many facts at once, and a system of linear equations.

RANK = "rank"


def weigh(world: World, facts: Sequence[int], most: int = EVER) -> Belief:
    """Guess these facts at random in every file, and solve the equations of all figures."""
    return solve(world, ask_all(world, random_files(world, facts), most), facts)


def weigh_by_rank(world: World, facts: Sequence[int], most: int = EVER) -> Belief:
    """Guess like `weigh`, publish every file, and use only the ranks."""
    log = ask_all(world, random_files(world, facts), most)
    ranks = [rank for rank, _ in world.publish_all()]
    log.shown = [{} if rank is None else {RANK: -float(rank)} for rank in ranks]
    return solve(world, log, facts)


def random_files(world: World, facts: Sequence[int]) -> Iterator[Guess]:
    while True:
        guess = world.blank()
        guess[facts] = world.random.integers(0, 2, len(facts))
        yield guess


class Equations(NamedTuple):
    """A figure of every file as a weighed sum of facts, each of which is +1 or -1, with its
    rounding and all that is not linear as noise."""

    weights: Vector
    values: Vector
    noise: float


def solve(world: World, log: Log, facts: Sequence[int]) -> Belief:
    """Return the belief from all figures that are about linear in the facts. Facts that are nearly
    sure are taken as sure, and the rest is solved again."""
    signs = np.array([np.where(guess[facts] == SECOND, 1.0, -1.0) for guess in log.guesses])
    known = _equations(world, log, facts)
    if not known:
        return {}
    odds, sure = np.zeros(len(facts)), np.zeros(len(facts), bool)
    while not sure.all():
        odds[~sure] = _log_odds(signs, known, np.sign(odds) * sure)[~sure]
        more = ~sure & (abs(odds) > _NEARLY_SURE)
        if not more.any():
            break
        sure |= more
    return dict(zip(facts, (1 / (1 + np.exp(-odds.clip(-30, 30)))).tolist(), strict=True))


_NEARLY_SURE = np.log(99)


def _log_odds(signs: Vector, known: Sequence[Equations], fixed: Vector) -> Vector:
    """Return the log odds of each fact, as of a Gaussian with the same mean and variance. `fixed`
    is +1 or -1 for the facts that are taken as sure, else 0."""
    open_facts = fixed == 0
    precision = np.eye(int(open_facts.sum()))
    pull = np.zeros(len(precision))
    for weights, values, noise in known:
        design = signs * weights
        design -= design.mean(axis=0)
        rest = values - values.mean() - design @ fixed
        part = design[:, open_facts] / noise
        precision += part.T @ part
        pull += part.T @ (rest / noise)
    covariance = np.linalg.inv(precision)
    odds = np.zeros(len(fixed))
    odds[open_facts] = 2 * (covariance @ pull) / covariance.diagonal()
    return odds


def _equations(world: World, log: Log, facts: Sequence[int]) -> list[Equations]:
    weights = _weights(world, facts)
    misfit = _misfit(world, log.guesses[:12], facts, weights)
    found = []
    for key in log.keys:
        basis = deciding(world) if key == RANK else key
        if basis not in weights or not weights[basis].any() or not log.figure(key).std():
            continue
        values, step = log.figure(key), world.steps.get(basis, 0.0)
        if key == RANK:
            values, step = _scores_of_ranks(values, weights[basis])
        noise = np.hypot(step / np.sqrt(6), misfit[basis])
        found.append(Equations(weights[basis], values, max(float(noise), 1e-9)))
    return found


def _scores_of_ranks(ranks: Vector, weights: Vector) -> tuple[Vector, float]:
    """Return the scores behind ranks, without their mean, and their step. A score that is a sum of
    coins has a known spread. Many ranks are those of exact scores, few those of neighbouring
    steps."""
    spread = float(np.sqrt((weights**2).sum()))
    places = np.unique(ranks, return_inverse=True)[1].astype(float)
    if places.max() > _FEW_RANKS:
        return ranks * spread / ranks.std(), 0.3 * spread
    step = spread / np.sqrt(max(places.var() - 1 / 6, spread**2))
    return places * step, step


_FEW_RANKS = 40


def _weights(world: World, facts: Sequence[int]) -> dict[str, Vector]:
    """Return how much each fact moves each figure, tried with the scorer on invented gold. Facts at
    the same place of items of one kind move it equally."""
    guess, gold = next(random_files(world, facts)), world.drawn()
    moves: dict[tuple[int, int], dict[str, float]] = {}
    places = [world.place_of(fact) for fact in facts]
    for fact, place in zip(facts, places, strict=True):
        if place in moves:
            continue
        values = []
        for truth in (1 - guess[fact], guess[fact]):
            gold[fact] = truth
            values.append(_present(world.scores(guess, gold).scores))
        wrong, right = values
        moves[place] = {key: (right[key] - wrong[key]) / 2 for key in right.keys() & wrong.keys()}
    keys = set().union(*moves.values())
    return {key: np.array([moves[place].get(key, 0.0) for place in places]) for key in sorted(keys)}


def _misfit(
    world: World, guesses: Sequence[Guess], facts: Sequence[int], weights: Mapping[str, Vector]
) -> dict[str, float]:
    """Return the standard deviation of what is not linear in each figure."""
    gold = world.drawn()
    truth = np.where(gold[facts] == SECOND, 1.0, -1.0)
    signs = np.array([np.where(guess[facts] == SECOND, 1.0, -1.0) for guess in guesses])
    scores = [_present(world.scores(guess, gold).scores) for guess in guesses]
    found = {}
    for key, weight in weights.items():
        values = np.array([score.get(key, 0.0) for score in scores])
        rest = values - (signs * weight) @ truth
        found[key] = float(rest.std())
    return found


def _present(scores: Mapping[str, float | None]) -> Shown:
    return {key: value for key, value in scores.items() if value is not None}


# Files of one page: all figures are about one item.


def ask_item_by_item(world: World, most: int = EVER) -> Belief:
    """Answer a single item in each file, leave the others empty, and find the gold of this item for
    which the scorer gives these figures."""
    belief: dict[int, float] = {}
    for item in range(min(most, world.size)):
        guess = world.blank()
        world.part(item, guess)[:] = FIRST
        try:
            shown = world.ask(guess)
        except OutOfAttempts:
            break
        belief |= _most_likely(world, item, guess, shown)
    return belief


def _most_likely(world: World, item: int, guess: Guess, shown: Shown) -> Belief:
    """Return the belief about the facts of an item, from all golds that it may have."""
    facts = range(world.starts[item], world.starts[item + 1])
    golds = np.array(list(product((FIRST, SECOND), repeat=len(facts))), np.int8)
    chances = np.ones(len(golds))
    for n, bits in enumerate(golds):
        gold = world.drawn()
        gold[facts.start : facts.stop] = bits
        exact = _present(world.scores(guess, gold).scores)
        for key, value in shown.items():
            # A value is rounded to the step above or below it. Most figures of the other items are
            # the same for all golds.
            step = max(world.steps.get(key, 0.0), 1e-4)
            chances[n] *= max(1 - abs(exact.get(key, -1.0) - value) / step, 1e-3)
    second = (chances @ golds) / chances.sum()
    return dict(zip(facts, second.clip(0.001, 0.999).tolist(), strict=True))


# The same fact again and again.


def ask_again(world: World, most: int = EVER) -> Belief:
    """Guess one fact, and repeat this in files that differ in nothing that counts, until the score
    rises or this has become unlikely."""
    key, belief = deciding(world), dict[int, float]()
    weights = _weights(world, range(world.facts)).get(key)
    if weights is None:
        return belief
    for fact in range(min(most, world.facts)):
        guess = world.blank()
        guess[fact] = FIRST
        odds = 0.0
        for again in range(250):
            try:
                shown = world.ask(guess, again)
            except OutOfAttempts:
                return belief
            if key not in shown:
                return belief
            chance = min(2 * weights[fact] / max(world.steps.get(key, 0.0), 1e-9), 0.99)
            odds = -10.0 if shown[key] > 0 else odds - np.log(1 - chance)
            belief[fact] = 1 / (1 + np.exp(-odds))
            if abs(odds) > _NEARLY_SURE:
                break
    return belief


# Group testing by halves.


def _right_share(size: int, rise: float, step: float) -> float:
    """Return the expected share of right guesses in a group, from the rise of the score and its
    step, both in facts."""
    counts = np.arange(size + 1)
    chances = np.array([comb(size, int(count)) for count in counts], float)
    chances *= np.maximum(1 - abs(counts - rise) / step, 1e-9)
    share = float(chances @ counts / chances.sum() / size)
    return min(max(share, 0.001), 0.999)


def split_groups(world: World, size: int, most: int = EVER) -> Belief:
    """Ask about a group of facts, and about halves of it until all or none of its guesses are
    right."""
    key, belief, asked = deciding(world), dict[int, float](), 0
    weights = _weights(world, range(world.facts)).get(key, np.zeros(world.facts))
    empty = world.ask(world.blank()).get(key)
    groups = [range(start, min(start + size, world.facts)) for start in range(0, world.facts, size)]
    while groups and asked < most and empty is not None:
        group = groups.pop()
        guess = world.blank()
        guess[group.start : group.stop] = FIRST
        try:
            value = world.ask(guess)[key]
        except OutOfAttempts:
            break
        asked += 1
        weight = 2 * float(weights[group.start : group.stop].mean())
        step = max(world.steps.get(key, 0.0), weight / 2, 1e-9)
        share = _right_share(len(group), (value - empty) / weight, step / weight)
        belief |= dict.fromkeys(group, 1 - share)
        if 0.05 < share < 0.95 and len(group) > 1:
            half = group.start + len(group) // 2
            groups += [range(half, group.stop), range(group.start, half)]
    return belief


# A baseline just below the place where the shown score rises, and then one fact at a time.


def probe_threshold(world: World, most: int = EVER) -> Belief:
    key, belief = deciding(world), dict[int, float]()
    order = world.random.permutation(world.facts)
    half = world.facts // 2

    def file(length: int, extra: Sequence[int] = ()) -> Guess:
        guess = world.blank()
        guess[order[:length]] = FIRST
        guess[list(extra)] = FIRST
        return guess

    def score(length: int, extra: Sequence[int] = ()) -> float:
        return world.ask(file(length, extra)).get(key, 0.0)

    low, high = half, half + max(world.facts // 20, 8)
    base, above = score(low), score(high)
    while high - low > 1 and above > base:
        middle = (low + high) // 2
        value = score(middle)
        low, high = (low, middle) if value > base else (middle, high)
    if above <= base:
        return belief
    # With a step of many facts, the score rises by chance more often than by the fact.
    weights = _weights(world, range(world.facts)).get(key, np.zeros(world.facts))
    chance = min(2 * float(weights.mean()) / max(world.steps.get(key, 0.0), 1e-9), 1.0)
    for fact in islice(order[high:], most):
        try:
            value = score(low, [fact])
        except OutOfAttempts:
            break
        belief[int(fact)] = 0.5 + 0.45 * (-chance if value > base else chance)
    return belief
