"""The limits of a phase: quotas, and attempts that are held, charged or released.

Limits apply to each user over all their teams, and to each team over all its members: neither more
teams nor more members give more attempts. Holding an attempt locks the rows of the team and of the
account, so that two browser tabs or two members of a team cannot both take the last one.

Each score on hidden gold reveals something about it. Attempts on hidden gold therefore count in all
phases that grade the same items of a dataset or of its stress variants, on any board and any
release, and for all accounts of the same mailbox, deleted ones too (`person_key`).
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import Count, F, Min, Q, QuerySet, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone

from portal.accounts.access import is_organiser
from portal.accounts.emails import person_key
from portal.accounts.models import FORMER_MEMBER, Team, User, display_name
from scoring.models import Attempt, Phase, Submission
from scoring.models.boards import moment

from .ledger import Learnt
from .protection import is_gold_hidden

State = Attempt.State
# A day is the last 24 hours, so that no time zone matters.
DAY = timedelta(hours=24)


@dataclass(frozen=True)
class Allowance:
    """One limit: `used` of `limit` attempts are used up, `held` are being graded.

    If none is left, `free_at` is when the next becomes free, or None if that is not known.
    """

    name: str
    limit: int
    used: int
    held: int = 0
    free_at: datetime | None = None

    @property
    def left(self) -> int:
        return max(self.limit - self.used - self.held, 0)


class Holder(NamedTuple):
    """The words for the owner of the limits in a refusal, such as “You have”, “your”, “you”."""

    has: str
    whose: str
    whom: str


YOU = Holder("You have", "your", "you")
SUBMITTER = Holder("The submitter has", "their", "the submitter")


@dataclass(frozen=True)
class Quota:
    """The rest of a phase's limits for a user or team. A limit that is not set is None."""

    phase: Phase
    team: Team | None
    """None: the limits are the user's."""
    holder: Holder
    day: Allowance | None
    total: Allowance | None
    failed: Allowance | None
    learnt: float = 0.0
    """The most that the scores can have given away, as a share of the facts of hidden gold."""

    @property
    def is_closed(self) -> bool:
        """Whether the scores can have given away so much that the phase is closed."""
        share = self.phase.closing_share
        return share is not None and self.learnt >= share / 100

    @property
    def allowances(self) -> Sequence[Allowance]:
        return [limit for limit in (self.day, self.total, self.failed) if limit is not None]

    @property
    def spent(self) -> Allowance | None:
        """The used-up limit that blocks another submission for the longest time."""
        spent = [limit for limit in (self.total, self.failed, self.day) if limit and not limit.left]
        return spent[0] if spent else None

    @property
    def free_at_words(self) -> str:
        """Such as “21 November 2026, 14:05 UTC”; empty if nothing is used up or it is unknown."""
        spent = self.spent
        return moment(self.phase, spent.free_at) if spent and spent.free_at else ""

    @property
    def refusal(self) -> str:
        """Why another submission is refused, in one or two sentences; empty if it is not."""
        if self.is_closed:
            # The exact share would show how many facts there are.
            return (
                f"“{self.phase.title}” is closed to {self.holder.whom}: {self.holder.whose} scores "
                f"can have revealed {self.phase.closing_share}% of its hidden gold or more. Ask "
                "the organisers to raise this limit."
            )
        spent = self.spent
        if spent is None:
            return ""
        words = (
            f"{self.holder.has} reached {self.holder.whose} limit of {spent.limit} {spent.name} "
            f"in “{self.phase.title}”."
        )
        if spent is self.total and not spent.held:
            return words
        if self.free_at_words:
            return f"{words} You can submit again on {self.free_at_words}."
        return f"{words} You can submit again only if a submission that is being graded fails."


def quota(phase: Phase, user: User, *, holder: Holder = YOU) -> Quota:
    """The user's quota in this phase. One query."""
    return phase_quotas(user, [phase], holder=holder)[0]


def team_quota(phase: Phase, team: Team) -> Quota:
    """The team's quota in this phase. One query."""
    return team_quotas([team], [phase])[0]


def attempts_of(user: User) -> Q:
    """Attempts of the person, with all accounts of the same mailbox."""
    return Q(user=user) | Q(person=person_key(user))


def phase_quotas(user: User, phases: Sequence[Phase], *, holder: Holder = YOU) -> list[Quota]:
    """The user's quota in each phase. One query, or none if no phase has a limit; one more for
    hidden gold."""
    shared = _sharing(phases)
    attempts = Attempt.objects.filter(attempts_of(user), phase__in=_all(shared))
    counts = {row["phase"]: row for row in _counted(attempts, "phase")} if shared else {}
    return [_quota(phase, None, holder, _added(shared, phase, counts)) for phase in phases]


def team_quotas(teams: Sequence[Team], phases: Sequence[Phase]) -> list[Quota]:
    """The quota of each team in each phase, phase by phase. One query at most; one more for hidden
    gold."""
    shared = _sharing(phases) if teams else {}
    attempts = Attempt.objects.filter(team__in=teams, phase__in=_all(shared))
    by_team: dict[int, dict[int, Mapping[str, Any]]] = {team.pk: {} for team in teams}
    for row in _counted(attempts, "phase", "team") if shared else ():
        by_team[row["team"]][row["phase"]] = row
    return [
        _quota(phase, team, _team(team), _added(shared, phase, by_team[team.pk]))
        for phase in phases
        for team in teams
    ]


def phases_on_same_gold(phase: Phase) -> set[int]:
    """The keys of all phases with the hidden gold that this phase grades, itself included; empty if
    its gold is public. One query, or none."""
    if not is_gold_hidden(phase.release, phase.split):
        return set()
    return set(_on_same_gold(phase, _hidden_phases({_source(phase)})))


def _on_same_gold(phase: Phase, hidden: Iterable[Phase]) -> frozenset[int]:
    """The keys of the phase, and of those that grade the same items."""
    return frozenset([phase.pk, *(other.pk for other in hidden if _grade_same_items(phase, other))])


def _hidden_phases(datasets: Collection[int]) -> list[Phase]:
    """The phases with hidden gold of these datasets and their stress variants. One query."""
    of_these = Q(release__dataset__in=datasets) | Q(release__dataset__derived_from__in=datasets)
    near = Phase.objects.filter(of_these).select_related("release__dataset")
    return [phase for phase in near if is_gold_hidden(phase.release, phase.split)]


def _sharing(phases: Iterable[Phase]) -> dict[int, set[int]]:
    """The keys of the phases whose attempts count in each phase that has limits: the phase itself,
    and on hidden gold every phase with hidden gold of the same items."""
    limited = [phase for phase in phases if _has_limits(phase)]
    shared = {phase.pk: {phase.pk} for phase in limited}
    hidden = [phase for phase in limited if is_gold_hidden(phase.release, phase.split)]
    if hidden:
        others = _hidden_phases({_source(phase) for phase in hidden})
        for phase in hidden:
            shared[phase.pk] |= {other.pk for other in others if _grade_same_items(phase, other)}
    return shared


def _grade_same_items(first: Phase, second: Phase) -> bool:
    """Whether they grade the same split of a dataset or of its stress variants. A phase without a
    split grades all."""
    is_same = _source(first) == _source(second)
    return is_same and (first.split == second.split or not first.split or not second.split)


def _source(phase: Phase) -> int:
    """The key of the phase's dataset; for a stress variant, which has the same gold, that of the
    dataset it was made from."""
    dataset = phase.release.dataset
    return dataset.derived_from_id or dataset.pk


def _all(shared: Mapping[int, set[int]]) -> set[int]:
    return set().union(*shared.values())


def _added(
    shared: Mapping[int, set[int]], phase: Phase, counts: Mapping[int, Mapping[str, Any]]
) -> Mapping[str, Any]:
    """The counts of all phases that share their attempts with this one."""
    rows = [counts[key] for key in shared.get(phase.pk, ()) if key in counts]
    added: dict[str, Any] = {name: sum(row[name] or 0 for row in rows) for name in _SUMS}
    for name in _FIRSTS:
        added[name] = min((row[name] for row in rows if row[name]), default=None)
    return added


def _team(team: Team) -> Holder:
    return Holder(f"The team “{team.name}” has", "its", f"the team “{team.name}”")


def refusal_for(phase: Phase, user: User, team: Team | None, *, holder: Holder = YOU) -> str:
    """Why another submission of the user for the team is refused; empty if it is not. The user's
    limits are checked first. At most two queries."""
    refusal = quota(phase, user, holder=holder).refusal
    return refusal if refusal or team is None else team_quota(phase, team).refusal


def _has_limits(phase: Phase) -> bool:
    limits = (phase.per_day, phase.in_total, phase.failed_per_day, phase.closing_share)
    return any(limit is not None for limit in limits)


_SUMS = ("held", "charged", "charged_today", "failed_today", "learnt")
_FIRSTS = ("first_today", "first_failed")


def _counted(attempts: QuerySet[Attempt], *by: str) -> QuerySet[Attempt, dict[str, Any]]:
    """Attempts without a score count separately: they have their own limit."""
    today = Q(settled_at__gt=timezone.now() - DAY)
    charged_today, failed_today = Q(state=State.CHARGED) & today, Q(state=State.FAILED) & today
    counted: QuerySet[Attempt, dict[str, Any]] = (
        attempts.order_by()
        .values(*by)
        .annotate(
            held=Count("pk", filter=Q(state=State.HELD)),
            charged=Count("pk", filter=Q(state=State.CHARGED)),
            charged_today=Count("pk", filter=charged_today),
            first_today=Min("settled_at", filter=charged_today),
            failed_today=Count("pk", filter=failed_today),
            first_failed=Min("settled_at", filter=failed_today),
            learnt=Sum(F("bits") / F("facts")),
        )
    )
    return counted


def _quota(phase: Phase, team: Team | None, holder: Holder, counts: Mapping[str, Any]) -> Quota:
    held = counts["held"]
    return Quota(
        phase=phase,
        team=team,
        holder=holder,
        day=_allowance(
            "scored submissions within 24 hours",
            phase.per_day,
            counts["charged_today"],
            held,
            counts["first_today"],
        ),
        total=_allowance("scored submissions", phase.in_total, counts["charged"], held, None),
        failed=_allowance(
            "failed attempts within 24 hours",
            phase.failed_per_day,
            counts["failed_today"],
            0,
            counts["first_failed"],
        ),
        learnt=counts["learnt"],
    )


def _allowance(
    name: str, limit: int | None, used: int, held: int, first: datetime | None
) -> Allowance | None:
    if limit is None:
        return None
    if limit == 1:
        name = name.replace("submissions", "submission").replace("attempts", "attempt")
    is_spent = used + held >= limit
    free_at = _full_minute(first + DAY) if first and is_spent else None
    return Allowance(name, limit, used, held, free_at)


def _full_minute(at: datetime) -> datetime:
    """The next full minute. The exact time would show how long a grading took."""
    return (at + timedelta(minutes=1, microseconds=-1)).replace(second=0, microsecond=0)


@dataclass(frozen=True)
class Asker:
    """A person who received scores on the hidden gold of a board: the names of the accounts of one
    mailbox, and their attempts. `files` are the SHA-256 hashes of files that were deleted with an
    account.

    `facts` is the most facts that the scores can have revealed, also those on other boards with the
    same gold, and `share` is their share of all. Both are None for scores from before these were
    counted."""

    names: Sequence[str]
    scored: int
    failed: int
    last: datetime
    files: Sequence[str]
    facts: int | None
    share: float | None

    @property
    def share_words(self) -> str:
        """Such as “12.5%”; empty if it is not known."""
        return "" if self.share is None else f"{self.share:.1%}"


class _Revealed(NamedTuple):
    share: float
    bits: float


def askers(phases: Sequence[Phase]) -> list[Asker]:
    """Everyone with attempts on the hidden gold of these phases, first those who can have learnt
    most. Two queries, or none if no phase has hidden gold."""
    hidden = [phase for phase in phases if is_gold_hidden(phase.release, phase.split)]
    if not hidden:
        return []
    near = _hidden_phases({_source(phase) for phase in hidden})
    golds = {_on_same_gold(phase, near) for phase in hidden}
    own = {phase.pk for phase in hidden}
    by_person: defaultdict[str, list[Attempt]] = defaultdict(list)
    attempts = Attempt.objects.filter(phase__in=frozenset().union(*golds))
    for attempt in attempts.select_related("user").order_by("held_at"):
        by_person[attempt.person or f"user {attempt.user_id}"].append(attempt)
    people = [
        _asker(here, _most_learnt(everywhere, golds))
        for everywhere in by_person.values()
        if (here := [attempt for attempt in everywhere if attempt.phase_id in own])
    ]
    return sorted(people, key=lambda asker: (-(asker.share or 0), -asker.scored, asker.names))


def _most_learnt(attempts: Sequence[Attempt], golds: Iterable[frozenset[int]]) -> _Revealed | None:
    """The most that scores can have revealed of one of these golds, each the keys of its phases."""
    found = []
    for gold in golds:
        known = [(each.bits, each.facts) for each in attempts if each.phase_id in gold]
        given = [(bits, facts) for bits, facts in known if bits is not None and facts]
        if given:
            share = sum(bits / facts for bits, facts in given)
            found.append(_Revealed(share, sum(bits for bits, _ in given)))
    return max(found, default=None)


def _asker(attempts: Sequence[Attempt], revealed: _Revealed | None) -> Asker:
    states = Counter(attempt.state for attempt in attempts)
    users = {attempt.user_id: attempt.user for attempt in attempts}
    deleted = [attempt for attempt in attempts if attempt.submission_id is None]
    return Asker(
        names=[display_name(user) if user else FORMER_MEMBER for user in users.values()],
        scored=states[State.CHARGED],
        failed=states[State.FAILED],
        last=attempts[-1].held_at,
        files=[attempt.file_sha256 for attempt in deleted if attempt.file_sha256],
        facts=ceil(revealed.bits) if revealed else None,
        share=min(revealed.share, 1.0) if revealed else None,
    )


class LimitReached(Exception):
    """A limit is used up. The message names it and when more becomes free."""


def lock_team(submission: Submission) -> None:
    """Locks the submission's team, if any: until the transaction ends no one joins or leaves."""
    # no_key: inserting rows that refer to the team takes a weaker lock, which must not wait.
    if submission.team_id is not None:
        Team.objects.select_for_update(no_key=True).get(pk=submission.team_id)


@transaction.atomic
def hold_place(*, submission: Submission, actor: User) -> Attempt:
    """Holds an attempt for a submission, or holds its released attempt again.

    Organisers have no limits. Raises LimitReached.
    """
    # Lock the team before the account, like invitations to teams do.
    lock_team(submission)
    User.objects.select_for_update(no_key=True).get(pk=submission.owner_id)
    attempt = Attempt.objects.filter(submission=submission).first()
    if attempt is not None and attempt.state != State.FAILED:
        return attempt
    if not is_organiser(actor):
        _refuse_spent(submission, actor)
    if attempt is None:
        return Attempt.objects.create(
            submission=submission,
            phase=submission.phase,
            user=submission.owner,
            person=person_key(submission.owner),
            team=submission.team,
        )
    attempt.state, attempt.settled_at = State.HELD, None
    attempt.save(update_fields=["state", "settled_at"])
    return attempt


def _refuse_spent(submission: Submission, actor: User) -> None:
    holder = YOU if actor.pk == submission.owner_id else SUBMITTER
    refusal = refusal_for(submission.phase, submission.owner, submission.team, holder=holder)
    if refusal:
        raise LimitReached(refusal)


def charge(*, submission_id: int, learnt: Learnt | None = None) -> None:
    """Charges the held attempt of a scored submission, with the most that its scores can have given
    away. A re-grade charges nothing."""
    given = learnt._asdict() if learnt else {}
    _settle(submission_id, State.CHARGED, **given)


def add_learnt(*, submission_id: int, learnt: Learnt | None) -> None:
    """Adds the scores of a re-grade to what the attempt can have given away."""
    if learnt is not None:
        attempts = Attempt.objects.filter(submission_id=submission_id, state=State.CHARGED)
        attempts.update(bits=Coalesce("bits", 0.0) + learnt.bits, facts=learnt.facts)


def give_back(*, submission_id: int) -> None:
    """Releases the attempt of a submission without a score, and counts it as failed."""
    _settle(submission_id, State.FAILED)


def _settle(submission_id: int, state: Attempt.State, **given: float) -> None:
    held = Attempt.objects.filter(submission_id=submission_id, state=State.HELD)
    held.update(state=state, settled_at=timezone.now(), **given)
