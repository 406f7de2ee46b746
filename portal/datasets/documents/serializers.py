"""Serializers of datasets, documents, statistics and tasks."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.reverse import reverse

from portal.datasets.dataset_tasks import OptionsError, TaskReport, check_options
from portal.datasets.imports.items import FIRST_YEAR, LAST_YEAR
from portal.datasets.models import Dataset, DatasetTask, Document, DocumentType, PageImage
from portal.datasets.models.documents import STRATA_FIELDS
from portal.files.member_names import plain_name
from portal.web.answers import ReadableSerializer, answer

from .forms import FACT_CHOICES, MAX_FACTS, MAX_REASON
from .selectors import Fault, document_prompt
from .services import COPIED, EDITABLE
from .statistics import Bin, FactRow, StratumCount, TypeCount, YearCount
from .statistics_page import FORMS, StatisticsPage
from .table import SORTS, UNKNOWN, DocumentFilter


class DatasetSerializer(serializers.ModelSerializer[Dataset]):
    """A dataset. A stress variant has the original dataset and the parameters of the simulation."""

    derived_from = serializers.SlugRelatedField[Dataset](
        slug_field="slug", read_only=True, allow_null=True
    )
    derivation = serializers.JSONField(read_only=True, allow_null=True)
    simulated_as = serializers.CharField(
        source="simulation",
        read_only=True,
        help_text="The simulation in words; empty for real images.",
    )

    class Meta:
        model = Dataset
        fields = [
            "slug",
            "title",
            "description",
            "licence",
            "visibility",
            "is_sample",
            "derived_from",
            "derivation",
            "simulated_as",
        ]
        read_only_fields = ["is_sample"]


class DatasetChangeSerializer(DatasetSerializer):
    """The fields of a dataset that can change; the slug is part of its URL and cannot."""

    accept_overlaps = serializers.IntegerField(
        write_only=True,
        required=False,
        min_value=0,
        help_text="The exact number of documents whose gold becomes public and is hidden in another"
        " dataset; otherwise the request is refused, and names them.",
    )

    class Meta(DatasetSerializer.Meta):
        fields = [*DatasetSerializer.Meta.fields, "accept_overlaps"]
        read_only_fields = ["slug", "is_sample"]


class TypeCountSerializer(serializers.Serializer[Any]):
    doc_type = serializers.ChoiceField(choices=DocumentType.choices, source="value")
    documents = serializers.IntegerField(source="count")


class DatasetCardSerializer(DatasetSerializer):
    """A dataset with its counts and the versions of its releases, newest first."""

    documents = serializers.SerializerMethodField()
    types = serializers.SerializerMethodField()
    releases = serializers.SerializerMethodField()

    class Meta(DatasetSerializer.Meta):
        fields = [*DatasetSerializer.Meta.fields, "documents", "types", "releases"]

    def get_documents(self, _: Dataset) -> int:
        return sum(row.count for row in self.context["types"])

    @extend_schema_field(TypeCountSerializer(many=True))
    def get_types(self, _: Dataset) -> Any:
        return TypeCountSerializer(self.context["types"], many=True).data

    def get_releases(self, _: Dataset) -> list[str]:
        return [release.version for release in self.context["releases"]]


class ImageSerializer(serializers.ModelSerializer[PageImage]):
    url = serializers.SerializerMethodField()

    class Meta:
        model = PageImage
        fields = ["number", "width", "height", "url"]

    def get_url(self, image: PageImage) -> str:
        document = image.document
        args = [document.dataset.slug, document.name, image.number]
        return reverse("api:document-image", args=args, request=self.context.get("request"))


class DocumentRowSerializer(ReadableSerializer):
    """A document in a list. If not `readable`, all fields except name, type and images are null."""

    name = serializers.CharField(source="document.name")
    doc_type = serializers.ChoiceField(choices=DocumentType.choices, source="document.doc_type")
    images = serializers.IntegerField()
    readable = serializers.BooleanField()
    company = serializers.CharField(source="document.company", allow_null=True)
    form_type = serializers.CharField(source="document.form_type", allow_null=True)
    fiscal_year = serializers.IntegerField(source="document.fiscal_year", allow_null=True)
    source = serializers.CharField(  # type: ignore[assignment]  # a field of that name
        source="document.source", allow_null=True
    )
    language = serializers.CharField(source="document.language", allow_null=True)
    category = serializers.CharField(source="document.category", allow_null=True)
    subset = serializers.CharField(source="document.subset", allow_null=True)
    condition = serializers.CharField(source="document.condition", allow_null=True)
    text_chars = serializers.IntegerField(source="document.text_chars", allow_null=True)

    HIDDEN = (
        "company", "form_type", "fiscal_year", "source", "language", *STRATA_FIELDS, "text_chars",
    )  # fmt: skip


@extend_schema_field({"type": "boolean", "enum": [True]})
class YesField(serializers.BooleanField):
    """A field that is always true, to distinguish the two document schemas."""


@extend_schema_field({"type": "boolean", "enum": [False]})
class NoField(serializers.BooleanField):
    """A field that is always false."""


class _PublicSerializer(serializers.ModelSerializer[Document]):
    """The fields that are public for every document."""

    images = ImageSerializer(many=True)
    prompt = serializers.SerializerMethodField()

    def get_prompt(self, document: Document) -> str:
        return document_prompt(document)


class HiddenDocumentSerializer(_PublicSerializer):
    """The public information about a document of a hidden test set."""

    readable = NoField(default=False)

    class Meta:
        model = Document
        fields = ["name", "doc_type", "images", "readable", "prompt"]


class DocumentSerializer(_PublicSerializer):
    """A readable document with its canonical HTML and text."""

    readable = YesField(default=True)
    html = serializers.CharField(
        source="content.html",
        allow_null=True,
        help_text="Canonical HTML; null for an image document.",
    )
    text = serializers.CharField(source="content.text", allow_null=True)

    class Meta:
        model = Document
        fields = ["name", "images", "readable", "prompt", *COPIED, "metadata"]
        fields += ["html", "html_sha256", "text", "text_sha256"]


_SORT_NAMES = [*SORTS, *(f"-{name}" for name in SORTS)]
MOST_NAMES = 1_000


def _stratum(what: str) -> serializers.CharField:
    text = f"{what}: a complete value, or {UNKNOWN}."
    return serializers.CharField(required=False, default="", max_length=80, help_text=text)


class DocumentFilterSerializer(serializers.Serializer[Any]):
    """Filters for documents, as in the document table."""

    q = serializers.CharField(
        source="query",
        required=False,
        default="",
        max_length=100,
        help_text="Part of the name or company.",
    )
    doc_type = serializers.ChoiceField(choices=DocumentType.choices, required=False, default="")
    company = serializers.CharField(
        required=False, default="", max_length=200, help_text=f"A complete value, or {UNKNOWN}."
    )
    form_type = serializers.CharField(
        required=False, default="", max_length=60, help_text=f"A complete value, or {UNKNOWN}."
    )
    fiscal_year = serializers.RegexField(
        rf"^([0-9]{{4}}|{UNKNOWN})$",
        source="year",
        required=False,
        default="",
        help_text=f"Fiscal year, or {UNKNOWN}.",
    )
    source = serializers.CharField(  # type: ignore[assignment]  # a field's name, too
        required=False, default="", max_length=80, help_text=f"A complete value, or {UNKNOWN}."
    )
    language = serializers.CharField(
        required=False, default="", max_length=12, help_text=f"A complete value, or {UNKNOWN}."
    )
    category = _stratum("Category of a receipt, benchmark task or track")
    subset = _stratum("Type of a receipt, subtask or subset")
    condition = _stratum("Capture condition or orientation")
    kind = serializers.ChoiceField(choices=Document.Kind.choices, required=False, default="")
    state = serializers.ChoiceField(
        choices=Document.State.choices,
        required=False,
        default="",
        help_text="For organisers; ignored for others.",
    )
    facts = serializers.ChoiceField(choices=FACT_CHOICES, required=False, default="")
    min_facts = serializers.IntegerField(
        required=False, default=None, min_value=0, max_value=MAX_FACTS, allow_null=True
    )

    def validate(self, attrs: dict[str, Any]) -> Any:
        """Return the filter as `validated_data`."""
        return DocumentFilter(**attrs)


class DocumentQuerySerializer(DocumentFilterSerializer):
    """Filters for documents and their order."""

    sort = serializers.ChoiceField(
        choices=[(name, name) for name in _SORT_NAMES], required=False, default="name"
    )

    def validate(self, attrs: dict[str, Any]) -> Any:
        sort = attrs.pop("sort")
        return {"wanted": super().validate(attrs), "sort": sort}


class DocumentFieldsSerializer(serializers.Serializer[Any]):
    """Fields of many documents to change; omitted fields do not change."""

    doc_type = serializers.ChoiceField(choices=DocumentType.choices, required=False)
    company = serializers.CharField(required=False, max_length=200, allow_blank=True)
    form_type = serializers.CharField(required=False, max_length=60, allow_blank=True)
    fiscal_year = serializers.IntegerField(
        required=False, min_value=FIRST_YEAR, max_value=LAST_YEAR, allow_null=True
    )
    language = serializers.CharField(required=False, max_length=12, allow_blank=True)
    licence = serializers.CharField(required=False, max_length=300, allow_blank=True)


class DocumentChangeSerializer(DocumentFieldsSerializer):
    """Fields of one document to change; its name and content never change."""

    source_url = serializers.CharField(
        required=False,
        max_length=500,
        allow_blank=True,
        help_text="Must begin with https:// or http://.",
    )
    metadata = serializers.DictField(
        child=serializers.JSONField(allow_null=True),
        required=False,
        help_text="A JSON object of up to 64 kB. It replaces the current metadata.",
    )


class EditedDocumentSerializer(serializers.ModelSerializer[Document]):
    """The metadata of a document."""

    class Meta:
        model = Document
        fields = ["name", *EDITABLE, "source", "state", "held_reason"]


class NameField(serializers.CharField):
    """The name of a document, in Unicode form NFC as names are."""

    def to_internal_value(self, data: Any) -> str:
        return plain_name(super().to_internal_value(data))


class BulkEditSerializer(serializers.Serializer[Any]):
    """Documents, by `names`, by `filter` or all, and their changes.

    `hold_back` is the reason to hold them back; `take_up` makes them active again.
    """

    names = serializers.ListField(
        child=NameField(max_length=160), required=False, max_length=MOST_NAMES
    )
    filter = DocumentFilterSerializer(
        required=False, help_text="At least one filter. For all documents, send `all`."
    )
    all = serializers.BooleanField(
        required=False, default=False, help_text="All documents of the dataset."
    )
    changes = DocumentFieldsSerializer(required=False)
    hold_back = serializers.CharField(required=False, max_length=MAX_REASON)
    take_up = serializers.BooleanField(required=False, default=False)
    dry_run = serializers.BooleanField(
        required=False, default=False, help_text="Return the number, and change nothing."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if [attrs["all"], "names" in attrs, "filter" in attrs].count(True) != 1:
            raise serializers.ValidationError('Send names, a filter, or "all": true.')
        if "filter" in attrs and not attrs["filter"].is_set:
            reason = 'Send at least one filter, or "all": true instead of the filter.'
            raise serializers.ValidationError({"filter": [reason]})
        if attrs["take_up"] and "hold_back" in attrs:
            raise serializers.ValidationError("Send hold_back or take_up, not both.")
        return attrs


class ChangedSerializer(serializers.Serializer[Any]):
    documents = serializers.IntegerField(
        help_text="Number of changed documents; with `dry_run`, of those that would change."
    )


class StatisticsQuerySerializer(serializers.Serializer[Any]):
    release = serializers.CharField(
        required=False,
        default="",
        max_length=32,
        help_text="The release whose facts are counted. By default, the newest visible one.",
    )


class StatisticsExportQuerySerializer(StatisticsQuerySerializer):
    form = serializers.ChoiceField(
        choices=FORMS,
        required=False,
        default=FORMS[0],
        help_text="`csv`: all figures; `latex`: the table; the others: charts as SVG.",
    )


FactRowSerializer = answer(
    FactRow,
    label="Empty for all facts.",
    average="Facts per labelled document.",
    ratio="Share of all facts, from 0 to 1.",
)
BinSerializer = answer(Bin, high="Inclusive.")
TypeFiguresSerializer = answer(
    TypeCount, "TypeFigures", doc_type=serializers.ChoiceField(choices=DocumentType.choices)
)
YearFiguresSerializer = answer(YearCount, "YearFigures")
StratumFiguresSerializer = answer(
    StratumCount,
    "StratumFigures",
    field="category, subset, condition or language.",
    value="Empty if unknown.",
    images="Number of distinct images.",
    share="Share of the documents, from 0 to 1.",
)


class StatisticsSerializer(serializers.Serializer[StatisticsPage]):
    """Statistics of a dataset.

    If the gold is hidden, `rows` is empty, and the facts of types are null.
    """

    release = serializers.CharField(source="release.version", allow_null=True, default=None)
    documents = serializers.IntegerField(source="statistics.documents")
    pairs = serializers.IntegerField(
        source="statistics.pairs", help_text="Number of documents with at least one image."
    )
    labelled = serializers.IntegerField(
        source="statistics.labelled", help_text="Number of documents in the release."
    )
    rows = FactRowSerializer(many=True, source="statistics.rows")
    facts_per_document = BinSerializer(many=True, source="statistics.facts_per_document")
    types = TypeFiguresSerializer(many=True, source="statistics.types")
    years = YearFiguresSerializer(many=True, source="statistics.years")
    strata = StratumFiguresSerializer(many=True, source="statistics.strata")
    without_year = serializers.IntegerField(
        help_text="Number of documents without a year because their content is hidden."
    )
    untold_years = serializers.IntegerField(
        source="without_year", help_text="The former name of `without_year`."
    )


class TaskSerializer(serializers.ModelSerializer[DatasetTask]):
    """A task with `done` of `total` steps."""

    class Meta:
        model = DatasetTask
        fields = [
            "id",
            "kind",
            "options",
            "state",
            "done",
            "total",
            "error",
            "created_at",
            "finished_at",
        ]


TaskFaultSerializer = answer(
    Fault, "TaskFault", leave_out=["is_document"], name="The name of the document."
)
TaskReportSerializer = answer(TaskReport, leave_out=["more"], faults=TaskFaultSerializer(many=True))


class TaskDetailSerializer(TaskSerializer):
    """A task with its report. Some kinds update it while they run, others at the end."""

    report = serializers.SerializerMethodField()

    class Meta(TaskSerializer.Meta):
        fields = [*TaskSerializer.Meta.fields, "report"]

    @extend_schema_field(TaskReportSerializer)
    def get_report(self, task: DatasetTask) -> dict[str, Any]:
        empty: dict[str, Any] = {"counts": {}, "faults": [], "faults_left_out": 0}
        return {key: task.report.get(key, value) for key, value in empty.items()}


class TaskStartSerializer(serializers.Serializer[Any]):
    """A new task. The options depend on the kind."""

    kind = serializers.ChoiceField(choices=DatasetTask.Kind.choices)
    options = serializers.DictField(required=False, default=dict)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        try:
            options = check_options(attrs["kind"], attrs["options"])
        except OptionsError as error:
            raise serializers.ValidationError({"options": [str(error)]}) from error
        return attrs | {"options": options}
