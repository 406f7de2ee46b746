"""JSON forms of phases and of what is left of their limits."""

from typing import Any
from zoneinfo import available_timezones

from rest_framework import serializers

from portal.datasets.models import Release
from scoring.models import Phase
from scoring.selectors.protection import outgrown_settings
from scoring.services.boards import NewPhase, phase_faults, phase_slug


class NewPhaseSerializer(serializers.ModelSerializer[Phase]):
    """A new phase, or what changes of one; times carry their offset from UTC.

    Limits, decimals and incomplete files that are not sent get safe values on hidden gold: 3 scores
    a day, 20 in total, 1 decimal, no incomplete files. Null lifts a limit; `warnings` of the answer
    says what that gives away.

    Needs `board` in its context and, for a change, the phase as its instance.
    """

    dataset = serializers.SlugField(required=False, help_text="The dataset's slug.")
    release = serializers.CharField(max_length=32, required=False, help_text="Its version.")
    options = serializers.DictField(child=serializers.CharField(), required=False)
    confirm_disclosure = serializers.BooleanField(
        required=False,
        default=False,
        write_only=True,
        help_text="Whether a private release may be named on a board that everyone sees.",
    )

    class Meta:
        model = Phase
        fields = [
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
            "confirm_disclosure",
        ]

    def validate_time_zone(self, value: str) -> str:
        if value not in available_timezones():
            raise serializers.ValidationError("Not the name of a time zone, such as Europe/Berlin.")
        return value

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        confirm = attrs.pop("confirm_disclosure", False)
        if "release" in attrs or "dataset" in attrs or self.instance is None:
            attrs["release"] = _release(attrs)
        attrs.pop("dataset", None)
        data = self._stored(attrs) | attrs
        phase = NewPhase(slug=self._slug(data["title"]), **data)
        faults = phase_faults(self.context["board"].benchmark, phase, former=self.instance)
        if faults:
            raise serializers.ValidationError(dict(faults))
        return {"phase": phase, "confirm_disclosure": confirm}

    def _stored(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """What stays; not what was set for open gold, if the phase moves to hidden gold."""
        phase = self.instance
        if phase is None:
            return {}
        left_out = {"dataset", "confirm_disclosure"}
        stored = {name: getattr(phase, name) for name in self.Meta.fields if name not in left_out}
        release, split = (attrs.get(name, stored[name]) for name in ("release", "split"))
        return stored | outgrown_settings(phase, release, split)

    def _slug(self, title: str) -> str:
        return phase_slug(title) if self.instance is None else self.instance.slug


def _release(wanted: dict[str, Any]) -> Release:
    if not wanted.get("dataset") or not wanted.get("release"):
        raise serializers.ValidationError({"release": "Name the dataset and the release."})
    releases = Release.objects.select_related("dataset")
    release = releases.filter(dataset__slug=wanted["dataset"], version=wanted["release"]).first()
    if release is None:
        raise serializers.ValidationError({"release": "There is no such release."})
    return release


class PhaseIdsSerializer(serializers.Serializer[Any]):
    ids = serializers.ListField(child=serializers.CharField())


class AllowanceSerializer(serializers.Serializer[Any]):
    """One limit. `free_at` is when the next place is free, null while some are left."""

    limit = serializers.IntegerField()
    used = serializers.IntegerField()
    held = serializers.IntegerField(help_text="Of submissions that are being graded.")
    left = serializers.IntegerField()
    free_at = serializers.DateTimeField(allow_null=True)


class _StandingSerializer(serializers.Serializer[Any]):
    day = AllowanceSerializer(allow_null=True)
    total = AllowanceSerializer(allow_null=True)
    failed = AllowanceSerializer(allow_null=True)
    refusal = serializers.CharField(help_text="Why nothing more is taken now; empty if it is.")


class TeamStandingSerializer(_StandingSerializer):
    """What is left for a team, whoever of it submits."""

    team = serializers.SlugField(source="team.slug")


class StandingSerializer(_StandingSerializer):
    """What is left of a phase's limits, for whatever team one submits; a limit that is not set is
    null. For a team its own limits count, too."""

    teams = TeamStandingSerializer(many=True, help_text="Those one is in.")
