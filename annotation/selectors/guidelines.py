"""The guidelines of a campaign: their versions, what changed, and who has opened which."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404

from annotation.models import Campaign, GuidelinesVersion, Membership
from portal.web.prepared import Parameter, Prepared

_WORD = re.compile(r"\s*\S+\s*|\s+")
# What is longer is shown as removed and added whole: comparing takes quadratic time.
WORDS_COMPARED = 2_000
LINES_COMPARED = 4_000
LINES_AROUND = 3


@dataclass(frozen=True)
class Piece:
    """A stretch of the comparison; `kind` is `same`, `added`, `removed`, or `gap` where something
    that stayed is left out.
    """

    kind: str
    text: str


_SEEN = Prepared(
    lambda: (
        Membership.objects.filter(campaign=Parameter("campaign"), user=Parameter("user"))
        .order_by("-seen_guidelines")
        .values_list("seen_guidelines", flat=True)[:1]
    )
)


def seen_guidelines(campaign: Campaign, user: int) -> int:
    """The newest version that the user (a primary key) has opened; 0 for none."""
    return _SEEN.first(campaign=campaign.pk, user=user) or 0


def guidelines_versions(campaign: Campaign) -> QuerySet[GuidelinesVersion]:
    """Newest first, without their texts."""
    return campaign.guidelines_versions.select_related("author").defer("text").order_by("-number")


def guidelines_version(campaign: Campaign, number: int) -> GuidelinesVersion:
    """One version with its text; 404 if there is none of this number."""
    return get_object_or_404(campaign.guidelines_versions.select_related("author"), number=number)


def changes_of(version: GuidelinesVersion) -> list[Piece]:
    """What this version changed in the one before it; nothing for the first."""
    former = GuidelinesVersion.objects.filter(
        campaign=version.campaign_id, number=version.number - 1
    ).first()
    return shortened(compared(former.text, version.text)) if former else []


def compared(former: str, text: str) -> list[Piece]:
    """Both texts as one, by lines, and by words where a line was changed.

    Without the removed pieces it is `text`, without the added ones `former`.

    >>> [(piece.kind, piece.text) for piece in compared("Mark it.", "Mark all.")]
    [('same', 'Mark '), ('removed', 'it.'), ('added', 'all.')]
    """
    old, new = former.splitlines(keepends=True), text.splitlines(keepends=True)
    if len(old) + len(new) > LINES_COMPARED:
        return _joined(iter([Piece("removed", former), Piece("added", text)]))
    return _joined(_compared_lines(old, new))


def shortened(pieces: Sequence[Piece]) -> list[Piece]:
    """The changes with a few lines around them; a gap stands for each longer stretch that stayed.

    A comparison without changes is all gap, and comes back empty.
    """
    if all(piece.kind == "same" for piece in pieces):
        return []
    short: list[Piece] = []
    for place, piece in enumerate(pieces):
        lines = piece.text.splitlines(keepends=True)
        # What stands before the first change, or behind the last one, has a neighbour less.
        head = 0 if place == 0 else LINES_AROUND
        tail = 0 if place == len(pieces) - 1 else LINES_AROUND
        if piece.kind != "same" or len(lines) <= head + tail + 1:
            short.append(piece)
            continue
        parts = "".join(lines[:head]), "".join(lines[len(lines) - tail :])
        short += [Piece("same", parts[0]), Piece("gap", ""), Piece("same", parts[1])]
    return [piece for piece in short if piece.text or piece.kind == "gap"]


def _compared_lines(former: Sequence[str], text: Sequence[str]) -> Iterator[Piece]:
    for a, b, c, d, same in _stretches(former, text):
        old, new = "".join(former[a:b]), "".join(text[c:d])
        if same:
            yield Piece("same", old)
        elif old and new and len(old.split()) + len(new.split()) <= WORDS_COMPARED:
            yield from _compared_words(_words(old), _words(new))
        else:
            yield from (Piece("removed", old), Piece("added", new))


def _compared_words(former: Sequence[str], text: Sequence[str]) -> Iterator[Piece]:
    for a, b, c, d, same in _stretches(former, text):
        if same:
            yield Piece("same", "".join(former[a:b]))
        else:
            yield from (Piece("removed", "".join(former[a:b])), Piece("added", "".join(text[c:d])))


def _stretches(
    former: Sequence[str], text: Sequence[str]
) -> Iterator[tuple[int, int, int, int, bool]]:
    matcher = SequenceMatcher(None, former, text, autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        yield a, b, c, d, tag == "equal"


def _words(text: str) -> list[str]:
    """Words, each with the white space behind it."""
    return _WORD.findall(text)


def _joined(pieces: Iterator[Piece]) -> list[Piece]:
    """Neighbours of one kind become one; empty pieces go."""
    joined: list[Piece] = []
    for piece in pieces:
        if joined and joined[-1].kind == piece.kind:
            joined[-1] = Piece(piece.kind, joined[-1].text + piece.text)
        elif piece.text:
            joined.append(piece)
    return joined
