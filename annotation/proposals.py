"""What the proposals of a case offer beside each one of them: a majority, both together. No Django.

A proposal is `{"assignment": its primary key or None, "spans": [{label, start, end, quote, value,
sign}, …]}` as `Case.proposals` keeps it; those of the first version have no value and no sign.
Without an assignment it is the gold as it was before the place was opened again.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise
from typing import Any, NamedTuple

GOLD = "gold"


class Answer(NamedTuple):
    """A span of a decision. Without value and sign they are what all who marked it read alike, else
    derived.
    """

    label: str
    start: int
    end: int
    value: str | None = None
    sign: str | None = None

    @property
    def mark(self) -> "Answer":
        """The same without value and sign."""
        return Answer(self.label, self.start, self.end)


Answers = tuple[Answer, ...]
Proposals = Sequence[Mapping[str, Any]]


class Both(NamedTuple):
    """The places of two proposals, and their marks as one."""

    places: tuple[int, int]
    answers: Answers


def letter_of(place: int) -> str:
    """A for the first annotator of a document, B for the second, AA after Z.

    >>> [letter_of(place) for place in (0, 25, 26)]
    ['A', 'Z', 'AA']
    """
    before, last = divmod(place, 26)
    return (letter_of(before - 1) if before else "") + chr(ord("A") + last)


def letters(proposals: Proposals) -> list[str]:
    """The name of each proposal: the annotator's letter, or `gold`."""
    names, annotators = [], 0
    for proposal in proposals:
        if proposal["assignment"] is None:
            names.append(GOLD)
        else:
            names.append(letter_of(annotators))
            annotators += 1
    return names


def answers_of(proposal: Mapping[str, Any]) -> Answers:
    """The marks of one proposal, with the values they were given."""
    return tuple(
        Answer(span["label"], span["start"], span["end"], span.get("value"), span.get("sign"))
        for span in proposal["spans"]
    )


def majority(proposals: Proposals, *, by_value: bool) -> Answers | None:
    """What more than half of at least three annotators marked; None when there is no such thing.

    An empty tuple says that most marked nothing. Marks count as the same when place and label are,
    and with `by_value` only when value and sign are, too.
    """
    given = [answers_of(proposal) for proposal in proposals if proposal["assignment"] is not None]
    if len(given) < 3:
        return None
    marks = [one if by_value else _marks(one) for one in given]
    most, count = Counter(marks).most_common(1)[0]
    if 2 * count <= len(given):
        return None
    if not by_value:
        # Those of the majority may agree on the values, whatever the others read.
        held = {one for one in given if _marks(one) == most}
        return held.pop() if len(held) == 1 else most
    return most


def both(proposals: Proposals) -> Both | None:
    """Two proposals that do not overlap, as one, when there is only one such pair to be meant."""
    found: dict[Answers, Both] = {}
    given = [answers_of(proposal) for proposal in proposals]
    for (i, first), (j, second) in combinations(enumerate(given), 2):
        together = tuple(sorted({*_marks(first), *_marks(second)}, key=lambda one: one.start))
        is_more = len(together) > max(len(first), len(second))
        if is_more and not _overlap(together):
            known = {one.mark: one for one in (*second, *first)}
            found.setdefault(together, Both((i, j), tuple(known[one] for one in together)))
    return next(iter(found.values())) if len(found) == 1 else None


def _marks(answers: Answers) -> Answers:
    return tuple(one.mark for one in answers)


def _overlap(answers: Answers) -> bool:
    """Whether any two of them do; they come sorted by their start."""
    return any(a.end > b.start for a, b in pairwise(answers))
