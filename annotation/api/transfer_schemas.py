"""The shapes of what goes out of a campaign and comes into it."""

from typing import Any

from rest_framework import serializers

from annotation.models import CampaignImport
from portal.accounts.models import User
from portal.web.api import NamedField

Form = CampaignImport.Form
Layer = CampaignImport.Layer


class CampaignExportQuery(serializers.Serializer[Any]):
    form = serializers.ChoiceField(choices=Form.choices)
    layer = serializers.ChoiceField(
        choices=Layer.choices, default=Layer.GOLD, help_text="A whole campaign has both."
    )
    emails = serializers.BooleanField(
        default=False, help_text="E-mail addresses of its people, in a whole campaign."
    )


class CampaignImportFile(serializers.Serializer[Any]):
    file = serializers.FileField()
    form = serializers.ChoiceField(choices=Form.choices)
    layer = serializers.ChoiceField(
        choices=Layer.choices, default=Layer.GOLD, help_text="Nothing for a whole campaign."
    )
    annotator: "NamedField[User]" = NamedField(
        slug_field="email",
        queryset=User.objects.filter(is_active=True),
        required=False,
        allow_null=True,
        default=None,
        help_text="By e-mail address: whose work the labels become.",
    )


class CampaignImportRow(serializers.ModelSerializer[CampaignImport]):
    annotator: "NamedField[User]" = NamedField(slug_field="email", read_only=True)

    class Meta:
        model = CampaignImport
        fields = [
            *("id", "source_name", "form", "layer", "annotator", "state", "documents", "spans"),
            *("moved", "faults", "fault_count", "error", "created_at", "finished_at"),
        ]
        read_only_fields = fields
