"""JSON forms of curation: filters, edits, findings, pairs of duplicates, selections."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from portal.datasets.document_fields import FIRST_YEAR, LAST_YEAR
from portal.datasets.document_forms import FACT_CHOICES, MAX_FACTS, MAX_REASON, PARAMETERS
from portal.datasets.models import Document, DocumentType, NearDuplicate, PiiFinding, Selection
from portal.datasets.selectors.document_filters import SORTS, UNKNOWN, DocumentFilter
from portal.datasets.selectors.personal_data import FindingRow
from portal.datasets.services.personal_data import MOST_AT_ONCE
from portal.datasets.services.selections import MAX_SEED, MAX_TITLE, STRATA
from portal.web.api import LARGEST_KEY

_SORT_NAMES = [*SORTS, *(f"-{name}" for name in SORTS)]
MOST_NAMES = 1_000


class DocumentFilterSerializer(serializers.Serializer[Any]):
    """What is looked for among documents, as in the table; what is left out filters nothing."""

    q = serializers.CharField(
        required=False, default="", max_length=100, help_text="Part of the name or company."
    )
    type = serializers.ChoiceField(choices=DocumentType.choices, required=False, default="")
    year = serializers.RegexField(
        rf"^([0-9]{{4}}|{UNKNOWN})$",
        required=False,
        default="",
        help_text=f"Fiscal year, or {UNKNOWN}.",
    )
    source = serializers.CharField(  # type: ignore[assignment]  # a field's name, too
        required=False, default="", max_length=80, help_text=f"A whole value, or {UNKNOWN}."
    )
    language = serializers.CharField(
        required=False, default="", max_length=12, help_text=f"A whole value, or {UNKNOWN}."
    )
    kind = serializers.ChoiceField(choices=Document.Kind.choices, required=False, default="")
    state = serializers.ChoiceField(
        choices=Document.State.choices,
        required=False,
        default="",
        help_text="For organisers; filters nothing for others.",
    )
    facts = serializers.ChoiceField(choices=FACT_CHOICES, required=False, default="")
    min_facts = serializers.IntegerField(
        required=False, default=None, min_value=0, max_value=MAX_FACTS, allow_null=True
    )

    def wanted(self) -> DocumentFilter:
        """Once the data is valid."""
        return as_filter(self.validated_data)


class DocumentQuerySerializer(DocumentFilterSerializer):
    """How documents are looked for, and in which order they come."""

    sort = serializers.ChoiceField(
        choices=[(name, name) for name in _SORT_NAMES], required=False, default="name"
    )


def as_filter(values: dict[str, Any]) -> DocumentFilter:
    return DocumentFilter(**{field: values[name] for name, field in PARAMETERS.items()})


class DocumentFieldsSerializer(serializers.Serializer[Any]):
    """What may change of many documents at once; a field that is left out stays."""

    doc_type = serializers.ChoiceField(choices=DocumentType.choices, required=False)
    company = serializers.CharField(required=False, max_length=200, allow_blank=True)
    form_type = serializers.CharField(required=False, max_length=60, allow_blank=True)
    fiscal_year = serializers.IntegerField(
        required=False, min_value=FIRST_YEAR, max_value=LAST_YEAR, allow_null=True
    )
    language = serializers.CharField(required=False, max_length=12, allow_blank=True)
    licence = serializers.CharField(required=False, max_length=300, allow_blank=True)


class DocumentChangeSerializer(DocumentFieldsSerializer):
    """What may change of one document: its name and content never do."""

    source_url = serializers.CharField(
        required=False,
        max_length=500,
        allow_blank=True,
        help_text="Begins with https:// or http://.",
    )
    metadata = serializers.DictField(
        child=serializers.JSONField(allow_null=True),
        required=False,
        help_text="A JSON object, of at most 64 kB; it replaces what there is.",
    )


class EditedDocumentSerializer(serializers.ModelSerializer[Document]):
    """What describes a document."""

    class Meta:
        model = Document
        fields = [
            "name",
            "doc_type",
            "company",
            "form_type",
            "fiscal_year",
            "language",
            "source_url",
            "source",
            "licence",
            "metadata",
            "state",
            "held_reason",
        ]


class BulkEditSerializer(serializers.Serializer[Any]):
    """The documents, by `names` or by `filter`, and what changes of all of them.

    `hold_back` is the reason for which they are held back; `take_up` takes them up again.
    """

    names = serializers.ListField(
        child=serializers.CharField(max_length=160), required=False, max_length=MOST_NAMES
    )
    filter = DocumentFilterSerializer(required=False)
    changes = DocumentFieldsSerializer(required=False)
    hold_back = serializers.CharField(required=False, max_length=MAX_REASON)
    take_up = serializers.BooleanField(required=False, default=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if ("names" in attrs) == ("filter" in attrs):
            raise serializers.ValidationError("Give either names or a filter.")
        if attrs["take_up"] and "hold_back" in attrs:
            raise serializers.ValidationError("Documents are held back or taken up, not both.")
        return attrs


class ChangedSerializer(serializers.Serializer[Any]):
    documents = serializers.IntegerField(help_text="How many were changed.")


class FindingSerializer(serializers.Serializer[FindingRow]):
    """A finding, with its text and what stands around it."""

    id = serializers.IntegerField(source="finding.pk")
    document = serializers.CharField(source="finding.document.name")
    kind = serializers.ChoiceField(choices=PiiFinding.Kind.choices, source="finding.kind")
    rule = serializers.CharField(source="finding.rule")
    start = serializers.IntegerField(source="finding.start")
    end = serializers.IntegerField(source="finding.end")
    before = serializers.CharField()
    found = serializers.CharField()
    after = serializers.CharField()
    decision = serializers.ChoiceField(
        choices=PiiFinding.Decision.choices, source="finding.decision"
    )
    reason = serializers.CharField(source="finding.reason")
    decided_at = serializers.DateTimeField(source="finding.decided_at", allow_null=True)
    releases = serializers.ListField(child=serializers.CharField())


class FindingQuerySerializer(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(choices=PiiFinding.Kind.choices, required=False, default="")
    decision = serializers.ChoiceField(
        choices=PiiFinding.Decision.choices, required=False, default=""
    )


class DecideFindingsSerializer(serializers.Serializer[Any]):
    findings = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=LARGEST_KEY),
        min_length=1,
        max_length=MOST_AT_ONCE,
    )
    decision = serializers.ChoiceField(choices=[("kept", "kept"), ("masked", "masked")])
    reason = serializers.CharField(max_length=MAX_REASON)


class DecidedSerializer(serializers.Serializer[Any]):
    decided = serializers.IntegerField(help_text="How many; masked ones before stay as they are.")


class DuplicateSerializer(serializers.ModelSerializer[NearDuplicate]):
    first = serializers.SlugRelatedField[Document](slug_field="name", read_only=True)
    second = serializers.SlugRelatedField[Document](slug_field="name", read_only=True)

    class Meta:
        model = NearDuplicate
        fields = ["id", "first", "second", "similarity", "decision", "decided_at"]


class DuplicateQuerySerializer(serializers.Serializer[Any]):
    decision = serializers.ChoiceField(
        choices=NearDuplicate.Decision.choices, required=False, default=""
    )


class DecideDuplicateSerializer(serializers.Serializer[Any]):
    decision = serializers.ChoiceField(choices=NearDuplicate.Decision.choices)


class SelectionDrawSerializer(serializers.Serializer[Any]):
    """How a selection is drawn. Without a seed, one is chosen by chance."""

    title = serializers.CharField(max_length=MAX_TITLE)
    strata = serializers.ListField(
        child=serializers.ChoiceField(choices=list(STRATA.items())), min_length=1
    )
    size = serializers.IntegerField(
        required=False, min_value=1, help_text="In all, shared out in proportion."
    )
    per_stratum = serializers.IntegerField(required=False, min_value=1)
    seed = serializers.IntegerField(required=False, min_value=0, max_value=MAX_SEED)
    filter = DocumentFilterSerializer(required=False)


class SelectionSerializer(serializers.ModelSerializer[Selection]):
    documents = serializers.SerializerMethodField()

    class Meta:
        model = Selection
        fields = ["id", "title", "seed", "spec", "documents", "created_at"]

    @extend_schema_field(serializers.IntegerField)
    def get_documents(self, selection: Selection) -> int:
        counted: int | None = getattr(selection, "drawn", None)
        return selection.documents.count() if counted is None else counted


class SelectionDetailSerializer(SelectionSerializer):
    names = serializers.SerializerMethodField()

    class Meta(SelectionSerializer.Meta):
        fields = [*SelectionSerializer.Meta.fields, "names"]

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_names(self, selection: Selection) -> list[str]:
        return list(selection.documents.order_by("name").values_list("name", flat=True))


class SelectionCheckSerializer(serializers.Serializer[Any]):
    """What drawing again gives: names that only the selection, or only the new draw, has."""

    is_same = serializers.BooleanField()
    only_stored = serializers.ListField(child=serializers.CharField())
    only_drawn = serializers.ListField(child=serializers.CharField())
