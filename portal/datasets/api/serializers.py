"""JSON forms of datasets, documents, imports and releases."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.reverse import reverse

from portal.datasets.access import may_see_gold
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
from portal.datasets.selectors.datasets import DatasetCard
from portal.datasets.selectors.documents import DocumentRow
from portal.datasets.selectors.imports import ImportReport
from portal.datasets.selectors.releases import ReleaseRow


class DatasetSerializer(serializers.ModelSerializer[Dataset]):
    class Meta:
        model = Dataset
        fields = ["slug", "title", "description", "licence", "visibility", "is_sample"]
        read_only_fields = ["is_sample"]


class DatasetChangeSerializer(DatasetSerializer):
    """What may change: the slug is the address."""

    class Meta(DatasetSerializer.Meta):
        read_only_fields = ["slug", "is_sample"]


class TypeCountSerializer(serializers.Serializer[Any]):
    doc_type = serializers.ChoiceField(choices=DocumentType.choices, source="value")
    documents = serializers.IntegerField(source="count")


class DatasetCardSerializer(serializers.ModelSerializer[Dataset]):
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


class DocumentQuerySerializer(serializers.Serializer[Any]):
    """How documents are looked for."""

    q = serializers.CharField(
        required=False, default="", max_length=100, help_text="Part of the name or company."
    )
    type = serializers.ChoiceField(choices=DocumentType.choices, required=False, default="")


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
    text_chars = serializers.IntegerField(source="document.text_chars", allow_null=True)

    HIDDEN = ("company", "form_type", "fiscal_year", "text_chars")

    def to_representation(self, instance: DocumentRow) -> dict[str, Any]:
        shown: dict[str, Any] = super().to_representation(instance)
        return shown if instance.readable else shown | dict.fromkeys(self.HIDDEN)


class DocumentSerializer(serializers.ModelSerializer[Document]):
    """A document that may be read, with its canonical HTML and text."""

    images = ImageSerializer(many=True)
    readable = serializers.BooleanField(default=True)
    html = serializers.CharField(source="content.html")
    text = serializers.CharField(source="content.text")

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
            "licence",
            "metadata",
            "text_chars",
            "source_sha256",
            "html_sha256",
            "text_sha256",
            "html",
            "text",
        ]


class HiddenDocumentSerializer(serializers.ModelSerializer[Document]):
    """A document of a hidden test set: what the public may know of it."""

    images = ImageSerializer(many=True)
    readable = serializers.BooleanField(default=False)

    class Meta:
        model = Document
        fields = ["name", "doc_type", "images", "readable"]


class UploadSerializer(serializers.Serializer[Any]):
    file = serializers.FileField(help_text="A ZIP of pages/ID.html, images/ID.png, meta.jsonl.")

    def validate_file(self, upload: Any) -> Any:
        check_upload(upload)
        return upload


class ImportRunSerializer(serializers.ModelSerializer[ImportRun]):
    class Meta:
        model = ImportRun
        fields = [
            "id",
            "source_name",
            "state",
            "total",
            "ignored",
            "error",
            "created_at",
            "finished_at",
        ]


class ImportReportSerializer(serializers.Serializer[ImportReport]):
    """An import as far as it is: `done` of `total` files in pages/, and files per outcome."""

    id = serializers.IntegerField(source="run.pk")
    source_name = serializers.CharField(source="run.source_name")
    state = serializers.ChoiceField(choices=ImportRun.State.choices, source="run.state")
    done = serializers.IntegerField()
    total = serializers.IntegerField()
    outcomes = serializers.SerializerMethodField()
    ignored = serializers.DictField(
        child=serializers.IntegerField(),
        source="run.ignored",
        help_text="Files that are no part of an import, by folder.",
    )
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


class ReleaseSerializer(serializers.ModelSerializer[Release]):
    """A release; its hash is null where the gold is hidden."""

    sha256 = serializers.SerializerMethodField()

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
            "frozen_at",
            "sha256",
        ]

    def get_sha256(self, release: Release) -> str | None:
        user = self.context["request"].user
        return release.sha256 if may_see_gold(user, release) else None


class ReleaseRowSerializer(serializers.Serializer[ReleaseRow]):
    """An item; the number of its facts and its hash are null where the gold is hidden."""

    id = serializers.CharField(source="name")
    facts = serializers.IntegerField(allow_null=True)
    sha256 = serializers.CharField(allow_null=True)
    images = ImageSerializer(many=True)


class DownloadQuerySerializer(serializers.Serializer[Any]):
    images = serializers.BooleanField(
        required=False, default=False, help_text="With the page images."
    )
