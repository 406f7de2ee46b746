"""Serializers of releases: detail, freezing, licence and comparison."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from portal.accounts.models import User
from portal.datasets.access import may_see_all_gold
from portal.datasets.curation.draws import FILING
from portal.datasets.documents.serializers import ImageSerializer
from portal.datasets.models import Dataset, DatasetTask, Release, ReleaseItem
from portal.datasets.releases.publishing.diff import FactChange, FieldChange
from portal.datasets.releases.publishing.rows import Fact, read_draw
from portal.web.answers import answer

from .forms import GROUPS, LARGEST_SEED
from .freezing import (
    COLUMN,
    DRAW,
    EARLIER,
    FILE,
    NO_SPLIT,
    RECORDS,
    FreezeOrder,
    freeze_order,
    is_quick,
    start_freezing,
    stored_upload,
)
from .gold import ReleaseError, gold_format
from .selectors import KINDS, ChangedItem, Counts, DiffPage, ReleaseRow
from .services import freeze_remarks, freeze_warnings


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
    """How the splits of a release were drawn, and the outcome."""

    share = serializers.FloatField(help_text="The requested share of the test split.")
    seed = serializers.IntegerField(required=False)
    group_by = serializers.CharField(help_text="Groups kept in one split: filing, company or none.")
    items = serializers.IntegerField(required=False)
    test_items = serializers.IntegerField(required=False)
    groups = serializers.IntegerField(required=False)
    divided = serializers.IntegerField(
        required=False, help_text="Groups that earlier releases have in both splits."
    )


class ReleaseSerializer(serializers.ModelSerializer[Release]):
    """A release; `sha256` and `fact_count` are null unless you may see all gold.

    If there is a `licence`, you must accept it before a download.
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
    """An item of a release; `facts` (a count) and `sha256` are null where the gold is hidden."""

    id = serializers.CharField(source="name")
    split = serializers.CharField(help_text="dev, test, or empty in a release without splits.")
    facts = serializers.IntegerField(allow_null=True)
    sha256 = serializers.CharField(allow_null=True)
    images = ImageSerializer(many=True)


class DownloadQuerySerializer(serializers.Serializer[Any]):
    images = serializers.BooleanField(
        required=False, default=False, help_text="Include the page images."
    )


# Fields that are passed on to FreezeOrder unchanged.
_ORDERED = ("benchmark", "visibility", "licence", "split_by", "test_share", "seed", "group_by")


class SplitQuerySerializer(serializers.Serializer[Any]):
    split = serializers.ChoiceField(
        choices=ReleaseItem.Split.choices, required=False, default="", help_text="Only this split."
    )


class NewReleaseSerializer(serializers.Serializer[Any]):
    """A release to freeze, from the records of a benchmark or from a `file` (multipart) of gold.

    If `notes` is left out, they are drafted by comparison with the newest release.
    """

    benchmark = serializers.CharField(max_length=40, required=False, default="")
    from_release = serializers.CharField(
        max_length=32, required=False, default="", allow_blank=True,
        help_text="Takes the gold of this version, with the corrections of accepted disputes,"
        " instead of `benchmark` and `file`.",
    )  # fmt: skip
    file = serializers.FileField(required=False)
    labels = serializers.ListField(
        child=serializers.CharField(max_length=60),
        required=False,
        help_text="The labels of the facts, for gold with fact tags. Default: Number and Date.",
    )
    version = serializers.CharField(
        max_length=32, required=False, help_text="Default: the next patch version."
    )
    notes = serializers.CharField(required=False, allow_blank=True, max_length=20_000)
    visibility = serializers.ChoiceField(
        choices=Release.Visibility.choices, default=Release.Visibility.GOLD_HIDDEN
    )
    licence = serializers.CharField(
        required=False, allow_blank=True, max_length=160, default="",
        help_text="Users must accept it before a download.",
    )  # fmt: skip
    citation = CitationSerializer(required=False)
    split_by = serializers.ChoiceField(
        choices=[(NO_SPLIT, "none"), (DRAW, "drawn"), (COLUMN, "given in the records")],
        default=NO_SPLIT,
        help_text="How items are assigned to the dev and test splits.",
    )
    test_share = serializers.FloatField(
        required=False, min_value=0.01, max_value=0.99, default=0.5, help_text="For a drawn split."
    )
    seed = serializers.IntegerField(
        required=False,
        min_value=0,
        max_value=LARGEST_SEED,
        default=1,
        help_text="For a drawn split.",
    )

    group_by = serializers.ChoiceField(
        choices=GROUPS,
        required=False,
        default=FILING,
        help_text="Groups that a draw keeps in one split.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["from_release"] and (attrs["benchmark"] or attrs.get("file")):
            message = "Give either `from_release`, or `benchmark` and optionally `file`."
            raise serializers.ValidationError({"from_release": [message]})
        if not attrs["from_release"] and not attrs["benchmark"]:
            raise serializers.ValidationError({"benchmark": ["This field is required."]})
        return attrs

    def validate_benchmark(self, key: str) -> str:
        if key and gold_format(key) is None:
            raise serializers.ValidationError(f"There is no benchmark {key!r}.")
        return key

    def order(self) -> FreezeOrder:
        data = self.validated_data
        upload = data.get("file")
        source = RECORDS if upload is None else FILE
        return FreezeOrder(
            source=EARLIER if data["from_release"] else source,
            base=data["from_release"],
            file_name="" if upload is None else upload.name or "",
            labels=data.get("labels") or ["Number", "Date"],
            version=data.get("version", ""),
            notes=data.get("notes"),
            citation=dict(data.get("citation", {})),
            **{name: data[name] for name in _ORDERED},
        )

    def freeze(self, dataset: Dataset, actor: User) -> Release | DatasetTask:
        """Returns the release, or a task if the release is large.

        Raises ValidationError with every fault of the gold.
        """
        upload, order = self.validated_data.get("file"), self.order()
        try:
            if not is_quick(dataset, upload.size if upload else 0):
                return start_freezing(dataset=dataset, order=order, upload=upload, actor=actor)
            with stored_upload(upload) as path:
                return freeze_order(dataset=dataset, order=order, path=path, actor=actor)
        except ReleaseError as error:
            raise serializers.ValidationError({"gold": error.faults}) from error


class FrozenReleaseSerializer(ReleaseSerializer):
    """A newly frozen release with remarks and warnings."""

    remarks = serializers.SerializerMethodField(help_text="The outcome of the draw of splits.")
    warnings = serializers.SerializerMethodField(
        help_text="Unsettled disputes, and hidden gold that is public elsewhere."
    )

    class Meta(ReleaseSerializer.Meta):
        fields = [*ReleaseSerializer.Meta.fields, "remarks", "warnings"]

    def get_remarks(self, release: Release) -> list[str]:
        return freeze_remarks(release)

    def get_warnings(self, release: Release) -> list[str]:
        return freeze_warnings(release)


class AcceptLicenceSerializer(serializers.Serializer[Any]):
    version = serializers.CharField(
        max_length=32, help_text="The version in the URL, repeated as confirmation."
    )

    def validate_version(self, version: str) -> str:
        if version != self.context["release"].version:
            raise serializers.ValidationError("This version differs from the version in the URL.")
        return version


class AcceptedLicenceSerializer(serializers.Serializer[Any]):
    licence = serializers.CharField(source="release.licence")
    accepted_at = serializers.DateTimeField()


class DiffQuerySerializer(serializers.Serializer[Any]):
    change = serializers.ChoiceField(
        choices=[(kind, kind) for kind in KINDS], required=False, default=""
    )
    page = serializers.IntegerField(required=False, min_value=1, default=1)


ChangeCountSerializer = answer(Counts, "ChangeCount")
DiffFactSerializer = answer(Fact, "DiffFact", leave_out=["n"])
FactChangeSerializer = answer(
    FactChange,
    before=DiffFactSerializer(allow_null=True),
    after=DiffFactSerializer(allow_null=True),
)
FieldChangeSerializer = answer(FieldChange)


class ChangedItemSerializer(serializers.Serializer[ChangedItem]):
    """An item that differs; if its gold is hidden, only its id and kind of change are set."""

    id = serializers.CharField(source="name")
    change = serializers.CharField(source="kind", help_text="added, removed or changed.")
    gold_is_open = serializers.BooleanField(source="is_open")
    facts = serializers.SerializerMethodField()
    fields_changed = serializers.SerializerMethodField()

    @extend_schema_field(FactChangeSerializer(many=True, allow_null=True))
    def get_facts(self, item: ChangedItem) -> Any:
        return (
            FactChangeSerializer(list(item.change.facts), many=True).data if item.change else None
        )

    @extend_schema_field(FieldChangeSerializer(many=True, allow_null=True))
    def get_fields_changed(self, item: ChangedItem) -> Any:
        return (
            FieldChangeSerializer(list(item.change.fields), many=True).data if item.change else None
        )


class DiffSerializer(serializers.Serializer[DiffPage]):
    """The changes from the older to the newer of two releases; `facts` counts open items only."""

    before = serializers.CharField(source="before.version")
    after = serializers.CharField(source="after.version")
    items = ChangeCountSerializer()
    unchanged = serializers.IntegerField()
    facts = ChangeCountSerializer()
    hidden = serializers.IntegerField(help_text="Number of changed items whose gold is hidden.")
    pages = serializers.IntegerField(source="page.paginator.num_pages")
    results = ChangedItemSerializer(many=True, source="rows")
