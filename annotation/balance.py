"""Who labels which document: fair, well mixed and repeatable. No Django."""

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
    """Gives every document different annotators until its team has `overlap` members; the same
    input gives the same answer.

    `overlap` is one number for all documents, or one for each. Each place goes to whoever has the
    fewest documents, so that loads differ by at most one (when they do in `existing`, which maps
    documents already assigned to their annotators). Among equals it goes to who has worked least
    with those already chosen, so that every pair of annotators meets on some document and pairwise
    agreement can be computed. A document in `existing` keeps its team; the answer holds who joins.
    `barred` maps documents to those who may not join.

    Raises ValueError when there are fewer annotators than a team needs, or when that is below one.

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
    existing: Mapping[int, Sequence[int]],
    documents: Sequence[int],
    annotators: Sequence[int],
) -> dict[int, int]:
    """Who takes over each of `documents`: the least loaded of `annotators` who is not on it
    already.

    `existing` maps every assigned document to its annotators, the leaving one among them. Raises
    ValueError when nobody is left to take a document.

    >>> replacements({11: (1, 2), 12: (1, 3)}, [11, 12], [2, 3, 4])
    {11: 4, 12: 2}
    """
    loads = Counter(annotator for team in existing.values() for annotator in team)
    taken = {}
    for document in documents:
        free = [annotator for annotator in annotators if annotator not in existing[document]]
        if not free:
            raise ValueError(f"nobody is left to take over document {document}")
        heir = min(free, key=lambda annotator: (loads[annotator], annotators.index(annotator)))
        loads[heir] += 1
        taken[document] = heir
    return taken


def _check_size(document: int, size: int, available: int) -> None:
    if size < 1:
        raise ValueError("every document needs at least one annotator")
    if available < size:
        raise ValueError(f"document {document} needs {size} annotators and can have {available}")


def _joining(
    team: Sequence[int],
    order: Mapping[int, int],
    places: int,
    loads: Counter[int],
    meetings: Counter[Pair],
) -> tuple[int, ...]:
    """Who takes the free `places` of a team, in the order of the annotators."""
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
