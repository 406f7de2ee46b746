"""API of the reliability of a board's judge."""

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

from .selectors import (
    CountLine,
    GroupLine,
    PairLine,
    ReasoningLine,
    Reliability,
    VersionLine,
    reliability,
    shown_samples,
)


class JudgeQuerySerializer(serializers.Serializer[Any]):
    sample = serializers.IntegerField(
        required=False, min_value=1, help_text="A sample's id; by default the newest."
    )
    judge = serializers.CharField(
        required=False,
        max_length=200,
        help_text="A version of the judge from `versions`; by default the newest.",
    )


class JudgeSampleSerializer(serializers.ModelSerializer[JudgeSample]):
    """A sample of pages for experts. The seed makes the draw repeatable."""

    phase = serializers.SlugField(source="phase.slug")
    release = serializers.CharField(source="release.version")

    class Meta:
        model = JudgeSample
        fields = ["id", "phase", "release", "seed", "percent", "pool", "is_open", "created_at"]


JudgeConfusionSerializer = answer(
    Confusion,
    "JudgeConfusion",
    facts=serializers.IntegerField(source="n"),
    agreement=serializers.FloatField(
        allow_null=True, help_text="Share of facts with the same decision, 0 to 1."
    ),
    kappa=serializers.FloatField(
        source="kappa.value", allow_null=True, help_text="Cohen's kappa, -1 to 1."
    ),
)
JudgePairSerializer = answer(
    PairLine,
    "JudgePair",
    confusion="Over the facts that judge and matcher both decided, the same for every pair.",
    covered="Reviewed facts with decisions of both; a fact with two reviews counts twice.",
    reviewed="Reviewed facts.",
    coverage=serializers.FloatField(
        allow_null=True, help_text="Share of the reviewed facts that both decided, 0 to 1."
    ),
)
JudgeGroupSerializer = answer(
    GroupLine, "JudgeGroup", judge="Judge and experts.", matcher="Matcher and experts."
)
JudgeCountSerializer = answer(CountLine, "JudgeCount")
JudgeVersionSerializer = answer(
    VersionLine,
    "JudgeVersion",
    is_sample="Scripted, without a model.",
    confusion="Judge and experts.",
    difference="Difference of counts, in facts per page.",
    overruled="Overruled claims of the judge.",
)
JudgeReasoningSerializer = answer(
    ReasoningLine,
    "JudgeReasoning",
    decision="Share of ratings that say the judge's decision is correct.",
    reasoning="Share of ratings that say its reasoning follows financial reporting conventions.",
    both="Share of ratings that say both.",
    experts="Two experts on the reasoning about one page.",
)
JudgeReliabilitySerializer = answer(
    Reliability,
    "JudgeReliability",
    leave_out=["decisions"],
    sample=JudgeSampleSerializer(),
    judge="The version; empty if none has judged these pages.",
    reasoning="Null without a judge.",
)


class JudgeSerializer(serializers.Serializer[Any]):
    """`reliability` is null without a sample, and while its phase does not show its scores."""

    samples = JudgeSampleSerializer(many=True)
    reliability = JudgeReliabilitySerializer(allow_null=True)


class BoardJudge(APIView):
    """The agreement of judge, matcher and experts, for users who can see the phase's scores."""

    @extend_schema(parameters=[JudgeQuerySerializer], responses=JudgeSerializer)
    def get(self, request: Request, slug: str) -> Response:
        samples = shown_samples(request.user, board_for(request.user, slug))
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
    raise Http404("There is no such sample.")


def _reliability(sample: JudgeSample, version: str) -> Reliability:
    found = reliability(sample, version)
    if version and found.judge != version:
        raise Http404("There is no such version of the judge for these pages.")
    return found
