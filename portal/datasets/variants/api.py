"""Endpoints of stress variants."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from portal.datasets.access import OrganisersChange, actor_of, get_dataset, visible_datasets
from portal.datasets.curation.draws import new_seed
from portal.datasets.documents.serializers import DatasetSerializer
from portal.datasets.models import Dataset, DatasetTask
from portal.web.answers import ListingView
from portal.web.api import checked

from .services import (
    LARGEST_SEED,
    VariantError,
    VariantSpec,
    create_variant,
    start_deriving,
)


class VariantSerializer(DatasetSerializer):
    """A stress variant. Its `derivation` has the parameters of the simulation."""

    class Meta(DatasetSerializer.Meta):
        fields = ["slug", "title", "visibility", "derivation", "simulated_as"]


class NewVariantSerializer(serializers.Serializer[Any]):
    """The parameters of a new variant."""

    kind = serializers.CharField(max_length=40, help_text="For example off_axis or rotate_90.")
    strength = serializers.FloatField(default=0.5, help_text="Above 0, at most 1; higher is worse.")
    seed = serializers.IntegerField(
        required=False,
        min_value=0,
        max_value=LARGEST_SEED,
        help_text="Seed of the simulation. By default, a random one.",
    )
    documents = serializers.ListField(
        child=serializers.CharField(max_length=160),
        required=False,
        allow_null=True,
        default=None,
        help_text="Names of documents; null for all with an image.",
    )
    release = serializers.CharField(
        required=False, default="", help_text="The version of the release to copy."
    )
    slug = serializers.SlugField(required=False, default="", max_length=80, allow_blank=True)


class NewVariantAnswerSerializer(serializers.Serializer[Any]):
    """The variant, and the task that creates its documents."""

    variant = VariantSerializer()
    task = serializers.IntegerField(source="task.pk")
    state = serializers.ChoiceField(choices=DatasetTask.State.choices, source="task.state")


class VariantList(ListingView):
    """List the stress variants of a dataset by title, or create one as an organiser."""

    serializer_class = VariantSerializer
    permission_classes = [OrganisersChange]

    @extend_schema(responses=VariantSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        base = get_dataset(request.user, slug)
        found = visible_datasets(request.user).filter(derived_from=base).order_by("title", "pk")
        return self.listed(found)

    @extend_schema(request=NewVariantSerializer, responses={202: NewVariantAnswerSerializer})
    def post(self, request: Request, slug: str) -> Response:
        base = get_dataset(request.user, slug)
        wanted = checked(NewVariantSerializer, request.data)
        spec = _spec(base, wanted)
        try:
            variant = create_variant(
                base=base, spec=spec, slug=wanted["slug"], actor=actor_of(request)
            )
        except VariantError as error:
            field = "documents" if error.field == "names" else error.field
            raise ValidationError({field: [error.message]}) from error
        task = start_deriving(variant=variant, spec=spec, actor=actor_of(request))
        answer = NewVariantAnswerSerializer({"variant": variant, "task": task})
        return Response(answer.data, status.HTTP_202_ACCEPTED)


def _spec(base: Dataset, wanted: dict[str, Any]) -> VariantSpec:
    release = None
    if version := wanted["release"]:
        release = base.releases.filter(version=version).first()
        if release is None:
            raise ValidationError({"release": [f"Release {version} does not exist."]})
    return VariantSpec(
        kind=wanted["kind"],
        strength=wanted["strength"],
        seed=wanted["seed"] if "seed" in wanted else new_seed(),
        names=wanted["documents"],
        release=release,
    )
