"""JSON forms of boards and leaderboards."""

from typing import Any

from rest_framework import serializers

from portal.datasets.models import Release
from scoring.benchmarks import BENCHMARKS
from scoring.forms.boards import group_names, sort_columns
from scoring.forms.filters import RowFilterForm
from scoring.models import Board, Category, Entry, Phase, Window
from scoring.models.boards import phase_windows
from scoring.models.submissions import CARD_FIELDS
from scoring.selectors.output_tokens import tokens_of
from scoring.selectors.protection import PROTECTED, all_warnings, warnings
from scoring.selectors.row_filters import CLOSED, OPEN
from scoring.services.boards import NewPhase, phase_faults, phase_slug


class PhaseSerializer(serializers.ModelSerializer[Phase]):
    """A phase; `window` says whether it is open at this moment."""

    dataset = serializers.CharField(source="release.dataset.slug")
    release = serializers.CharField(source="release.version")
    options = serializers.DictField(child=serializers.CharField())
    window = serializers.ChoiceField(choices=Window.choices)
    warnings = serializers.SerializerMethodField()

    class Meta:
        model = Phase
        fields = [
            "slug",
            "title",
            "dataset",
            "release",
            "split",
            "options",
            "diagnostics",
            "opens_at",
            "closes_at",
            "time_zone",
            "per_day",
            "in_total",
            "failed_per_day",
            "takes_incomplete",
            "score_decimals",
            "scores_after",
            "public_share",
            "window",
            "warnings",
        ]

    def get_warnings(self, phase: Phase) -> list[str]:
        """For organisers, who asked for the phase itself: what it makes public of a private
        release, and what its settings tell of hidden gold."""
        return warnings(phase) if self.context.get("for_organisers") else []

    def to_representation(self, instance: Any) -> dict[str, Any]:
        """Of a PhaseWindow."""
        instance.phase.window = instance.window
        return super().to_representation(instance.phase)


class BoardSerializer(serializers.ModelSerializer[Board]):
    column_groups = serializers.ListField(child=serializers.CharField())
    warnings = serializers.SerializerMethodField()

    class Meta:
        model = Board
        fields = [
            "slug",
            "title",
            "benchmark",
            "description",
            "rules",
            "card_fields",
            "default_sort",
            "column_groups",
            "state",
            "is_sample",
            "warnings",
        ]

    def get_warnings(self, board: Board) -> list[str]:
        """For organisers: what its phases make public of private releases, and what their settings
        tell of hidden gold."""
        if not self.context.get("for_organisers"):
            return []
        told = all_warnings(each.phase for each in phase_windows(board))
        return [f"{phase.title}: {words}" for phase, sentences in told for words in sentences]


class BoardLineSerializer(serializers.Serializer[Any]):
    """A board with its phases and the number of its rows."""

    slug = serializers.SlugField(source="board.slug")
    title = serializers.CharField(source="board.title")
    benchmark = serializers.CharField(source="board.benchmark")
    description = serializers.CharField(source="board.description")
    state = serializers.ChoiceField(choices=Board.State.choices, source="board.state")
    is_sample = serializers.BooleanField(source="board.is_sample")
    graded = serializers.IntegerField()
    reported = serializers.IntegerField()
    phases = PhaseSerializer(many=True)


class BoardChangeSerializer(serializers.ModelSerializer[Board]):
    """What may change of a board; what is not sent stays."""

    state = serializers.ChoiceField(choices=Board.State.choices, required=False)
    confirm_disclosure = serializers.BooleanField(
        required=False,
        write_only=True,
        help_text="Whether what the board shows of private releases may become public.",
    )
    card_fields = serializers.ListField(
        child=serializers.ChoiceField(choices=CARD_FIELDS), required=False
    )
    column_groups = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        help_text="Groups of columns that are shown, as the leaderboard names them; empty: all.",
    )

    class Meta:
        model = Board
        fields = [
            "state",
            "confirm_disclosure",
            "title",
            "description",
            "rules",
            "card_fields",
            "default_sort",
            "column_groups",
        ]

    def validate_column_groups(self, value: list[str]) -> list[str]:
        known = group_names(self.context["board"])
        if unknown := [name for name in value if name not in known]:
            raise serializers.ValidationError(
                f"No column stands in the group {unknown[0]!r}; there are {known}."
            )
        return [name for name in known if name in value]

    def validate_default_sort(self, value: str) -> str:
        known = [key for key, _ in sort_columns(self.context["board"])]
        if value and value not in known:
            raise serializers.ValidationError(f"No column has this key; there are {known}.")
        return value


def _limit(help_text: str, *, least: int = 1) -> serializers.IntegerField:
    """A setting that has a safe value on hidden gold unless it is sent."""
    return serializers.IntegerField(
        required=False, allow_null=True, min_value=least, help_text=help_text
    )


_PHASE_FIELDS = ("diagnostics", "options", "opens_at", "closes_at", *PROTECTED)


class NewBoardSerializer(serializers.Serializer[Any]):
    """A new board with its first phase, on a release of a dataset.

    Limits, decimals and incomplete files that are not sent get safe values on hidden gold: 3 scores
    a day, 20 in total, 1 decimal, no incomplete files. `warnings` of the answer says what looser
    settings give away.
    """

    slug = serializers.SlugField(max_length=80)
    title = serializers.CharField(max_length=160)
    benchmark = serializers.ChoiceField(choices=[(key, key) for key in BENCHMARKS])
    description = serializers.CharField(required=False, default="", allow_blank=True)
    phase_title = serializers.CharField(max_length=80, default="Test")
    dataset = serializers.SlugField(help_text="The dataset's slug.")
    release = serializers.CharField(max_length=32, help_text="The release's version.")
    options = serializers.DictField(child=serializers.CharField(), required=False, default=dict)
    diagnostics = serializers.ChoiceField(
        choices=Phase.Diagnostics.choices, default=Phase.Diagnostics.AGGREGATES
    )
    opens_at = serializers.DateTimeField(required=False, default=None, allow_null=True)
    closes_at = serializers.DateTimeField(required=False, default=None, allow_null=True)
    per_day = _limit("Scores within 24 hours; null: any number.")
    in_total = _limit("Scores altogether; null: any number.")
    score_decimals = _limit("Of percentages; null: all.", least=0)
    takes_incomplete = serializers.BooleanField(
        required=False, help_text="Whether a file may leave items without an answer."
    )

    def validate_slug(self, value: str) -> str:
        if value == "new" or Board.objects.filter(slug=value).exists():
            raise serializers.ValidationError("A board with this slug exists already.")
        return value

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        release = (
            Release.objects.select_related("dataset")
            .filter(dataset__slug=attrs.pop("dataset"), version=attrs["release"])
            .first()
        )
        if release is None:
            raise serializers.ValidationError({"release": "There is no such release."})
        phase = NewPhase(
            slug=phase_slug(attrs["phase_title"]),
            title=attrs.pop("phase_title"),
            release=release,
            **{key: attrs.pop(key) for key in _PHASE_FIELDS if key in attrs},
        )
        if faults := phase_faults(attrs["benchmark"], phase):
            raise serializers.ValidationError(dict(faults))
        attrs.pop("release")
        return {**attrs, "phase": phase}


class ColumnSerializer(serializers.Serializer[Any]):
    """A column of a leaderboard. A rank ranks by the value under `basis`."""

    key = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]
    group = serializers.CharField()
    help = serializers.CharField()
    basis = serializers.CharField()
    decides = serializers.BooleanField(help_text="Whether the table is ordered by this rank.")
    is_rank = serializers.BooleanField()
    higher_is_better = serializers.BooleanField()
    unit = serializers.CharField()
    decimals = serializers.IntegerField()


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
