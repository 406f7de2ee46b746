"""An annotator's own tasks. Everything here is about one person's own work."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Case as SqlCase
from django.db.models import Count, Q, QuerySet, When
from django.urls import reverse

from annotation.access import ANY_USER, own_assignments
from annotation.models import Assignment, Campaign, CampaignDocument
from portal.datasets.models import PageImage
from portal.web.prepared import Parameter, Prepared

from .guidelines import seen_guidelines
from .spans import current_spans

# The tasks page shows this many of each state; the rest is one click away.
SHOWN = 10
_QUALIFICATION = CampaignDocument.Purpose.QUALIFICATION


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
    def is_qualification(self) -> bool:
        """Whether these are the pages of a qualification round, which come before all others."""
        tasks = (*self.waiting, *self.submitted)
        return tasks[0].campaign_document.purpose == _QUALIFICATION

    @property
    def is_open(self) -> bool:
        return self.campaign.state == Campaign.State.OPEN

    @property
    def next(self) -> Assignment | None:
        """What is begun comes before what is new, and what was skipped last."""
        ordered = sorted(self.waiting, key=lambda task: task.flag == Assignment.Flag.SKIPPED)
        return ordered[0] if ordered and self.is_open else None


def my_assignments(user: Any) -> QuerySet[Assignment]:
    """Own assignments with what a list shows of them, in the order of work.

    A page that was excluded as faulty is no work any more.
    """
    left_out = Q(campaign_document__stage=CampaignDocument.Stage.EXCLUDED)
    return (
        own_assignments(user)
        .filter(Q(state=Assignment.State.SUBMITTED) | ~left_out)
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
        "return_reason": assignment.return_reason,
        "active_seconds": assignment.active_seconds,
        "spans": current_spans(assignment),
    }


def position_of(assignment: Assignment) -> tuple[int, int]:
    """Which of the annotator's tasks in the campaign this is, from 1, and how many there are.

    Pages of a qualification are counted by themselves.
    """
    document = assignment.campaign_document
    query = _POSITION[document.purpose == _QUALIFICATION]
    position = query.first(
        user=assignment.annotator_id, campaign=document.campaign_id, pk=assignment.pk
    )
    return position or (0, 0)


def next_task(user: Any, assignment: Assignment) -> Assignment | None:
    """The user's next open task: later in this campaign, then earlier, then in another one.

    What was skipped comes after all others.
    """
    campaign = assignment.campaign_document.campaign_id
    here = {"user": user.pk, "campaign": campaign, "pk": assignment.pk}
    # Nearly always there is one later in the campaign, and to ask for it alone is cheap.
    return _LATER.first(**here) or _OTHER.first(**here)


def page_images(document: int) -> list[tuple[int, int, int, bool]]:
    """Of each image of a document (a primary key) its number, width and height in pixels, and
    whether it was rendered here, so that it is known where the text lies on it.
    """
    return _IMAGES.rows(document=document)


def url_after(user: Any, assignment: Assignment) -> str | None:
    """Where an annotator goes on after submitting: after the last page of a qualification, to its
    result.
    """
    following = next_task(user, assignment)
    document = assignment.campaign_document
    if document.purpose == _QUALIFICATION:
        place = following.campaign_document if following else None
        if place is None or (place.campaign_id, place.purpose) != (
            document.campaign_id,
            document.purpose,
        ):
            return reverse("annotation:qualification", args=[document.campaign.slug])
    return following.get_absolute_url() if following else None


def _last_if(condition: Q) -> SqlCase:
    return SqlCase(When(condition, then=1), default=0)


_CAMPAIGN, _PK = Parameter("campaign"), Parameter("pk")
_IN_CAMPAIGN = Q(campaign_document__campaign=_CAMPAIGN)


def _position(among: Q) -> QuerySet[Assignment, tuple[int, int]]:
    mine = Assignment.objects.of(ANY_USER).standing().filter(among, _IN_CAMPAIGN)
    counts = (
        mine.order_by()
        .values("annotator")
        .annotate(upto=Count("pk", filter=Q(pk__lte=_PK)), total=Count("pk"))
    )
    return counts.values_list("upto", "total")


def _later() -> QuerySet[Assignment]:
    later = own_assignments(ANY_USER).workable().filter(_IN_CAMPAIGN, pk__gt=_PK)
    return later.exclude(flag=Assignment.Flag.SKIPPED).order_by("id")[:1]


def _other() -> QuerySet[Assignment]:
    others = own_assignments(ANY_USER).workable().exclude(pk=_PK)
    skipped_last, here_first = _last_if(Q(flag=Assignment.Flag.SKIPPED)), _last_if(~_IN_CAMPAIGN)
    return others.order_by(skipped_last, here_first, "id")[:1]


_QUALIFYING = Q(campaign_document__purpose=_QUALIFICATION)
_POSITION = {
    True: Prepared(lambda: _position(_QUALIFYING)),
    False: Prepared(lambda: _position(~_QUALIFYING)),
}
_LATER, _OTHER = Prepared(_later), Prepared(_other)
_IMAGES = Prepared(
    lambda: (
        PageImage.objects.filter(document=Parameter("document"))
        .order_by("number")
        .values_list("number", "width", "height", "is_rendered")
    )
)
