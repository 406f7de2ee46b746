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

from annotation.access import adjudicated_campaign, adjudicated_page, case_for
from annotation.api_base import (
    AnnotationInvalid,
    AnnotationRefusal,
    AnnotationView,
    DoubtShape,
    SpanDraft,
    SpanRemark,
    WorkflowReason,
    field,
    user_of,
)
from annotation.errors import InvalidSpans
from annotation.models import CampaignDocument, Case, Decision, GoldSpan
from annotation.page_facts import page_facts, warning_rows
from annotation.spans import MAX_VALUE, Draft, check_drafts, read_spans
from portal.datasets.models import Document
from portal.facts import span_warnings
from portal.web.answers import answer
from portal.web.api import checked

from .cases import (
    Answer,
    CaseView,
    Proposal,
    Remark,
    Together,
    Verdict,
    case_view,
    case_views,
    letters,
    page_remarks,
    remarks_at,
)
from .selectors import (
    ORDERS,
    CaseFilter,
    Fault,
    FaultyDocument,
    FaultyWork,
    adjudication_page,
    faulty_documents,
    filtered_cases,
    next_page_url,
    open_cases,
)
from .services import MAX_REASON, decide_case, let_pass, reopen_case, reopen_document, send_back

CHOICES = [choice for choice in Decision.Choice.choices if choice[0] != Decision.Choice.REOPENED]
DIFFERENCES = ["only", "boundary", "label", "value", "review"]


class ProposedSpan(serializers.Serializer[Any]):
    label = serializers.CharField()  # type: ignore[assignment]
    start = serializers.IntegerField()
    end = serializers.IntegerField()
    quote = serializers.CharField()
    value = serializers.CharField(required=False, allow_blank=True)
    sign = serializers.CharField(required=False, allow_blank=True)


CaseProposal = answer(
    Proposal,
    "CaseProposal",
    letter="`A`, `B`, … for annotators, or `gold` for the former gold.",
    spans=ProposedSpan(many=True),
)
CaseTogether = answer(Together, "CaseTogether", spans=ProposedSpan(many=True))
CaseVerdict = answer(
    Verdict,
    "CaseVerdict",
    choice=serializers.ChoiceField(choices=Decision.Choice.choices),
    spans=ProposedSpan(many=True),
)
_CASE: dict[str, Any] = {
    "kind": serializers.ChoiceField(choices=Case.Kind.choices),
    "state": serializers.ChoiceField(choices=Case.State.choices),
    "score": "Agreement on the entity, 0 to 1.",
    "difference": serializers.ChoiceField(choices=DIFFERENCES),
    "note": "Why the case was opened, if a reason was given.",
    "majority": ProposedSpan(many=True, allow_null=True),
    "decision": ProposedSpan(many=True),
}
CaseShape = answer(CaseView, "CaseShape", **_CASE)


class CaseQuery(serializers.Serializer[Any]):
    state = serializers.ChoiceField(choices=Case.State.choices, required=False, default="")
    kind = serializers.ChoiceField(choices=Case.Kind.choices, required=False, default="")
    label = serializers.CharField(required=False, default="", max_length=64)  # type: ignore[assignment]
    document = serializers.CharField(required=False, default="")
    order = serializers.ChoiceField(choices=list(ORDERS.items()), required=False, default="text")


class PageQuery(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(choices=Case.Kind.choices, required=False, default="")
    label = serializers.CharField(required=False, default="", max_length=64)  # type: ignore[assignment]
    order = serializers.ChoiceField(choices=list(ORDERS.items()), required=False, default="text")


class DecisionSpan(serializers.Serializer[Any]):
    label = serializers.CharField(max_length=64)  # type: ignore[assignment]
    start = serializers.IntegerField(min_value=0)
    end = serializers.IntegerField(min_value=1)
    value = serializers.CharField(
        required=False, allow_null=True, allow_blank=True, max_length=MAX_VALUE,
        help_text="By default, the value that annotators share, otherwise the derived one.",
    )  # fmt: skip
    sign = serializers.CharField(required=False, allow_null=True, allow_blank=True, max_length=20)


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
        allow_null=True, help_text="URL of the next page with a matching open case."
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
        return case_views(super().paginate_queryset(queryset) or [])


class CaseDetailView(AnnotationView):
    @extend_schema(
        operation_id="campaigns_cases_retrieve_one",
        summary="Get a case with the annotators' comments (leads)",
        tags=["campaigns"],
        responses=CaseDetail,
    )
    def get(self, request: Request, slug: str, pk: int) -> Response:
        _, case = case_for(request.user, slug, pk)
        remarks = remarks_at(page_remarks(case.campaign_document), case.start, case.end)
        return Response(CaseDetail(asdict(case_view(case)) | {"remarks": remarks}).data)


class CaseDecide(AnnotationView):
    @extend_schema(
        summary="Decide a case (leads)",
        description="`choice`: `proposal` takes one annotator's marks, `majority` the marks of "
        "more than half of at least three annotators, `both` combines two proposals, `neither` "
        "marks nothing, `edit` takes `spans`. The filter parameters choose `next`.",
        tags=["campaigns"],
        parameters=[PageQuery],
        request=CaseDecision,
        responses={200: CaseDecided, 409: AnnotationRefusal, 422: AnnotationInvalid},
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        access, case = case_for(request.user, slug, pk)
        wanted = _page_filter(request)
        given = checked(CaseDecision, request.data)
        decided = decide_case(
            case=case,
            choice=given["choice"],
            proposal=_place(case, given),
            spans=[Answer(**span) for span in given.get("spans", [])],
            reason=given["reason"],
            actor=user_of(request),
        )
        shown = {
            "case": case_view(decided.case),
            "stage": decided.stage,
            "open_cases": open_cases(access.campaign).count(),
            "next": next_page_url(case.campaign_document, wanted),
        }
        return Response(CaseDecided(shown).data)


def _place(case: Case, given: dict[str, Any]) -> int | None:
    if given["choice"] != Decision.Choice.PROPOSAL:
        return None
    names = letters(case.proposals)
    if given["proposal"] not in names:
        raise ValidationError({"proposal": [f"must be one of {', '.join(names)}"]})
    return names.index(given["proposal"])


class CaseReopen(AnnotationView):
    @extend_schema(
        summary="Reopen a decided case (leads)",
        description="Removes its gold and returns its page to adjudication. Releases do not "
        "change.",
        tags=["campaigns"],
        request=Reason,
        responses={200: CaseShape, 409: AnnotationRefusal, 422: AnnotationInvalid},
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        _, case = case_for(request.user, slug, pk)
        body = checked(Reason, request.data)
        opened = reopen_case(case=case, actor=user_of(request), **body)
        return Response(CaseShape(case_view(opened)).data)


class AdjudicationPageView(AnnotationView):
    @extend_schema(
        summary="Get a page in adjudication: gold, cases, comments (leads)",
        tags=["campaigns"],
        parameters=[PageQuery],
        responses=AdjudicationPage,
    )
    def get(self, request: Request, slug: str, name: str) -> Response:
        _, page = adjudicated_page(request.user, slug, name)
        return Response(adjudication_page(page, _page_filter(request)))


class AdjudicationReopen(AnnotationView):
    @extend_schema(
        summary="Open a range of a page for a correction (leads)",
        description="Reopens the decided case in the range. Without one, a case with the current "
        "gold is created. Releases do not change.",
        tags=["campaigns"],
        request=PlaceReopening,
        responses={200: CaseShape, 409: AnnotationRefusal, 422: AnnotationInvalid},
    )
    def post(self, request: Request, slug: str, name: str) -> Response:
        _, page = adjudicated_page(request.user, slug, name)
        body = checked(PlaceReopening, request.data)
        opened = reopen_document(campaign_document=page, actor=user_of(request), **body)
        return Response(CaseShape(case_view(opened)).data)


class AdjudicationReadings(AnnotationView):
    @extend_schema(
        summary="Derive values and warnings of spans without saving them (leads)",
        tags=["campaigns"],
        request=SpanReadings,
        responses={200: SpanReadingsAnswer, 422: AnnotationInvalid},
    )
    def post(self, request: Request, slug: str, name: str) -> Response:
        access, page = adjudicated_page(request.user, slug, name)
        drafts, faults = read_spans(field(request, "spans", list))
        labels = access.campaign.labels
        faults = faults or check_drafts(page.document.content.text, drafts, labels)
        if faults:
            raise InvalidSpans(faults)
        return Response({"spans": [_reading(page.document, draft, labels) for draft in drafts]})


def _reading(document: Document, draft: Draft, labels: Sequence[str]) -> dict[str, Any]:
    borders, facts = page_facts(document)
    warnings = span_warnings(
        document.content.text, borders, draft.start, draft.end, draft.label, facts, draft.value
    )
    return {
        "key": draft.key,
        "value": draft.value,
        "sign": draft.sign,
        "edited": draft.edited,
        "warnings": warning_rows(warnings, draft.label, labels),
    }


def _page_filter(request: Request) -> CaseFilter:
    return CaseFilter(**checked(PageQuery, request.query_params))


ValidationFault = answer(Fault, "ValidationFault", quote="Empty if the fault concerns the page.")
ValidationWork = answer(
    FaultyWork, "ValidationWork", doubts="Marks with a warning. Warnings do not fail validation."
)
ValidationDocument = answer(
    FaultyDocument,
    "ValidationDocument",
    leave_out=["row", "name"],
    document=serializers.CharField(source="name"),
)


class ValidationSendBack(WorkflowReason):
    assignments = serializers.ListField(
        child=serializers.IntegerField(), allow_empty=False, help_text="Assignments to send back."
    )


class DocumentStage(serializers.Serializer[Any]):
    document = serializers.CharField()
    stage = serializers.ChoiceField(choices=CampaignDocument.Stage.choices)


class CampaignValidation(AnnotationView):
    @extend_schema(
        summary="List documents that failed validation (leads)",
        tags=["campaigns"],
        responses=ValidationDocument(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        access = adjudicated_campaign(request.user, slug)
        rows = faulty_documents(access.campaign)
        return Response(ValidationDocument(rows, many=True).data)


class ValidationBack(AnnotationView):
    @extend_schema(
        summary="Send work back to its annotators (leads)",
        description="They see the reason and submit again. Agreement still uses their first "
        "submission.",
        tags=["campaigns"],
        request=ValidationSendBack,
        responses={200: DocumentStage, 409: AnnotationRefusal},
    )
    def post(self, request: Request, slug: str, name: str) -> Response:
        row = _document(request, slug, name)
        body = checked(ValidationSendBack, request.data)
        sent = send_back(campaign_document=row, actor=user_of(request), **body)
        return Response({"document": name, "stage": sent.stage})


class ValidationPass(AnnotationView):
    @extend_schema(
        summary="Accept a document with its faults (leads)",
        tags=["campaigns"],
        request=WorkflowReason,
        responses={200: DocumentStage, 409: AnnotationRefusal},
    )
    def post(self, request: Request, slug: str, name: str) -> Response:
        row = _document(request, slug, name)
        body = checked(WorkflowReason, request.data)
        stage = let_pass(campaign_document=row, actor=user_of(request), **body)
        return Response({"document": name, "stage": stage})


def _document(request: Request, slug: str, name: str) -> CampaignDocument:
    access = adjudicated_campaign(request.user, slug)
    rows = CampaignDocument.objects.in_work().filter(campaign=access.campaign)
    return get_object_or_404(rows, document__name=name)
