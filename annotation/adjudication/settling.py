"""Settle a document that all annotators have submitted: find faults, agreed gold, and cases.

Structural faults (`structural_faults`) make an annotator's work unusable, so that it is returned.
So is work that looks incomplete (`omission`), unless a lead accepts it with a reason.
A value problem (`value_problem`) concerns one fact that all annotators marked and becomes a case,
as does a fact with a warning: annotators who make the same mistake agree.
"""

import hashlib
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any, NamedTuple, Protocol

from django.utils import timezone

from annotation.doubts import Mark, doubts
from annotation.models import Assignment, CampaignDocument, Case, Decision, GoldSpan
from annotation.page_facts import content_facts
from annotation.review.services import open_due_round
from annotation.spans import Cluster, clusters, fact_of, settled_value
from portal.audit.models import record_event
from portal.datasets.models import Document
from portal.facts import FactValue, FoundFact, check_spans, check_value, is_not_annotated
from portal.facts import Span as TextSpan
from portal.facts.spans import characters, label_kind


class SubmittedSpan(Protocol):
    """A span as an annotator submitted it."""

    @property
    def key(self) -> str: ...
    @property
    def label(self) -> str: ...
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def quote(self) -> str: ...


@dataclass(frozen=True)
class IntegrityFault:
    """A fault of the span `key`, or of the whole page if `key` is empty."""

    key: str
    code: str
    message: str


def structural_faults(
    text: str, text_sha256: str, spans: Iterable[SubmittedSpan], labels: Sequence[str]
) -> list[IntegrityFault]:
    """Overlapping or nested spans, unknown labels, offsets that do not fit the text, missing keys.

    `text_sha256` is the hash of the text as imported.
    """
    if hashlib.sha256(text.encode()).hexdigest() != text_sha256:
        message = "the document text differs from the imported text: the hashes do not match"
        return [IntegrityFault("", "text_hash", message)]
    listed = list(spans)
    marks = [TextSpan(span.start, span.end, span.label) for span in listed]
    faults = [
        IntegrityFault(listed[fault.index].key, fault.code, fault.message)
        for fault in check_spans(text, marks, labels)
    ]
    for span in listed:
        if not span.key:
            faults.append(IntegrityFault("", "key", f"the span at {span.start} has no key"))
        if text[span.start : span.end] != span.quote:
            where = characters(span.start, span.end)
            message = f"the text at {where} is not “{span.quote}”"
            faults.append(IntegrityFault(span.key, "quote", message))
    return faults


# On 91% of the pages of real filings with gold, fewer of the numbers and dates that Factboard finds
# are left without a label; the median is 27%.
MOST_UNLABELLED = 0.75
# Cover pages have few facts among some numbers of forms and sections.
FEW_UNLABELLED = 10


def omission(document: Document, spans: Iterable[SubmittedSpan], labels: Sequence[str]) -> str:
    """Why the labels of all annotators together look incomplete, or an empty string.

    A page without labels does if it has a number or date; other pages if most numbers and dates
    have no label. Campaigns that label neither are not judged. The document's content must be
    loaded.
    """
    if not any(label_kind(label) for label in labels):
        return ""
    text, (borders, facts) = document.content.text, content_facts(document)
    candidates = [fact for fact in facts if not is_not_annotated(text, borders, fact)]
    marks = sorted({(span.start, span.end) for span in spans})
    if not candidates:
        return ""
    if not marks:
        return f"no one labelled anything, but the page has {_counted(len(candidates))}"
    labelled = {place for start, end in marks for place in _places(candidates, start, end)}
    left = len(candidates) - len(labelled)
    if left < FEW_UNLABELLED or left <= MOST_UNLABELLED * len(candidates):
        return ""
    return f"no one labelled {left} of {_counted(len(candidates))}"


def _counted(count: int) -> str:
    return "1 number or date" if count == 1 else f"{count} numbers and dates"


def _places(facts: Sequence[FoundFact], start: int, end: int) -> range:
    """The positions of the facts that share a character with the range."""
    first = bisect_right(facts, start, key=lambda fact: fact.end)
    return range(first, bisect_left(facts, end, key=lambda fact: fact.start))


def value_problem(values: Iterable[FactValue], label: str) -> str | None:
    """Why the annotators' values of a fact cannot become gold, or None.

    A number or date needs one valid value that all annotators share.
    """
    if label_kind(label) is None:
        return None
    distinct = sorted(set(values))
    if len(distinct) > 1:
        return "the annotators' values differ"
    value = distinct[0]
    if not value.value:
        return f"the {label_kind(label)} has no value"
    return check_value(value.value, value.sign, label)


def make_gold(*, campaign_document: CampaignDocument) -> None:
    """Makes a document without open cases gold, which can start a domain review round.

    The caller's transaction must hold the lock of the document's row.
    """
    campaign_document.stage = CampaignDocument.Stage.GOLD
    campaign_document.gold_at = timezone.now()
    campaign_document.save(update_fields=["stage", "gold_at"])
    record_event(verb="make_gold", subject=campaign_document)
    open_due_round(campaign=campaign_document.campaign)


Readings = dict[TextSpan, FactValue]
Stage = CampaignDocument.Stage


def settle_document(*, campaign_document: CampaignDocument, accept_faults: bool = False) -> None:
    """Validates and compares the submitted spans, and moves the document to its next stage.

    A document with structural faults goes to validation, unless `accept_faults`. Marks that all
    annotators share become gold, as do those of a majority if the agreement reaches the campaign's
    threshold, unless one has a warning. The rest become open cases; without open cases the document
    is gold. Does nothing
    unless everyone has submitted and the document is in annotation, or in validation with its
    faults accepted. The caller's transaction must hold the lock of the document's row.
    """
    assignments = _submitted(campaign_document, accept_faults)
    if not assignments:
        return
    campaign_document.settled_at = campaign_document.settled_at or timezone.now()
    if not accept_faults:
        campaign_document.faults = _faults(campaign_document, assignments)
    if campaign_document.faults and not accept_faults:
        _hold(campaign_document)
    else:
        _Settling(campaign_document, assignments).settle()


def _submitted(campaign_document: CampaignDocument, accept_faults: bool) -> list[Assignment]:
    """All assignments; empty if one is not submitted or the document is already settled."""
    stage = Stage.VALIDATION if accept_faults else Stage.ANNOTATION
    if campaign_document.stage != stage:
        return []
    active = campaign_document.assignments.active()
    assignments = list(active.order_by("id").prefetch_related("spans"))
    all_submitted = all(assignment.is_submitted for assignment in assignments)
    return assignments if all_submitted else []


def _faults(
    campaign_document: CampaignDocument, assignments: Sequence[Assignment]
) -> list[dict[str, Any]]:
    document, labels = campaign_document.document, campaign_document.campaign.labels
    submitted = (span for assignment in assignments for span in assignment.spans.all())
    message = omission(document, submitted, labels)
    of_page = [IntegrityFault("", "omission", message)] if message else []
    return [
        {
            "assignment": assignment.pk,
            "key": fault.key,
            "code": fault.code,
            "message": fault.message,
        }
        for assignment in assignments
        for fault in [
            *structural_faults(
                document.content.text, document.text_sha256, assignment.spans.all(), labels
            ),
            *of_page,
        ]
    ]


def _hold(campaign_document: CampaignDocument) -> None:
    campaign_document.stage = Stage.VALIDATION
    campaign_document.save(update_fields=["stage", "faults", "settled_at"])
    record_event(
        verb="fail_validation", subject=campaign_document, faults=len(campaign_document.faults)
    )


class _Settling:
    """The settling of one document, from each annotator's marks and their values."""

    def __init__(
        self, campaign_document: CampaignDocument, assignments: Sequence[Assignment]
    ) -> None:
        self.campaign_document = campaign_document
        self.assignments = assignments
        self.text = campaign_document.document.content.text
        self.threshold = campaign_document.campaign.agreement_threshold
        self.marks: list[Readings] = [_readings(assignment) for assignment in assignments]
        self.doubtful = self._doubtful()

    def settle(self) -> None:
        agreed, by_majority, cases = self._sorted()
        GoldSpan.objects.bulk_create(self._gold(span, GoldSpan.Origin.AGREED) for span in agreed)
        Case.objects.bulk_create(cases)
        for cluster, marks in by_majority:
            self._decide_by_majority(cluster, marks)
        document = self.campaign_document
        document.stage = Stage.ADJUDICATION
        document.save(update_fields=["stage", "faults", "settled_at"])
        record_event(
            verb="settle_document",
            subject=document,
            agreed=len(agreed),
            majority=len(by_majority),
            cases=len(cases),
        )
        if not cases:
            make_gold(campaign_document=document)

    def _sorted(
        self,
    ) -> tuple[list[TextSpan], list[tuple[Cluster, tuple[TextSpan, ...]]], list[Case]]:
        agreed: list[TextSpan] = []
        by_majority: list[tuple[Cluster, tuple[TextSpan, ...]]] = []
        cases: list[Case] = []
        for cluster in clusters([list(readings) for readings in self.marks]):
            if cluster.is_unanimous:
                (span,) = cluster.marks[0]
                problem = value_problem((readings[span] for readings in self.marks), span.label)
                if problem is not None:
                    cases.append(self._case(cluster, Case.Kind.VALUE))
                elif span in self.doubtful:
                    cases.append(self._case(cluster, Case.Kind.DOUBTFUL))
                else:
                    agreed.append(span)
            elif (
                cluster.majority is not None
                and cluster.score >= self.threshold
                and self.doubtful.isdisjoint(cluster.majority)
            ):
                by_majority.append((cluster, cluster.majority))
            else:
                cases.append(self._case(cluster, cluster.kind))
        return agreed, by_majority, cases

    def _doubtful(self) -> set[TextSpan]:
        """The marks of any annotator with a warning."""
        marks = (
            Mark(span.start, span.end, span.label, reading.value)
            for readings in self.marks
            for span, reading in readings.items()
        )
        found = doubts(self.campaign_document.document, marks)
        return {TextSpan(doubt.start, doubt.end, doubt.label) for doubt in found}

    def _gold(self, span: TextSpan, origin: str, case: Case | None = None) -> GoldSpan:
        readings = (marks[span] for marks in self.marks if span in marks)
        value = settled_value(readings, self.text[span.start : span.end], span.label)
        page, fact = self.campaign_document, self._fact(span, value)
        return GoldSpan(campaign_document=page, **fact, origin=origin, case=case)

    def _decide_by_majority(self, cluster: Cluster, marks: tuple[TextSpan, ...]) -> None:
        """Creates a decided case, which a lead can read and reopen."""
        case = self._case(cluster, cluster.kind)
        gold = [self._gold(span, GoldSpan.Origin.MAJORITY, case) for span in marks]
        case.state = Case.State.DECIDED
        case.decided_at = timezone.now()
        case.reason = f"{cluster.marks.count(marks)} of {len(cluster.marks)} annotators agree."
        case.decision = [fact_of(span) for span in gold]
        case.save()
        GoldSpan.objects.bulk_create(gold)
        Decision.objects.create(
            case=case, choice=Decision.Choice.MAJORITY, spans=case.decision, reason=case.reason
        )

    def _case(self, cluster: Cluster, kind: str) -> Case:
        return Case(
            campaign_document=self.campaign_document,
            start=cluster.start,
            end=cluster.end,
            kind=kind,
            score=cluster.score,
            proposals=[
                {
                    "assignment": assignment.pk,
                    "spans": [self._fact(span, readings[span]) for span in spans],
                }
                for assignment, readings, spans in zip(
                    self.assignments, self.marks, cluster.marks, strict=True
                )
            ],
        )

    def _fact(self, span: TextSpan, value: FactValue) -> dict[str, Any]:
        return {
            "label": span.label,
            "start": span.start,
            "end": span.end,
            "quote": self.text[span.start : span.end],
            "value": value.value,
            "sign": value.sign,
        }


def _readings(assignment: Assignment) -> Readings:
    return {
        TextSpan(span.start, span.end, span.label): FactValue(span.value, span.sign)
        for span in assignment.spans.all()
    }


GOLD = "gold"


class Answer(NamedTuple):
    """A span of a decision. A missing value or sign is taken from the annotators if they agree,
    otherwise derived.
    """

    label: str
    start: int
    end: int
    value: str | None = None
    sign: str | None = None

    @property
    def mark(self) -> "Answer":
        """The span without value and sign."""
        return Answer(self.label, self.start, self.end)


Answers = tuple[Answer, ...]
Proposals = Sequence[Mapping[str, Any]]


class Both(NamedTuple):
    """Two proposals, by their indexes, and their combined marks."""

    places: tuple[int, int]
    answers: Answers


def letter_of(place: int) -> str:
    """The name of an annotator of a document: A for the first, B for the second, AA after Z.

    >>> [letter_of(place) for place in (0, 25, 26)]
    ['A', 'Z', 'AA']
    """
    before, last = divmod(place, 26)
    return (letter_of(before - 1) if before else "") + chr(ord("A") + last)


def letters(proposals: Proposals) -> list[str]:
    """The name of each proposal: `A`, `B`, … for annotators, or `gold`."""
    names, annotators = [], 0
    for proposal in proposals:
        if proposal["assignment"] is None:
            names.append(GOLD)
        else:
            names.append(letter_of(annotators))
            annotators += 1
    return names


def answers_of(proposal: Mapping[str, Any]) -> Answers:
    """The marks of one proposal, with their values."""
    return tuple(
        Answer(span["label"], span["start"], span["end"], span.get("value"), span.get("sign"))
        for span in proposal["spans"]
    )


def majority(proposals: Proposals, *, by_value: bool) -> Answers | None:
    """The marks shared by more than half of at least three annotators, or None.

    An empty tuple means that most marked nothing. Marks are equal if their offsets and labels are;
    with `by_value`, their values and signs must be equal, too.
    """
    given = [answers_of(proposal) for proposal in proposals if proposal["assignment"] is not None]
    if len(given) < 3:
        return None
    marks = [answers if by_value else _marks(answers) for answers in given]
    most, count = Counter(marks).most_common(1)[0]
    if 2 * count <= len(given):
        return None
    if not by_value:
        # The majority may agree on the values even if the others do not.
        held = {answers for answers in given if _marks(answers) == most}
        return held.pop() if len(held) == 1 else most
    return most


def both(proposals: Proposals) -> Both | None:
    """The combination of two proposals that do not overlap, if there is exactly one."""
    unions: dict[Answers, Both] = {}
    given = [answers_of(proposal) for proposal in proposals]
    for (i, first), (j, second) in combinations(enumerate(given), 2):
        together = tuple(sorted({*_marks(first), *_marks(second)}, key=lambda answer: answer.start))
        is_more = len(together) > max(len(first), len(second))
        if is_more and not _overlap(together):
            known = {answer.mark: answer for answer in (*second, *first)}
            unions.setdefault(together, Both((i, j), tuple(known[mark] for mark in together)))
    return next(iter(unions.values())) if len(unions) == 1 else None


def _marks(answers: Answers) -> Answers:
    return tuple(answer.mark for answer in answers)


def _overlap(answers: Answers) -> bool:
    """Whether any two answers overlap. They must be sorted by start."""
    return any(a.end > b.start for a, b in pairwise(answers))
