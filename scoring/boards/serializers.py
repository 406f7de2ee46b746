"""JSON forms of boards, phases and quotas."""

from typing import Any
from zoneinfo import available_timezones

from rest_framework import serializers

from portal.datasets.models import Release
from scoring.benchmarks import BENCHMARKS
from scoring.leaderboard.columns import group_names, sort_columns
from scoring.models import Board, Phase, Window
from scoring.models.boards import phase_windows
from scoring.models.submissions import CARD_FIELDS

from .protection import PROTECTED, all_warnings, outgrown_settings, warnings
from .services import BOARD_SETTINGS, PHASE_SETTINGS, NewPhase, phase_faults, phase_slug

_SETTINGS = ("dataset", *PHASE_SETTINGS)


class PhaseSerializer(serializers.ModelSerializer[Phase]):
    """A phase; `window` is its current state."""

    dataset = serializers.CharField(source="release.dataset.slug")
    release = serializers.CharField(source="release.version")
    options = serializers.DictField(child=serializers.CharField())
    window = serializers.ChoiceField(choices=Window.choices)
    warnings = serializers.SerializerMethodField()

    class Meta:
        model = Phase
        fields = ["slug", *_SETTINGS, "window", "warnings"]

    def get_warnings(self, phase: Phase) -> list[str]:
        """For organisers: what the phase makes public about a private release, and how its settings
        reveal hidden gold."""
        return warnings(phase) if self.context.get("for_organisers") else []

    def to_representation(self, instance: Any) -> dict[str, Any]:
        """`instance` is a PhaseWindow."""
        instance.phase.window = instance.window
        return super().to_representation(instance.phase)


class BoardSerializer(serializers.ModelSerializer[Board]):
    column_groups = serializers.ListField(child=serializers.CharField())
    warnings = serializers.SerializerMethodField()

    class Meta:
        model = Board
        fields = ["slug", "benchmark", *BOARD_SETTINGS, "state", "is_sample", "warnings"]

    def get_warnings(self, board: Board) -> list[str]:
        """For organisers: what the phases make public about private releases, and how their
        settings reveal hidden gold."""
        if not self.context.get("for_organisers"):
            return []
        found = all_warnings(each.phase for each in phase_windows(board))
        return [f"{phase.title}: {words}" for phase, sentences in found for words in sentences]


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
    """Changes of a board's settings. Settings that are left out stay as they are."""

    state = serializers.ChoiceField(choices=Board.State.choices, required=False)
    confirm_disclosure = serializers.BooleanField(
        required=False,
        write_only=True,
        help_text="Confirms that information about private releases becomes public.",
    )
    card_fields = serializers.ListField(
        child=serializers.ChoiceField(choices=CARD_FIELDS), required=False
    )
    column_groups = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        help_text="Groups of columns that are shown; empty: all.",
    )

    class Meta:
        model = Board
        fields = ["state", "confirm_disclosure", *BOARD_SETTINGS]

    def validate_column_groups(self, value: list[str]) -> list[str]:
        known = group_names(self.context["board"])
        if unknown := [name for name in value if name not in known]:
            raise serializers.ValidationError(
                f"There is no column group {unknown[0]!r}. Choose from {known}."
            )
        return [name for name in known if name in value]

    def validate_default_sort(self, value: str) -> str:
        known = [key for key, _ in sort_columns(self.context["board"])]
        if value and value not in known:
            raise serializers.ValidationError(f"There is no such column. Choose from {known}.")
        return value


def _limit(help_text: str, *, least: int = 1) -> serializers.IntegerField:
    """A setting with a safe default on hidden gold."""
    return serializers.IntegerField(
        required=False, allow_null=True, min_value=least, help_text=help_text
    )


_PHASE_FIELDS = ("diagnostics", "options", "opens_at", "closes_at", *PROTECTED)


class NewBoardSerializer(serializers.Serializer[Any]):
    """A new board with its first phase, on a release of a dataset.

    Defaults on hidden gold are 3 scores per day, 20 in total, 1 decimal and no incomplete files. If
    other settings reveal hidden gold, the response says so in `warnings`.
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
    per_day = _limit("Scores within 24 hours; null: no limit.")
    in_total = _limit("Scores in total; null: no limit.")
    score_decimals = _limit("Decimals of percentages; null: all.", least=0)
    takes_incomplete = serializers.BooleanField(
        required=False, help_text="Whether a file may leave out items."
    )

    def validate_slug(self, value: str) -> str:
        if value == "new" or Board.objects.filter(slug=value).exists():
            raise serializers.ValidationError("A board with this slug exists already.")
        return value

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        title = attrs.pop("phase_title")
        phase = NewPhase(
            slug=phase_slug(title),
            title=title,
            release=_release(attrs.pop("dataset"), attrs.pop("release")),
            **{key: attrs.pop(key) for key in _PHASE_FIELDS if key in attrs},
        )
        if faults := phase_faults(attrs["benchmark"], phase):
            raise serializers.ValidationError(dict(faults))
        return {**attrs, "phase": phase}


class NewPhaseSerializer(serializers.ModelSerializer[Phase]):
    """A new phase, or changes of one. Times carry their offset from UTC.

    Defaults on hidden gold are 3 scores per day, 20 in total, 1 decimal and no incomplete files.
    Null removes a limit. If the settings reveal hidden gold, the response says so in `warnings`.

    Needs `board` in its context and, for a change, the phase as its instance.
    """

    dataset = serializers.SlugField(required=False, help_text="The dataset's slug.")
    release = serializers.CharField(max_length=32, required=False, help_text="Its version.")
    options = serializers.DictField(child=serializers.CharField(), required=False)
    confirm_disclosure = serializers.BooleanField(
        required=False,
        default=False,
        write_only=True,
        help_text="Confirms that a private release is named on a board that everyone can see.",
    )

    class Meta:
        model = Phase
        fields = [*_SETTINGS, "confirm_disclosure"]

    def validate_time_zone(self, value: str) -> str:
        if value not in available_timezones():
            raise serializers.ValidationError("Enter a time zone such as Europe/Berlin.")
        return value

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        confirm = attrs.pop("confirm_disclosure", False)
        if "release" in attrs or "dataset" in attrs or self.instance is None:
            attrs["release"] = _release(attrs.get("dataset"), attrs.get("release"))
        attrs.pop("dataset", None)
        data = self._stored(attrs) | attrs
        slug = self.instance.slug if self.instance else phase_slug(data["title"])
        phase = NewPhase(slug=slug, **data)
        faults = phase_faults(self.context["board"].benchmark, phase, former=self.instance)
        if faults:
            raise serializers.ValidationError(dict(faults))
        return {"phase": phase, "confirm_disclosure": confirm}

    def _stored(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """The current settings, protected if the phase moves from public to hidden gold."""
        phase = self.instance
        if phase is None:
            return {}
        stored = {name: getattr(phase, name) for name in PHASE_SETTINGS}
        release, split = (attrs.get(name, stored[name]) for name in ("release", "split"))
        return stored | outgrown_settings(phase, release, split)


def _release(dataset: str | None, version: str | None) -> Release:
    if not dataset or not version:
        raise serializers.ValidationError({"release": "Name the dataset and the release."})
    releases = Release.objects.select_related("dataset")
    release = releases.filter(dataset__slug=dataset, version=version).first()
    if release is None:
        raise serializers.ValidationError({"release": "There is no such release."})
    return release


class PhaseIdsSerializer(serializers.Serializer[Any]):
    ids = serializers.ListField(child=serializers.CharField())


class AllowanceSerializer(serializers.Serializer[Any]):
    """One limit. `free_at` is when the next attempt becomes free; null while some are left."""

    limit = serializers.IntegerField()
    used = serializers.IntegerField()
    held = serializers.IntegerField(help_text="Submissions that are being graded.")
    left = serializers.IntegerField()
    free_at = serializers.DateTimeField(allow_null=True)


class _QuotaSerializer(serializers.Serializer[Any]):
    day = AllowanceSerializer(allow_null=True)
    total = AllowanceSerializer(allow_null=True)
    failed = AllowanceSerializer(allow_null=True)
    refusal = serializers.CharField(
        help_text="Why a submission is refused now; empty if it is accepted."
    )


class TeamQuotaSerializer(_QuotaSerializer):
    """The quota of a team, for all its members together."""

    team = serializers.SlugField(source="team.slug")


class QuotaSerializer(_QuotaSerializer):
    """The user's quota in a phase, over all teams. A limit that is not set is null. Each team also
    has its own quota."""

    teams = TeamQuotaSerializer(many=True, help_text="The user's teams.")
