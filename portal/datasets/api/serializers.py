"""JSON forms of datasets, documents, imports and releases."""

from typing import Any

from django.core.exceptions import ValidationError
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.reverse import reverse

from portal.datasets.access import may_see_all_gold
from portal.datasets.forms import check_upload
from portal.datasets.models import (
    Dataset,
    Document,
    DocumentType,
    ImportItem,
    ImportRun,
    PageImage,
    Release,
)
from portal.datasets.publishing.draws import read_draw
from portal.datasets.selectors.datasets import DatasetCard
from portal.datasets.selectors.documents import DocumentRow, document_prompt
from portal.datasets.selectors.import_files import MEDIA_TYPES
from portal.datasets.selectors.imports import ImportReport
from portal.datasets.selectors.releases import ReleaseRow
from portal.datasets.sources.forms import BENCHMARKS
from portal.datasets.sources.left_out import LeftOut


class DatasetSerializer(serializers.ModelSerializer[Dataset]):
    """A dataset; of a stress variant, what it is made from and what was simulated."""

    derived_from = serializers.SlugRelatedField[Dataset](
        slug_field="slug", read_only=True, allow_null=True
    )
    derivation = serializers.JSONField(read_only=True, allow_null=True)
    simulated_as = serializers.CharField(
        source="simulation", read_only=True, help_text="In words; empty for real images."
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
    """What may change: the slug is the address."""

    class Meta(DatasetSerializer.Meta):
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

    @property
    def card(self) -> DatasetCard:
        card: DatasetCard = self.context["card"]
        return card

    def get_documents(self, _: Dataset) -> int:
        return self.card.documents

    @extend_schema_field(TypeCountSerializer(many=True))
    def get_types(self, _: Dataset) -> Any:
        return TypeCountSerializer(self.card.types, many=True).data

    def get_releases(self, _: Dataset) -> list[str]:
        return [release.version for release in self.card.releases]


class ImageSerializer(serializers.ModelSerializer[PageImage]):
    url = serializers.SerializerMethodField()

    class Meta:
        model = PageImage
        fields = ["number", "width", "height", "url"]

    def get_url(self, image: PageImage) -> str:
        document = image.document
        args = [document.dataset.slug, document.name, image.number]
        return reverse("api:document-image", args=args, request=self.context.get("request"))


class DocumentRowSerializer(serializers.Serializer[DocumentRow]):
    """A document in a list. Where `readable` is false, all but name, type and images is null."""

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
    text_chars = serializers.IntegerField(source="document.text_chars", allow_null=True)

    HIDDEN = ("company", "form_type", "fiscal_year", "source", "language", "text_chars")

    def to_representation(self, instance: DocumentRow) -> dict[str, Any]:
        shown: dict[str, Any] = super().to_representation(instance)
        return shown if instance.readable else shown | dict.fromkeys(self.HIDDEN)


@extend_schema_field({"type": "boolean", "enum": [True]})
class YesField(serializers.BooleanField):
    """Tells the two kinds of documents apart."""


@extend_schema_field({"type": "boolean", "enum": [False]})
class NoField(serializers.BooleanField):
    """As YesField."""


class DocumentSerializer(serializers.ModelSerializer[Document]):
    """A document that may be read, with its canonical HTML and text."""

    images = ImageSerializer(many=True)
    readable = YesField(default=True)
    html = serializers.CharField(
        source="content.html", allow_null=True, help_text="Canonical; null for a picture."
    )
    text = serializers.CharField(source="content.text", allow_null=True)
    prompt = serializers.SerializerMethodField()

    class Meta:
        model = Document
        fields = [
            "name",
            "doc_type",
            "images",
            "readable",
            "company",
            "form_type",
            "fiscal_year",
            "source_url",
            "source",
            "language",
            "kind",
            "prompt",
            "licence",
            "metadata",
            "text_chars",
            "source_sha256",
            "html_sha256",
            "text_sha256",
            "html",
            "text",
        ]

    def get_prompt(self, document: Document) -> str:
        return document_prompt(document)


class HiddenDocumentSerializer(serializers.ModelSerializer[Document]):
    """A document of a hidden test set: what the public may know of it."""

    images = ImageSerializer(many=True)
    readable = NoField(default=False)
    prompt = serializers.SerializerMethodField()

    class Meta:
        model = Document
        fields = ["name", "doc_type", "images", "readable", "prompt"]

    def get_prompt(self, document: Document) -> str:
        return document_prompt(document)


class UploadSerializer(serializers.Serializer[Any]):
    form = serializers.ChoiceField(
        choices=ImportRun.Form.choices,
        default=ImportRun.Form.PAGES,
        help_text="The layout of the file.",
    )
    file = serializers.FileField(
        help_text="A ZIP in the layout, or a single file where the layout takes one."
    )
    benchmark = serializers.ChoiceField(
        choices=BENCHMARKS,
        required=False,
        allow_blank=True,
        default="",
        help_text="Of `parquet` alone: the benchmark that the rows are gold of.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        try:
            check_upload(attrs["file"], attrs["form"], attrs["benchmark"])
        except ValidationError as error:
            raise serializers.ValidationError({"file": error.messages}) from error
        return attrs


class ImportRunSerializer(serializers.ModelSerializer[ImportRun]):
    class Meta:
        model = ImportRun
        fields = [
            "id",
            "form",
            "source_name",
            "state",
            "total",
            "ignored",
            "error",
            "created_at",
            "finished_at",
        ]


class LeftOutSerializer(serializers.Serializer[LeftOut]):
    """Files that an import did not read: their folder, how many they are, and what to do."""

    folder = serializers.CharField()
    files = serializers.IntegerField()
    hint = serializers.CharField()


class ImportReportSerializer(serializers.Serializer[ImportReport]):
    """An import as far as it is: `done` of `total`, and rows per outcome.

    Counted are files in pages/; of the other layouts the rows of the report, of which the total is
    0 until all is read.
    """

    id = serializers.IntegerField(source="run.pk")
    form = serializers.ChoiceField(choices=ImportRun.Form.choices, source="run.form")
    source_name = serializers.CharField(source="run.source_name")
    state = serializers.ChoiceField(choices=ImportRun.State.choices, source="run.state")
    done = serializers.IntegerField()
    total = serializers.IntegerField()
    outcomes = serializers.SerializerMethodField()
    ignored = serializers.DictField(
        child=serializers.IntegerField(),
        source="run.ignored",
        help_text="How many files the import did not read, by folder.",
    )
    left_out = LeftOutSerializer(many=True, help_text="The same with a hint for each folder.")
    error = serializers.CharField(source="run.error", help_text="Why the import failed.")
    trouble = serializers.CharField(help_text="Why it waits to be tried again.")
    created_at = serializers.DateTimeField(source="run.created_at")
    finished_at = serializers.DateTimeField(source="run.finished_at", allow_null=True)

    def get_outcomes(self, report: ImportReport) -> dict[str, int]:
        return {row.label: row.count for row in report.outcomes if row.value}


class ImportItemSerializer(serializers.ModelSerializer[ImportItem]):
    document = serializers.SlugRelatedField[Document](
        slug_field="name", read_only=True, allow_null=True
    )

    class Meta:
        model = ImportItem
        fields = ["name", "outcome", "code", "reason", "document"]


class ItemQuerySerializer(serializers.Serializer[Any]):
    outcome = serializers.ChoiceField(
        choices=ImportItem.Outcome.choices, required=False, default=""
    )


class ItemsFileQuerySerializer(ItemQuerySerializer):
    # Not `format`, which the framework reads itself.
    file = serializers.ChoiceField(choices=list(MEDIA_TYPES), required=False, default="csv")


class CitationSerializer(serializers.Serializer[Any]):
    authors = serializers.ListField(
        child=serializers.CharField(max_length=200),
        required=False,
        max_length=500,
        help_text="People as “Family, Given”.",
    )
    year = serializers.IntegerField(required=False, min_value=1900, max_value=2200)
    doi = serializers.CharField(required=False, max_length=200)
    url = serializers.CharField(required=False, max_length=500)


class SplitDrawSerializer(serializers.Serializer[Any]):
    """How the splits of a release were drawn: what was wanted and what it came to."""

    share = serializers.FloatField(help_text="The wanted share of the test part.")
    seed = serializers.IntegerField(required=False)
    group_by = serializers.CharField(help_text="What was kept together: filing, company or none.")
    items = serializers.IntegerField(required=False)
    test_items = serializers.IntegerField(required=False)
    groups = serializers.IntegerField(required=False)
    divided = serializers.IntegerField(
        required=False, help_text="Groups that earlier releases have put into both parts."
    )


class ReleaseSerializer(serializers.ModelSerializer[Release]):
    """A release; its hash and the number of its facts are null unless all gold is open.

    `licence` has to be accepted before a download, if there is one.
    """

    sha256 = serializers.SerializerMethodField()
    fact_count = serializers.SerializerMethodField()
    citation = CitationSerializer()
    draw = serializers.SerializerMethodField()

    class Meta:
        model = Release
        fields = [
            "version",
            "notes",
            "visibility",
            "benchmark",
            "labels",
            "item_count",
            "fact_count",
            "licence",
            "citation",
            "draw",
            "frozen_at",
            "sha256",
            "scheme",
        ]

    @extend_schema_field(SplitDrawSerializer(allow_null=True))
    def get_draw(self, release: Release) -> dict[str, Any] | None:
        return read_draw(release.draw) or None

    def get_sha256(self, release: Release) -> str | None:
        user = self.context["request"].user
        return release.sha256 if may_see_all_gold(user, release) else None

    def get_fact_count(self, release: Release) -> int | None:
        user = self.context["request"].user
        return release.fact_count if may_see_all_gold(user, release) else None


class ReleaseRowSerializer(serializers.Serializer[ReleaseRow]):
    """An item; the number of its facts and its hash are null where the gold is hidden."""

    id = serializers.CharField(source="name")
    split = serializers.CharField(help_text="dev, test, or empty in a release of one piece.")
    facts = serializers.IntegerField(allow_null=True)
    sha256 = serializers.CharField(allow_null=True)
    images = ImageSerializer(many=True)


class DownloadQuerySerializer(serializers.Serializer[Any]):
    images = serializers.BooleanField(
        required=False, default=False, help_text="With the page images."
    )
