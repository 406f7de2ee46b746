"""Adjudication for programs: the queue, cases, and whole pages. What the browser does is here."""

from collections.abc import Sequence
from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework.exceptions import ValidationError
from rest_framework.generics import ListAPIView
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import adjudicated_campaign, adjudicated_page, case_for
from annotation.models import Case, Decision
from annotation.proposals import Answer, letters
from annotation.selectors.adjudication import CaseFilter, filtered_cases, open_cases
from annotation.selectors.adjudication_page import adjudication_page, next_address
from annotation.selectors.case_views import page_remarks, remarks_at
from annotation.selectors.page_facts import page_facts
from annotation.selectors.spans import warning_rows
from annotation.services.adjudicating import decide_case
from annotation.services.errors import InvalidSpans
from annotation.services.reopening import reopen_case, reopen_document
from annotation.span_input import Draft, check_drafts, read_spans
from portal.datasets.models import Document
from portal.facts import span_warnings

from . import case_schemas as shapes
from .base import AnnotationView, field, user_of
from .schemas import AnnotationInvalid, AnnotationRefusal


@extend_schema_view(
    get=extend_schema(
        summary="Cases to adjudicate (leads)", tags=["campaigns"], parameters=[shapes.CaseQuery]
    )
)
class CaseList(ListAPIView[Case]):
    permission_classes = [IsAuthenticated]
    serializer_class = shapes.CaseShape
    filter_backends = []
    queryset = Case.objects.none()

    def get_queryset(self) -> QuerySet[Case]:
        if getattr(self, "swagger_fake_view", False):
            return Case.objects.none()
        standing = adjudicated_campaign(self.request.user, self.kwargs["slug"])
        query = shapes.CaseQuery(data=self.request.query_params)
        query.is_valid(raise_exception=True)
        return (
            filtered_cases(standing.campaign, CaseFilter(**query.validated_data))
            .select_related("campaign_document__document", "decided_by")
            .prefetch_related("decisions__decided_by")
        )


class CaseDetail(AnnotationView):
    @extend_schema(
        operation_id="campaigns_cases_retrieve_one",
        summary="One case with what annotators wrote about it (leads)",
        tags=["campaigns"],
        responses=shapes.CaseDetail,
    )
    def get(self, request: Request, slug: str, pk: int) -> Response:
        _, case = case_for(request.user, slug, pk)
        return Response(shapes.CaseShape(case).data | {"remarks": _remarks(case)})


def _remarks(case: Case) -> list[dict[str, Any]]:
    found = remarks_at(page_remarks(case.campaign_document), case.start, case.end)
    return [remark._asdict() for remark in found]


class CaseDecide(AnnotationView):
    @extend_schema(
        summary="Decide a case (leads)",
        description="`choice`: `proposal` takes one annotator's marks, `majority` what most of at "
        "least three marked, `both` two proposals that fit beside each other, `neither` marks "
        "nothing, `edit` takes `spans`. The query's filter, as that of the page, chooses `next`.",
        tags=["campaigns"],
        parameters=[shapes.PageQuery],
        request=shapes.CaseDecision,
        responses={200: shapes.CaseDecided, 409: AnnotationRefusal, 422: AnnotationInvalid},
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        standing, case = case_for(request.user, slug, pk)
        wanted = _page_filter(request)
        body = shapes.CaseDecision(data=request.data)
        body.is_valid(raise_exception=True)
        given = body.validated_data
        decided = decide_case(
            case=case,
            choice=given["choice"],
            proposal=_place(case, given),
            spans=[Answer(**span) for span in given.get("spans", [])],
            reason=given["reason"],
            actor=user_of(request),
        )
        answer = {
            "case": decided.case,
            "stage": decided.stage,
            "open_cases": open_cases(standing.campaign).count(),
            "next": next_address(case.campaign_document, wanted),
        }
        return Response(shapes.CaseDecided(answer).data)


def _place(case: Case, given: dict[str, Any]) -> int | None:
    if given["choice"] != Decision.Choice.PROPOSAL:
        return None
    names = letters(case.proposals)
    if given["proposal"] not in names:
        raise ValidationError({"proposal": [f"must be one of {', '.join(names)}"]})
    return names.index(given["proposal"])


class CaseReopen(AnnotationView):
    @extend_schema(
        summary="Open a decided case again (leads)",
        description="Its gold is taken back and its page returns to adjudication. Releases stay as "
        "they are.",
        tags=["campaigns"],
        request=shapes.Reason,
        responses={200: shapes.CaseShape, 409: AnnotationRefusal, 422: AnnotationInvalid},
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        _, case = case_for(request.user, slug, pk)
        body = shapes.Reason(data=request.data)
        body.is_valid(raise_exception=True)
        opened = reopen_case(case=case, actor=user_of(request), **body.validated_data)
        return Response(shapes.CaseShape(opened).data)


class AdjudicationPage(AnnotationView):
    @extend_schema(
        summary="A whole page in adjudication: gold, cases, remarks (leads)",
        tags=["campaigns"],
        parameters=[shapes.PageQuery],
        responses=shapes.AdjudicationPage,
    )
    def get(self, request: Request, slug: str, name: str) -> Response:
        _, page = adjudicated_page(request.user, slug, name)
        return Response(adjudication_page(page, _page_filter(request)))


class AdjudicationReopen(AnnotationView):
    @extend_schema(
        summary="Open a place of a page for a correction (leads)",
        description="The case that was decided there is opened again; where there was none a case "
        "begins with the gold as it was. Releases stay as they are.",
        tags=["campaigns"],
        request=shapes.PlaceReopening,
        responses={200: shapes.CaseShape, 409: AnnotationRefusal, 422: AnnotationInvalid},
    )
    def post(self, request: Request, slug: str, name: str) -> Response:
        _, page = adjudicated_page(request.user, slug, name)
        body = shapes.PlaceReopening(data=request.data)
        body.is_valid(raise_exception=True)
        opened = reopen_document(
            campaign_document=page, actor=user_of(request), **body.validated_data
        )
        return Response(shapes.CaseShape(opened).data)


class AdjudicationReadings(AnnotationView):
    @extend_schema(
        summary="What our rules read from spans of a page; saves nothing (leads)",
        tags=["campaigns"],
        request=shapes.SpanReadings,
        responses={200: shapes.SpanReadingsAnswer, 422: AnnotationInvalid},
    )
    def post(self, request: Request, slug: str, name: str) -> Response:
        standing, page = adjudicated_page(request.user, slug, name)
        drafts, faults = read_spans(field(request, "spans", list))
        labels = standing.campaign.labels
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
    query = shapes.PageQuery(data=request.query_params)
    query.is_valid(raise_exception=True)
    return CaseFilter(**query.validated_data)
