"""Contributions of individual items to figures with intervals, and their summaries for lists.

Every benchmark defines how much one result adds to which figure. From these contributions the
figures of any documents, drawn any number of times, can be computed. Source of the procedure:
METRICS §9 of the design, with the percentile bootstrap of `scoring.metrics.intervals`.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from scoring.metrics.intervals import Replicates, Resampling


# The canonical form of one item as plain JSON, as in a release, a prediction or a JSON Lines file.
Payload = dict[str, Any]
# The item scorer's result for one item, as plain JSON.
ItemResult = dict[str, Any]
# Options by name, complete and checked. They hold everything that can change a figure.
Options = dict[str, str]

# The position of a value in a mean of means, from the outside in, such as ("KIE", "KIE_zh").
Part = tuple[str, ...]
# No real stratum has this name, because it ends with a line break.
_POOL = "several\n"


class Contribution(NamedTuple):
    """The contribution of one item to one figure: numerator and denominator of its part.

    `facts` is the number of gold facts that the denominator counts, each the same; 1 if a single
    fact may decide the item's score.
    """

    figure: str
    numerator: float
    denominator: float = 1.0
    part: Part = ()
    facts: float = 1.0


@dataclass(frozen=True)
class Combined:
    """A figure computed from others: `function` takes an array of values of each of `figures`."""

    figures: tuple[str, ...]
    function: Callable[..., Any]


class Share(NamedTuple):
    """The largest shares in a figure: by how much one item, or one fact, can change it."""

    item: float
    fact: float


def largest_shares(
    items: Iterable[Iterable[Contribution]], combined: Mapping[str, Combined]
) -> dict[str, Share]:
    """Return the largest shares of every figure that any of these items adds to. A combined figure
    is a mean of others, so it has at most the largest of theirs.

    >>> receipts = [[Contribution("f1", 0, 8, facts=4)], [Contribution("f1", 0, 2, facts=1)]]
    >>> largest_shares(receipts, {})
    {'f1': Share(item=0.8, fact=0.2)}
    """
    listed = [list(item) for item in items]
    sizes: defaultdict[tuple[str, Part], float] = defaultdict(float)
    for added in chain.from_iterable(listed):
        sizes[added.figure, added.part] += added.denominator
    weights = _part_weights(key for key, size in sizes.items() if size)
    largest: dict[str, Share] = {}
    for item in listed:
        for figure, share in _own_shares(item, sizes, weights).items():
            known = largest.get(figure, Share(0.0, 0.0))
            largest[figure] = Share(max(share.item, known.item), max(share.fact, known.fact))
    for figure, recipe in combined.items():
        if all(part in largest for part in recipe.figures):
            parts = [largest[part] for part in recipe.figures]
            largest[figure] = Share(max(p.item for p in parts), max(p.fact for p in parts))
    return largest


def _part_weights(keys: Iterable[tuple[str, Part]]) -> dict[tuple[str, Part], float]:
    """Return the weight of each part in the mean of means of its figure."""
    known = list(keys)
    inside: defaultdict[tuple[str, Part], set[str]] = defaultdict(set)
    for figure, part in known:
        for depth, name in enumerate(part):
            inside[figure, part[:depth]].add(name)
    siblings = {
        (figure, part): [len(inside[figure, part[:depth]]) for depth in range(len(part))]
        for figure, part in known
    }
    return {key: 1 / math.prod(sizes) for key, sizes in siblings.items()}


def _own_shares(
    item: Iterable[Contribution],
    sizes: Mapping[tuple[str, Part], float],
    weights: Mapping[tuple[str, Part], float],
) -> dict[str, Share]:
    """Return the share that one item, and the largest of its facts, have in each figure."""
    shares: dict[str, Share] = {}
    for added in item:
        if not added.denominator:
            continue
        key = added.figure, added.part
        own = weights[key] * added.denominator / sizes[key]
        known = shares.get(added.figure, Share(0.0, 0.0))
        shares[added.figure] = Share(known.item + own, max(known.fact, own / max(added.facts, 1.0)))
    return shares


class Observation(NamedTuple):
    """A result and its document; several items may belong to one document."""

    document: str
    result: Mapping[str, Any]


def resampled_documents(
    observations: Iterable[Observation],
    stratum: Callable[[Mapping[str, Any]], str],
    *,
    seed: str,
) -> "Resampling":
    """Draw the weights of the documents, each within its stratum: the set of strata of its items.
    Documents whose set of strata is unique are drawn together.

    Raises ValueError without observations.
    """
    from scoring.metrics.intervals import resampling

    strata: dict[str, set[str]] = {}
    for document, result in observations:
        strata.setdefault(document, set()).add(stratum(result))
    documents = sorted(strata)
    names = _stratum_names(strata)
    return resampling(documents, seed=seed, strata=[names[document] for document in documents])


def _stratum_names(strata: Mapping[str, set[str]]) -> dict[str, str]:
    """Return the stratum of each document. Alone in a stratum, a document would always be drawn
    once and could not vary. So documents with a unique set of several strata form one stratum
    together; if there is only one, it joins the largest stratum that shares one of its strata."""
    names = {document: "\n".join(sorted(parts)) for document, parts in strata.items()}
    sizes = Counter(names.values())
    alone = [name for name, parts in strata.items() if len(parts) > 1 and sizes[names[name]] == 1]
    if len(alone) > 1:
        return names | dict.fromkeys(alone, _POOL)
    for only in alone:
        near = [name for name in strata if name != only and strata[name] & strata[only]]
        shared = [names[name] for name in near]
        names[only] = max(shared, key=lambda name: (sizes[name], name), default=names[only])
    return names


def replicated(
    observations: Iterable[Observation],
    contribute: Callable[[Mapping[str, Any]], Iterable[Contribution]],
    combined: Mapping[str, Combined],
    weights: "Resampling",
) -> "dict[str, Replicates]":
    """Return the replicates of every figure that any item adds to, and of those computed from
    them."""
    from scoring.metrics.intervals import bootstrap, combine, tally

    listed: dict[str, _Columns] = {}
    for document, result in observations:
        for contribution in contribute(result):
            columns = listed.setdefault(contribution.figure, _Columns([], [], [], []))
            columns.add(document, contribution)
    replicates = {
        figure: bootstrap(
            tally(columns.documents, columns.sums, columns.counts, columns.parts), weights
        )
        for figure, columns in listed.items()
    }
    for figure, recipe in combined.items():
        if all(part in replicates for part in recipe.figures):
            parts = (replicates[part] for part in recipe.figures)
            replicates[figure] = combine(recipe.function, *parts)
    return replicates


@dataclass(frozen=True)
class _Columns:
    documents: list[str]
    sums: list[float]
    counts: list[float]
    parts: list[Part]

    def add(self, document: str, contribution: Contribution) -> None:
        self.documents.append(document)
        self.sums.append(contribution.numerator)
        self.counts.append(contribution.denominator)
        self.parts.append(contribution.part)


def only_stratum(result: Mapping[str, Any]) -> str:  # noqa: ARG001 - the same for every result
    """The default for benchmarks whose figures cover all items together."""
    return ""


class ItemSummary(NamedTuple):
    """The summary of one item.

    `score` is its own value of the main score, higher is better; None if there was nothing to
    score. `part` names the document type, task or subset that it belongs to, `errors` the kinds of
    errors it has, in order and without repeats.
    """

    score: float | None
    part: str = ""
    errors: tuple[str, ...] = ()


class Sides(NamedTuple):
    """Gold and prediction in a form that can be compared side by side: two texts, or two JSON
    objects. The prediction is None if it is missing or unreadable."""

    gold: str | dict[str, Any]
    prediction: str | dict[str, Any] | None


def mean(values: Iterable[float]) -> float | None:
    """Return the mean; None without values.

    `fsum` is exact, so the order of the values cannot change the last digit.
    """
    listed = list(values)
    return math.fsum(listed) / len(listed) if listed else None


def share(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def own_score(added: Iterable[Contribution], figure: str) -> float | None:
    """Return the figure of a submission that consists of this item alone.

    >>> own_score([Contribution("ffa", 1, 3), Contribution("ffa", 1, 1)], "ffa")
    0.5
    """
    parts = [contribution for contribution in added if contribution.figure == figure]
    counted = sum(contribution.denominator for contribution in parts)
    return share(sum(contribution.numerator for contribution in parts), counted)


def named_errors(result: Mapping[str, Any], names: Mapping[str, str]) -> list[str]:
    """Return the labels of those keys of a result that are not empty.

    >>> named_errors({"missed_count": 2, "extra_count": 0}, {"missed_count": "missed"})
    ['missed']
    """
    return [words for key, words in names.items() if result.get(key)]


MOST_CHARACTERS = 200


def excerpt(text: str) -> str:
    """Return the beginning of a text from JSON. Characters that databases cannot store, NUL and
    lone surrogates, are replaced.

    >>> excerpt("Net\\0 loss \\ud83d")
    'Net\ufffd loss ?'
    """
    short = text[:MOST_CHARACTERS].replace("\0", "\N{REPLACEMENT CHARACTER}")
    return short.encode("utf-8", "replace").decode("utf-8")
