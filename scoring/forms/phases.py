"""The form of a phase. Its times are written and read in the phase's own time zone."""

from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from django import forms
from django.core.exceptions import ValidationError

from portal.datasets.models import Release, ReleaseItem
from scoring.models import Board, Phase
from scoring.selectors.protection import is_unprotected, leaks
from scoring.services.boards import NewPhase, phase_faults, phase_slug

TIMES = ("opens_at", "closes_at", "scores_after")
LOCAL = "%Y-%m-%dT%H:%M"


class PhaseForm(forms.ModelForm):  # type: ignore[type-arg]
    """A new phase of a board, or what may change of one."""

    is_protected = forms.BooleanField(
        required=False,
        label="Protect hidden gold",
        help_text="Where gold is hidden, empty limits and decimals get safe values, and incomplete "
        "files are refused. Untick it to set them as you like.",
    )
    confirm_disclosure = forms.BooleanField(
        required=False,
        label="Make it public",
        help_text="Needed for a private release on a board that everyone sees.",
    )

    field_order = ["title", "release", "split", "options", "diagnostics", "is_protected"]

    class Meta:
        model = Phase
        fields = [
            "title",
            "release",
            "split",
            "options",
            "diagnostics",
            "time_zone",
            "opens_at",
            "closes_at",
            "per_day",
            "in_total",
            "failed_per_day",
            "takes_incomplete",
            "score_decimals",
            "scores_after",
            "public_share",
        ]
        labels = {
            "split": "Part of the release",
            "diagnostics": "Submitters see",
            "opens_at": "Opens",
            "closes_at": "Closes",
            "per_day": "Scores a day",
            "in_total": "Scores in total",
            "failed_per_day": "Failed attempts a day",
            "takes_incomplete": "Take incomplete files",
            "score_decimals": "Decimals of scores",
            "scores_after": "Scores are told from",
            "public_share": "Public share (%)",
        }

    def __init__(self, *args: Any, board: Board, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.board = board
        release = self.fields["release"]
        assert isinstance(release, forms.ModelChoiceField)
        release.queryset = Release.objects.filter(benchmark=board.benchmark).select_related(
            "dataset"
        )
        split = self.fields["split"]
        assert isinstance(split, forms.ChoiceField)
        split.choices = [("", "all of it"), *ReleaseItem.Split.choices]
        self.fields["time_zone"].widget = forms.TextInput(attrs={"list": "time-zones"})
        self.fields["options"].widget = forms.Textarea(
            attrs={"rows": 3, "class": "mono", "spellcheck": "false"}
        )
        for name in TIMES:
            self.fields[name].widget = forms.DateTimeInput(
                attrs={"type": "datetime-local"}, format=LOCAL
            )
            self.initial[name] = self._local(getattr(self.instance, name))
        stored = self.instance if self.instance.pk else None
        self.fields["is_protected"].initial = stored is None or not leaks(stored)
        if board.is_draft:
            del self.fields["confirm_disclosure"]
        if stored and stored.submissions.exists():
            # What was graded stays as it was graded; a new release is a new phase, or a re-grade.
            for name in ("release", "split", "options", "public_share"):
                self.fields[name].disabled = True

    @property
    def zones(self) -> list[str]:
        return sorted(available_timezones())

    def _local(self, when: datetime | None) -> str:
        if when is None:
            return ""
        return when.astimezone(ZoneInfo(self.instance.time_zone)).strftime(LOCAL)

    def clean_time_zone(self) -> str:
        zone: str = self.cleaned_data["time_zone"].strip()
        if zone not in available_timezones():
            raise ValidationError(
                f"There is no time zone “{zone}”. Zones are named such as UTC or Europe/Berlin."
            )
        return zone

    def clean_options(self) -> dict[str, Any]:
        options = self.cleaned_data["options"] or {}
        if not isinstance(options, dict):
            raise ValidationError('The options must be an object, such as {"missing": "skip"}.')
        return options

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        for name in TIMES:
            self._read_local(data, name)
        if not self.errors:
            former = self.instance if self.instance.pk else None
            faults = phase_faults(self.board.benchmark, self.new_phase(), former=former)
            for field, message in faults.items():
                self.add_error(field, message)
        return data

    def _read_local(self, data: dict[str, Any], name: str) -> None:
        """What Django took for UTC is the time on the clocks of the phase's zone."""
        when, zone = data.get(name), data.get("time_zone")
        if when is None or zone is None:
            return
        local = when.replace(tzinfo=ZoneInfo(zone))
        if local.astimezone(UTC).astimezone(local.tzinfo).replace(fold=0) != local:
            self.add_error(name, f"The clocks in {zone} leap over this time on that day.")
        data[name] = local.astimezone(UTC)

    def _post_clean(self) -> None:
        """The service writes: the instance stays as it is stored until then."""

    def new_phase(self) -> NewPhase:
        data = self.cleaned_data
        slug = self.instance.slug or phase_slug(data["title"])
        said = {name: data[name] for name in self.Meta.fields}
        if data["is_protected"]:
            said = {name: value for name, value in said.items() if not is_unprotected(name, value)}
        return NewPhase(slug=slug, **said)

    @property
    def confirms_disclosure(self) -> bool:
        return bool(self.cleaned_data.get("confirm_disclosure"))
