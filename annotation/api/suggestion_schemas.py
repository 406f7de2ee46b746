"""The shapes of suggestions: which a campaign shows, and uploads of a model's marks."""

from typing import Any

from rest_framework import serializers

from annotation.models import SuggestionSource, SuggestionUpload


class SuggestionSources(serializers.Serializer[Any]):
    sources = serializers.MultipleChoiceField(choices=SuggestionSource.choices)


class CampaignSuggestions(serializers.Serializer[Any]):
    sources = serializers.ListField(child=serializers.ChoiceField(choices=SuggestionSource.choices))
    documents = serializers.IntegerField()
    with_xbrl = serializers.IntegerField(help_text="Documents whose filer tagged facts.")
    with_model = serializers.IntegerField(help_text="Documents with a model's marks.")


class SuggestionUploadFile(serializers.Serializer[Any]):
    file = serializers.FileField()


class SuggestionUploadRow(serializers.ModelSerializer[SuggestionUpload]):
    class Meta:
        model = SuggestionUpload
        fields = [
            *("id", "source_name", "state", "documents", "spans", "faults", "fault_count"),
            *("error", "created_at", "finished_at"),
        ]
        read_only_fields = fields
