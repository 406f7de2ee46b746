"""API of the endpoint of a board's judge, for organisers."""

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
from scoring.benchmarks.options import MOST_NAME
from scoring.models import Board, JudgeEndpoint
from scoring.models.judging import (
    MOST_AMOUNT,
    MOST_CALLS,
    MOST_HEADERS,
    MOST_KEY,
    MOST_URL,
    NO_PRICES,
    Purpose,
    check_amount,
    check_key,
    check_model_name,
    check_url_and_query,
    parted_url,
    read_headers,
)
from scoring.web import DetailSerializer, actor_of, conflicts

from .services import (
    JudgingRefused,
    MonthSpent,
    endpoint_of,
    host_fault,
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
    month="First day of the month.",
    ahead="Reserved by running or killed jobs; it counts as spent.",
    left=serializers.FloatField(allow_null=True, help_text="Null without a budget."),
)


class JudgeEndpointSerializer(serializers.ModelSerializer[JudgeEndpoint]):
    """The endpoint of a board's judge. The key is never returned."""

    has_key = serializers.BooleanField()
    is_key_lost = serializers.BooleanField(
        help_text="Whether the key must be entered again because SECRET_KEY has changed."
    )
    extra_names = serializers.ListField(
        child=serializers.CharField(),
        help_text="Names of the query's parameters and of additional headers. Values are never "
        "returned.",
    )
    set_by = serializers.SerializerMethodField()
    this_month = serializers.SerializerMethodField()

    class Meta:
        model = JudgeEndpoint
        fields = (
            "base_url model has_key is_key_lost extra_names price_input price_output "
            "calls_per_minute budget set_by set_at this_month"
        ).split()

    def get_set_by(self, endpoint: JudgeEndpoint) -> str | None:
        return display_name(endpoint.set_by) if endpoint.set_by else None

    @extend_schema_field(JudgeMonthSerializer)
    def get_this_month(self, endpoint: JudgeEndpoint) -> Any:
        month = spent_this_month(endpoint.board, endpoint, Purpose(endpoint.purpose))
        return JudgeMonthSerializer(month).data


class NewJudgeEndpointSerializer(serializers.Serializer[Any]):
    """A new endpoint. Fields that are left out get their defaults, except the key."""

    base_url = serializers.CharField(
        max_length=MOST_URL,
        validators=[check_url_and_query],
        help_text="It may have a query, which is never returned. Without “?”, the current query is "
        "kept; it is deleted if the rest of the URL changes, or if the URL ends with “?”.",
    )
    model = serializers.CharField(max_length=MOST_NAME, validators=[check_model_name])
    key = serializers.CharField(
        required=False,
        write_only=True,
        allow_blank=True,
        max_length=MOST_KEY,
        validators=[check_key],
        help_text="Leave out to keep the current key; it is deleted if the URL changes. Empty: "
        "delete it.",
    )
    headers = serializers.ListField(
        child=serializers.CharField(max_length=MOST_HEADERS),
        required=False,
        write_only=True,
        max_length=20,
        help_text="Additional headers of every request, such as `api-key: {key}`, where `{key}` is "
        "replaced by the key. Leave out to keep the current ones; they are deleted if the URL "
        "changes. Empty: delete them.",
    )
    price_input = serializers.FloatField(
        default=0, help_text="Money per million tokens.", **_AMOUNT
    )
    price_output = serializers.FloatField(default=0, **_AMOUNT)
    calls_per_minute = serializers.IntegerField(
        default=0, min_value=0, max_value=MOST_CALLS, help_text="Per process; 0: no limit."
    )
    budget = serializers.FloatField(
        default=None,
        allow_null=True,
        help_text="Per calendar month (UTC), in the currency of the prices, which are required.",
        **_AMOUNT,
    )

    def validate_base_url(self, url: str) -> str:
        if fault := host_fault(url):
            raise serializers.ValidationError(fault)
        return url

    def validate_headers(self, lines: list[str]) -> dict[str, str]:
        return read_headers("\n".join(lines))

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["budget"] is not None and not (attrs["price_input"] or attrs["price_output"]):
            raise serializers.ValidationError({"budget": NO_PRICES})
        return attrs


class JudgeTrialSerializer(serializers.Serializer[Any]):
    """The result of a test question."""

    model = serializers.CharField()
    milliseconds = serializers.IntegerField()
    fault = serializers.CharField(help_text="Why there is no answer; empty with an answer.")
    input_tokens = serializers.IntegerField(source="usage.input")
    output_tokens = serializers.IntegerField(source="usage.output")
    is_uncertain = serializers.BooleanField(
        source="usage.uncertain",
        help_text="Whether the tokens are an upper limit, because they were not reported.",
    )
    cost = serializers.FloatField()


class BoardJudgeEndpoint(APIView):
    """The board's own endpoint, for organisers; 404 if it uses the site's judge."""

    permission_classes = [IsOrganiser]
    purpose = Purpose.JUDGE

    @extend_schema(responses=JudgeEndpointSerializer)
    def get(self, request: Request, slug: str) -> Response:
        return _answer(board_for(request.user, slug), self.purpose)

    @extend_schema(request=NewJudgeEndpointSerializer, responses=JudgeEndpointSerializer)
    def put(self, request: Request, slug: str) -> Response:
        """Sets the endpoint. If the URL changes, the current key is deleted."""
        board = board_for(request.user, slug)
        wanted = NewJudgeEndpointSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        values = dict(wanted.validated_data)
        values["base_url"], query = parted_url(values["base_url"])
        set_endpoint(
            board=board,
            key=values.pop("key", None),
            query=query,
            headers=values.pop("headers", None),
            values=values,
            actor=actor_of(request),
            purpose=self.purpose,
        )
        return _answer(board, self.purpose)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, slug: str) -> Response:
        """Removes the endpoint and its key. The spending of the month is kept."""
        board = board_for(request.user, slug)
        if not remove_endpoint(board=board, actor=actor_of(request), purpose=self.purpose):
            raise Http404(_NONE)
        return Response(status=status.HTTP_204_NO_CONTENT)


class BoardModelEndpoint(BoardJudgeEndpoint):
    """The endpoint at which organisers run models on the board; 404 without one."""

    purpose = Purpose.MODEL


_NONE = "This board has no endpoint of its own."


def _answer(board: Board, purpose: Purpose) -> Response:
    endpoint = endpoint_of(board, purpose)
    if endpoint is None:
        raise Http404(_NONE)
    return Response(JudgeEndpointSerializer(endpoint).data)


class BoardJudgeEndpointTry(APIView):
    """Sends a test question to the board's judge. It is charged like any other call."""

    permission_classes = [IsOrganiser]

    @extend_schema(request=None, responses={200: JudgeTrialSerializer, 409: DetailSerializer})
    def post(self, request: Request, slug: str) -> Response:
        board = board_for(request.user, slug)
        with conflicts(JudgingRefused):
            trial = try_judge(board=board, actor=actor_of(request))
        return Response(JudgeTrialSerializer(trial).data)
