"""Finds similar submissions after the grading. Only organisers see them.

Two predictions for an item are the same if their texts are equal without case, markup, white space
and punctuation: independent systems rarely agree on a whole page. Predictions that prove nothing
are not counted: those with very little text, and those that most owners have for the item.
Submissions of one owner, or of members of one team, are not compared.

On hidden gold, submissions of other people whose words differ in about one percent are flagged as
well (`traces`): who tries the gold with several accounts changes few facts from file to file.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

from django.core.paginator import Page, Paginator
from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from portal.accounts.models import TeamMember
from portal.audit.models import record_event
from portal.jobs.services import enqueue
from scoring.models import Board, Prediction, Similarity, Submission

COMPARISON_KIND = "compare_submission"
# Two submissions are flagged if this share of the items that both answered is the same, …
FLAGGED_SHARE = 0.9
# … and at least this number of items.
FEWEST_ITEMS = 5
# Shorter predictions, in letters and digits, are often the same by chance.
FEWEST_CHARACTERS = 24
# A prediction of this many owners, and at least half of all, is common and proves nothing.
COMMON_OWNERS = 3

_AT_ONCE = 500
_TAG = re.compile(r"<[^<>]*>")
# Keys that name the item and are not part of the prediction.
NO_ANSWER = frozenset({"id", "subset"})


def queue_comparison(submission_id: int) -> None:
    """Call it in the transaction that ends the grading."""
    enqueue(
        kind=COMPARISON_KIND,
        payload={"submission": submission_id},
        group=f"likeness:{submission_id}",
    )


def answer_digest(payload: Mapping[str, Any]) -> str:
    """Equal for predictions that count as the same; empty for too short ones.

    >>> answer_digest({"id": "a", "html": "<p>Net revenue rose to 1,200 in 2020.</p>"}) == (
    ...     answer_digest({"id": "a", "html": "<div>NET revenue rose to 1,200 in 2020</div>"})
    ... )
    True
    >>> answer_digest({"id": "a", "html": "<p></p>"})
    ''
    """
    answer = {key: value for key, value in payload.items() if key not in NO_ANSWER}
    parts = list(_parts(answer))
    # The keys come from the format, so that only the values count.
    if sum(len(text) for is_key, text in parts if not is_key) < FEWEST_CHARACTERS:
        return ""
    words = "\n".join(text for _, text in parts)
    return hashlib.blake2b(words.encode(), digest_size=16).hexdigest()


def _parts(value: Any) -> Iterator[tuple[bool, str]]:
    """All keys (True) and values (False) inside, normalised, in an order that does not depend on
    the file."""
    waiting: list[tuple[bool, Any]] = [(False, value)]
    while waiting:
        is_key, part = waiting.pop()
        if isinstance(part, dict):
            for key in sorted(part, reverse=True):
                waiting += [(False, part[key]), (True, key)]
        elif isinstance(part, list):
            waiting += [(False, each) for each in reversed(part)]
        elif part is not None:
            yield is_key, normalised(str(part))


def normalised(text: str) -> str:
    """Only letters and digits, without case and markup."""
    plain = unicodedata.normalize("NFKC", _TAG.sub("", text)).casefold()
    return "".join(character for character in plain if character.isalnum())


def write_digests(submission_id: int) -> None:
    """Writes the missing digests of all predictions in the submission's phase, also those of
    earlier versions of the site. Running it again continues where it stopped."""
    phase = Submission.objects.values_list("phase", flat=True).get(pk=submission_id)
    lacking = Prediction.objects.filter(submission__phase=phase, digest__isnull=True)
    while rows := list(lacking.order_by("pk").only("pk", "payload")[:_AT_ONCE]):
        for row in rows:
            row.digest = answer_digest(row.payload)
        Prediction.objects.bulk_update(rows, ["digest"], batch_size=_AT_ONCE)


@transaction.atomic
def flag_similar(submission_id: int) -> list[Similarity]:
    """Compares the submission with all others of its phase, in the database, and flags similar
    pairs once. Four queries, and one or two more for each flagged pair."""
    submission = Submission.objects.select_related("phase").get(pk=submission_id)
    if submission.rerun_of_id is not None:
        # It is meant to be the same.
        return []
    alike = _others(submission).filter(_mine_says_the_same(submission))
    common = _common_items(submission, alike)
    same = dict(_counted(alike.exclude(item__in=common)).filter(number__gte=FEWEST_ITEMS))
    both = _others(submission).filter(_mine_says_anything(submission), submission__in=list(same))
    compared = dict(_counted(both.exclude(item__in=common))) if same else {}
    return [
        _flag(submission, other, same[other], compared[other])
        for other in sorted(same)
        if same[other] >= FLAGGED_SHARE * compared[other]
    ]


def _others(submission: Submission) -> QuerySet[Prediction]:
    """Predictions of others in the phase, without team mates of the owner."""
    teams = TeamMember.objects.filter(user=submission.owner_id).values("team")
    mates = TeamMember.objects.filter(team__in=teams).values("user")
    others = (
        Prediction.objects.filter(
            submission__phase=submission.phase_id, submission__rerun_of=None, digest__gt=""
        )
        .exclude(submission__owner=submission.owner_id)
        .exclude(submission__owner__in=mates)
        .order_by()
    )
    if submission.team_id is None:
        return others
    # Exclude users who have left the team since, too.
    return others.filter(~Q(submission__team=submission.team_id) | Q(submission__team=None))


def _mine_says_anything(submission: Submission) -> Exists:
    mine = Prediction.objects.filter(submission=submission, item=OuterRef("item"), digest__gt="")
    return Exists(mine)


def _mine_says_the_same(submission: Submission) -> Exists:
    mine = Prediction.objects.filter(
        submission=submission, item=OuterRef("item"), digest=OuterRef("digest")
    )
    return Exists(mine)


def _common_items(submission: Submission, alike: QuerySet[Prediction]) -> QuerySet[Any]:
    """The items for which most owners, including its own, have the submission's prediction."""
    owners = Submission.objects.filter(phase=submission.phase_id).values("owner").distinct().count()
    most = max(COMMON_OWNERS, (owners + 1) // 2)
    by_item = alike.values("item").annotate(owners=Count("submission__owner", distinct=True))
    return by_item.filter(owners__gte=most - 1).values("item")


def _counted(predictions: QuerySet[Prediction]) -> Any:
    """Pairs of submission and number of predictions."""
    return predictions.values_list("submission").annotate(number=Count("pk"))


def _flag(submission: Submission, other: int, same: int, compared: int) -> Similarity:
    """Flags the later submission of the pair, unless it is already flagged."""
    later, earlier = max(submission.pk, other), min(submission.pk, other)
    flag, is_new = Similarity.objects.get_or_create(
        submission_id=later,
        counterpart_id=earlier,
        defaults={"same": same, "compared": compared},
    )
    if is_new:
        record_event(
            verb="flag_likeness",
            subject=flag.submission,
            actor=None,
            counterpart=earlier,
            same=same,
            compared=compared,
        )
    return flag


PER_PAGE = 20


def similar_submissions(submission: Submission) -> list[Similarity]:
    """The pairs of this submission and a counterpart, most similar first. One query."""
    pairs = list(_pairs().filter(Q(submission=submission) | Q(counterpart=submission)))
    for pair in pairs:
        if pair.counterpart_id == submission.pk:
            pair.submission, pair.counterpart = pair.counterpart, pair.submission
    return sorted(pairs, key=lambda pair: -pair.share)


def similar_on_board(board: Board, page: str) -> Page[Similarity]:
    """The pairs of a board, newest first. Two queries."""
    return Paginator(board_pairs(board), PER_PAGE).get_page(page)


def board_pairs(board: Board) -> QuerySet[Similarity]:
    return _pairs().filter(submission__phase__board=board).order_by("-id")


def _pairs() -> QuerySet[Similarity]:
    return Similarity.objects.select_related(
        "submission__owner", "submission__phase", "counterpart__owner", "counterpart__phase"
    )
