"""Endpoints of the charts of a board."""

from typing import Any, cast

from django.http import Http404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import APIException
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from scoring.charts.drawing import DrawingError
from scoring.selectors.chart_files import (
    MEDIA_TYPES,
    ROOMS,
    Form,
    chart_csv,
    chart_picture,
    chart_vega_lite,
)
from scoring.selectors.charts import BoardCharts, board_charts
from scoring.selectors.stamps import StampedBoard, stamped_board

from .base import CsvRenderer


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
