"""Endpoints of curation, for organisers. Scans and searches run as tasks."""

from functools import partial
from typing import Any

from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from portal.accounts.access import IsOrganiser
from portal.datasets.access import actor_of, get_dataset, get_duplicate, get_selection
from portal.datasets.documents.forms import MAX_REASON
from portal.datasets.documents.serializers import DocumentFilterSerializer
from portal.datasets.documents.table import DocumentFilter
from portal.datasets.models import Document, NearDuplicate, PiiFinding, Selection
from portal.datasets.responses import refusals_by_field
from portal.web.answers import ListingView
from portal.web.api import LARGEST_KEY, checked

from .draws import new_seed
from .personal_data import (
    MOST_AT_ONCE,
    FindingRow,
    MaskingError,
    decide_findings,
    find_findings,
    finding_rows,
)
from .services import (
    MAX_SEED,
    MAX_TITLE,
    STRATA,
    DrawSpec,
    check_selection,
    create_selection,
    decide_duplicate,
    drawable,
    find_pairs,
    selection_rows,
)


class FindingSerializer(serializers.Serializer[FindingRow]):
    """A finding with its text and the text around it."""

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
    decided = serializers.IntegerField(
        help_text="Number of findings whose decision changed. Masked findings never change."
    )


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
    """The parameters of a selection. Without a seed, a random one is used."""

    title = serializers.CharField(max_length=MAX_TITLE)
    strata = serializers.ListField(
        child=serializers.ChoiceField(choices=list(STRATA.items())), min_length=1
    )
    size = serializers.IntegerField(
        required=False, min_value=1, help_text="Total number, divided in proportion to the strata."
    )
    per_stratum = serializers.IntegerField(required=False, min_value=1)
    evenly = serializers.BooleanField(
        required=False, default=False, help_text="Divide the size evenly among the strata."
    )
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
    """The names that only the selection or only a new draw has."""

    is_same = serializers.BooleanField()
    only_stored = serializers.ListField(child=serializers.CharField())
    only_drawn = serializers.ListField(child=serializers.CharField())


class FindingList(ListingView):
    """List possible personal data with the text around it, by document and position."""

    serializer_class = FindingSerializer
    permission_classes = [IsOrganiser]

    @extend_schema(parameters=[FindingQuerySerializer], responses=FindingSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        dataset = get_dataset(request.user, slug)
        wanted = checked(FindingQuerySerializer, request.query_params)
        found = find_findings(dataset, **wanted)
        return self.listed(found, partial(finding_rows, dataset))


class FindingsDecide(APIView):
    """Keep or mask findings, with a reason. Masking replaces each document with a masked copy."""

    permission_classes = [IsOrganiser]

    @extend_schema(request=DecideFindingsSerializer, responses=DecidedSerializer)
    def post(self, request: Request, slug: str) -> Response:
        dataset = get_dataset(request.user, slug)
        values = checked(DecideFindingsSerializer, request.data)
        try:
            decided = decide_findings(
                dataset=dataset,
                keys=values["findings"],
                decision=values["decision"],
                reason=values["reason"],
                actor=actor_of(request),
            )
        except MaskingError as error:
            raise serializers.ValidationError({"findings": [str(error)]}) from error
        return Response({"decided": len(decided)})


class DuplicateList(ListingView):
    """List pairs of similar documents, the most similar ones first."""

    serializer_class = DuplicateSerializer
    permission_classes = [IsOrganiser]

    @extend_schema(parameters=[DuplicateQuerySerializer], responses=DuplicateSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        dataset = get_dataset(request.user, slug)
        wanted = checked(DuplicateQuerySerializer, request.query_params)
        return self.listed(find_pairs(dataset, **wanted))


class DuplicateDetail(APIView):
    """Return a pair, or decide whether both are kept or one is held back."""

    permission_classes = [IsOrganiser]

    @extend_schema(responses=DuplicateSerializer)
    def get(self, _: Request, slug: str, pk: int) -> Response:
        return Response(DuplicateSerializer(get_duplicate(slug, pk)).data)

    @extend_schema(request=DecideDuplicateSerializer, responses=DuplicateSerializer)
    def patch(self, request: Request, slug: str, pk: int) -> Response:
        pair = get_duplicate(slug, pk)
        wanted = checked(DecideDuplicateSerializer, request.data)
        decided = decide_duplicate(pair=pair, decision=wanted["decision"], actor=actor_of(request))
        return Response(DuplicateSerializer(decided).data)


class SelectionList(ListingView):
    """List the selections of a dataset, newest first, or draw a new one."""

    serializer_class = SelectionSerializer
    permission_classes = [IsOrganiser]

    @extend_schema(responses=SelectionSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        return self.listed(selection_rows(get_dataset(request.user, slug)))

    @extend_schema(request=SelectionDrawSerializer, responses={201: SelectionDetailSerializer})
    def post(self, request: Request, slug: str) -> Response:
        dataset = get_dataset(request.user, slug)
        values = checked(SelectionDrawSerializer, request.data)
        with refusals_by_field():
            selection = create_selection(
                dataset=dataset,
                title=values["title"],
                spec=DrawSpec(
                    strata=tuple(values["strata"]),
                    size=values.get("size"),
                    per_stratum=values.get("per_stratum"),
                    evenly=values["evenly"],
                    wanted=drawable(values.get("filter", DocumentFilter())),
                ),
                seed=values.get("seed", new_seed()),
                actor=actor_of(request),
            )
        return Response(SelectionDetailSerializer(selection).data, status.HTTP_201_CREATED)


class SelectionDetail(APIView):
    """Return a selection with the names of its documents."""

    permission_classes = [IsOrganiser]

    @extend_schema(responses=SelectionDetailSerializer)
    def get(self, _: Request, slug: str, pk: int) -> Response:
        return Response(SelectionDetailSerializer(get_selection(slug, pk)).data)


class SelectionCheck(APIView):
    """Draw again with the stored spec and seed, and compare the result with the selection."""

    permission_classes = [IsOrganiser]

    @extend_schema(responses=SelectionCheckSerializer)
    def get(self, _: Request, slug: str, pk: int) -> Response:
        return Response(SelectionCheckSerializer(check_selection(get_selection(slug, pk))).data)
