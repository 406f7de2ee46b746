"""Who labels which document: fair, well mixed and repeatable. No Django."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations

Pair = frozenset[int]


def balanced_assignment(
    documents: Sequence[int],
    annotators: Sequence[int],
    overlap: int,
    existing: Mapping[int, Sequence[int]] | None = None,
) -> dict[int, tuple[int, ...]]:
    """Gives every document `overlap` different annotators; the same input gives the same answer.

    Each place goes to whoever has the fewest documents, so that loads differ by at most one (when
    they do in `existing`, which maps documents already assigned to their annotators). Among equals
    it goes to who has worked least with those already chosen, so that every pair of annotators
    meets on some document and pairwise agreement can be computed.

    Raises ValueError when there are fewer annotators than `overlap`, or `overlap` is below one.

    >>> balanced_assignment([11, 12, 13], [1, 2, 3], 2)
    {11: (1, 2), 12: (1, 3), 13: (2, 3)}
    """
    if overlap < 1:
        raise ValueError("every document needs at least one annotator")
    if len(set(annotators)) < overlap:
        raise ValueError(f"{overlap} annotators per document need at least {overlap} annotators")
    loads: Counter[int] = Counter()
    meetings: Counter[Pair] = Counter()
    for team in (existing or {}).values():
        _count(team, loads, meetings)
    order = {annotator: place for place, annotator in enumerate(annotators)}
    assigned = {}
    for document in documents:
        team = _team(order, overlap, loads, meetings)
        _count(team, loads, meetings)
        assigned[document] = team
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


def _team(
    order: Mapping[int, int], overlap: int, loads: Counter[int], meetings: Counter[Pair]
) -> tuple[int, ...]:
    team: list[int] = []
    while len(team) < overlap:
        chosen = min(
            (annotator for annotator in order if annotator not in team),
            key=lambda annotator: (
                loads[annotator],
                sum(meetings[frozenset((annotator, other))] for other in team),
                order[annotator],
            ),
        )
        team.append(chosen)
    return tuple(sorted(team, key=order.__getitem__))


def _count(team: Sequence[int], loads: Counter[int], meetings: Counter[Pair]) -> None:
    loads.update(team)
    meetings.update(frozenset(pair) for pair in combinations(team, 2))
