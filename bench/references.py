"""Our metrics compared with their reference packages, on the same inputs; both must agree."""

import warnings
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any

import apted  # type: ignore[import-untyped]
import Levenshtein
import nltk
import numpy as np
import zss  # type: ignore[import-untyped]
from lxml import etree
from rouge_score.rouge_scorer import RougeScorer
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import fleiss_kappa as reference_fleiss

from bench.generated import damaged_record, record, seeded, table_pairs, text_pairs
from bench.timing import best_of
from scoring.metrics.agreement import cohen_kappa, fleiss_kappa
from scoring.metrics.reading import similarity
from scoring.metrics.structured import normalise_record, tree_accuracy
from scoring.metrics.tables import Alphabet, clean_tables, read_table, teds
from scoring.metrics.text import text_scores

TOKENS = 1_000_000
# Figures that are further apart are not the same metric, and timing them would say nothing.
_LARGEST_GAP = 1e-6


@dataclass(frozen=True)
class Comparison:
    """Seconds of both sides, how far their figures are apart, and the ratio we want at least."""

    name: str
    reference: str
    ours: float
    theirs: float
    gap: float
    wanted: float

    @property
    def ratio(self) -> float:
        return self.theirs / self.ours

    @property
    def is_met(self) -> bool:
        return self.ratio >= self.wanted


Side = Callable[[], list[float]]


def _compared(name: str, reference: str, wanted: float, ours: Side, theirs: Side) -> Comparison:
    ours()  # Compiles and fills caches, as in a worker that has run for a second.
    fast, found = best_of(ours)
    slow, expected = best_of(theirs, rounds=1)
    gap = max(abs(a - b) for a, b in zip(found, expected, strict=True))
    if not gap < _LARGEST_GAP:
        raise ValueError(f"{name}: ours and {reference} are {gap} apart")
    return Comparison(name, reference, fast, slow, gap, wanted)


def _text() -> tuple[Side, Side]:
    pairs = text_pairs(20)
    scorer = RougeScorer(["rouge1", "rougeL"], use_stemmer=True)

    def ours() -> list[float]:
        found = [text_scores(gold, prediction) for gold, prediction in pairs]
        return [value for score in found for value in (score.r1, score.rl, score.edit_distance)]

    def theirs() -> list[float]:
        values = []
        for gold, prediction in pairs:
            rouge = scorer.score(gold, prediction)
            distance = Levenshtein.distance(gold, prediction) / max(len(gold), len(prediction))
            values += [rouge["rouge1"].fmeasure, rouge["rougeL"].fmeasure, distance]
        return values

    return ours, theirs


@dataclass(frozen=True)
class _Node:
    tag: str
    text: str
    children: "tuple[_Node, ...]"


def _node(element: Any) -> _Node:
    return _Node(element.tag, element.text or "", tuple(_node(child) for child in element))


class _TedsConfig(apted.Config):  # type: ignore[misc]
    """The usual cost model: contents of cells by their normalised edit distance."""

    def children(self, node: _Node) -> tuple[_Node, ...]:
        return node.children

    def rename(self, node1: _Node, node2: _Node) -> float:
        if node1.tag != node2.tag:
            return 1.0
        if node1.tag != "td":
            return 0.0
        longest = max(len(node1.text), len(node2.text), 1)
        return Levenshtein.distance(node1.text, node2.text) / longest


def _tables(number: int, cells: int) -> tuple[Side, Side]:
    # Both sides get the markup as CC-OCR's evaluator cleans it, and read it themselves.
    pairs = [
        (clean_tables(gold), clean_tables(prediction))
        for gold, prediction in table_pairs(number, cells)
    ]

    def ours() -> list[float]:
        values = []
        for pair in pairs:
            alphabet = Alphabet()
            first, second = (read_table(html, alphabet) for html in pair)
            values.append(teds(first, second) if first and second else 0.0)
        return values

    def theirs() -> list[float]:
        values = []
        for pair in pairs:
            trees = [etree.fromstring(html) for html in pair]
            elements = max(len(list(tree.iter())) - 1 for tree in trees)
            nodes = [_node(tree) for tree in trees]
            values.append(1 - apted.APTED(*nodes, _TedsConfig()).compute_edit_distance() / elements)
        return values

    return ours, theirs


def _documents() -> tuple[Side, Side]:
    # nltk takes no more than 2,000 characters.
    pairs = [(gold[:2000], prediction[:2000]) for gold, prediction in text_pairs(2)]

    def theirs() -> list[float]:
        return [
            1 - nltk.edit_distance(gold, prediction) / max(len(gold), len(prediction))
            for gold, prediction in pairs
        ]

    return lambda: [similarity(*pair) for pair in pairs], theirs


def _records() -> tuple[Side, Side]:
    chance = seeded(7)
    golds = [record(chance, 12) for _ in range(5)]
    pairs = [
        (normalise_record(gold), normalise_record(damaged_record(gold, chance))) for gold in golds
    ]

    def theirs() -> list[float]:
        empty = zss.Node("root")
        values = []
        for gold, prediction in pairs:
            first, second = _zss_tree("root", prediction), _zss_tree("root", gold)
            values.append(max(0.0, 1 - _zss_distance(first, second) / _zss_distance(empty, second)))
        return values

    return lambda: [tree_accuracy(*pair) for pair in pairs], theirs


_LEAF = "<leaf>"


def _zss_tree(label: str, value: Any) -> Any:
    node = zss.Node(label)
    if isinstance(value, dict):
        for key, child in value.items():
            node.addkid(_zss_tree(key, child))
    elif isinstance(value, list):
        for child in value:
            is_object = isinstance(child, dict)
            node.addkid(_zss_tree("" if is_object else f"{_LEAF}{child}", child))
    return node


def _zss_distance(first: Any, second: Any) -> float:
    def cost(node: Any) -> float:
        return len(node.label.replace(_LEAF, "")) if _LEAF in node.label else 1

    def rename(one: Any, other: Any) -> float:
        leaves = [_LEAF in node.label for node in (one, other)]
        if all(leaves):
            texts = [node.label.replace(_LEAF, "") for node in (one, other)]
            return Levenshtein.distance(*texts)
        if any(leaves):
            return 1 + cost(one if leaves[0] else other)
        return float(one.label != other.label)

    return float(zss.distance(first, second, zss.Node.get_children, cost, cost, rename))


def _compare_text() -> Iterator[Comparison]:
    yield _compared("R1, RL, edit distance, 20 pages", "rouge-score, Levenshtein", 25, *_text())


def _compare_tables() -> Iterator[Comparison]:
    for number, cells in ((4, 150), (1, 400)):
        name = f"TEDS, {number} × {cells} cells"
        yield _compared(name, "apted", 150, *_tables(number, cells))


def _compare_documents() -> Iterator[Comparison]:
    name = "Document NED, 2 pages of 2,000 characters"
    yield _compared(name, "nltk.edit_distance", 1000, *_documents())


def _compare_records() -> Iterator[Comparison]:
    yield _compared("nTED, 5 records", "zss", 30, *_records())


def _compare_kappas() -> Iterator[Comparison]:
    codes = np.random.default_rng(8).integers(0, 6, (TOKENS, 4)).astype(np.int16)
    table = np.stack([(codes == code).sum(axis=1) for code in range(6)], axis=1)
    first, second = codes[:, 0], codes[:, 1]
    size = f"{TOKENS:,} tokens"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield _compared(
            f"Cohen κ, {size}",
            "scikit-learn",
            1,
            lambda: [cohen_kappa(first, second).value or 0.0],
            lambda: [float(cohen_kappa_score(first, second))],
        )
        yield _compared(
            f"Fleiss κ, {size}, 4 annotators",
            "statsmodels, from counts",
            1,
            lambda: [fleiss_kappa(codes).value or 0.0],
            lambda: [float(reference_fleiss(table))],
        )


# By the names under which they can be run alone.
COMPARISONS: dict[str, Callable[[], Iterator[Comparison]]] = {
    "text": _compare_text,
    "teds": _compare_tables,
    "ned": _compare_documents,
    "nted": _compare_records,
    "kappa": _compare_kappas,
}


def references_table(parts: Collection[str]) -> Iterator[str]:
    """The lines of the table with these of the comparisons."""
    yield "Both sides score the same generated inputs in the same run. Ours is the best of three"
    yield "runs after one that warms the caches. The gap is the largest difference of a figure."
    yield ""
    yield "| metric | reference | ours | theirs | times faster | at least | met | gap |"
    yield "|---|---|---:|---:|---:|---:|---|---:|"
    for part, compare in COMPARISONS.items():
        for row in compare() if part in parts else ():
            met = "yes" if row.is_met else "**no**"
            yield (
                f"| {row.name} | {row.reference} | {row.ours * 1000:,.2f} ms "
                f"| {row.theirs * 1000:,.1f} ms | {row.ratio:,.1f} | {row.wanted:g} "
                f"| {met} | {row.gap:.0e} |"
            )
