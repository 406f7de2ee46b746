"""Endpoints of rows by organisers and of human runs."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from django import forms
from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from portal.accounts.access import IsOrganiser
from portal.web.answers import ListingView, answer
from portal.web.api import PlainMultiPartParser
from scoring.access import board_for
from scoring.models import Board, Entry
from scoring.models.submissions import CARD_FIELDS
from scoring.submissions.api import shown
from scoring.submissions.serializers import RefusalSerializer, SubmissionSerializer
from scoring.submissions.uploads import SubmissionRefused
from scoring.web import DetailSerializer, OrganisersChange, actor_of, conflicts

from .forms import FIGURE, HumanRunForm, RowForm, SampleForm, row_faults
from .selectors import entered_row, row_for, same_items, ungraded_or_human
from .services import add_row, check_run, create_human_run, edit_row, load_rows, withdraw_row
from .tables import CheckedTable, TableFault, check_table


class ReportedRowSerializer(serializers.ModelSerializer[Entry]):
    """A reported or human row. Scores are rates in [0, 1] or numbers, by column."""

    source = serializers.CharField(source="provenance", max_length=300)  # type: ignore[assignment]
    source_url = serializers.URLField(source="provenance_url", allow_blank=True, default="")
    kind = serializers.ChoiceField(choices=[Entry.Kind.REPORTED, Entry.Kind.HUMAN])
    scores = serializers.DictField(child=serializers.FloatField())
    submission = serializers.IntegerField(
        source="grading.submission_id",
        read_only=True,
        default=None,
        allow_null=True,
        help_text="For a human baseline graded by Factboard: its submission.",
    )

    class Meta:
        model = Entry
        fields = ["id", "kind", *CARD_FIELDS, "source", "source_url", "scores", "submission"]
        read_only_fields = ["id"]


def _form(board: Board, data: dict[str, Any], entry: Entry | None = None) -> RowForm:
    """The form of the page with the values of a request; fields left out of a change are kept.
    Raises ValidationError, by field."""
    form = RowForm(board=board, instance=entry) if entry else None
    values: dict[str, Any] = dict(form.initial) if form else {"category": "other"}
    values |= {"kind": Entry.Kind.REPORTED} if not form else {}
    values |= {name: _single(name, value) for name, value in data.items() if name != "scores"}
    values |= _figures(board, data.get("scores", {}))
    bound = RowForm(values, board=board, instance=entry)
    if not bound.is_valid():
        faults: dict[str, list[str]] = {}
        for field, message in row_faults(bound):
            faults.setdefault(field or "non_field_errors", []).append(message)
        raise ValidationError(faults)
    return bound


def _single(name: str, value: Any) -> Any:
    """A value as a form reads it: numbers as text."""
    if isinstance(value, Mapping | list):
        raise ValidationError({name: ["Enter a single value."]})
    return value if value is None or isinstance(value, bool | str) else str(value)


def _object(request: Request) -> dict[str, Any]:
    if not isinstance(request.data, Mapping):
        message = "Send an object with the fields of the row."
        raise ValidationError({"non_field_errors": [message]})
    return dict(request.data.items())


def _figures(board: Board, scores: Any) -> dict[str, Any]:
    """Rates as the form's percentages. Null removes a figure."""
    columns = RowForm(board=board).columns
    if not isinstance(scores, dict):
        message = "Send an object with columns as keys and rates as values."
        raise ValidationError({"scores": [message]})
    if unknown := sorted(set(scores) - set(columns)):
        raise ValidationError({"scores": [f"This board has no score “{unknown[0]}”."]})
    values = {}
    for key, value in scores.items():
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise ValidationError({"scores": [f"“{key}” must be a number or null."]})
        scale = 100 if columns[key].unit else 1
        values[f"{FIGURE}{key}"] = None if value is None else Decimal(repr(value)) * scale
    return values


class RowList(ListingView):
    """List the reported and human rows of a board, or add one as an organiser."""

    serializer_class = ReportedRowSerializer
    permission_classes = [OrganisersChange]

    @extend_schema(responses=ReportedRowSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        return self.listed(
            ungraded_or_human(board_for(request.user, slug)).select_related("grading")
        )

    @extend_schema(request=ReportedRowSerializer, responses={201: ReportedRowSerializer})
    def post(self, request: Request, slug: str) -> Response:
        """Enters a row from a publication. For organisers."""
        board = board_for(request.user, slug)
        row = _form(board, _object(request)).row()
        entry = add_row(board=board, row=row, actor=actor_of(request))
        return Response(ReportedRowSerializer(entry).data, status.HTTP_201_CREATED)


class RowDetail(APIView):
    """A reported or human row. Only rows that organisers entered can be changed and withdrawn."""

    permission_classes = [OrganisersChange]

    @extend_schema(responses=ReportedRowSerializer)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        return Response(ReportedRowSerializer(row_for(request.user, slug, pk)).data)

    @extend_schema(request=ReportedRowSerializer(partial=True), responses=ReportedRowSerializer)
    def patch(self, request: Request, slug: str, pk: int) -> Response:
        """Changes the given fields and scores; null removes a score."""
        board = board_for(request.user, slug)
        entry = entered_row(board, pk)
        row = _form(board, _object(request), entry).row()
        return Response(
            ReportedRowSerializer(edit_row(entry=entry, row=row, actor=actor_of(request))).data
        )

    @extend_schema(responses={204: None})
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        """Withdraws the row. The event log keeps its content."""
        entry = entered_row(board_for(request.user, slug), pk)
        withdraw_row(entry=entry, actor=actor_of(request))
        return Response(status=status.HTTP_204_NO_CONTENT)


class SameItemsRowSerializer(serializers.Serializer[Any]):
    entry = serializers.IntegerField(source="entry.pk")
    name = serializers.CharField(source="entry.name")
    is_run = serializers.BooleanField(help_text="Whether it is the human baseline itself.")
    cells = serializers.ListField(child=serializers.CharField(), help_text="By column, as shown.")


class SameItemsSerializer(serializers.Serializer[Any]):
    columns = serializers.SerializerMethodField()
    rows = SameItemsRowSerializer(many=True)

    def get_columns(self, same: Any) -> list[str]:
        return [column.key for column in same.columns]


class RowSameItems(APIView):
    """A human baseline and the models of its phase on the same items. 404 for other rows, and where
    the phase does not show scores of parts of its items."""

    @extend_schema(responses=SameItemsSerializer)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        same = same_items(request.user, row_for(request.user, slug, pk))
        if same is None:
            raise Http404("No other model has results on the items of this row.")
        return Response(SameItemsSerializer(same).data)


class TableRequestSerializer(serializers.Serializer[Any]):
    file = serializers.FileField(help_text="CSV; percentages as published, such as 65.16.")


TableFaultSerializer = answer(
    TableFault,
    where="File and line, such as rows.csv:3.",
    column="Empty: the row or file as a whole.",
)
TableRefusalSerializer = answer(CheckedTable, "TableRefusal", leave_out=["rows"])


class RowTable(APIView):
    """A table of rows as CSV, for organisers. A line replaces the entered row with the
    same source and name."""

    permission_classes = [IsOrganiser]
    parser_classes = [PlainMultiPartParser]

    @extend_schema(
        request=TableRequestSerializer,
        responses={200: ReportedRowSerializer(many=True), 422: TableRefusalSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Saves all rows, or none if there is an error."""
        board = board_for(request.user, slug)
        wanted = TableRequestSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        file = wanted.validated_data["file"]
        table = check_table(board, file, file.name)
        if table.faults:
            refused = TableRefusalSerializer(table).data
            return Response(refused, status.HTTP_422_UNPROCESSABLE_ENTITY)
        loaded = load_rows(board=board, rows=table.rows, actor=actor_of(request))
        return Response(ReportedRowSerializer(loaded, many=True).data)


class SampleRequestSerializer(serializers.Serializer[Any]):
    phase = serializers.SlugField(help_text="A phase's slug.")
    size = serializers.IntegerField(min_value=1, help_text="Number of items.")
    seed = serializers.IntegerField(
        min_value=0, max_value=2**31 - 1, help_text="The same seed draws the same items."
    )


class StratumSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    drawn = serializers.IntegerField()
    available = serializers.IntegerField()


class SampleSerializer(serializers.Serializer[Any]):
    """The drawn items."""

    total = serializers.IntegerField(help_text="Number of items in the phase.")
    ids = serializers.ListField(child=serializers.CharField(), source="names")
    strata = serializers.SerializerMethodField()

    def get_strata(self, sample: Any) -> list[dict[str, Any]]:
        keys = ("name", "drawn", "available")
        return [dict(zip(keys, each, strict=True)) for each in sample.strata]


def _require_valid(form: forms.Form) -> None:
    if not form.is_valid():
        raise ValidationError({name: list(map(str, texts)) for name, texts in form.errors.items()})


class HumanRunSample(APIView):
    """The items that a seed draws for a human baseline, for organisers."""

    permission_classes = [IsOrganiser]

    @extend_schema(parameters=[SampleRequestSerializer], responses=SampleSerializer)
    def get(self, request: Request, slug: str) -> Response:
        board = board_for(request.user, slug)
        form = SampleForm(request.query_params, board=board)
        _require_valid(form)
        return Response(SampleSerializer(form.sample()).data)


class HumanRunRequestSerializer(SampleRequestSerializer):
    """Human answers to the items that the seed draws."""

    name = serializers.CharField(max_length=120)
    organisation = serializers.CharField(required=False, max_length=120)
    link = serializers.URLField(required=False)
    notes = serializers.CharField(required=False)
    file = serializers.FileField(help_text="One line per drawn item.")


class HumanRuns(APIView):
    """Human baselines, graded on exactly the items of a seeded sample. For organisers."""

    permission_classes = [IsOrganiser]
    parser_classes = [PlainMultiPartParser]

    @extend_schema(
        request=HumanRunRequestSerializer,
        responses={201: SubmissionSerializer, 409: DetailSerializer, 422: RefusalSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Stores the answers and queues their grading. Publish the submission to show its row."""
        board, user = board_for(request.user, slug), actor_of(request)
        form = HumanRunForm(request.data, request.FILES, board=board)
        _require_valid(form)
        sample, file = form.sample(), form.cleaned_data["file"]
        checked = check_run(sample=sample, file=file, filename=file.name, user=user)
        if not checked.can_be_taken(accept_missing=True):
            return Response(RefusalSerializer(checked).data, status.HTTP_422_UNPROCESSABLE_ENTITY)
        with conflicts(SubmissionRefused):
            submission = create_human_run(
                sample=sample,
                owner=user,
                card=form.card(),
                file=file,
                filename=file.name,
                checked=checked,
            )
        return Response(shown(request, submission), status.HTTP_201_CREATED)
