"""API of releases: list, freezing, files, licence and comparison."""

from functools import partial
from typing import Any

from django.http import Http404, HttpResponse, HttpResponseBase
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.exceptions import NotAuthenticated, PermissionDenied
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse
from rest_framework.views import APIView

from portal.accounts.models import User
from portal.datasets.access import (
    GoldSplits,
    OrganisersChange,
    actor_of,
    get_dataset,
    get_downloadable_release,
    get_kit_release,
    get_release,
    gold_splits_for,
    may_see_all_gold,
    must_accept_licence,
    visible_releases,
)
from portal.datasets.curation.draws import FILING
from portal.datasets.documents.serializers import ImageSerializer, TaskDetailSerializer
from portal.datasets.models import Dataset, DatasetTask, Release, ReleaseItem
from portal.datasets.releases.publishing.diff import KINDS, FactChange, FieldChange
from portal.datasets.releases.publishing.rows import read_draw
from portal.datasets.responses import stored_file_errors
from portal.facts import Fact
from portal.files.uploads import UploadTooLarge, was_too_large
from portal.web.answers import ListingView, answer
from portal.web.api import checked, file_answers

from .files import (
    CROISSANT_TYPE,
    FILES,
    croissant_response,
    get_release_file,
    release_file_response,
    release_response,
    starter_kit_response,
)
from .forms import GROUPS, LARGEST_SEED
from .freezing import (
    COLUMN,
    DRAW,
    EARLIER,
    FILE,
    NO_SPLIT,
    RECORDS,
    FreezeOrder,
    freeze_or_queue,
)
from .gold import ReleaseError, gold_format
from .selectors import (
    ChangedItem,
    Counts,
    DiffPage,
    ReleaseRow,
    diff_page,
    release_items,
    release_rows,
)
from .services import accept_licence, freeze_remarks, freeze_warnings


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
    kept = serializers.IntegerField(
        required=False, help_text="Items that keep the split of an earlier release."
    )
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
_ORDERED = (
    "benchmark", "visibility", "licence", "split_by", "test_share", "seed", "group_by",
    "accept_overlaps",
)  # fmt: skip


OVERLAPS_HELP = (
    "The exact number of documents whose gold is public in one dataset and hidden in another;"
    " otherwise the request is refused, and names them."
)


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
        help_text="Users must accept it before they download gold.",
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
        help_text="Groups of documents that stay in one split.",
    )
    accept_overlaps = serializers.IntegerField(
        required=False, min_value=0, default=0, help_text=OVERLAPS_HELP
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
        upload = self.validated_data.get("file")
        try:
            return freeze_or_queue(dataset=dataset, order=self.order(), upload=upload, actor=actor)
        except ReleaseError as error:
            raise serializers.ValidationError({"gold": error.faults}) from error


class FrozenReleaseSerializer(ReleaseSerializer):
    """A newly frozen release with remarks and warnings."""

    remarks = serializers.SerializerMethodField(help_text="The outcome of the draw of splits.")
    warnings = serializers.SerializerMethodField(
        help_text="Disputes that are not resolved, and hidden gold that is public elsewhere."
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
    """An item that differs, and whose gold is open."""

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
    """The changes from the older to the newer of two releases. Items whose gold is hidden from you
    are not compared: they count as added or removed, but not as changed or unchanged."""

    before = serializers.CharField(source="before.version")
    after = serializers.CharField(source="after.version")
    items = ChangeCountSerializer()
    unchanged = serializers.IntegerField()
    facts = ChangeCountSerializer()
    hidden = serializers.IntegerField(
        help_text="Number of items of both releases that are not compared."
    )
    pages = serializers.IntegerField(source="page.paginator.num_pages")
    results = ChangedItemSerializer(many=True, source="rows")


def require_licence(request: Request, release: Release) -> None:
    """Raises 403 (401 if anonymous) with instructions until the licence is accepted."""
    if not must_accept_licence(request.user, release):
        return
    path = reverse(
        "api:accept-licence", args=[release.dataset.slug, release.version], request=request
    )
    reason = f"You must accept the licence of this release, {release.licence}, first"
    if not request.user.is_authenticated:
        raise NotAuthenticated(f"{reason}: log in, then POST to {path}.")
    raise PermissionDenied(f'{reason}: POST {{"version": "{release.version}"}} to {path}.')


class ReleaseFile(APIView):
    """One file of a release: gold.jsonl, facts.jsonl, gold.zip, items.parquet, labelstudio.json,
    croissant.json, citation.bib or CITATION.cff.

    Items with hidden gold are left out of the files; in the Parquet file their gold is empty. 403
    until the licence is accepted.
    """

    @extend_schema(
        responses=file_answers([*(file.media_type for file in FILES.values()), CROISSANT_TYPE])
    )
    def get(self, request: Request, slug: str, version: str, name: str) -> HttpResponseBase:
        release, file, gold_splits = get_release_file(request.user, slug, version, name)
        if file is None:
            return self._croissant(request, release, gold_splits)
        if file.holds_gold:
            require_licence(request, release)
        return release_file_response(release, file, gold_splits)

    def _croissant(
        self, request: Request, release: Release, gold_splits: GoldSplits
    ) -> HttpResponse:
        args = [release.dataset.slug, release.version]

        def file_url(name: str) -> str:
            return reverse("api:release-file", args=[*args, name], request=request)

        page = request.build_absolute_uri(release.get_absolute_url())
        return croissant_response(release, gold_splits, page=page, file_url=file_url)


class StarterKit(APIView):
    """Images, ids and prompts of the items whose gold is hidden, and an empty submission."""

    @extend_schema(responses=file_answers(["application/zip"]))
    def get(self, request: Request, slug: str, version: str) -> HttpResponseBase:
        release = get_kit_release(request.user, slug, version)
        require_licence(request, release)
        page = request.build_absolute_uri(release.get_absolute_url())
        with stored_file_errors():
            return starter_kit_response(release, page)


class AcceptLicence(APIView):
    """Accepts the licence of this version."""

    permission_classes = [IsAuthenticated]

    @extend_schema(request=AcceptLicenceSerializer, responses=AcceptedLicenceSerializer)
    def post(self, request: Request, slug: str, version: str) -> Response:
        release = get_release(request.user, slug, version)
        if not release.licence:
            raise Http404("this release has no licence to accept")
        checked(AcceptLicenceSerializer, request.data, release=release)
        accepted = accept_licence(release=release, actor=actor_of(request))
        return Response(AcceptedLicenceSerializer(accepted).data)


class ReleaseDiff(APIView):
    """The changes from the older of two releases to the newer, 25 items per page."""

    @extend_schema(parameters=[DiffQuerySerializer], responses=DiffSerializer)
    def get(self, request: Request, slug: str, version: str, other: str) -> Response:
        first, second = (get_release(request.user, slug, name) for name in (version, other))
        data = checked(DiffQuerySerializer, request.query_params)
        page = diff_page(request.user, first, second, kind=data["change"], page=str(data["page"]))
        return Response(DiffSerializer(page).data)


class ReleaseList(ListingView):
    """Lists the releases of a dataset, newest first; organisers can freeze a new one.

    A release of more than 200 documents, or from a file above 8 MB, is frozen by a worker: the
    response is 202 with a task. Repeating the request returns the same task.
    """

    serializer_class = ReleaseSerializer
    permission_classes = [OrganisersChange]

    @extend_schema(responses=ReleaseSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        releases = visible_releases(request.user, get_dataset(request.user, slug))
        return self.listed(releases)

    @extend_schema(
        request=NewReleaseSerializer,
        responses={201: FrozenReleaseSerializer, 202: TaskDetailSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        dataset = get_dataset(request.user, slug)
        serializer = NewReleaseSerializer(data=request.data)
        if was_too_large(request):
            # The file was cut off: do not freeze the records instead.
            raise UploadTooLarge
        serializer.is_valid(raise_exception=True)
        release = serializer.freeze(dataset, actor_of(request))
        if isinstance(release, DatasetTask):
            return Response(TaskDetailSerializer(release).data, status.HTTP_202_ACCEPTED)
        frozen = FrozenReleaseSerializer(release, context=self.get_serializer_context())
        return Response(frozen.data, status=status.HTTP_201_CREATED)


class ReleaseDetail(APIView):
    @extend_schema(responses=ReleaseSerializer)
    def get(self, request: Request, slug: str, version: str) -> Response:
        release = get_release(request.user, slug, version)
        return Response(ReleaseSerializer(release, context={"request": request}).data)


class ReleaseItems(ListingView):
    """The items of a release with their images; hashes and counts of facts where gold is open."""

    serializer_class = ReleaseRowSerializer

    @extend_schema(parameters=[SplitQuerySerializer], responses=ReleaseRowSerializer(many=True))
    def get(self, request: Request, slug: str, version: str) -> Response:
        release = get_release(request.user, slug, version)
        query = checked(SplitQuerySerializer, request.query_params)
        items = release_items(release)
        if split := query["split"]:
            items = items.filter(split=split)
        return self.listed(items, partial(release_rows, request.user, release))


class ReleaseDownload(APIView):
    """The release as a ZIP: HTML with inline tags, JSON Lines, Parquet and the manifest.

    For splits with hidden gold it holds only ids, prompts and images. 403 until the licence is
    accepted.
    """

    @extend_schema(
        parameters=[DownloadQuerySerializer],
        responses=file_answers(["application/zip"]),
    )
    def get(self, request: Request, slug: str, version: str) -> HttpResponseBase:
        release = get_downloadable_release(request.user, slug, version)
        require_licence(request, release)
        query = checked(DownloadQuerySerializer, request.query_params)
        gold_splits = gold_splits_for(request.user, release)
        with stored_file_errors():
            return release_response(release, gold_splits, images=query["images"])
