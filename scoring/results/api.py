"""API endpoints and serializers of items and comparisons."""

from collections.abc import Sequence
from typing import Any

from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from portal.web.answers import ListingView, answer
from scoring.access import board_for, require_items, submission_for
from scoring.benchmarks.graded import FieldRow
from scoring.grading.selectors import finished_grading
from scoring.leaderboard.services import ask_for_replicates
from scoring.models import Board, Grading, ItemScore
from scoring.models.boards import choose_phase, phase_windows

from .comparisons import (
    ErrorRow,
    FigureCell,
    ItemCell,
    ItemRow,
    comparison,
)
from .fact_pairs import FIRST, SECOND, FactPair, FactSide, differing_facts
from .facts import FactLine
from .fields import FieldTable
from .item_lists import (
    LONGEST_SEARCH,
    SHOWN,
    ItemLine,
    ItemQuery,
    item_line,
    item_scores,
    orders_of,
)
from .items import Extra, item_page
from .selection import ComparisonRefused, entries_of_submissions, entry_numbers
from .training_dates import training_dates


class EarlierResultSerializer(serializers.Serializer[Any]):
    grading = serializers.IntegerField(
        required=False,
        default=None,
        min_value=1,
        help_text="Number of an earlier result, from `history`.",
    )


def _search(help_text: str) -> serializers.CharField:
    return serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        max_length=LONGEST_SEARCH,
        help_text=help_text,
    )


class ItemQuerySerializer(EarlierResultSerializer):
    """Filters and order of items."""

    order = _search(
        "`hardest`, `easiest`, `name` or a key of the items' `scores`: best first, or "
        "worst first with `-` before the key. Default: the order of the release."
    )
    show = serializers.ChoiceField(
        choices=[key for key in SHOWN if key], required=False, default="", allow_blank=True
    )
    part = _search("A document type, task or subset. Only if the phase shows every fact.")
    error = _search("An error type. Only if the phase shows every fact.")
    q = _search("Part of the id.")

    def validate_order(self, order: str) -> str:
        """Check the order against the figures of the `grading` in the context."""
        if order not in (known := orders_of(self.context["grading"])):
            named = ", ".join(key for key in known if key)
            raise serializers.ValidationError(f"Unknown order. Choose one of {named}.")
        return order

    def query(self) -> ItemQuery:
        """Return the validated query."""
        wanted = dict(self.validated_data)
        wanted.pop("grading")
        return ItemQuery.parse(**wanted)


FactSerializer = answer(
    FactLine,
    "Fact",
    leave_out=["label", "start", "end"],
    confidence="How well the context matches, in [0, 1].",
    beside="Whether it is correct by each of the other matchers, by name. Null in results that "
    "predate them.",
    why="The LLM judge's reason. Empty if the judge was not asked.",
    overruled="Why the judge's claim about the fact is invalid. Empty if it is valid.",
)


class ItemLineSerializer(serializers.Serializer[Any]):
    """An item with its own scores."""

    name = serializers.CharField()
    is_missing = serializers.BooleanField()
    score = serializers.FloatField(
        allow_null=True,
        help_text="The item's own score, higher is better. Items are ordered by it.",
    )
    part = serializers.CharField(
        allow_null=True, help_text="Its document type, task or subset. Null if it is not shown."
    )
    error_kinds = serializers.ListField(
        source="errors",
        child=serializers.CharField(),
        allow_null=True,
        help_text="Its error types. Null if they are not shown.",
    )
    scores = serializers.DictField(child=serializers.FloatField(allow_null=True))


ExtraSerializer = answer(Extra)
FieldRowSerializer = answer(FieldRow, text="The beginning of the text if `is_cut`.")
FieldTableSerializer = answer(FieldTable, rows=FieldRowSerializer(many=True))


class GradedFieldSerializer(serializers.Serializer[Any]):
    """A gold value with its verdict."""

    n = serializers.IntegerField()
    name = serializers.CharField(source="type")
    value = serializers.CharField()
    read = serializers.CharField(
        source="matched_text", allow_null=True, help_text="Null if nothing was found."
    )
    correct = serializers.BooleanField()
    error = serializers.CharField(allow_null=True)


class ItemSerializer(ItemLineSerializer):
    """An item. If the phase shows scores only, the other fields are null. `facts` and
    `hallucinated` are set for benchmarks of facts, `tables` for all others, and `fields_graded` for
    those if the gold is public."""

    facts = FactSerializer(source="facts.lines", many=True, allow_null=True)
    hallucinated = ExtraSerializer(source="extra", allow_null=True)
    fields_graded = GradedFieldSerializer(
        source="fields.choice.lines", many=True, allow_null=True, default=None
    )
    tables = FieldTableSerializer(many=True, allow_null=True)

    def to_representation(self, instance: Any) -> dict[str, Any]:
        """Serialize an `ItemPage`."""
        line = {**vars(instance.line), "scores": instance.line.scores}
        own = {name: getattr(instance, name) for name in ("facts", "extra", "fields", "tables")}
        return super().to_representation(line | own)


class ComparisonQuerySerializer(serializers.Serializer[Any]):
    entries = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        help_text="Numbers of two to five entries, such as `3,1`. The others are compared with "
        "the first.",
    )
    submissions = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        help_text="Numbers of their submissions instead, such as `12,7`.",
    )

    def numbers(self, board: Board) -> list[int]:
        """The numbers of the entries. Raises ValidationError that names the parameter."""
        data = self.validated_data
        name = "submissions" if data["submissions"] and not data["entries"] else "entries"
        try:
            numbers = entry_numbers([data[name]])
            return numbers if name == "entries" else entries_of_submissions(board, numbers)
        except ComparisonRefused as refusal:
            raise ValidationError({name: [str(refusal)]}) from refusal


class IntervalSerializer(serializers.Serializer[Any]):
    low = serializers.FloatField()
    high = serializers.FloatField()


class DifferenceSerializer(serializers.Serializer[Any]):
    """The difference between two entries in a score. `p_value` and `interval` are null if there is
    no test for this reader or score, or none yet."""

    value = serializers.FloatField(allow_null=True)
    p_value = serializers.FloatField(source="test.p_value", allow_null=True, default=None)
    interval = IntervalSerializer(source="test.interval", allow_null=True, default=None)


class ContestantSerializer(serializers.Serializer[Any]):
    entry = serializers.IntegerField(source="entry.pk")
    submission = serializers.IntegerField(source="submission.pk")
    name = serializers.CharField(source="entry.name")


FigureCellSerializer = answer(
    FigureCell, leave_out=["system", "text"], difference=DifferenceSerializer(allow_null=True)
)


class FigureRowSerializer(serializers.Serializer[Any]):
    """A score of every entry, in order, with its difference from the first."""

    key = serializers.CharField(source="column.key")
    direction = serializers.CharField(source="column.direction")
    cells = FigureCellSerializer(many=True)


class PairSerializer(serializers.Serializer[Any]):
    """Two entries in the main score. Wins, ties and losses count items; they are null if they
    are not shown."""

    first = serializers.IntegerField(source="first.entry.pk")
    second = serializers.IntegerField(source="second.entry.pk")
    difference = DifferenceSerializer()
    wins = serializers.IntegerField(allow_null=True)
    ties = serializers.IntegerField(allow_null=True)
    losses = serializers.IntegerField(allow_null=True)


ErrorRowSerializer = answer(ErrorRow)
ItemCellSerializer = answer(ItemCell, leave_out=["system", "text"])
ItemRowSerializer = answer(ItemRow, cells=ItemCellSerializer(many=True))


class ComparisonSerializer(serializers.Serializer[Any]):
    """A comparison of entries. While `is_ready` is false, the tests are being computed: request it
    again later. If the phase rounds scores or publishes them in parts, `is_exact` is false and
    there are no tests."""

    phase = serializers.CharField(source="phase.slug")
    deciding = serializers.CharField(source="deciding.key")
    is_exact = serializers.BooleanField()
    is_ready = serializers.BooleanField()
    entries = ContestantSerializer(source="contestants", many=True)
    figures = FigureRowSerializer(many=True)
    pairs = PairSerializer(many=True)
    error_kinds = ErrorRowSerializer(source="error_rows", many=True)
    disputed = ItemRowSerializer(many=True)


class BoardCompare(APIView):
    """Compare two to five entries of one phase that were graded on the same release with the
    same signature."""

    @extend_schema(parameters=[ComparisonQuerySerializer], responses=ComparisonSerializer)
    def get(self, request: Request, slug: str) -> Response:
        board = board_for(request.user, slug)
        wanted = ComparisonQuerySerializer(data=request.query_params)
        wanted.is_valid(raise_exception=True)
        numbers = wanted.numbers(board)
        try:
            found = comparison(request.user, board, numbers)
        except ComparisonRefused as refusal:
            raise ValidationError({"entries": [str(refusal)]}) from refusal
        if found.is_exact and not found.is_ready:
            ask_for_replicates(found.gradings)
        return Response(ComparisonSerializer(found).data)


class ComparedFactsQuerySerializer(serializers.Serializer[Any]):
    entries = serializers.CharField(help_text="Numbers of two entries, such as `3,1`.")
    right = serializers.ChoiceField(
        choices=[FIRST, SECOND],
        required=False,
        default=FIRST,
        help_text="Which of the two entries has the correct facts.",
    )
    type = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        max_length=LONGEST_SEARCH,
        help_text="A type of facts or fields. Default: all.",
    )


FactSideSerializer = answer(
    FactSide, text="Null if nothing was found.", error="Empty if it is correct."
)
FactPairSerializer = answer(
    FactPair,
    "ComparedFact",
    leave_out=["label"],
    n="Number on the item's page. Null for a whole item.",
    type="Type of the fact, or name of the field.",
    sides=FactSideSerializer(many=True, help_text="In the order of `entries`."),
)

_FACTS_EXAMPLE = OpenApiExample(
    "A sign that the second model lost",
    value={
        "item": "page-7",
        "n": 12,
        "type": "Number",
        "value": "(3,627)",
        "sides": [
            {"submission": 1, "system": "Model A", "text": "(3,627)", "error": ""},
            {"submission": 2, "system": "Model B", "text": "3,627", "error": "sign"},
        ],
    },
    response_only=True,
)


class BoardCompareFacts(ListingView):
    """The facts that are correct in one of two entries and wrong in the other, in release order;
    the fields, for benchmarks without facts. Only if all gold of the phase is public and the phase
    shows every fact of both submissions to this account."""

    queryset = ItemScore.objects.none()
    serializer_class = FactPairSerializer

    @extend_schema(
        parameters=[ComparedFactsQuerySerializer],
        responses=FactPairSerializer(many=True),
        examples=[_FACTS_EXAMPLE],
    )
    def get(self, request: Request, slug: str) -> Response:
        board = board_for(request.user, slug)
        wanted = ComparedFactsQuerySerializer(data=request.query_params)
        wanted.is_valid(raise_exception=True)
        asked = wanted.validated_data
        try:
            both = differing_facts(request.user, board, entry_numbers([asked["entries"]]))
        except ComparisonRefused as refusal:
            raise ValidationError({"entries": [str(refusal)]}) from refusal
        if asked["type"] not in {"", *both.types}:
            named = ", ".join(both.types)
            raise ValidationError({"type": [f"Unknown type. Choose one of {named}."]})
        return self.listed(both.chosen(asked["right"], asked["type"]), both.lines)


class DatedRowSerializer(serializers.Serializer[Any]):
    """A model, with its main score on documents up to its date and on later ones, as shown."""

    entry = serializers.IntegerField(source="entry.pk")
    name = serializers.CharField(source="entry.name")
    until = serializers.DateField(
        allow_null=True,
        help_text="Date of the newest training data, or the release date if not stated.",
    )
    before = serializers.CharField(help_text="Empty if no document is from that date or earlier.")
    after = serializers.CharField(help_text="Empty if no document is from a later date.")


class DatedGroupSerializer(serializers.Serializer[Any]):
    title = serializers.CharField()
    rows = DatedRowSerializer(many=True)


class TrainingSerializer(serializers.Serializer[Any]):
    """The models of a phase by their training dates. Empty if the phase does not show scores of
    parts of its items."""

    column = serializers.CharField(source="column.key", default="")
    released = serializers.DateField(default=None, allow_null=True)
    dated = serializers.IntegerField(default=0, help_text="Documents with a date or fiscal year.")
    by_day = serializers.IntegerField(
        default=0, help_text="Of these, documents with the day of their filing or publication."
    )
    total = serializers.IntegerField(default=0)
    groups = DatedGroupSerializer(many=True, default=())


class BoardTraining(APIView):
    """Scores before and after the training dates of the models."""

    @extend_schema(
        parameters=[OpenApiParameter("phase", str, description="Slug; default: the newest.")],
        responses=TrainingSerializer,
    )
    def get(self, request: Request, slug: str) -> Response:
        board = board_for(request.user, slug)
        phase = choose_phase(phase_windows(board), request.query_params.get("phase", ""))
        found = training_dates(request.user, board, phase)
        return Response(TrainingSerializer(found or {}).data)


class SubmissionItems(ListingView):
    """The items of a graded submission with their scores, if the phase shows individual items."""

    queryset = ItemScore.objects.none()
    serializer_class = ItemLineSerializer

    @extend_schema(parameters=[ItemQuerySerializer], responses=ItemLineSerializer(many=True))
    def get(self, request: Request, pk: int) -> Response:
        submission = submission_for(request.user, pk)
        grading = finished_grading(request.user, submission, earlier_result(request))
        level = require_items(request.user, submission, grading.release)
        asked = _wanted_items(request, grading).at(level, grading)

        def lines(scores: Sequence[ItemScore]) -> list[ItemLine]:
            return [item_line(submission, grading, score, level) for score in scores]

        return self.listed(item_scores(grading, asked), lines)


def _wanted_items(request: Request, grading: Grading) -> ItemQuery:
    wanted = ItemQuerySerializer(data=request.query_params, context={"grading": grading})
    wanted.is_valid(raise_exception=True)
    return wanted.query()


class SubmissionItem(APIView):
    """One item, with every fact if the phase shows facts."""

    @extend_schema(parameters=[EarlierResultSerializer], responses=ItemSerializer)
    def get(self, request: Request, pk: int, name: str) -> Response:
        submission = submission_for(request.user, pk)
        page = item_page(request.user, submission, name, earlier_result(request))
        return Response(ItemSerializer(page).data)


def earlier_result(request: Request) -> str:
    """Return the number of the requested grading; empty for the current one."""
    wanted = EarlierResultSerializer(data=request.query_params)
    wanted.is_valid(raise_exception=True)
    number = wanted.validated_data["grading"]
    return "" if number is None else str(number)
