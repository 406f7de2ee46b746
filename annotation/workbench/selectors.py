"""An annotator's own tasks, their spans, and the comparison with gold.

Nothing here reveals other annotators: neither marks, names nor counts.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from django.db.models import Case as SqlCase
from django.db.models import Count, Q, QuerySet, When
from django.urls import reverse

from annotation.access import ANY_USER, own_assignments
from annotation.campaigns.selectors import seen_guidelines
from annotation.models import (
    Assignment,
    Campaign,
    CampaignDocument,
    Case,
    GoldSpan,
    Membership,
    ReviewItem,
    Span,
)
from annotation.spans import (
    Compared,
    Draft,
    Outcome,
    compare_with_gold,
    fact_of,
    label_css,
    recorded_span,
)
from portal.datasets.models import PageImage
from portal.facts import Span as TextSpan
from portal.facts import trim_span
from portal.web.queries import Parameter, Prepared

_STORED = Prepared(
    lambda: (
        Span.objects.filter(assignment=Parameter("assignment"))
        .order_by("start")
        .values_list(*Draft._fields)
    )
)


def stored_spans(assignment: Assignment) -> list[Draft]:
    """The saved spans in text order."""
    return [Draft._make(row) for row in _STORED.rows(assignment=assignment.pk)]


def current_spans(assignment: Assignment) -> list[dict[str, Any]]:
    """The saved spans in text order, with the fields of the API."""
    return [draft._asdict() for draft in stored_spans(assignment)]


def spans_at(assignment: Assignment, number: int) -> list[Draft]:
    """The spans after revision `number`, in text order; none after revision 0."""
    present: dict[str, Draft] = {}
    changes = assignment.revisions.filter(number__lte=number).order_by("number")
    for added, removed in changes.values_list("added", "removed").iterator():
        for span in removed:
            del present[span["key"]]
        present |= {span["key"]: recorded_span(span) for span in added}
    return sorted(present.values(), key=lambda draft: draft.start)


_QUALIFICATION = CampaignDocument.Purpose.QUALIFICATION


@dataclass(frozen=True)
class TaskGroup:
    """One user's tasks in one campaign."""

    campaign: Campaign
    tasks: list[Assignment]

    @property
    def to_do(self) -> list[Assignment]:
        return self._in_state(Assignment.State.ASSIGNED)

    @property
    def in_progress(self) -> list[Assignment]:
        return self._in_state(Assignment.State.IN_PROGRESS)

    @property
    def submitted(self) -> list[Assignment]:
        return self._in_state(Assignment.State.SUBMITTED)

    def _in_state(self, state: str) -> list[Assignment]:
        return [task for task in self.tasks if task.state == state]

    @property
    def waiting(self) -> list[Assignment]:
        """All unfinished tasks."""
        return self.in_progress + self.to_do

    @property
    def is_qualification(self) -> bool:
        """Whether these are pages of a qualification round, which precede all others."""
        return self.tasks[0].campaign_document.purpose == _QUALIFICATION

    @property
    def is_open(self) -> bool:
        return self.campaign.state == Campaign.State.OPEN

    @property
    def next(self) -> Assignment | None:
        """The next task: started ones first, then new ones, then skipped ones."""
        ordered = sorted(self.waiting, key=lambda task: task.flag == Assignment.Flag.SKIPPED)
        return ordered[0] if ordered and self.is_open else None


def my_assignments(user: Any) -> QuerySet[Assignment]:
    """The user's assignments for lists, in the order of work, without excluded pages."""
    left_out = Q(campaign_document__stage=CampaignDocument.Stage.EXCLUDED)
    return (
        own_assignments(user)
        .filter(Q(state=Assignment.State.SUBMITTED) | ~left_out)
        .select_related("campaign_document__campaign", "campaign_document__document")
        .order_by("campaign_document__campaign__title", "campaign_document__campaign", "id")
    )


def former_submissions(user: Any) -> QuerySet[Assignment]:
    """The submissions of the user in campaigns of which they are no longer an annotator. For lists
    only: the user may not open these documents any more.
    """
    current = Membership.objects.filter(user=user, role=Membership.Role.ANNOTATOR)
    return (
        Assignment.objects.of(user)
        .submitted()
        .exclude(campaign_document__campaign__in=current.values("campaign"))
        .exclude(campaign_document__purpose=_QUALIFICATION)
        .select_related("campaign_document__campaign", "campaign_document__document")
        .order_by("campaign_document__campaign__title", "campaign_document__campaign", "id")
    )


def task_groups(user: Any) -> list[TaskGroup]:
    """The user's tasks by campaign. Campaigns with an open task come first."""
    groups: dict[int, TaskGroup] = {}
    for task in my_assignments(user):
        campaign = task.campaign_document.campaign
        groups.setdefault(campaign.pk, TaskGroup(campaign, [])).tasks.append(task)
    return sorted(groups.values(), key=lambda group: group.next is None)


def work_data(assignment: Assignment) -> dict[str, Any]:
    """The state of an assignment, for the API and the workbench."""
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
    """The number of the task among the annotator's tasks in the campaign, from 1, and their total.

    Qualification pages are counted separately.
    """
    document = assignment.campaign_document
    query = _POSITION[document.purpose == _QUALIFICATION]
    position = query.first(
        user=assignment.annotator_id, campaign=document.campaign_id, pk=assignment.pk
    )
    return position or (0, 0)


def next_task(user: Any, assignment: Assignment) -> Assignment | None:
    """The user's next open task: later in this campaign, then earlier, then in another one.

    Skipped tasks come last.
    """
    campaign = assignment.campaign_document.campaign_id
    here = {"user": user.pk, "campaign": campaign, "pk": assignment.pk}
    # There is usually one later in the campaign, and this query is cheap.
    return _LATER.first(**here) or _OTHER.first(**here)


def page_images(document: int) -> list[tuple[int, int, int, bool]]:
    """Number, width and height in pixels of each image of a document (a primary key), and whether
    it was rendered here and has text boxes.
    """
    return _IMAGES.rows(document=document)


def url_after(user: Any, assignment: Assignment) -> str | None:
    """The URL after a submission: the next task, or the result of a qualification round."""
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
    mine = Assignment.objects.of(ANY_USER).active().filter(among, _IN_CAMPAIGN)
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


OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)


@dataclass(frozen=True)
class Reading:
    """A mark or a gold fact for display."""

    label: str
    css: str
    start: int
    end: int
    quote: str
    value: str
    sign: str


@dataclass(frozen=True)
class OwnFact:
    """A range with the annotator's marks and the gold in it, and reasons given for the gold.
    `value_differs`: offsets and label are right, but the value or sign is not.
    """

    outcome: Outcome
    start: int
    end: int
    own: tuple[Reading, ...]
    gold: tuple[Reading, ...]
    value_differs: bool
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class OutcomeCount:
    """The number of facts with this outcome."""

    outcome: Outcome
    count: int


@dataclass(frozen=True)
class OwnGold:
    """An annotator's marks on a page compared with its gold."""

    document: str
    facts: tuple[OwnFact, ...]
    counts: tuple[OutcomeCount, ...]
    values_differ: int

    @property
    def differing(self) -> tuple[OwnFact, ...]:
        return tuple(fact for fact in self.facts if fact.outcome != "right" or fact.value_differs)


def is_gold(assignment: Assignment) -> bool:
    return assignment.campaign_document.stage == CampaignDocument.Stage.GOLD


def own_gold(assignment: Assignment) -> OwnGold:
    """The comparison for a page that is gold. Check `is_gold` first."""
    page = assignment.campaign_document
    text, labels = page.document.content.text, page.campaign.labels
    own = _readings(assignment.spans.all(), text, labels)
    gold = _readings(page.gold_spans.all(), text, labels)
    remarks = _remarks(page)
    compared = compare_with_gold(text, gold, own)
    counts = Counter(part.outcome for part in compared)
    facts = tuple(_fact(part, own, gold, remarks) for part in compared)
    return OwnGold(
        document=page.document.name,
        facts=facts,
        counts=tuple(OutcomeCount(outcome, counts[outcome]) for outcome in OUTCOMES),
        values_differ=sum(fact.value_differs for fact in facts),
    )


def _readings(
    spans: Iterable[Span | GoldSpan], text: str, labels: Sequence[str]
) -> dict[TextSpan, Reading]:
    """The spans by their trimmed offsets and label, as in the comparison."""
    return {
        trim_span(text, TextSpan(span.start, span.end, span.label)): Reading(
            css=label_css(span.label, labels), **fact_of(span)
        )
        for span in spans
    }


def _fact(
    compared: Compared,
    own: Mapping[TextSpan, Reading],
    gold: Mapping[TextSpan, Reading],
    remarks: Sequence[tuple[int, int, str]],
) -> OwnFact:
    mine = tuple(own[span] for span in compared.marked)
    right = tuple(gold[span] for span in compared.gold)
    values = [[(reading.value, reading.sign) for reading in side] for side in (mine, right)]
    reasons = [
        text for start, end, text in remarks if start < compared.end and compared.start < end
    ]
    return OwnFact(
        outcome=compared.outcome,
        start=compared.start,
        end=compared.end,
        own=mine,
        gold=right,
        value_differs=compared.outcome == "right" and values[0] != values[1],
        reasons=tuple(dict.fromkeys(reasons)),
    )


def _remarks(page: CampaignDocument) -> list[tuple[int, int, str]]:
    """Ranges with the reasons of leads and reviewers. Those of the majority rule would reveal
    others' marks.
    """
    cases = page.cases.filter(state=Case.State.DECIDED, decided_by__isnull=False)
    items = ReviewItem.objects.filter(
        campaign_document=page,
        verdict__in=[ReviewItem.Verdict.CORRECTED, ReviewItem.Verdict.SENT_BACK],
    )
    return [
        *cases.exclude(reason="").order_by("start").values_list("start", "end", "reason"),
        *items.order_by("start").values_list("start", "end", "reason"),
    ]


def own_gold_page_data(assignment: Assignment, comparison: OwnGold) -> dict[str, Any]:
    """The data of the page's script: the offsets of the facts in the list."""
    document = assignment.campaign_document.document
    return {
        "text_sha256": document.text_sha256,
        "facts": [
            {
                "outcome": "value" if fact.value_differs else fact.outcome,
                "start": fact.start,
                "end": fact.end,
            }
            for fact in comparison.facts
        ],
        "html": reverse("annotation:assignment-html", args=[assignment.pk]),
    }
