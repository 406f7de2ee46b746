"""JSON forms of phases and of what is left of their limits."""

from typing import Any
from zoneinfo import available_timezones

from rest_framework import serializers

from portal.datasets.models import Release
from scoring.models import Phase
from scoring.services.boards import NewPhase, phase_faults, phase_slug


class NewPhaseSerializer(serializers.ModelSerializer[Phase]):
    """A new phase, or what changes of one; times carry their offset from UTC.

    Needs `board` in its context and, for a change, the phase as its instance.
    """

    dataset = serializers.SlugField(required=False, help_text="The dataset's slug.")
    release = serializers.CharField(max_length=32, required=False, help_text="Its version.")
    options = serializers.DictField(child=serializers.CharField(), required=False)

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
            "score_decimals",
            "scores_after",
            "public_share",
        ]

    def validate_time_zone(self, value: str) -> str:
        if value not in available_timezones():
            raise serializers.ValidationError("Not the name of a time zone, such as Europe/Berlin.")
        return value

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        data = self._stored() | attrs
        if "release" in attrs or "dataset" in attrs or self.instance is None:
            data["release"] = _release(attrs)
        data.pop("dataset", None)
        phase = NewPhase(slug=self._slug(data["title"]), **data)
        faults = phase_faults(self.context["board"].benchmark, phase, former=self.instance)
        if faults:
            raise serializers.ValidationError(dict(faults))
        return {"phase": phase}

    def _stored(self) -> dict[str, Any]:
        if self.instance is None:
            return {}
        return {
            name: getattr(self.instance, name) for name in self.Meta.fields if name != "dataset"
        }

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
