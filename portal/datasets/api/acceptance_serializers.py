"""JSON forms of batches, their inspection and their audit reports."""

from typing import Any

from rest_framework import serializers

from portal.datasets.curation.acceptance import THRESHOLD, smallest_telling_sample
from portal.datasets.curation.schemas import BUILT_IN
from portal.datasets.models import Batch, DocumentType, Selection
from portal.datasets.services.acceptance import MAX_BATCH
from portal.datasets.services.inspections import LONGEST_COMMENT
from portal.web.api import NamedField


class FieldAccuracySerializer(serializers.Serializer[Any]):
    """How often a field was right; `missing` inspections are still to come."""

    # `field` and others are names of serializers' own attributes.
    def get_fields(self) -> dict[str, Any]:
        share: dict[str, Any] = {"allow_null": True, "help_text": "0 to 1."}
        return {
            "field": serializers.CharField(),
            "right": serializers.IntegerField(),
            "n": serializers.IntegerField(),
            "missing": serializers.IntegerField(),
            "accuracy": serializers.FloatField(**share),
            "low": serializers.FloatField(**share),
            "high": serializers.FloatField(**share),
        }


class BatchRowSerializer(serializers.Serializer[Any]):
    number = serializers.IntegerField(source="batch.number")
    state = serializers.ChoiceField(choices=Batch.State.choices, source="batch.state")
    documents = serializers.IntegerField()
    sample_size = serializers.IntegerField(source="batch.sample_size")
    said = serializers.IntegerField(help_text="Verdicts that are there.")
    due = serializers.IntegerField(help_text="Verdicts that there have to be.")
    accuracy = serializers.FloatField(
        source="overall.accuracy", allow_null=True, help_text="Of all fields together, 0 to 1."
    )
    threshold = serializers.FloatField(source="batch.threshold")
    seed = serializers.IntegerField(source="batch.seed")
    created_at = serializers.DateTimeField(source="batch.created_at")
    closed_at = serializers.DateTimeField(source="batch.closed_at", allow_null=True)


class NewBatchSerializer(serializers.Serializer[Any]):
    """A batch to be opened. The schema is one of the site's by name, `records`, or JSON."""

    schema = serializers.JSONField(
        help_text=f"`{'`, `'.join(BUILT_IN)}`; `records` for the fields that the records have; or "
        "a list of fields, or an object of fields, sums and orders."
    )
    seed = serializers.IntegerField(min_value=0, max_value=2**63 - 1)
    sample_size = serializers.IntegerField(
        min_value=1, max_value=MAX_BATCH, required=False, default=smallest_telling_sample
    )
    threshold = serializers.FloatField(
        min_value=0.001, max_value=1, required=False, default=THRESHOLD
    )
    size = serializers.IntegerField(
        min_value=1,
        max_value=MAX_BATCH,
        required=False,
        allow_null=True,
        default=None,
        help_text="Documents at most, the next ones by name.",
    )
    selection = NamedField[Selection](
        slug_field="title",
        queryset=Selection.objects.none(),
        required=False,
        allow_null=True,
        default=None,
        help_text="The title of a selection of the dataset.",
    )
    doc_type = serializers.ChoiceField(choices=DocumentType.choices, required=False, default="")
    language = serializers.CharField(max_length=12, required=False, default="", allow_blank=True)

    def get_fields(self) -> dict[str, Any]:
        fields: dict[str, Any] = super().get_fields()
        if dataset := self.context.get("dataset"):
            fields["selection"].queryset = dataset.selections.all()
        return fields


class WrongValueSerializer(serializers.Serializer[Any]):
    """A wrong value, with what it should be."""

    def get_fields(self) -> dict[str, Any]:
        return {
            "document": serializers.CharField(),
            "field": serializers.CharField(),
            "value": serializers.JSONField(),
            "correct_value": serializers.JSONField(
                allow_null=True, help_text="Null: not given; an empty text: it should be empty."
            ),
            "comment": serializers.CharField(),
        }


class BatchFaultCountSerializer(serializers.Serializer[Any]):
    def get_fields(self) -> dict[str, Any]:
        return {
            "field": serializers.CharField(),
            "code": serializers.CharField(),
            "count": serializers.IntegerField(),
        }


class BatchValidationSerializer(serializers.Serializer[Any]):
    documents_with_faults = serializers.IntegerField()
    counts = BatchFaultCountSerializer(many=True)


class BatchAuditSerializer(serializers.Serializer[Any]):
    """The audit report: of an open batch as it is now, with the state `incomplete` or what it
    would be closed with.
    """

    def get_fields(self) -> dict[str, Any]:
        return {
            "state": serializers.ChoiceField(choices=["incomplete", "accepted", "rejected"]),
            "threshold": serializers.FloatField(),
            "batch_size": serializers.IntegerField(),
            "sample_size": serializers.IntegerField(),
            "seed": serializers.IntegerField(),
            "failing": serializers.ListField(child=serializers.CharField()),
            "fields": FieldAccuracySerializer(many=True),
            "overall": FieldAccuracySerializer(),
            "errors": WrongValueSerializer(many=True),
            "validation": BatchValidationSerializer(),
        }


class SampledDocumentSerializer(serializers.Serializer[Any]):
    name = serializers.CharField(source="document.name")
    said = serializers.IntegerField(help_text="Fields with a verdict.")
    wrong = serializers.IntegerField()
    faults = serializers.JSONField(help_text="[{field, code, message}, …] of the validation.")


class InspectedFieldSerializer(serializers.Serializer[Any]):
    """A field of a drawn document with the verdict on it."""

    def get_fields(self) -> dict[str, Any]:
        return {
            "name": serializers.CharField(),
            "kind": serializers.CharField(),
            "value": serializers.JSONField(source="raw", allow_null=True),
            "faults": serializers.ListField(child=serializers.CharField()),
            "said": serializers.ChoiceField(choices=["", "right", "wrong"]),
            "inspector": serializers.CharField(),
            "base": serializers.CharField(help_text="To be sent with another verdict."),
            "correct_value": serializers.JSONField(source="raw_correct", allow_null=True),
            "comment": serializers.CharField(),
        }


class InspectionSerializer(serializers.Serializer[Any]):
    """A verdict on one field. `base` is that of the verdict one saw; without it, it overrules."""

    name = serializers.CharField(max_length=80, trim_whitespace=False)
    is_right = serializers.BooleanField()
    correct_value = serializers.JSONField(
        required=False,
        allow_null=True,
        default=None,
        help_text="Of a wrong field; an empty text: it should be empty.",
    )
    comment = serializers.CharField(
        required=False, default="", allow_blank=True, max_length=LONGEST_COMMENT
    )
    base = serializers.CharField(
        required=False, allow_null=True, allow_blank=True, default=None, max_length=40
    )


class InspectionClearSerializer(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=80, trim_whitespace=False)
    base = serializers.CharField(
        required=False, allow_null=True, allow_blank=True, default=None, max_length=40
    )


class BatchPutBackSerializer(serializers.Serializer[Any]):
    documents = serializers.IntegerField(help_text="How many are no longer held back.")


class BatchReportQuerySerializer(serializers.Serializer[Any]):
    form = serializers.ChoiceField(
        choices=["json", "markdown", "csv"], required=False, default="json"
    )
