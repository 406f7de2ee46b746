"""The endpoint of a board's LLM judge, for organisers."""

from typing import Any

from django.http import Http404
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from portal.accounts.access import IsOrganiser
from portal.accounts.models import display_name
from portal.web.answers import answer
from scoring.access import board_for
from scoring.benchmarks.judging import MOST_NAME
from scoring.models import Board, JudgeEndpoint
from scoring.models.judging import (
    MOST_ADDRESS,
    MOST_AMOUNT,
    MOST_CALLS,
    MOST_KEY,
    NO_PRICES,
    check_address,
    check_amount,
    check_key,
    check_model_name,
    plain_address,
)
from scoring.web import DetailSerializer, actor_of, conflicts

from .services import (
    JudgingRefused,
    MonthSpent,
    endpoint_of,
    remove_endpoint,
    set_endpoint,
    spent_this_month,
    try_judge,
)

_AMOUNT: dict[str, Any] = {
    "min_value": 0,
    "max_value": MOST_AMOUNT,
    "validators": [check_amount],
}


JudgeMonthSerializer = answer(
    MonthSpent,
    "JudgeMonth",
    leave_out=["budget"],
    month="Its first day.",
    ahead="Set aside by work under way, or left so by work that was killed: it counts.",
    left=serializers.FloatField(allow_null=True, help_text="Null without a budget."),
)


class JudgeEndpointSerializer(serializers.ModelSerializer[JudgeEndpoint]):
    """Where the judge of a board answers. The key is never told."""

    has_key = serializers.BooleanField()
    is_key_lost = serializers.BooleanField(
        help_text="Whether SECRET_KEY was changed since: enter the key anew."
    )
    set_by = serializers.SerializerMethodField()
    this_month = serializers.SerializerMethodField()

    class Meta:
        model = JudgeEndpoint
        fields = [
            "base_url",
            "model",
            "has_key",
            "is_key_lost",
            "price_input",
            "price_output",
            "calls_per_minute",
            "budget",
            "set_by",
            "set_at",
            "this_month",
        ]

    def get_set_by(self, endpoint: JudgeEndpoint) -> str | None:
        return display_name(endpoint.set_by) if endpoint.set_by else None

    @extend_schema_field(JudgeMonthSerializer)
    def get_this_month(self, endpoint: JudgeEndpoint) -> Any:
        return JudgeMonthSerializer(spent_this_month(endpoint.board, endpoint)).data


class NewJudgeEndpointSerializer(serializers.Serializer[Any]):
    """All of an endpoint; what is left out is 0 or none, but for the key."""

    base_url = serializers.CharField(max_length=MOST_ADDRESS, validators=[check_address])
    model = serializers.CharField(max_length=MOST_NAME, validators=[check_model_name])
    key = serializers.CharField(
        required=False,
        write_only=True,
        allow_blank=True,
        max_length=MOST_KEY,
        validators=[check_key],
        help_text="Left out: the one that is kept stays, unless the address changes; then it is "
        "dropped. Empty: it is forgotten.",
    )
    price_input = serializers.FloatField(
        default=0, help_text="Money per million tokens.", **_AMOUNT
    )
    price_output = serializers.FloatField(default=0, **_AMOUNT)
    calls_per_minute = serializers.IntegerField(
        default=0, min_value=0, max_value=MOST_CALLS, help_text="Of each process; 0: no limit."
    )
    budget = serializers.FloatField(
        default=None,
        allow_null=True,
        help_text="Per calendar month (UTC), in the currency of the prices, which it needs.",
        **_AMOUNT,
    )

    def validate_base_url(self, url: str) -> str:
        return plain_address(url)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["budget"] is not None and not (attrs["price_input"] or attrs["price_output"]):
            raise serializers.ValidationError({"budget": NO_PRICES})
        return attrs


class JudgeTrialSerializer(serializers.Serializer[Any]):
    """What came of one tiny question."""

    model = serializers.CharField()
    milliseconds = serializers.IntegerField()
    fault = serializers.CharField(help_text="Why there is no answer; empty if there is one.")
    input_tokens = serializers.IntegerField(source="usage.input")
    output_tokens = serializers.IntegerField(source="usage.output")
    is_uncertain = serializers.BooleanField(
        source="usage.uncertain", help_text="The tokens were not told and are counted at most."
    )
    cost = serializers.FloatField()


class BoardJudgeEndpoint(APIView):
    """The board's own endpoint, for organisers; 404 where the judge is that of the settings."""

    permission_classes = [IsOrganiser]

    @extend_schema(responses=JudgeEndpointSerializer)
    def get(self, request: Request, slug: str) -> Response:
        return _answer(board_for(request.user, slug))

    @extend_schema(request=NewJudgeEndpointSerializer, responses=JudgeEndpointSerializer)
    def put(self, request: Request, slug: str) -> Response:
        """Sets all of it. At another address the key that is kept is dropped."""
        board = board_for(request.user, slug)
        wanted = NewJudgeEndpointSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        values = dict(wanted.validated_data)
        key = values.pop("key", None)
        set_endpoint(board=board, values=values, key=key, actor=actor_of(request))
        return _answer(board)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, slug: str) -> Response:
        """Back to the judge of the settings; the key is gone, what was spent stays noted."""
        board = board_for(request.user, slug)
        if not remove_endpoint(board=board, actor=actor_of(request)):
            raise Http404(_NONE)
        return Response(status=status.HTTP_204_NO_CONTENT)


_NONE = "This board has no endpoint of its own."


def _answer(board: Board) -> Response:
    endpoint = endpoint_of(board)
    if endpoint is None:
        raise Http404(_NONE)
    return Response(JudgeEndpointSerializer(endpoint).data)


class BoardJudgeEndpointTry(APIView):
    """Asks the board's judge one tiny question, which is paid for as any other."""

    permission_classes = [IsOrganiser]

    @extend_schema(request=None, responses={200: JudgeTrialSerializer, 409: DetailSerializer})
    def post(self, request: Request, slug: str) -> Response:
        board = board_for(request.user, slug)
        with conflicts(JudgingRefused):
            trial = try_judge(board=board, actor=actor_of(request))
        return Response(JudgeTrialSerializer(trial).data)
