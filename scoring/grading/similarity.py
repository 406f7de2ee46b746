"""Near-identical submissions: a job finds them after the grading, and only organisers see them.

Two answers to an item are alike if they are the same text without case, markup, white space and
punctuation: systems that do not depend on each other rarely agree so far on a whole page. Answers
that prove nothing are not counted: those with hardly any text, and those that most others gave to
the item, too. Versions of one owner, or of members of one team, are not compared.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page, Paginator
from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from portal.accounts.models import TeamMember
from portal.audit.models import record_event
from portal.jobs.services import enqueue
from scoring.leaderboard.figures import show
from scoring.models import Board, Likeness, Prediction, Submission

COMPARISON_KIND = "compare_submission"
# Two submissions are flagged if at least this share of the items that both answered is alike, …
FLAGGED_SHARE = 0.9
# … of no fewer items than these.
FEWEST_ITEMS = 5
# Letters and digits of an answer: with fewer, chance alone makes answers the same.
FEWEST_CHARACTERS = 24
# An answer of so many owners, and of at least half of all, is what anybody would say.
COMMON_OWNERS = 3

_AT_ONCE = 500
_TAG = re.compile(r"<[^<>]*>")
# Says which item it is, not what the answer is.
_NO_ANSWER = frozenset({"id", "subset"})


def queue_comparison(submission_id: int) -> None:
    """In the transaction that ends the grading."""
    enqueue(
        kind=COMPARISON_KIND,
        payload={"submission": submission_id},
        group=f"likeness:{submission_id}",
    )


def answer_digest(payload: Mapping[str, Any]) -> str:
    """The same for answers that are alike; empty for one with too little text to be compared.

    >>> answer_digest({"id": "a", "html": "<p>Net revenue rose to 1,200 in 2020.</p>"}) == (
    ...     answer_digest({"id": "a", "html": "<div>NET revenue rose to 1,200 in 2020</div>"})
    ... )
    True
    >>> answer_digest({"id": "a", "html": "<p></p>"})
    ''
    """
    answer = {key: value for key, value in payload.items() if key not in _NO_ANSWER}
    parts = list(_parts(answer))
    # What fields there are, the format says: only what stands in them is the answer's own.
    if sum(len(text) for is_key, text in parts if not is_key) < FEWEST_CHARACTERS:
        return ""
    words = "\n".join(text for _, text in parts)
    return hashlib.blake2b(words.encode(), digest_size=16).hexdigest()


def _parts(value: Any) -> Iterator[tuple[bool, str]]:
    """Every key (True), text and number (False) inside, bare, in an order that does not depend on
    the file's."""
    waiting: list[tuple[bool, Any]] = [(False, value)]
    while waiting:
        is_key, part = waiting.pop()
        if isinstance(part, dict):
            for key in sorted(part, reverse=True):
                waiting += [(False, part[key]), (True, key)]
        elif isinstance(part, list):
            waiting += [(False, each) for each in reversed(part)]
        elif part is not None:
            yield is_key, _bare(str(part))


def _bare(text: str) -> str:
    plain = unicodedata.normalize("NFKC", _TAG.sub("", text)).casefold()
    return "".join(character for character in plain if character.isalnum())


def write_digests(submission_id: int) -> None:
    """Of the submission's phase, all that have none yet: those of earlier versions of the site,
    too. Run again, it goes on where it stopped."""
    phase = Submission.objects.values_list("phase", flat=True).get(pk=submission_id)
    lacking = Prediction.objects.filter(submission__phase=phase, digest__isnull=True)
    while rows := list(lacking.order_by("pk").only("pk", "payload")[:_AT_ONCE]):
        for row in rows:
            row.digest = answer_digest(row.payload)
        Prediction.objects.bulk_update(rows, ["digest"], batch_size=_AT_ONCE)


@transaction.atomic
def flag_likenesses(submission_id: int) -> list[Likeness]:
    """Compares the submission with all others of its phase, in the database: four queries, however
    many there are, and one or two more for each that is flagged. A pair is flagged once."""
    submission = Submission.objects.select_related("phase").get(pk=submission_id)
    alike = _others(submission).filter(_mine_says_the_same(submission))
    common = _common_items(submission, alike)
    telling = alike.exclude(item__in=common)
    same = dict(_counted(telling).filter(number__gte=FEWEST_ITEMS))
    both = _others(submission).filter(_mine_says_anything(submission), submission__in=list(same))
    compared = dict(_counted(both.exclude(item__in=common))) if same else {}
    return [
        _flag(submission, other, same[other], compared[other])
        for other in sorted(same)
        if same[other] >= FLAGGED_SHARE * compared[other]
    ]


def _others(submission: Submission) -> QuerySet[Prediction]:
    """What others answered in the phase, but for those of the same side."""
    teams = TeamMember.objects.filter(user=submission.owner_id).values("team")
    mates = TeamMember.objects.filter(team__in=teams).values("user")
    others = (
        Prediction.objects.filter(submission__phase=submission.phase_id, digest__gt="")
        .exclude(submission__owner=submission.owner_id)
        .exclude(submission__owner__in=mates)
        .order_by()
    )
    if submission.team_id is None:
        return others
    # Also of those who have left the team since.
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
    """The items to which the submission says what most say; its owner is one of them."""
    owners = Submission.objects.filter(phase=submission.phase_id).values("owner").distinct().count()
    most = max(COMMON_OWNERS, (owners + 1) // 2)
    by_item = alike.values("item").annotate(owners=Count("submission__owner", distinct=True))
    return by_item.filter(owners__gte=most - 1).values("item")


def _counted(predictions: QuerySet[Prediction]) -> Any:
    """By submission, how many."""
    return predictions.values_list("submission").annotate(number=Count("pk"))


def _flag(submission: Submission, other: int, same: int, compared: int) -> Likeness:
    """The later submission is the one that is flagged; what is known of a pair stays as it is."""
    later, earlier = max(submission.pk, other), min(submission.pk, other)
    flag, is_new = Likeness.objects.get_or_create(
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


@dataclass(frozen=True)
class AlikeLine:
    """A pair as it is seen from one of the two: the other one, and how many answers are alike."""

    submission: Submission
    counterpart: Submission
    same: int
    compared: int

    @property
    def share(self) -> str:
        return show(self.same / self.compared, decimals=1)


def alike_lines(submission: Submission) -> list[AlikeLine]:
    """The pairs of which the submission is one, most alike first. One query."""
    pairs = _pairs().filter(Q(submission=submission) | Q(counterpart=submission))
    lines = [
        AlikeLine(
            submission,
            pair.counterpart if pair.submission_id == submission.pk else pair.submission,
            pair.same,
            pair.compared,
        )
        for pair in pairs
    ]
    return sorted(lines, key=lambda line: -line.same / line.compared)


@dataclass(frozen=True)
class AlikeList:
    page: Page[Likeness]
    lines: list[AlikeLine]


def board_likenesses(board: Board, page: str = "1") -> AlikeList:
    """The pairs of a board, newest first. Two queries."""
    shown = Paginator(board_pairs(board), PER_PAGE).get_page(page)
    lines = [
        AlikeLine(each.submission, each.counterpart, each.same, each.compared) for each in shown
    ]
    return AlikeList(shown, lines)


def board_pairs(board: Board) -> QuerySet[Likeness]:
    return _pairs().filter(submission__phase__board=board).order_by("-id")


def _pairs() -> QuerySet[Likeness]:
    return Likeness.objects.select_related(
        "submission__owner", "submission__phase", "counterpart__owner", "counterpart__phase"
    )
