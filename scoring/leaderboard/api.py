"""Endpoints of leaderboards and of their charts, with their JSON forms."""

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, cast

from django.http import Http404, HttpResponse, HttpResponseBase, QueryDict
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import APIException
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from portal.web.answers import answer
from portal.web.conditional import conditional, kept_answer
from scoring.charts.drawing import DrawingError
from scoring.models import Category, Entry
from scoring.models.submissions import CARD_FIELDS
from scoring.web import CsvRenderer

from .charts import BoardCharts, board_charts
from .columns import BoardColumn
from .drawings import MEDIA_TYPES, ROOMS, Form, chart_csv, chart_picture, chart_vega_lite
from .files import leaderboard_csv
from .filters import CLOSED, OPEN, RowFilterForm
from .rows import tokens_of
from .selectors import Leaderboard, StampedBoard, asked_leaderboard, stamped_board

ColumnSerializer = answer(
    BoardColumn, "Column", decides="Whether the table is ordered by this rank."
)


class RowTeamSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    slug = serializers.SlugField()


class RowSerializer(serializers.ModelSerializer[Entry]):
    """A row: rates in [0, 1], unrounded; null where nothing was scored or ranked.

    The organisation of a graded row is stated by its submitter, until its verdict is `verified`.

    What was disqualified has no ranks, and says why. Pinned rows come first, those disqualified
    last.
    """

    submission = serializers.IntegerField(allow_null=True)
    team = RowTeamSerializer(allow_null=True)
    values = serializers.DictField(child=serializers.FloatField(allow_null=True))
    intervals = serializers.DictField(
        child=serializers.ListField(child=serializers.FloatField(), min_length=2, max_length=2),
        help_text="Low and high end of the 95 % interval that resamples documents, by column; "
        "missing where there is none.",
    )
    ranks = serializers.DictField(child=serializers.IntegerField(allow_null=True))
    output_tokens_per_item = serializers.FloatField(
        allow_null=True, help_text="Null where nothing is stated."
    )
    output_tokens_from = serializers.ChoiceField(
        choices=[("card", "the model card"), ("lines", "the lines of the submission")],
        allow_null=True,
        help_text="What states them; the lines where the card says nothing.",
    )

    class Meta:
        model = Entry
        fields = [
            *CARD_FIELDS,
            "verdict",
            "verdict_reason",
            "is_pinned",
            "is_sample",
            "submission",
            "team",
            "values",
            "intervals",
            "ranks",
            "output_tokens_per_item",
            "output_tokens_from",
        ]

    def to_representation(self, instance: Any) -> dict[str, Any]:
        """Of a leaderboard's Row."""
        entry = instance.entry
        tokens = tokens_of(entry)
        entry.output_tokens_per_item = tokens and tokens.per_item
        entry.output_tokens_from = tokens and tokens.source
        entry.submission, entry.team = instance.submission_id, instance.team
        entry.values, entry.ranks = instance.values, instance.ranks
        return super().to_representation(entry)


class SectionSerializer(serializers.Serializer[Any]):
    """Rows that may be compared; `source` is the signature of graded ones, else the publication."""

    kind = serializers.ChoiceField(choices=Entry.Kind.choices)
    source = serializers.CharField(source="key")  # type: ignore[assignment]
    url = serializers.CharField()
    rows = RowSerializer(many=True)


class ViewSerializer(serializers.Serializer[Any]):
    """A further table of the board, under its key."""

    key = serializers.CharField()
    title = serializers.CharField()
    help = serializers.CharField()


class LeaderboardSerializer(serializers.Serializer[Any]):
    """One table of a board: the benchmark's own where `view` is null."""

    board = serializers.SlugField(source="board.slug")
    phase = serializers.SlugField(source="phase.slug", allow_null=True, default=None)
    view = serializers.CharField(source="view.key", allow_null=True, default=None)
    views = ViewSerializer(many=True)
    part = serializers.CharField(
        allow_blank=True, help_text="Of a phase in parts: whose items the graded rows count."
    )
    columns = ColumnSerializer(many=True)
    total = serializers.IntegerField(help_text="Rows without a filter; ranks are among them.")
    shown = serializers.IntegerField(help_text="Rows that the filter keeps.")
    sections = SectionSerializer(many=True)


class LeaderboardQuerySerializer(serializers.Serializer[Any]):
    phase = serializers.CharField(required=False, default="", help_text="A phase's slug.")
    view = serializers.CharField(
        required=False, default="", help_text="A view's key; the benchmark's own table without."
    )
    sort = serializers.CharField(
        required=False,
        default="",
        help_text="A column's key, `name` or `size`; `-` reverses; `grouped` by the kind of "
        "system. The board's own order without.",
    )
    part = serializers.CharField(
        required=False,
        default="",
        help_text="Of a phase in parts, for organisers: `public`, `private` or `all`; what is told "
        "now without.",
    )
    q = serializers.CharField(
        required=False, default="", help_text="Part of the name or organisation, ignoring case."
    )
    category = serializers.ChoiceField(choices=Category.choices, required=False)
    size_from = serializers.CharField(
        required=False, default="", help_text="Parameters, such as 7B; inclusive."
    )
    size_to = serializers.CharField(required=False, default="", help_text="As `size_from`.")
    weights = serializers.ChoiceField(choices=[OPEN, CLOSED], required=False)
    verified = serializers.BooleanField(required=False, help_text="Verified rows only.")
    kind = serializers.MultipleChoiceField(
        choices=Entry.Kind.choices, required=False, help_text="May be given several times."
    )
    released_from = serializers.DateField(required=False, help_text="Of the system; inclusive.")
    published_from = serializers.DateField(
        required=False, help_text="Of rows graded here; inclusive."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """With `wanted`, the filter: what a form of the page would say of it counts here too."""
        form = RowFilterForm(self.initial_data)
        if not form.is_valid():
            raise serializers.ValidationError(form.messages)
        return {**attrs, "wanted": form.wanted()}


class BoardLeaderboard(APIView):
    """The rows of a board: graded ones of one phase, and those that papers report.

    As JSON, or with `?format=csv` (or `Accept: text/csv`) as one table with stable columns, among
    them the ends of intervals as `KEY_low` and `KEY_high`. With `If-None-Match` and the ETag of an
    earlier answer: 304 while nothing has changed. Filters leave rows out; ranks stay those of all
    rows. What is pinned is never left out.
    """

    renderer_classes = [JSONRenderer, CsvRenderer]

    @extend_schema(
        parameters=[LeaderboardQuerySerializer],
        responses={
            (200, "application/json"): LeaderboardSerializer,
            (200, "text/csv"): OpenApiTypes.STR,
        },
    )
    def get(self, request: Request, slug: str) -> HttpResponseBase:
        stamped = stamped_board(request.user, slug)
        asked = _asked(request.query_params.urlencode())
        renderer, known = request.accepted_renderer, {**asked, "wanted": asked["wanted"].query}
        is_csv = isinstance(renderer, CsvRenderer)
        etag = stamped.etag(request.user, {**known, "csv": is_csv})

        def table() -> Leaderboard:
            return asked_leaderboard(
                request.user, stamped.board, stamped.windows, asked, asked["wanted"]
            )

        def written() -> bytes:
            data = leaderboard_csv(table()) if is_csv else LeaderboardSerializer(table()).data
            text = renderer.render(data, renderer.media_type, {})
            assert isinstance(text, bytes)
            return text

        def answer() -> HttpResponse:
            charset = f"; charset={renderer.charset}" if renderer.charset else ""
            return HttpResponse(
                kept_answer(etag, written), content_type=f"{renderer.media_type}{charset}"
            )

        return conditional(request, etag, answer)


@lru_cache(maxsize=256)
def _asked(query: str) -> Mapping[str, Any]:
    """The parameters of a leaderboard's address, looked through once for all who ask alike: that
    takes as long as the rest of an answer that was kept."""
    wanted = LeaderboardQuerySerializer(data=QueryDict(query))
    wanted.is_valid(raise_exception=True)
    return MappingProxyType(wanted.validated_data)


class ChartQuerySerializer(serializers.Serializer[Any]):
    phase = serializers.CharField(required=False, default="", help_text="A phase's slug.")
    rows = serializers.CharField(
        required=False,
        default="",
        help_text="Which rows: `graded`, `reported`, `human`, from the second origin of a kind on "
        "with its number, such as `reported-2`. The first there is without.",
    )
    part = serializers.CharField(
        required=False,
        default="",
        help_text="Of a phase in parts, for organisers: `public`, `private` or `all`.",
    )


class ChartFileQuerySerializer(ChartQuerySerializer):
    size = serializers.ChoiceField(
        choices=list(ROOMS),
        required=False,
        default="",
        help_text="Of SVG and Vega-Lite: `narrow` for the layout of narrow screens.",
    )


class ChartSerializer(serializers.Serializer[Any]):
    """A chart with the rows that it draws; without any it says why in `too_little`."""

    key = serializers.CharField()
    title = serializers.CharField()
    told = serializers.CharField(help_text="What it shows, in a sentence.")
    heads = serializers.ListField(child=serializers.CharField())
    rows = serializers.ListField(
        child=serializers.ListField(),
        help_text="Cells under the heads: texts, numbers (rates in [0, 1], unrounded), dates or "
        "null.",
    )
    too_little = serializers.CharField(allow_blank=True)

    def to_representation(self, instance: Any) -> dict[str, Any]:
        """Of a BoardChart."""
        table = instance.table
        return {
            "key": instance.key,
            "title": instance.title,
            "told": instance.told,
            "heads": list(table.heads) if table else [],
            "rows": [list(line) for line in table.lines] if table else [],
            "too_little": "" if table else instance.too_little,
        }


class _PictureRenderer(BaseRenderer):
    """A picture that was drawn already."""

    charset = None
    render_style = "binary"

    def render(self, data: Any, media_type: str | None = None, context: Any = None) -> bytes:
        return cast("bytes", data)


class SvgRenderer(_PictureRenderer):
    media_type = "image/svg+xml"
    format = "svg"


class PngRenderer(_PictureRenderer):
    media_type = "image/png"
    format = "png"


class VegaLiteRenderer(_PictureRenderer):
    media_type = MEDIA_TYPES["vl"]
    format = "vl"


class NotDrawnError(APIException):
    status_code = 503
    default_code = "not_drawn"
    default_detail = "The picture could not be drawn; try again in a moment."


class ChartList(APIView):
    """The charts of a board over rows of one origin, each with the rows that it draws."""

    @extend_schema(parameters=[ChartQuerySerializer], responses=ChartSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        shown = _shown(request, stamped_board(request.user, slug))
        return Response(ChartSerializer(shown.charts, many=True).data)


class ChartDetail(APIView):
    """One chart: as JSON, or with `?format=csv`, `svg`, `png` or `vl` as a table, a picture or the
    Vega-Lite that it is drawn from."""

    renderer_classes = [JSONRenderer, CsvRenderer, SvgRenderer, PngRenderer, VegaLiteRenderer]

    @extend_schema(
        parameters=[ChartFileQuerySerializer],
        responses={
            (200, "application/json"): ChartSerializer,
            (200, "text/csv"): OpenApiTypes.STR,
            (200, "image/svg+xml"): OpenApiTypes.STR,
            (200, "image/png"): OpenApiTypes.BINARY,
            (200, MEDIA_TYPES["vl"]): OpenApiTypes.OBJECT,
            503: OpenApiResponse(description="The picture could not be drawn just now."),
        },
    )
    def get(self, request: Request, slug: str, chart: str) -> Response:
        stamped = stamped_board(request.user, slug)
        shown = _shown(request, stamped)
        found = shown.chart(chart)
        size = _file_query(request)["size"]
        form = request.accepted_renderer.format
        if form == "json":
            return Response(ChartSerializer(found).data)
        if form == "csv":
            return Response(chart_csv(found))
        if found.shape is None:
            raise Http404(found.too_little)
        if form == "vl":
            return Response(chart_vega_lite(found.shape, size))
        try:
            return Response(chart_picture(shown, found, cast("Form", form), size))
        except DrawingError as error:
            raise NotDrawnError from error

    def handle_exception(self, exc: Exception) -> Response:
        """A refusal is JSON, whatever was asked for."""
        self.request.accepted_renderer = JSONRenderer()
        self.request.accepted_media_type = JSONRenderer.media_type
        return super().handle_exception(exc)


def _file_query(request: Request) -> dict[str, Any]:
    wanted = ChartFileQuerySerializer(data=request.query_params)
    wanted.is_valid(raise_exception=True)
    return dict(wanted.validated_data)


def _shown(request: Request, stamped: StampedBoard) -> BoardCharts:
    wanted = ChartQuerySerializer(data=request.query_params)
    wanted.is_valid(raise_exception=True)
    asked = wanted.validated_data
    return board_charts(
        request.user,
        stamped.board,
        stamped.windows,
        phase=asked["phase"],
        origin=asked["rows"],
        part=asked["part"],
    )
