"""API of screening. Anyone with a role in the campaign may give a verdict."""

from typing import Any

from django.shortcuts import get_object_or_404
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import campaign_for
from annotation.api_base import (
    AnnotationRefusal,
    AnnotationView,
    WorkflowReason,
    campaigns_schema,
    user_of,
)
from annotation.errors import MAX_WORKFLOW_REASON
from annotation.models import CampaignDocument, Screening
from portal.accounts.models import display_name
from portal.datasets.models import DocumentContent
from portal.web.answers import answer
from portal.web.api import checked

from . import services


class ScreeningVerdict(serializers.ModelSerializer[Screening]):
    screened_by = serializers.SerializerMethodField()

    class Meta:
        model = Screening
        fields = ["verdict", "faults", "reason", "screened_by", "screened_at"]
        read_only_fields = fields

    def get_screened_by(self, screening: Screening) -> str:
        return display_name(screening.screened_by)


class ScreeningRow(serializers.Serializer[Any]):
    document = serializers.CharField(source="document.name")
    stage = serializers.ChoiceField(choices=CampaignDocument.Stage.choices)
    verdict = ScreeningVerdict(allow_null=True)


ScreeningProgress = answer(
    services.ScreeningQueue, "ScreeningProgress", total=serializers.IntegerField()
)


class ScreeningList(serializers.Serializer[Any]):
    progress = ScreeningProgress()
    pages = ScreeningRow(many=True)


class ScreeningQuery(serializers.Serializer[Any]):
    state = serializers.ChoiceField(
        choices=["waiting", "passed", "excluded"],
        default="waiting",
        help_text="The state of the pages to list.",
    )


class ScreeningPage(serializers.Serializer[Any]):
    document = serializers.CharField()
    stage = serializers.ChoiceField(choices=CampaignDocument.Stage.choices)
    html = serializers.CharField(help_text="The page without labels.")
    verdicts = ScreeningVerdict(many=True, help_text="Newest first.")


class NewScreening(serializers.Serializer[Any]):
    verdict = serializers.ChoiceField(choices=Screening.Verdict.choices)
    faults = serializers.ListField(
        child=serializers.ChoiceField(choices=Screening.Fault.choices), required=False, default=list
    )
    reason = serializers.CharField(
        required=False, allow_blank=True, max_length=MAX_WORKFLOW_REASON, default=""
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["verdict"] == Screening.Verdict.FAULTY:
            for name in ("faults", "reason"):
                if not attrs[name]:
                    raise serializers.ValidationError({name: ["Required for a faulty page."]})
        elif attrs["faults"]:
            raise serializers.ValidationError({"faults": ["An intact page has no faults."]})
        return attrs


class ScreeningGiven(serializers.Serializer[Any]):
    document = serializers.CharField()
    stage = serializers.ChoiceField(choices=CampaignDocument.Stage.choices)
    next = serializers.CharField(allow_null=True, help_text="The next page to screen.")


Stage = CampaignDocument.Stage


class CampaignScreening(AnnotationView):
    @campaigns_schema(
        operation_id="campaigns_screening_queue",
        summary="List the pages to screen",
        parameters=[ScreeningQuery],
        responses=ScreeningList,
    )
    def get(self, request: Request, slug: str) -> Response:
        access = campaign_for(request.user, slug)
        query = checked(ScreeningQuery, request.query_params)
        rows = services.with_verdicts(
            list(services.screening_rows(access.campaign, query["state"]))
        )
        body = {"progress": services.screening_queue(access.campaign), "pages": rows}
        return Response(ScreeningList(body).data)


class ScreeningPageView(AnnotationView):
    @campaigns_schema(summary="Get a page to screen, without labels", responses=ScreeningPage)
    def get(self, request: Request, slug: str, name: str) -> Response:
        _, row = services.screening_page(request.user, slug, name)
        content = get_object_or_404(DocumentContent.objects.only("html"), pk=row.document_id)
        body = {
            "document": row.document.name,
            "stage": row.stage,
            "html": content.html,
            "verdicts": services.verdicts_of(row),
        }
        return Response(ScreeningPage(body).data)

    @campaigns_schema(
        summary="Give a verdict on a page",
        description="An intact page goes to its annotators. A faulty page needs faults and a "
        "reason, and is excluded. Leads and organisers can also exclude a page in annotation.",
        request=NewScreening,
        responses={200: ScreeningGiven, 409: AnnotationRefusal},
    )
    def post(self, request: Request, slug: str, name: str) -> Response:
        access, row = services.screening_page(request.user, slug, name)
        done = services.screen_or_exclude(
            campaign_document=row,
            may_manage=access.may_manage,
            actor=user_of(request),
            **checked(NewScreening, request.data),
        )
        return Response(_given(row, done.stage))


class ScreeningBack(AnnotationView):
    @campaigns_schema(
        summary="Restore an excluded page (leads, organisers)",
        request=WorkflowReason,
        responses={200: ScreeningGiven, 409: AnnotationRefusal},
    )
    def post(self, request: Request, slug: str, name: str) -> Response:
        access, row = services.screening_page(request.user, slug, name)
        if not access.may_manage:
            raise PermissionDenied("Only leads and organisers can restore a page.")
        body = checked(WorkflowReason, request.data)
        done = services.bring_back_document(campaign_document=row, actor=user_of(request), **body)
        return Response(_given(row, done.stage))


class ScreeningUndo(AnnotationView):
    @campaigns_schema(
        summary="Undo my last verdict on a page",
        request=None,
        responses={200: ScreeningGiven, 409: AnnotationRefusal},
    )
    def post(self, request: Request, slug: str, name: str) -> Response:
        _, row = services.screening_page(request.user, slug, name)
        undone = services.undo_screening(campaign_document=row, actor=user_of(request))
        return Response(_given(row, undone.stage))


def _given(row: CampaignDocument, stage: str) -> dict[str, str | None]:
    following = services.next_to_screen(row.campaign, row)
    return {
        "document": row.document.name,
        "stage": stage,
        "next": following.document.name if following else None,
    }
