"""API to export and import a campaign's labels."""

from typing import Any

from django.http import HttpResponseBase, StreamingHttpResponse
from django.utils.http import content_disposition_header
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied
from rest_framework.response import Response

from annotation.access import CampaignAccess, managed_campaign
from annotation.api_base import TOO_LARGE, AnnotationView, reads, writes
from annotation.models import CampaignImport
from portal.accounts.models import User
from portal.web.answers import ListingView
from portal.web.api import NamedField, PlainMultiPartParser, file_answers

from .selectors import FILES, campaign_file
from .services import new_import

Form = CampaignImport.Form
Layer = CampaignImport.Layer


class CampaignExportQuery(serializers.Serializer[Any]):
    form = serializers.ChoiceField(choices=Form.choices)
    layer = serializers.ChoiceField(
        choices=Layer.choices, default=Layer.GOLD, help_text="Ignored for a whole campaign."
    )
    emails = serializers.BooleanField(
        default=False, help_text="Include email addresses in a whole campaign."
    )


class CampaignImportFile(serializers.Serializer[Any]):
    file = serializers.FileField()
    form = serializers.ChoiceField(choices=Form.choices)
    layer = serializers.ChoiceField(
        choices=Layer.choices, default=Layer.GOLD, help_text="Ignored for a whole campaign."
    )
    annotator: "NamedField[User]" = NamedField(
        slug_field="email",
        queryset=User.objects.filter(is_active=True),
        required=False,
        allow_null=True,
        default=None,
        help_text="Email address of the annotator whose work the labels become.",
    )
    accept_unplaced = serializers.IntegerField(
        required=False,
        min_value=0,
        default=0,
        help_text="The exact number of labels in the file that have no place. Documents with such "
        "labels are imported without them; otherwise they are not imported.",
    )


class CampaignImportRow(serializers.ModelSerializer[CampaignImport]):
    annotator: "NamedField[User]" = NamedField(slug_field="email", read_only=True)

    class Meta:
        model = CampaignImport
        fields = [
            *("id", "source_name", "form", "layer", "annotator", "state", "documents", "spans"),
            *("moved", "rejected", "faults", "fault_count", "error", "created_at", "finished_at"),
        ]
        read_only_fields = fields


class CampaignExport(AnnotationView):
    @reads(
        "Export a campaign's gold or work, or the whole campaign (leads, organisers)",
        on=managed_campaign,
        asks=CampaignExportQuery,
        gives=file_answers(kind for _, kind in FILES.values()),
        description="Streams the gold of finished documents, or the work of every annotator on "
        "documents that all annotators have submitted. Pseudonyms replace names.",
    )
    def get(self, access: CampaignAccess, **wanted: Any) -> HttpResponseBase:
        file = campaign_file(access.campaign, **wanted)
        response = StreamingHttpResponse(file.content, content_type=file.media_type)
        response["Content-Disposition"] = content_disposition_header(True, file.name)
        response["X-Content-Type-Options"] = "nosniff"
        response["Cache-Control"] = "private, no-store"
        return response


class CampaignImports(AnnotationView, ListingView):
    queryset = CampaignImport.objects.none()
    serializer_class = CampaignImportRow
    parser_classes = [PlainMultiPartParser]

    @reads(
        "List the imports of a campaign, newest first (leads, organisers)",
        on=managed_campaign,
        gives=CampaignImportRow(many=True),
    )
    def get(self, access: CampaignAccess) -> Response:
        return self.listed(access.campaign.imports.select_related("annotator"))

    @writes(
        "Import labels into a campaign (leads, organisers)",
        on=managed_campaign,
        takes=CampaignImportFile,
        gives=CampaignImportRow,
        code=202,
        refuses=TOO_LARGE,
        description="Imports labels as gold, or as the submitted work of an annotator. A job reads "
        "the file and reports labels that moved or have no place. A document with labels that have "
        "no place is not imported, unless you confirm their number. Only organisers can import a "
        "whole campaign; it needs an empty draft on the same documents.",
    )
    def post(self, access: CampaignAccess, user: User, **wanted: Any) -> Any:
        if wanted["form"] == CampaignImport.Form.FULL and not access.is_organiser:
            raise PermissionDenied("Only organisers can import whole campaigns.")
        return new_import(campaign=access.campaign, actor=user, **wanted)
