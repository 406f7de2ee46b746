"""API of screening. Anyone with a role in the campaign may give a verdict."""

from typing import Any

from django.shortcuts import get_object_or_404
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied

from annotation.access import CampaignAccess, campaign_for
from annotation.api_base import AnnotationView, WorkflowReason, reads, writes
from annotation.errors import MAX_WORKFLOW_REASON
from annotation.models import CampaignDocument, Screening
from portal.accounts.models import User
from portal.datasets.models import DocumentContent
from portal.web.answers import answer

from . import services


class ScreeningVerdict(serializers.ModelSerializer[Screening]):
    screened_by = serializers.CharField(read_only=True)

    class Meta:
        model = Screening
        fields = ["verdict", "faults", "reason", "screened_by", "screened_at"]
        read_only_fields = fields


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
        help_text="The state of the documents to list.",
    )


class ScreeningPage(serializers.Serializer[Any]):
    document = serializers.CharField()
    stage = serializers.ChoiceField(choices=CampaignDocument.Stage.choices)
    html = serializers.CharField(help_text="The document without labels.")
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
                    raise serializers.ValidationError({name: ["Required for a faulty document."]})
        elif attrs["faults"]:
            raise serializers.ValidationError({"faults": ["An intact document has no faults."]})
        return attrs


class ScreeningGiven(serializers.Serializer[Any]):
    document = serializers.CharField()
    stage = serializers.ChoiceField(choices=CampaignDocument.Stage.choices)
    next = serializers.CharField(allow_null=True, help_text="The next document to screen.")


class CampaignScreening(AnnotationView):
    @reads(
        "List the documents to screen",
        on=campaign_for,
        asks=ScreeningQuery,
        gives=ScreeningList,
        operation_id="campaigns_screening_queue",
    )
    def get(self, access: CampaignAccess, state: str) -> Any:
        rows = services.with_verdicts(list(services.screening_rows(access.campaign, state)))
        return {"progress": services.screening_queue(access.campaign), "pages": rows}


class ScreeningPageView(AnnotationView):
    @reads(
        "Get a document to screen, without labels", on=services.screening_page, gives=ScreeningPage
    )
    def get(self, _: CampaignAccess, row: CampaignDocument) -> Any:
        content = get_object_or_404(DocumentContent.objects.only("html"), pk=row.document_id)
        return {
            "document": row.document.name,
            "stage": row.stage,
            "html": content.html,
            "verdicts": services.verdicts_of(row),
        }

    @writes(
        "Give a verdict on a document",
        on=services.screening_page,
        takes=NewScreening,
        gives=ScreeningGiven,
        description="An intact document goes to its annotators. A faulty one is excluded and needs "
        "faults and a reason. Leads and organisers can also exclude a document in annotation.",
    )
    def post(self, access: CampaignAccess, row: CampaignDocument, user: User, **body: Any) -> Any:
        done = services.screen_or_exclude(
            campaign_document=row, may_manage=access.may_manage, actor=user, **body
        )
        return _given(row, done.stage)


def _page_to_restore(user: Any, slug: str, name: str) -> CampaignDocument:
    access, row = services.screening_page(user, slug, name)
    if not access.may_manage:
        raise PermissionDenied("Only leads and organisers can restore a document.")
    return row


class ScreeningBack(AnnotationView):
    @writes(
        "Restore an excluded document (leads, organisers)",
        on=_page_to_restore,
        takes=WorkflowReason,
        gives=ScreeningGiven,
    )
    def post(self, row: CampaignDocument, user: User, reason: str) -> Any:
        done = services.bring_back_document(campaign_document=row, actor=user, reason=reason)
        return _given(row, done.stage)


class ScreeningUndo(AnnotationView):
    @writes("Undo my last verdict on a document", on=services.screening_page, gives=ScreeningGiven)
    def post(self, _: CampaignAccess, row: CampaignDocument, user: User) -> Any:
        undone = services.undo_screening(campaign_document=row, actor=user)
        return _given(row, undone.stage)


def _given(row: CampaignDocument, stage: str) -> dict[str, str | None]:
    following = services.next_to_screen(row.campaign, row)
    return {
        "document": row.document.name,
        "stage": stage,
        "next": following.document.name if following else None,
    }
