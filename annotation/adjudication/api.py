"""The API of adjudication: the queue, cases, whole pages, and validation."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.generics import ListAPIView
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import CampaignAccess, adjudicated_campaign, adjudicated_page, case_for
from annotation.api_base import (
    INVALID,
    AnnotationInvalid,
    AnnotationView,
    DoubtShape,
    SpanDraft,
    SpanRemark,
    WorkflowReason,
    field,
    reads,
    writes,
)
from annotation.doubts import span_remarks
from annotation.errors import InvalidSpans
from annotation.models import CampaignDocument, Case, Decision, GoldSpan
from annotation.review.api import Correction, ReviewedFact
from annotation.spans import MAX_VALUE, check_drafts, read_spans
from portal.accounts.models import User
from portal.web.answers import answer
from portal.web.api import checked

from .selectors import (
    ORDERS,
    CaseFilter,
    CaseView,
    CombinedAnswer,
    Fault,
    FaultyDocument,
    FaultyWork,
    HistoryEntry,
    Proposal,
    Remark,
    adjudication_page,
    case_view,
    faulty_documents,
    filtered_cases,
    next_page_url,
    open_cases,
    page_remarks,
    remarks_at,
)
from .services import (
    MAX_REASON,
    OpenedCases,
    decide_case,
    let_pass,
    open_doubtful_cases,
    reopen_case,
    reopen_document,
    send_back,
)
from .settling import Answer, letters

CHOICES = [choice for choice in Decision.Choice.choices if choice[0] != Decision.Choice.REOPENED]
DIFFERENCES = ["only", "boundary", "label", "value", "doubtful", "review"]


class ProposedSpan(ReviewedFact):
    value = serializers.CharField(required=False, allow_blank=True)
    sign = serializers.CharField(required=False, allow_blank=True)


CaseProposal = answer(
    Proposal,
    "CaseProposal",
    letter="`A`, `B`, … for annotators, or `gold` for the former gold.",
    spans=ProposedSpan(many=True),
)
CaseTogether = answer(CombinedAnswer, "CaseTogether", spans=ProposedSpan(many=True))
CaseVerdict = answer(
    HistoryEntry,
    "CaseVerdict",
    choice=serializers.ChoiceField(choices=Decision.Choice.choices),
    spans=ProposedSpan(many=True),
)
_CASE: dict[str, Any] = {
    "kind": serializers.ChoiceField(choices=Case.Kind.choices),
    "state": serializers.ChoiceField(choices=Case.State.choices),
    "score": "Agreement on the case, 0 to 1.",
    "difference": serializers.ChoiceField(choices=DIFFERENCES),
    "note": "Why the case was opened, if a reason was given.",
    "majority": ProposedSpan(many=True, allow_null=True),
    "decision": ProposedSpan(many=True),
}
CaseShape = answer(CaseView, "CaseShape", **_CASE)


class PageQuery(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(choices=Case.Kind.choices, required=False, default="")
    label = serializers.CharField(required=False, default="", max_length=64)  # type: ignore[assignment]
    order = serializers.ChoiceField(choices=list(ORDERS.items()), required=False, default="text")


class CaseQuery(PageQuery):
    state = serializers.ChoiceField(choices=Case.State.choices, required=False, default="")
    document = serializers.CharField(required=False, default="")


class DecisionSpan(Correction):
    value = serializers.CharField(
        required=False, allow_null=True, allow_blank=True, max_length=MAX_VALUE,
        help_text="By default, the value that annotators share, otherwise the derived one.",
    )  # fmt: skip


class Reason(serializers.Serializer[Any]):
    reason = serializers.CharField(max_length=MAX_REASON)


class CaseDecision(serializers.Serializer[Any]):
    choice = serializers.ChoiceField(choices=CHOICES)
    proposal = serializers.CharField(
        required=False,
        max_length=10,
        help_text="For `proposal`: its name, as in `proposals[].letter`.",
    )
    spans: serializers.ListSerializer[Any] = serializers.ListSerializer(
        child=DecisionSpan(),
        required=False,
        max_length=50,
        help_text="For `edit`: the spans that become gold.",
    )
    reason = serializers.CharField(
        required=False, allow_blank=True, max_length=MAX_REASON, default="",
        help_text="Required unless `choice` is `majority`.",
    )  # fmt: skip

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        for name, choice in (("proposal", "proposal"), ("spans", "edit")):
            if (name in attrs) != (attrs["choice"] == choice):
                raise serializers.ValidationError(
                    {name: [f"Required with the choice {choice}, not allowed with any other."]}
                )
        return attrs


class CaseDecided(serializers.Serializer[Any]):
    case = CaseShape()
    stage = serializers.ChoiceField(choices=CampaignDocument.Stage.choices)
    open_cases = serializers.IntegerField(help_text="In the campaign.")
    next = serializers.CharField(
        allow_null=True, help_text="URL of the next document with a matching open case."
    )


CaseRemark = answer(Remark, "CaseRemark")
CaseDetail = answer(CaseView, "CaseDetail", **_CASE, remarks=CaseRemark(many=True))


class PageLabel(serializers.Serializer[Any]):
    name = serializers.CharField()
    key = serializers.CharField()
    css = serializers.CharField()


class PageMark(ProposedSpan):
    origin = serializers.ChoiceField(choices=GoldSpan.Origin.choices)


class AdjudicationPage(serializers.Serializer[Any]):
    document = serializers.CharField()
    stage = serializers.ChoiceField(choices=CampaignDocument.Stage.choices)
    text_sha256 = serializers.CharField()
    labels = PageLabel(many=True)
    marks = PageMark(many=True, help_text="Gold without a case.")
    cases = CaseShape(many=True)
    queue = serializers.ListField(
        child=serializers.IntegerField(), help_text="Matching open cases, in the requested order."
    )
    remarks = CaseRemark(many=True, help_text="Annotators' comments.")
    facts = serializers.ListField(
        child=serializers.ListField(), help_text="[start, end, number or date], to snap to."
    )
    reasons = serializers.ListField(child=serializers.CharField())
    doubtful = DoubtShape(many=True, help_text="Gold and open proposals with a warning.")
    next = serializers.CharField(allow_null=True)
    review_round = serializers.BooleanField(help_text="Whether a review round includes it.")
    obstacle = serializers.CharField(
        allow_blank=True, help_text="Why you cannot decide its cases; empty if you can."
    )


class PlaceReopening(Reason):
    start = serializers.IntegerField(min_value=0)
    end = serializers.IntegerField(min_value=1)


class SpanReadings(serializers.Serializer[Any]):
    spans = SpanDraft(many=True)


class SpanReadingsAnswer(serializers.Serializer[Any]):
    spans = SpanRemark(many=True)


@extend_schema_view(
    get=extend_schema(summary="List cases (leads)", tags=["campaigns"], parameters=[CaseQuery])
)
class CaseList(ListAPIView[Case]):
    permission_classes = [IsAuthenticated]
    serializer_class = CaseShape
    filter_backends = []
    queryset = Case.objects.none()

    def get_queryset(self) -> QuerySet[Case]:
        if getattr(self, "swagger_fake_view", False):
            return Case.objects.none()
        access = adjudicated_campaign(self.request.user, self.kwargs["slug"])
        query = checked(CaseQuery, self.request.query_params)
        return (
            filtered_cases(access.campaign, CaseFilter(**query))
            .select_related("campaign_document__document", "decided_by")
            .prefetch_related("decisions__decided_by")
        )

    def paginate_queryset(self, queryset: Any) -> Any:
        return [case_view(case) for case in super().paginate_queryset(queryset) or []]


OpenedCasesShape = answer(
    OpenedCases,
    "OpenedCases",
    cases=serializers.ListField(child=serializers.IntegerField()),
    own="Documents left out because they have the user's own labels.",
)


class CasesOfWarnings(AnnotationView):
    @writes(
        "Open cases for gold with warnings (leads)",
        on=adjudicated_campaign,
        gives=OpenedCasesShape,
        description="Opens a case for every fact with a warning on which no one decided. Their "
        "documents return to adjudication. Releases do not change.",
    )
    def post(self, access: CampaignAccess, user: User) -> Any:
        return open_doubtful_cases(campaign=access.campaign, actor=user)


class CaseDetailView(AnnotationView):
    @reads(
        "Get a case with the annotators' comments (leads)",
        on=case_for,
        gives=CaseDetail,
        operation_id="campaigns_cases_retrieve_one",
    )
    def get(self, _: CampaignAccess, case: Case) -> Any:
        remarks = remarks_at(page_remarks(case.campaign_document), case.start, case.end)
        return asdict(case_view(case)) | {"remarks": remarks}


class CaseDecide(AnnotationView):
    @writes(
        "Decide a case (leads)",
        on=case_for,
        asks=PageQuery,
        takes=CaseDecision,
        gives=CaseDecided,
        refuses=INVALID,
        description="`choice`: `proposal` takes one annotator's labels, `majority` the labels of "
        "more than half of at least three annotators, `both` combines two proposals, `neither` "
        "means that there is no fact, `edit` takes `spans`. The filter parameters choose `next`.",
    )
    def post(
        self,
        access: CampaignAccess,
        case: Case,
        user: User,
        *,
        choice: str,
        reason: str,
        proposal: str | None = None,
        spans: Sequence[dict[str, Any]] = (),
        **query: Any,
    ) -> Any:
        decided = decide_case(
            case=case,
            choice=choice,
            proposal=_place(case, proposal),
            spans=[Answer(**span) for span in spans],
            reason=reason,
            actor=user,
        )
        return {
            "case": case_view(decided),
            "stage": decided.campaign_document.stage,
            "open_cases": open_cases(access.campaign).count(),
            "next": next_page_url(case.campaign_document, CaseFilter(**query), user),
        }


def _place(case: Case, proposal: str | None) -> int | None:
    names = letters(case.proposals)
    if proposal is not None and proposal not in names:
        raise ValidationError({"proposal": [f"must be one of {', '.join(names)}"]})
    return None if proposal is None else names.index(proposal)


class CaseReopen(AnnotationView):
    @writes(
        "Reopen a decided case (leads)",
        on=case_for,
        takes=Reason,
        gives=CaseShape,
        refuses=INVALID,
        description="Removes its gold and returns its document to adjudication. Releases do not "
        "change.",
    )
    def post(self, _: CampaignAccess, case: Case, user: User, reason: str) -> Any:
        return case_view(reopen_case(case=case, reason=reason, actor=user))


class AdjudicationPageView(AnnotationView):
    @reads(
        "Get a document in adjudication: gold, cases, comments (leads)",
        on=adjudicated_page,
        asks=PageQuery,
        gives=AdjudicationPage,
    )
    def get(self, _: CampaignAccess, page: CampaignDocument, **query: Any) -> Any:
        return Response(adjudication_page(page, CaseFilter(**query), self.request.user))


class AdjudicationReopen(AnnotationView):
    @writes(
        "Create a case from a range of a document (leads)",
        on=adjudicated_page,
        takes=PlaceReopening,
        gives=CaseShape,
        refuses=INVALID,
        description="Reopens the decided case in the range. Without one, a case with the current "
        "gold is created. Releases do not change.",
    )
    def post(self, _: CampaignAccess, page: CampaignDocument, user: User, **place: Any) -> Any:
        return case_view(reopen_document(campaign_document=page, actor=user, **place))


class AdjudicationReadings(AnnotationView):
    @extend_schema(
        summary="Derive values and warnings of spans without saving them (leads)",
        tags=["campaigns"],
        request=SpanReadings,
        responses={200: SpanReadingsAnswer, 422: AnnotationInvalid},
    )
    def post(self, request: Request, slug: str, name: str) -> Response:
        access, page = adjudicated_page(request.user, slug, name=name)
        drafts, faults = read_spans(field(request, "spans", list))
        labels, text = access.campaign.labels, page.document.content.text
        faults = faults or check_drafts(text, drafts, labels)
        if faults:
            raise InvalidSpans(faults)
        return Response({"spans": span_remarks(page.document, drafts, labels)})


ValidationFault = answer(
    Fault, "ValidationFault", quote="Empty if the error concerns the whole document."
)
ValidationWork = answer(
    FaultyWork, "ValidationWork", doubts="Labels with a warning. Warnings do not fail validation."
)
ValidationDocument = answer(
    FaultyDocument,
    "ValidationDocument",
    leave_out=["row", "name"],
    document=serializers.CharField(source="name"),
)


class ValidationSendBack(WorkflowReason):
    assignments = serializers.ListField(
        child=serializers.IntegerField(), allow_empty=False, help_text="Assignments to return."
    )


class DocumentStage(serializers.Serializer[Any]):
    document = serializers.CharField(source="document.name")
    stage = serializers.ChoiceField(choices=CampaignDocument.Stage.choices)


class CampaignValidation(AnnotationView):
    @reads(
        "List documents that failed validation (leads)",
        on=adjudicated_campaign,
        gives=ValidationDocument(many=True),
    )
    def get(self, access: CampaignAccess) -> Any:
        return faulty_documents(access.campaign)


def _document(user: Any, slug: str, name: str) -> CampaignDocument:
    access = adjudicated_campaign(user, slug)
    rows = CampaignDocument.objects.in_work().filter(campaign=access.campaign)
    return get_object_or_404(rows.select_related("document"), document__name=name)


class ValidationBack(AnnotationView):
    @writes(
        "Return submissions to their annotators (leads)",
        on=_document,
        takes=ValidationSendBack,
        gives=DocumentStage,
        description="They see the reason and submit again. Agreement still uses their first "
        "submission.",
    )
    def post(self, row: CampaignDocument, user: User, **body: Any) -> Any:
        return send_back(campaign_document=row, actor=user, **body)


class ValidationPass(AnnotationView):
    @writes(
        "Accept a document with its errors (leads)",
        on=_document,
        takes=WorkflowReason,
        gives=DocumentStage,
    )
    def post(self, row: CampaignDocument, user: User, reason: str) -> Any:
        return let_pass(campaign_document=row, reason=reason, actor=user)
