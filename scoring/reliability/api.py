"""How far a board's judge can be believed, as the page shows it."""

from typing import Any

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from portal.web.answers import answer
from scoring.access import board_for
from scoring.judge.reliability import Confusion
from scoring.models import JudgeSample

from .selectors import GroupLine, Reliability, VersionLine, reliability, told_samples


class JudgeQuerySerializer(serializers.Serializer[Any]):
    sample = serializers.IntegerField(
        required=False, min_value=1, help_text="A sample's id; the newest without."
    )
    judge = serializers.CharField(
        required=False,
        max_length=200,
        help_text="A version of the judge, as `versions` names it; the newest without.",
    )


class JudgeSampleSerializer(serializers.ModelSerializer[JudgeSample]):
    """Pages that were drawn for experts, by a seed with which anybody can draw them again."""

    phase = serializers.SlugField(source="phase.slug")
    release = serializers.CharField(source="release.version")

    class Meta:
        model = JudgeSample
        fields = ["id", "phase", "release", "seed", "percent", "pool", "is_open", "created_at"]


class JudgeConfusionSerializer(serializers.Serializer[Confusion]):
    """Two that decide on the same facts. Null where a figure is not defined."""

    facts = serializers.IntegerField(source="n")
    agreement = serializers.FloatField(
        allow_null=True, help_text="Share of facts on which both decide alike, 0 to 1."
    )
    kappa = serializers.FloatField(
        source="kappa.value", allow_null=True, help_text="Cohen's, -1 to 1."
    )
    both_right = serializers.IntegerField()
    only_first_right = serializers.IntegerField()
    only_second_right = serializers.IntegerField()
    both_wrong = serializers.IntegerField()


class JudgePairSerializer(serializers.Serializer[Any]):
    between = serializers.CharField(source="title")
    confusion = JudgeConfusionSerializer()


JudgeGroupSerializer = answer(
    GroupLine,
    "JudgeGroup",
    judge=JudgeConfusionSerializer(help_text="Judge and experts."),
    matcher=JudgeConfusionSerializer(help_text="Matcher and experts."),
)


class JudgeCountSerializer(serializers.Serializer[Any]):
    """Mean distance from the experts' counts of wrong facts, in facts a page."""

    type = serializers.CharField(source="name")
    judge = serializers.FloatField(allow_null=True)
    matcher = serializers.FloatField(allow_null=True)


JudgeVersionSerializer = answer(
    VersionLine,
    "JudgeVersion",
    is_sample="Scripted, no model was asked.",
    confusion=JudgeConfusionSerializer(help_text="Judge and experts."),
    difference="Of counts, in facts a page.",
    overruled="Claims of the judge that did not stand.",
)


class JudgeReliabilitySerializer(serializers.Serializer[Reliability]):
    """Figures of one sample and one version of the judge."""

    sample = JudgeSampleSerializer()
    judge = serializers.CharField(
        source="version", help_text="The version; empty where none has judged these pages."
    )
    pages = serializers.IntegerField(source="cases")
    pages_reviewed = serializers.IntegerField(source="reviewed")
    reviews = serializers.IntegerField()
    experts = serializers.IntegerField()
    agreement = JudgePairSerializer(many=True, source="pairs")
    fact_types = JudgeGroupSerializer(many=True, source="types")
    error_types = JudgeGroupSerializer(many=True, source="errors")
    counts = JudgeCountSerializer(many=True)
    versions = JudgeVersionSerializer(many=True)


class JudgeSerializer(serializers.Serializer[Any]):
    """`reliability` is null where nothing was drawn, or its phase does not tell its scores yet."""

    samples = JudgeSampleSerializer(many=True)
    reliability = JudgeReliabilitySerializer(allow_null=True)


class BoardJudge(APIView):
    """How far judge, matcher and experts agree: for everybody who may read the phase's scores."""

    @extend_schema(parameters=[JudgeQuerySerializer], responses=JudgeSerializer)
    def get(self, request: Request, slug: str) -> Response:
        samples = told_samples(request.user, board_for(request.user, slug))
        query = JudgeQuerySerializer(data=request.query_params)
        query.is_valid(raise_exception=True)
        sample = _sample(samples, query.validated_data.get("sample"))
        found = _reliability(sample, query.validated_data.get("judge", "")) if sample else None
        return Response(JudgeSerializer({"samples": samples, "reliability": found}).data)


def _sample(samples: list[JudgeSample], wanted: int | None) -> JudgeSample | None:
    for sample in samples:
        if wanted in {None, sample.pk}:
            return sample
    if wanted is None:
        return None
    raise Http404("This board shows no such sample.")


def _reliability(sample: JudgeSample, version: str) -> Reliability:
    found = reliability(sample, version)
    if version and found.version != version:
        raise Http404("No such version of the judge has read these pages.")
    return found
