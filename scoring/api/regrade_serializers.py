"""JSON forms of re-grades and of the change log."""

from typing import Any

from rest_framework import serializers

from portal.accounts.models import display_name
from scoring.models import Regrade, RegradedPhase
from scoring.selectors.change_log import LogEntry, PhaseChange


class NewRegradeSerializer(serializers.Serializer[Any]):
    """What is graded again, and on which gold."""

    phase = serializers.SlugField(
        required=False, default="", help_text="A phase's slug; the whole board without."
    )
    release = serializers.CharField(
        required=False,
        default="",
        max_length=32,
        help_text="The version of another release of the same dataset, with the same items.",
    )


class RegradedPhaseSerializer(serializers.ModelSerializer[RegradedPhase]):
    """`facts_changed` is of items whose gold is open; null where all that differ are hidden."""

    phase = serializers.SlugField(source="phase.slug")
    release_before = serializers.CharField(source="release_before.version")
    release_after = serializers.CharField(source="release_after.version")

    class Meta:
        model = RegradedPhase
        fields = ["phase", "release_before", "release_after", "items_changed", "facts_changed"]


class RegradeSerializer(serializers.ModelSerializer[Regrade]):
    """A re-grade; `error` says why it changed nothing."""

    board = serializers.SlugField(source="board.slug")
    phases = RegradedPhaseSerializer(many=True)
    started_by = serializers.SerializerMethodField()

    class Meta:
        model = Regrade
        fields = [
            "id",
            "board",
            "state",
            "error",
            "phases",
            "started_by",
            "created_at",
            "finished_at",
        ]

    def get_started_by(self, regrade: Regrade) -> str | None:
        return display_name(regrade.started_by) if regrade.started_by else None


class RegradeProgressSerializer(serializers.Serializer[Any]):
    """The batch may still grow: what gets a score meanwhile is taken along."""

    submissions = serializers.IntegerField()
    submissions_done = serializers.IntegerField()
    items = serializers.IntegerField()
    items_done = serializers.IntegerField()


class RegradePageSerializer(serializers.Serializer[Any]):
    """A re-grade and how far it is."""

    regrade = RegradeSerializer()
    progress = RegradeProgressSerializer()


class RankMoveSerializer(serializers.Serializer[Any]):
    """A row before and after. Scores are rates as the board told them; null where not ranked."""

    submission = serializers.IntegerField(source="submission.pk")
    name = serializers.CharField(source="submission.name")
    rank_before = serializers.IntegerField(allow_null=True)
    rank_after = serializers.IntegerField(allow_null=True)
    score_before = serializers.FloatField(allow_null=True)
    score_after = serializers.FloatField(allow_null=True)


class PhaseChangeSerializer(serializers.Serializer[PhaseChange]):
    """What changed in a phase, and why. `column` is the figure that decides the ranks."""

    phase = serializers.SlugField(source="phase.slug")
    release_before = serializers.CharField(source="part.release_before.version")
    release_after = serializers.CharField(source="part.release_after.version")
    items_changed = serializers.IntegerField(source="part.items_changed")
    facts_changed = serializers.IntegerField(source="part.facts_changed", allow_null=True)
    reasons = serializers.ListField(child=serializers.CharField())
    column = serializers.CharField(source="column.key")
    moved = serializers.IntegerField(help_text="Rows with another rank.")
    rows = RankMoveSerializer(many=True, source="lines")
    left_out = serializers.IntegerField(help_text="Rows that were taken back since.")


class LogEntrySerializer(serializers.Serializer[LogEntry]):
    """A re-grade that took over."""

    id = serializers.IntegerField(source="regrade.pk")
    finished_at = serializers.DateTimeField(source="regrade.finished_at")
    phases = PhaseChangeSerializer(many=True)
