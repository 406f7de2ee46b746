"""Traces of the answers of a submission to hidden gold, measured by the job that compares it.

Organisers see files that are nearly empty, files with one answer to all items, and files of
different people that differ in few words (`scoring.boards.alike`).
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from math import cos, pi
from typing import Any, NamedTuple

from django.db import transaction

from portal.accounts.models import TeamMember
from scoring.boards.protection import is_gold_hidden
from scoring.models import Attempt, Prediction, Similarity, Submission

from .similarity import NO_ANSWER, normalised

# Bits of a sketch, and how many may differ: 12 of 256 are about one percent of the words.
SKETCH_BITS = 256
MOST_BITS = 12
# The newest attempts that a submission is compared with.
_COMPARED = 5_000
_AT_ONCE = 500
_TAG = re.compile(r"<[^<>]*>")


class Traces(NamedTuple):
    answered: int
    """How many answers are not empty."""
    repeated: int
    """How many of them are the most common one."""
    sketch: str
    """Of all words; empty without any."""


def trace_answers(submission_id: int) -> None:
    """Stores the traces with the attempt, on hidden gold. Running it again writes the same."""
    submission = Submission.objects.select_related("phase__release").get(pk=submission_id)
    if is_gold_hidden(submission.phase.release, submission.phase.split):
        rows = submission.predictions.order_by("pk").values_list("item__name", "payload")
        traces = traces_of(rows.iterator(chunk_size=_AT_ONCE))
        items = submission.items_of(submission.phase.release_id).count()
        attempts = Attempt.objects.filter(submission=submission)
        attempts.update(items=items, **traces._asdict())


def traces_of(answers: Iterable[tuple[str, Mapping[str, Any]]]) -> Traces:
    """Of pairs of an item's name and its prediction."""
    # Only workers import it, when they need it.
    import numpy as np

    texts: Counter[bytes] = Counter()
    counts = np.zeros(SKETCH_BITS, dtype=np.int64)
    for name, payload in answers:
        words = answer_words(payload)
        if words:
            texts[hashlib.blake2b("\n".join(words).encode(), digest_size=16).digest()] += 1
            digests = b"".join(_digest(f"{name} {word}") for word in words)
            hashes = np.frombuffer(digests, dtype=np.uint8).reshape(-1, SKETCH_BITS // 8)
            bits = np.unpackbits(hashes, axis=1)
            # For each bit, how many of the words have it more often set than not.
            counts += 2 * bits.sum(axis=0, dtype=np.int64) - len(bits)
    sketch = np.packbits(counts > 0).tobytes().hex() if texts else ""
    return Traces(texts.total(), max(texts.values(), default=0), sketch)


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=SKETCH_BITS // 8).digest()


def answer_words(payload: Mapping[str, Any]) -> list[str]:
    """The words of an answer, each with the key of its value; empty for an empty answer.

    >>> answer_words({"id": "r1", "fields": {"total": "1,200.00", "tax": "", "items": []}})
    ['total 120000']
    """
    waiting = [(key, value) for key, value in payload.items() if key not in NO_ANSWER]
    words = []
    while waiting:
        key, part = waiting.pop()
        if isinstance(part, Mapping):
            waiting += part.items()
        elif isinstance(part, list):
            waiting += [(key, each) for each in part]
        elif part is not None:
            plain = map(normalised, _TAG.sub(" ", str(part)).split())
            words += [f"{key} {word}" for word in plain if word]
    return sorted(words)


def differing_words(first: str, second: str) -> float | None:
    """The estimated share of words in which two sketches differ; None if it is not very small."""
    bits = (int(first, 16) ^ int(second, 16)).bit_count()
    return 1 - cos(pi * bits / SKETCH_BITS) if bits <= MOST_BITS else None


@transaction.atomic
def flag_alike_words(submission_id: int) -> None:
    """Flags the submissions of other people to the same release that differ in few words. Two
    queries, and three for each such submission."""
    attempt = Attempt.objects.filter(submission=submission_id).exclude(sketch="").first()
    if attempt is None:
        return
    for other, sketch in _others(attempt)[:_COMPARED]:
        share = differing_words(attempt.sketch, sketch)
        if share is not None:
            _flag(max(submission_id, other), min(submission_id, other), share)


def _others(attempt: Attempt) -> Any:
    """Submissions and sketches of other people, without team mates, the newest first."""
    teams = TeamMember.objects.filter(user=attempt.user).values("team")
    mates = TeamMember.objects.filter(team__in=teams).values("user")
    others = (
        Attempt.objects.filter(phase__release=attempt.phase.release_id, submission__rerun_of=None)
        .exclude(submission=None)
        .exclude(sketch="")
        .exclude(person=attempt.person)
        .exclude(user=attempt.user)
        .exclude(user__in=mates)
    )
    if attempt.team_id is not None:
        others = others.exclude(team=attempt.team_id)
    return others.order_by("-pk").values_list("submission", "sketch")


def _flag(later: int, earlier: int, share: float) -> None:
    """Adds the share to the pair, which exists if most of its answers are identical."""
    answered = Prediction.objects.filter(submission=later).values("item")
    both = Prediction.objects.filter(submission=earlier, item__in=answered)
    same = Prediction.objects.filter(submission=later, digest__gt="")
    digests = dict(same.values_list("item", "digest"))
    equal = [digests.get(item) == digest for item, digest in both.values_list("item", "digest")]
    if equal:
        Similarity.objects.update_or_create(
            submission_id=later,
            counterpart_id=earlier,
            defaults={"words": share},
            create_defaults={"words": share, "same": sum(equal), "compared": len(equal)},
        )
