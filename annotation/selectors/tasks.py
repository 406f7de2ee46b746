"""An annotator's own tasks. Everything here is about one person's own work."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Case, Count, Q, QuerySet, When

from annotation.access import own_assignments
from annotation.models import Assignment, Campaign

from .guidelines import seen_guidelines
from .spans import current_spans

# The tasks page shows this many of each state; the rest is one click away.
SHOWN = 10


@dataclass(frozen=True)
class TaskGroup:
    """One person's tasks in one campaign.

    The lists hold the first few, the counts tell of all; `waiting` is all that can be worked on.
    """

    campaign: Campaign
    to_do: tuple[Assignment, ...]
    in_progress: tuple[Assignment, ...]
    submitted: tuple[Assignment, ...]
    to_do_count: int
    in_progress_count: int
    submitted_count: int
    waiting: tuple[Assignment, ...]

    @property
    def total(self) -> int:
        return self.to_do_count + self.in_progress_count + self.submitted_count

    @property
    def is_open(self) -> bool:
        return self.campaign.state == Campaign.State.OPEN

    @property
    def next(self) -> Assignment | None:
        """What is begun comes before what is new, and what was skipped last."""
        ordered = sorted(self.waiting, key=lambda task: task.flag == Assignment.Flag.SKIPPED)
        return ordered[0] if ordered and self.is_open else None


def my_assignments(user: Any) -> QuerySet[Assignment]:
    """Own assignments with what a list shows of them, in the order of work."""
    return (
        own_assignments(user)
        .select_related("campaign_document__campaign", "campaign_document__document")
        .order_by("campaign_document__campaign__title", "campaign_document__campaign", "id")
    )


def task_groups(user: Any) -> list[TaskGroup]:
    """Own tasks by campaign; campaigns with something to do come first."""
    by_campaign: dict[int, list[Assignment]] = {}
    for assignment in my_assignments(user):
        by_campaign.setdefault(assignment.campaign_document.campaign_id, []).append(assignment)
    groups = [_group(assignments) for assignments in by_campaign.values()]
    return sorted(groups, key=lambda group: group.next is None)


def _group(assignments: list[Assignment]) -> TaskGroup:
    state = Assignment.State
    to_do, in_progress, submitted = (
        _in_state(assignments, wanted)
        for wanted in (state.ASSIGNED, state.IN_PROGRESS, state.SUBMITTED)
    )
    return TaskGroup(
        campaign=assignments[0].campaign_document.campaign,
        to_do=tuple(to_do[:SHOWN]),
        in_progress=tuple(in_progress[:SHOWN]),
        submitted=tuple(submitted[-SHOWN:]),
        to_do_count=len(to_do),
        in_progress_count=len(in_progress),
        submitted_count=len(submitted),
        waiting=(*in_progress, *to_do),
    )


def _in_state(assignments: Iterable[Assignment], state: str) -> list[Assignment]:
    return [assignment for assignment in assignments if assignment.state == state]


def work_data(assignment: Assignment) -> dict[str, Any]:
    """Where the work on a page stands, for programs and for the workbench alike."""
    campaign = assignment.campaign_document.campaign
    document = assignment.campaign_document.document
    return {
        "state": assignment.state,
        "can_edit": assignment.is_workable,
        "revision": assignment.revision,
        "text_sha256": document.text_sha256,
        "text_chars": document.text_chars,
        "guidelines": {
            "version": campaign.guidelines_version,
            "seen_version": seen_guidelines(campaign, assignment.annotator_id),
        },
        "suggestions": bool(campaign.suggestion_sources),
        "flag": {"kind": assignment.flag, "reason": assignment.flag_reason},
        "active_seconds": assignment.active_seconds,
        "spans": current_spans(assignment),
    }


def position_of(assignment: Assignment) -> tuple[int, int]:
    """Which of the annotator's tasks in the campaign this is, from 1, and how many there are."""
    mine = Assignment.objects.filter(
        annotator=assignment.annotator_id,
        campaign_document__campaign=assignment.campaign_document.campaign_id,
    )
    counts = mine.aggregate(upto=Count("pk", filter=Q(pk__lte=assignment.pk)), total=Count("pk"))
    return counts["upto"], counts["total"]


def next_task(user: Any, assignment: Assignment) -> Assignment | None:
    """The user's next open task: later in this campaign, then earlier, then in another one.

    What was skipped comes after all others.
    """
    campaign = assignment.campaign_document.campaign_id
    others = own_assignments(user).workable().exclude(pk=assignment.pk)
    here = Q(campaign_document__campaign=campaign)
    later = others.filter(here, pk__gt=assignment.pk).exclude(flag=Assignment.Flag.SKIPPED)
    # Nearly always there is one, and to ask for it alone is cheap.
    return (
        later.order_by("id").first()
        or others.order_by(_last_if(Q(flag=Assignment.Flag.SKIPPED)), _last_if(~here), "id").first()
    )


def _last_if(condition: Q) -> Case:
    return Case(When(condition, then=1), default=0)
