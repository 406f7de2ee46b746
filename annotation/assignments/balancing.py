"""Balanced shares of documents among annotators, without Django."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import combinations

Pair = frozenset[int]


def balanced_assignment(
    documents: Sequence[int],
    annotators: Sequence[int],
    overlap: int | Mapping[int, int],
    existing: Mapping[int, Sequence[int]] | None = None,
    barred: Mapping[int, Collection[int]] | None = None,
) -> dict[int, tuple[int, ...]]:
    """The annotators who join each document, so that each team has `overlap` different members.

    The same input gives the same result. `overlap` is one number for all documents, or one for
    each. `existing` maps documents to their current team, which stays; `barred` maps documents to
    annotators who may not join.

    Each place goes to the annotator with the fewest documents, so that loads differ by at most one
    (if they do in `existing`). Ties go to the annotator who shares the fewest documents with those
    already chosen, so that every pair of annotators meets and pairwise agreement can be computed.

    Raises ValueError if there are too few annotators for a team, or its size is below one.

    >>> balanced_assignment([11, 12, 13], [1, 2, 3], 2)
    {11: (1, 2), 12: (1, 3), 13: (2, 3)}
    >>> balanced_assignment([11, 12], [1, 2, 3], {11: 3, 12: 1})
    {11: (1, 2, 3), 12: (1,)}
    """
    sizes = dict.fromkeys(documents, overlap) if isinstance(overlap, int) else overlap
    before = existing or {}
    order = {annotator: place for place, annotator in enumerate(annotators)}
    loads: Counter[int] = Counter()
    meetings: Counter[Pair] = Counter()
    for team in before.values():
        _count(team, loads, meetings)
    assigned = {}
    for document in documents:
        team = before.get(document, ())
        free = order.keys() - set(team) - set((barred or {}).get(document, ()))
        _check_size(document, sizes[document], len(team) + len(free))
        candidates = {annotator: order[annotator] for annotator in order if annotator in free}
        joining = _joining(team, candidates, sizes[document] - len(team), loads, meetings)
        loads.update(joining)
        meetings.update(_new_pairs(team, joining))
        assigned[document] = joining
    return assigned


def replacements(
    existing: Mapping[int, Sequence[int]], documents: Sequence[int], annotators: Sequence[int]
) -> dict[int, int]:
    """The annotator who takes over each of `documents`: the one of `annotators` with the fewest
    documents who is not assigned to it yet.

    `existing` maps every assigned document to its annotators, including the leaving one. Raises
    ValueError if no one is left for a document.

    >>> replacements({11: (1, 2), 12: (1, 3)}, [11, 12], [2, 3, 4])
    {11: 4, 12: 2}
    """
    loads = Counter(annotator for team in existing.values() for annotator in team)
    heirs = {}
    for document in documents:
        free = [annotator for annotator in annotators if annotator not in existing[document]]
        if not free:
            raise ValueError(f"no annotator is left to take over document {document}")
        heir = min(free, key=lambda annotator: (loads[annotator], annotators.index(annotator)))
        loads[heir] += 1
        heirs[document] = heir
    return heirs


def _check_size(document: int, size: int, available: int) -> None:
    if size < 1:
        raise ValueError("every document needs at least one annotator")
    if available < size:
        raise ValueError(f"document {document} needs {size} annotators, but has only {available}")


def _joining(
    team: Sequence[int],
    order: Mapping[int, int],
    places: int,
    loads: Counter[int],
    meetings: Counter[Pair],
) -> tuple[int, ...]:
    """The annotators for the free `places` of a team, in their order."""
    joining: list[int] = []
    while len(joining) < places:
        present = [*team, *joining]
        chosen = min(
            (annotator for annotator in order if annotator not in present),
            key=lambda annotator: (
                loads[annotator],
                sum(meetings[frozenset((annotator, other))] for other in present),
                order[annotator],
            ),
        )
        joining.append(chosen)
    return tuple(sorted(joining, key=order.__getitem__))


def _new_pairs(team: Sequence[int], joining: Sequence[int]) -> list[Pair]:
    met = [frozenset((old, new)) for old in team for new in joining]
    return met + [frozenset(pair) for pair in combinations(joining, 2)]


def _count(team: Sequence[int], loads: Counter[int], meetings: Counter[Pair]) -> None:
    loads.update(team)
    meetings.update(frozenset(pair) for pair in combinations(team, 2))
