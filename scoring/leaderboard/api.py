"""API endpoints and serializers of leaderboards and their charts."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any, cast

from django.http import (
    Http404,
    HttpResponse,
    HttpResponseBase,
    QueryDict,
    StreamingHttpResponse,
)
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import APIException
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param
from rest_framework.views import APIView

from portal.web.answers import answer
from portal.web.api import MOST_AT_ONCE
from portal.web.requests import conditional, kept_answer
from scoring.benchmarks import View
from scoring.charts.drawing import DrawingError
from scoring.models import Category, Entry
from scoring.models.submissions import CARD_FIELDS
from scoring.web import CsvRenderer, InFormats

from .charts import ROOMS, BoardCharts, chart_csv
from .citing import Badge, Citation, cite_page
from .columns import BoardColumn
from .files import COLUMN, PRINTED_ROWS, TEXT, ExportForm, leaderboard_csv
from .filters import CLOSED, OPEN, RowFilterForm
from .pictures import MEDIA_TYPES, BeingDrawnError, ChartRequest, Form, chart_vega_lite
from .rows import tokens_of
from .selectors import (
    Leaderboard,
    kept_leaderboard,
    rows_between,
    stamped_board,
    unknown_choices,
)

ViewSerializer = answer(View, leave_out=["columns", "reported", "needs"])
ColumnSerializer = answer(
    BoardColumn, "Column", decides="Whether the table is ordered by this rank."
)


class RowTeamSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    slug = serializers.SlugField()


class RowSerializer(serializers.ModelSerializer[Entry]):
    """A leaderboard row. Rates are in [0, 1] and unrounded; null means not scored or not ranked.
    On hidden gold, rates are rounded at random to steps, and null also means withheld.

    The organisation of a graded row is the submitter's claim until its verdict is `verified`.

    Disqualified rows have no ranks and give the reason. Pinned rows come first, disqualified rows
    last.
    """

    submission = serializers.IntegerField(allow_null=True)
    team = RowTeamSerializer(allow_null=True)
    values = serializers.DictField(child=serializers.FloatField(allow_null=True))
    intervals = serializers.DictField(
        child=serializers.ListField(child=serializers.FloatField(), min_length=2, max_length=2),
        help_text="Lower and upper bound of the 95% interval over resampled documents, by "
        "column. Columns without an interval are missing.",
    )
    ranks = serializers.DictField(child=serializers.IntegerField(allow_null=True))
    output_tokens_per_item = serializers.FloatField(allow_null=True, help_text="Null if unknown.")
    output_tokens_from = serializers.ChoiceField(
        choices=[("card", "the model card"), ("lines", "the lines of the submission")],
        allow_null=True,
        help_text="Where the number comes from: the model card, or the submission's lines if the "
        "card does not give it.",
    )

    has_manifest = serializers.BooleanField(
        help_text="Whether its submission has a run manifest, which states how it was made."
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
            "has_manifest",
        ]

    def to_representation(self, instance: Any) -> dict[str, Any]:
        """Serialize a `Row` of a leaderboard. The fields are read directly: their values are plain
        already, and there may be thousands of rows."""
        entry = instance.entry
        tokens = tokens_of(entry)
        other = {
            "submission": instance.submission_id,
            "team": instance.team and instance.team._asdict(),
            "values": instance.values,
            "ranks": instance.ranks,
            "output_tokens_per_item": tokens and tokens.per_item,
            "output_tokens_from": tokens and tokens.source,
            "has_manifest": instance.has_manifest,
        }
        return {
            name: other[name] if name in other else getattr(entry, name)
            for name in self.Meta.fields
        }


class SectionSerializer(serializers.Serializer[Any]):
    """Comparable rows. `source` is the signature of graded rows or the publication of reported
    rows."""

    kind = serializers.ChoiceField(choices=Entry.Kind.choices)
    source = serializers.CharField(source="key")  # type: ignore[assignment]
    url = serializers.CharField()
    rows = RowSerializer(many=True)


class LeaderboardSerializer(serializers.Serializer[Any]):
    """One table of a board. `view` is null for the benchmark's own table."""

    board = serializers.SlugField(source="board.slug")
    phase = serializers.SlugField(source="phase.slug", allow_null=True, default=None)
    view = serializers.CharField(source="view.key", allow_null=True, default=None)
    views = ViewSerializer(many=True)
    part = serializers.CharField(
        allow_blank=True,
        help_text="The items that the graded rows cover, in a phase with public and private parts.",
    )
    columns = ColumnSerializer(many=True)
    total = serializers.IntegerField(
        help_text="Number of rows before filtering. Ranks are computed over all of them."
    )
    shown = serializers.IntegerField(
        help_text="Number of rows after filtering, on all pages of the response."
    )
    next = serializers.URLField(
        allow_null=True, default=None, help_text="The next page of rows; null on the last."
    )
    sections = SectionSerializer(many=True)


def _optional(help_text: str) -> serializers.CharField:
    return serializers.CharField(required=False, default="", help_text=help_text)


class LeaderboardQuerySerializer(serializers.Serializer[Any]):
    phase = _optional("Slug of a phase.")
    view = _optional("Key of a view. Default: the benchmark's own table.")
    sort = _optional(
        "Key of a column, `name` or `size`; prefix with `-` to reverse. `grouped` "
        "groups rows by category. Default: the board's own order."
    )
    part = _optional(
        "Organisers only, for a phase in parts: `public`, `private` or `all`. Default: "
        "the part that is public now."
    )
    q = _optional("Part of the name or organisation. Case-insensitive.")
    category = serializers.ChoiceField(choices=Category.choices, required=False)
    size_from = _optional("Smallest number of parameters, such as 7B. Inclusive.")
    size_to = _optional("As `size_from`.")
    weights = serializers.ChoiceField(choices=[OPEN, CLOSED], required=False)
    verified = serializers.BooleanField(required=False, help_text="Verified rows only.")
    kind = serializers.MultipleChoiceField(
        choices=Entry.Kind.choices, required=False, help_text="Can be repeated."
    )
    released_from = serializers.DateField(
        required=False, help_text="Earliest release date of the model. Inclusive."
    )
    published_from = serializers.DateField(
        required=False,
        help_text="Earliest publication date of rows graded by Factboard. Inclusive.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Validate with the form of the page, and add its filter as `wanted`."""
        form = RowFilterForm(self.initial_data)
        if not form.is_valid():
            raise serializers.ValidationError(form.messages)
        return {**attrs, "wanted": form.wanted()}


class TableQuerySerializer(LeaderboardQuerySerializer):
    limit = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=MOST_AT_ONCE,
        help_text=f"Number of rows, at most {MOST_AT_ONCE}. Default: {MOST_AT_ONCE}; all in CSV.",
    )
    offset = serializers.IntegerField(
        required=False, min_value=0, help_text="Number of rows to skip. Default: 0."
    )


class BoardLeaderboard(InFormats):
    """The rows of a board: graded rows of one phase and reported rows.

    Returns JSON, or one table with stable columns with `?format=csv` (or `Accept: text/csv`); the
    CSV gives interval bounds as `KEY_low` and `KEY_high`. Send the ETag of an earlier response as
    `If-None-Match` to get 304 while nothing has changed. Filters hide rows but do not change ranks.
    Pinned rows are always included.
    """

    renderer_classes = [JSONRenderer, CsvRenderer]

    @extend_schema(
        parameters=[TableQuerySerializer],
        responses={
            (200, "application/json"): LeaderboardSerializer,
            (200, "text/csv"): OpenApiTypes.STR,
        },
    )
    def get(self, request: Request, slug: str) -> HttpResponseBase:
        stamped = stamped_board(request.user, slug)
        asked = _asked(request.query_params.urlencode(), TableQuerySerializer)
        is_csv = isinstance(request.accepted_renderer, CsvRenderer)
        url = request.build_absolute_uri()
        known = {**asked, "wanted": asked["wanted"].query, "csv": is_csv, "url": url}
        etag = stamped.etag(request.user, known)

        def table() -> Leaderboard:
            made = kept_leaderboard(request.user, stamped, asked, asked["wanted"])
            if unknown := unknown_choices(made, stamped.windows, asked):
                raise serializers.ValidationError(unknown)
            return made

        def written() -> bytes:
            text: bytes = JSONRenderer().render(_page_of(table(), asked, url))
            return text

        def answer() -> HttpResponseBase:
            if is_csv:
                rows = leaderboard_csv(_cut(table(), asked))
                return StreamingHttpResponse(rows, content_type="text/csv; charset=utf-8")
            return HttpResponse(kept_answer(etag, written), content_type="application/json")

        return conditional(request, etag, answer)


def _cut(table: Leaderboard, asked: Mapping[str, Any], most: int | None = None) -> Leaderboard:
    """Return the table with the requested rows of all sections."""
    first, limit = asked.get("offset", 0), asked.get("limit", most)
    end = table.shown if limit is None else first + limit
    return replace(table, sections=tuple(rows_between(table.sections, first, end)))


def _page_of(table: Leaderboard, asked: Mapping[str, Any], url: str) -> dict[str, Any]:
    data = LeaderboardSerializer(_cut(table, asked, MOST_AT_ONCE)).data
    end = asked.get("offset", 0) + asked.get("limit", MOST_AT_ONCE)
    following = replace_query_param(url, "offset", end) if end < table.shown else None
    return {**data, "shown": table.shown, "next": following}


@lru_cache(maxsize=256)
def _asked(
    query: str, shape: type[LeaderboardQuerySerializer] = LeaderboardQuerySerializer
) -> Mapping[str, Any]:
    """Validate the query string. Cached, because validation takes as long as the rest of a cached
    response."""
    wanted = shape(data=QueryDict(query))
    wanted.is_valid(raise_exception=True)
    return MappingProxyType(wanted.validated_data)


BibtexSerializer = answer(Citation, "Bibtex", key="`paper`, `release`, `board` or `entry`.")
BadgeSerializer = answer(
    Badge,
    leave_out=["board", "name"],
    text=serializers.CharField(),
    rank="Null if it is not ranked.",
    of="Number of ranked rows that it is compared with.",
    is_shared="Whether other rows have the same rank.",
)


class CiteSerializer(serializers.Serializer[Any]):
    """The citations of a board and its table in the formats of papers. `badge` is null without
    `submission`."""

    citations = BibtexSerializer(many=True)
    latex = serializers.CharField()
    markdown = serializers.CharField()
    embed_html = serializers.CharField(help_text="Shows the table on another site.")
    badge = BadgeSerializer(allow_null=True)


class CiteQuerySerializer(LeaderboardQuerySerializer):
    submission = _optional("Key of a submission of the table, to cite it too.")
    columns = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        help_text="Keys of the columns. Can be repeated. Default: all.",
    )
    rows = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=1000,
        help_text=f"Number of rows of each table, best first. Default: at most {PRINTED_ROWS}.",
    )
    intervals = serializers.BooleanField(required=False, help_text="Include intervals.")
    width = serializers.ChoiceField(
        choices=[TEXT, COLUMN],
        required=False,
        help_text="Width of the LaTeX table: the text of an article, or one of two columns.",
    )


class BoardCite(APIView):
    """Citations of a board, its benchmark and a submission, and the table as LaTeX and Markdown."""

    @extend_schema(parameters=[CiteQuerySerializer], responses=CiteSerializer)
    def get(self, request: Request, slug: str) -> Response:
        stamped = stamped_board(request.user, slug)
        asked = _asked(request.query_params.urlencode())
        table = kept_leaderboard(request.user, stamped, asked, asked["wanted"])
        if unknown := unknown_choices(table, stamped.windows, asked):
            raise serializers.ValidationError(unknown)
        form = ExportForm(request.query_params, table.columns)
        if not form.is_valid():
            raise serializers.ValidationError(form.messages)
        root = request.build_absolute_uri("/").rstrip("/")
        query = request.query_params.dict()
        page = cite_page(request.user, table, form.export(), query, root=root)
        return Response(CiteSerializer(page).data)


class ChartQuerySerializer(serializers.Serializer[Any]):
    phase = _optional("Slug of a phase.")
    rows = _optional(
        "Which rows to draw: `graded`, `reported` or `human`. Further sources of a kind "
        "are numbered, such as `reported-2`. Default: the first that exists."
    )
    part = _optional("Organisers only, for a phase in parts: `public`, `private` or `all`.")


class ChartFileQuerySerializer(ChartQuerySerializer):
    size = serializers.ChoiceField(
        choices=list(ROOMS),
        required=False,
        default="",
        help_text="SVG and Vega-Lite only: `narrow` for the layout of narrow screens.",
    )


class ChartSerializer(serializers.Serializer[Any]):
    """A chart and the rows it draws. `too_little` states what is missing if it cannot be drawn."""

    key = serializers.CharField()
    title = serializers.CharField()
    description = serializers.CharField(help_text="Alternative text of the chart.")
    told = serializers.CharField(help_text="The former name of `description`.")
    heads = serializers.ListField(child=serializers.CharField())
    rows = serializers.ListField(
        child=serializers.ListField(),
        help_text="Cells in the order of the heads: texts, numbers (rates in [0, 1], unrounded), "
        "dates or null.",
    )
    too_little = serializers.CharField(allow_blank=True)

    def to_representation(self, instance: Any) -> dict[str, Any]:
        """Serialize a `BoardChart`."""
        table = instance.table
        return {
            "key": instance.key,
            "title": instance.title,
            "description": instance.description,
            "told": instance.description,
            "heads": list(table.heads) if table else [],
            "rows": [list(line) for line in table.lines] if table else [],
            "too_little": "" if table else instance.too_little,
        }


class _PictureRenderer(BaseRenderer):
    """Passes an existing picture through."""

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


class PdfRenderer(_PictureRenderer):
    media_type = "application/pdf"
    format = "pdf"


class VegaLiteRenderer(_PictureRenderer):
    media_type = MEDIA_TYPES["vl"]
    format = "vl"


class NotDrawnError(APIException):
    status_code = 503
    default_code = "not_drawn"
    default_detail = "The chart could not be drawn. Try again in a moment."
    wait = 10


class StillDrawnError(NotDrawnError):
    default_code = "being_drawn"
    default_detail = "The chart is being drawn. Try again in a few seconds."
    wait = 3


@contextmanager
def _drawn() -> Iterator[None]:
    try:
        yield
    except BeingDrawnError as error:
        raise StillDrawnError from error
    except DrawingError as error:
        raise NotDrawnError from error


_NOT_DRAWN = {
    503: OpenApiResponse(
        description="The chart is being drawn, or could not be drawn. Try again after the seconds "
        "of `Retry-After`."
    )
}


class ChartList(APIView):
    """The charts of a board over rows of one source, each with the rows it draws."""

    @extend_schema(
        parameters=[ChartQuerySerializer],
        responses={200: ChartSerializer(many=True), **_NOT_DRAWN},
    )
    def get(self, request: Request, slug: str) -> Response:
        with _drawn():
            shown = _requested(request, slug).charts(or_wait=True)
        _refuse_unknown(request, shown)
        return Response(ChartSerializer(shown.charts, many=True).data)


class ChartDetail(InFormats):
    """One chart as JSON, or with `?format=csv`, `svg`, `png`, `pdf` or `vl` as a table, an image
    or its Vega-Lite specification."""

    renderer_classes = [
        JSONRenderer,
        CsvRenderer,
        SvgRenderer,
        PngRenderer,
        PdfRenderer,
        VegaLiteRenderer,
    ]

    @extend_schema(
        parameters=[ChartFileQuerySerializer],
        responses={
            (200, "application/json"): ChartSerializer,
            (200, "text/csv"): OpenApiTypes.STR,
            (200, "image/svg+xml"): OpenApiTypes.STR,
            (200, "image/png"): OpenApiTypes.BINARY,
            (200, "application/pdf"): OpenApiTypes.BINARY,
            (200, MEDIA_TYPES["vl"]): OpenApiTypes.OBJECT,
            **_NOT_DRAWN,
        },
    )
    def get(self, request: Request, slug: str, chart: str) -> Response:
        requested = _requested(request, slug)
        with _drawn():
            shown = requested.charts(or_wait=True)
        _refuse_unknown(request, shown)
        drawn = shown.chart(chart)
        wanted = ChartFileQuerySerializer(data=request.query_params)
        wanted.is_valid(raise_exception=True)
        size = wanted.validated_data["size"]
        form = request.accepted_renderer.format
        if form == "json":
            return Response(ChartSerializer(drawn).data)
        if form == "csv":
            return Response(chart_csv(drawn))
        if drawn.shape is None:
            raise Http404(drawn.too_little)
        if form == "vl":
            return Response(chart_vega_lite(drawn.shape, size))
        with _drawn():
            return Response(requested.picture(drawn, cast("Form", form), size))


def _requested(request: Request, slug: str) -> ChartRequest:
    stamped = stamped_board(request.user, slug)
    wanted = ChartQuerySerializer(data=request.query_params)
    wanted.is_valid(raise_exception=True)
    return ChartRequest.of(request.user, stamped, wanted.validated_data)


def _refuse_unknown(request: Request, shown: BoardCharts) -> None:
    """Raises ValidationError for values of parameters that the board or the user does not have."""
    if unknown := shown.unknown_choices(request.query_params.dict()):
        raise serializers.ValidationError(unknown)
