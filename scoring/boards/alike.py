"""Signs that several accounts on hidden gold are one person, or that a file only tries the gold.

A sign proves nothing: colleagues share a network, and two runs of one model give the same file.
Everything is read from what is stored with attempts and similar pairs, and every list is cut off,
so that the cost does not grow with the square of the submissions. Attempts of organisers and of one
team do not count.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import combinations, groupby, pairwise

from django.db.models import Count, F, Q, QuerySet

from portal.accounts.models import FORMER_MEMBER, display_name
from scoring.models import Attempt, Phase, Similarity, Submission

from .limits import phases_on_same_gold

# The most signs of one kind, and the most submissions that a sign names.
SHOWN = 20
_NAMED = 10
# Attempts this close count as simultaneous; people who do this so often are shown.
SAME_TIME = timedelta(minutes=2)
SAME_TIMES = 3
# Where more people submit at once, such as before a phase closes, times say nothing.
_CROWD = 8
# The most attempts that are read for one kind of sign.
_READ = 2_000
# Of a nearly empty file at most this share of the items has an answer, …
NEARLY_EMPTY = 5  # one fifth
# … and of a file with one answer, at least nine tenths of at least this many answers are equal.
FEWEST_ANSWERS = 5

KINDS = (
    *("same_file", "similar_answers", "same_times", "same_network"),
    *("nearly_empty", "one_answer"),
)


@dataclass(frozen=True)
class Sign:
    """Something that accounts or files have in common, as a sentence."""

    kind: str
    """One of KINDS."""
    words: str
    submissions: Sequence[int]
    """The ids of the first submissions; deleted ones are left out."""


def signs(phases: Iterable[Phase]) -> list[Sign]:
    """The signs on the hidden gold of these phases, on all boards. Nine queries at most, and one
    for each phase with hidden gold."""
    keys = set().union(*(phases_on_same_gold(phase) for phase in phases))
    if not keys:
        return []
    attempts = Attempt.objects.filter(phase__in=keys, submission__rerun_of=None)
    attempts = attempts.exclude(user__is_organiser=True)
    return [
        *_shared(attempts, "file_sha256", "same_file", "sent the same file"),
        *_similar(keys),
        *_simultaneous(attempts),
        *_shared(attempts, "network", "same_network", "submitted from the same network"),
        *_nearly_empty(attempts),
        *_one_answer(attempts),
    ]


def signs_of(submission: Submission) -> list[Sign]:
    """The signs that name the submission."""
    return [sign for sign in signs([submission.phase]) if submission.pk in sign.submissions]


def _shared(attempts: QuerySet[Attempt], field: str, kind: str, did: str) -> Iterator[Sign]:
    """Values of a field that several people share. Two queries."""
    groups = (
        attempts.exclude(**{field: ""}).exclude(person="").order_by().values(field)
        .annotate(people=Count("person", distinct=True)).filter(people__gt=1)
        .order_by("-people", field)
    )  # fmt: skip
    values = list(groups.values_list(field, flat=True)[:SHOWN])
    rows = attempts.filter(**{f"{field}__in": values}).select_related("user").order_by(field, "pk")
    for _, group in groupby(rows[:_READ], key=lambda attempt: getattr(attempt, field)):
        found = list(group)
        if not _is_one_team(found):
            yield Sign(kind, f"{_names(found)} {did}.", _ids(found))


def _similar(keys: set[int]) -> Iterator[Sign]:
    """Pairs of submissions with almost the same answers. One query."""
    pairs = Similarity.objects.filter(submission__phase__in=keys, counterpart__phase__in=keys)
    for pair in pairs.select_related("submission__owner", "counterpart__owner")[:SHOWN]:
        names = [display_name(pair.counterpart.owner), display_name(pair.submission.owner)]
        words = f"The answers of {_listed(names)} {_difference(pair)}."
        yield Sign("similar_answers", words, (pair.counterpart_id, pair.submission_id))


def _difference(pair: Similarity) -> str:
    differ = pair.compared - pair.same
    if not differ:
        return f"are the same in all {pair.compared:,} compared items"
    share = f"in about {pair.words:.1%} of their words, and " if pair.words else ""
    return f"differ {share}in {differ:,} of {pair.compared:,} compared items"


def _simultaneous(attempts: QuerySet[Attempt]) -> Iterator[Sign]:
    """Pairs of people who submitted at the same times, the most often first. One query."""
    newest = list(attempts.select_related("user").order_by("-held_at")[:_READ])
    together: defaultdict[tuple[str, str], list[Attempt]] = defaultdict(list)
    for cluster in _clusters(newest[::-1]):
        people = {attempt.person: attempt for attempt in cluster if attempt.person}
        if 1 < len(people) <= _CROWD and not _is_one_team(list(people.values())):
            for first, second in combinations(sorted(people), 2):
                together[first, second] += [people[first], people[second]]
    often = [pair for pair in together.values() if len(pair) >= 2 * SAME_TIMES]
    for pair in sorted(often, key=len, reverse=True)[:SHOWN]:
        times = len(pair) // 2
        pair.sort(key=lambda attempt: attempt.pk)
        words = f"{_names(pair)} submitted within two minutes of each other, {times:,} times."
        yield Sign("same_times", words, _ids(pair))


def _clusters(attempts: Sequence[Attempt]) -> Iterator[list[Attempt]]:
    """Attempts, oldest first, in groups of which each follows the one before closely."""
    cluster = list(attempts[:1])
    for before, attempt in pairwise(attempts):
        if attempt.held_at - before.held_at > SAME_TIME:
            yield cluster
            cluster = []
        cluster.append(attempt)
    yield cluster


def _nearly_empty(attempts: QuerySet[Attempt]) -> Iterator[Sign]:
    """One query."""
    few = attempts.annotate(scaled=F("answered") * NEARLY_EMPTY).filter(scaled__lte=F("items"))
    for attempt in few.select_related("user").order_by("-pk")[:SHOWN]:
        words = f"{_names([attempt])} answered {attempt.answered:,} of {attempt.items:,} items."
        yield Sign("nearly_empty", words, _ids([attempt]))


def _one_answer(attempts: QuerySet[Attempt]) -> Iterator[Sign]:
    """One query."""
    most = Q(answered__gte=FEWEST_ANSWERS, scaled__gte=F("answered") * 9)
    equal = attempts.annotate(scaled=F("repeated") * 10).filter(most)
    for attempt in equal.select_related("user").order_by("-pk")[:SHOWN]:
        words = (
            f"{_names([attempt])} gave the same answer to {attempt.repeated:,} of "
            f"{attempt.answered:,} items."
        )
        yield Sign("one_answer", words, _ids([attempt]))


def _is_one_team(attempts: Sequence[Attempt]) -> bool:
    """Whether all of them are submissions of one team."""
    teams = {attempt.team_id for attempt in attempts}
    return len(teams) == 1 and None not in teams


def _names(attempts: Sequence[Attempt]) -> str:
    """The people, in the order of their first attempt."""
    people = {
        attempt.person or str(attempt.user_id): display_name(attempt.user)
        if attempt.user
        else FORMER_MEMBER
        for attempt in attempts
    }
    return _listed(list(people.values()))


def _listed(names: Sequence[str]) -> str:
    """Such as “Ann, Ben and 3 others”."""
    if len(names) > _NAMED:
        return f"{', '.join(names[:_NAMED])} and {len(names) - _NAMED} others"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _ids(attempts: Sequence[Attempt]) -> list[int]:
    known = dict.fromkeys(each.submission_id for each in attempts if each.submission_id)
    return list(known)[:_NAMED]
