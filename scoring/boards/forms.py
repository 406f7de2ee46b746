"""The forms of boards and phases."""

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from django import forms
from django.core.exceptions import ValidationError

from portal.datasets.models import Release, ReleaseItem
from scoring.benchmarks import BENCHMARKS, Benchmark
from scoring.leaderboard.columns import group_names, sort_columns
from scoring.models import Board, Phase, Submission
from scoring.models.boards import local_time
from scoring.models.submissions import CARD_FIELDS

from .protection import PHASE_SETTINGS, TIMES, NewPhase, is_unprotected, leaks
from .services import (
    BOARD_SETTINGS,
    phase_faults,
    phase_slug,
)


class _WithOptions(forms.ModelForm):  # type: ignore[type-arg]
    """A form with the benchmark's options, as JSON."""

    def clean_options(self) -> dict[str, Any]:
        options = self.cleaned_data["options"] or {}
        if not isinstance(options, dict):
            raise ValidationError('Enter a JSON object, for example {"missing": "skip"}.')
        return options


class BoardForm(_WithOptions):
    """A new board with its first phase."""

    benchmark = forms.ChoiceField()
    phase_title = forms.CharField(
        max_length=80,
        initial="Test",
        label="First phase",
        help_text="For example, Test or Development.",
    )
    release = forms.ModelChoiceField(
        queryset=Release.objects.none(),
        help_text="Submissions are graded against the gold of this release.",
    )
    options = forms.JSONField(
        required=False,
        initial=dict,
        help_text="A JSON object with the options that you want to change.",
        widget=forms.Textarea(attrs={"rows": 3, "class": "mono", "spellcheck": "false"}),
    )
    diagnostics = forms.ChoiceField(
        choices=Phase.Diagnostics,
        initial=Phase.Diagnostics.AGGREGATES,
        label="Submitters can see",
        help_text="“Every fact” reveals all gold values.",
    )
    opens_at = forms.DateTimeField(required=False, label="Opens (UTC)")
    closes_at = forms.DateTimeField(required=False, label="Closes (UTC)")

    class Meta:
        model = Board
        fields = ["title", "slug", "benchmark", "description"]
        help_texts = {
            "slug": "Used in the URL: /boards/SLUG/.",
            "description": "Shown on the methodology page, in Markdown.",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        benchmark = self.fields["benchmark"]
        assert isinstance(benchmark, forms.ChoiceField)
        benchmark.choices = [(key, spec.title) for key, spec in BENCHMARKS.items()]
        release = self.fields["release"]
        assert isinstance(release, forms.ModelChoiceField)
        release.queryset = Release.objects.select_related("dataset")
        for name in ("opens_at", "closes_at"):
            self.fields[name].widget = forms.DateTimeInput(
                attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"
            )

    @property
    def specs(self) -> list[Benchmark]:
        """The available benchmarks, for the list of their options."""
        return list(BENCHMARKS.values())

    def clean_slug(self) -> str:
        slug: str = self.cleaned_data["slug"]
        if slug == "new":
            raise ValidationError("“new” is reserved. Choose another slug.")
        return slug

    def clean(self) -> dict[str, Any]:
        """Checks rules over several fields, if none of these fields has an error."""
        data = super().clean() or self.cleaned_data
        needed = {"benchmark", "release", "options", "phase_title", "diagnostics"}
        if needed <= data.keys():
            for field, message in phase_faults(data["benchmark"], self.new_phase()).items():
                self.add_error(field, message)
        return data

    def new_board(self) -> dict[str, Any]:
        return {name: self.cleaned_data[name] for name in self.Meta.fields}

    def new_phase(self) -> NewPhase:
        data = self.cleaned_data
        return NewPhase(
            slug=phase_slug(data["phase_title"]),
            title=data["phase_title"],
            release=data["release"],
            diagnostics=data["diagnostics"],
            options=data["options"],
            opens_at=data.get("opens_at"),
            closes_at=data.get("closes_at"),
        )


class BoardStateForm(forms.Form):
    """Who sees a board, and whether it takes submissions."""

    state = forms.ChoiceField(
        choices=[
            (Board.State.DRAFT, "Draft: visible to organisers only"),
            (Board.State.OPEN, "Open: visible to everyone, accepts submissions"),
            (Board.State.ARCHIVED, "Archived: visible to everyone, closed to submissions"),
        ]
    )
    confirm_disclosure = forms.BooleanField(required=False, label="Make this information public")

    def new_state(self) -> Board.State:
        return Board.State(self.cleaned_data["state"])


class BoardSettingsForm(forms.ModelForm):  # type: ignore[type-arg]
    """The settings of an existing board."""

    card_fields = forms.MultipleChoiceField(
        required=False,
        choices=[
            (name, field.label)
            for name, field in forms.fields_for_model(Submission, CARD_FIELDS[1:]).items()
        ],
        widget=forms.CheckboxSelectMultiple,
        label="Required fields of the model card",
        help_text="The model name is always required.",
    )
    column_groups = forms.MultipleChoiceField(
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label="Columns shown",
        help_text="Select none to show all columns. The main score is always shown.",
    )
    default_sort = forms.ChoiceField(
        required=False,
        label="Default sort",
        help_text="Readers can change the sort order.",
    )

    class Meta:
        model = Board
        fields = BOARD_SETTINGS
        help_texts = {
            "description": "Shown on the methodology page, in Markdown.",
            "terms": "Submitters must accept these terms. Markdown.",
        }

    field_order = ["title", "description", "rules", "terms", "card_fields", "column_groups"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        sort = self.fields["default_sort"]
        assert isinstance(sort, forms.ChoiceField)
        sort.choices = [("", "Main rank"), *sort_columns(self.instance)]
        groups = self.fields["column_groups"]
        assert isinstance(groups, forms.MultipleChoiceField)
        groups.choices = [(name, name) for name in group_names(self.instance)]


LOCAL = "%Y-%m-%dT%H:%M"


class PhaseForm(_WithOptions):
    """A new phase of a board, or the settings of an existing one."""

    is_protected = forms.BooleanField(
        required=False,
        label="Protect hidden gold",
        help_text="Limits submissions, rounds scores and rejects incomplete files.",
    )
    confirm_disclosure = forms.BooleanField(
        required=False,
        label="Make this information public",
        help_text="Required if the board is public and the release is private.",
    )

    field_order = ["title", "release", "split", "options", "diagnostics", "is_protected"]

    class Meta:
        model = Phase
        fields = PHASE_SETTINGS
        labels = {
            "split": "Split",
            "diagnostics": "Submitters can see",
            "opens_at": "Opens",
            "closes_at": "Closes",
            "per_day": "Scored submissions per day",
            "in_total": "Scored submissions in total",
            "failed_per_day": "Failed attempts per day",
            "takes_incomplete": "Accept incomplete files",
            "score_decimals": "Decimal places of scores",
            "closing_share": "Close to a person after (% of facts)",
            "scores_after": "Show scores from",
            "public_share": "Public share (%)",
            "approves_first": "Organisers approve a submitter’s first submission",
        }
        help_texts = {
            "split": "",
            "options": "",
            "diagnostics": "",
            "time_zone": "For example, Asia/Tokyo.",
            "per_day": "Leave empty for no limit.",
            "in_total": "Leave empty for no limit.",
            "failed_per_day": "Leave empty for no limit.",
            "takes_incomplete": "",
            "score_decimals": "Leave empty to show exact scores. Organisers always see them.",
            "closing_share": "Only for hidden gold: the share of its facts that a person can have "
            "learnt from scores. Leave empty for no limit.",
            "scores_after": "Leave empty to show scores as soon as they are computed.",
            "public_share": "Until the phase closes, scores cover only this percentage of the "
            "items; afterwards they cover the rest. Leave empty to score all items.",
            "approves_first": "Only for hidden gold. The submission is graded after the approval.",
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
        split.choices = [("", "Whole release"), *ReleaseItem.Split.choices]
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
            # These settings decide results. Changing them needs a new phase or a re-grade.
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
                f"There is no time zone “{zone}”. Enter a name, for example UTC or Europe/Berlin."
            )
        return zone

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
        """Django reads the time as UTC, but it is the local time in the phase's time zone."""
        when, zone = data.get(name), data.get("time_zone")
        if when is None or zone is None:
            return
        try:
            data[name] = local_time(when, zone)
        except ValueError as error:
            self.add_error(name, str(error))

    def _post_clean(self) -> None:
        """Leaves the instance unchanged, because the service writes it."""

    def new_phase(self) -> NewPhase:
        data = self.cleaned_data
        slug = self.instance.slug or phase_slug(data["title"])
        said = {name: data[name] for name in PHASE_SETTINGS}
        if data["is_protected"]:
            said = {name: value for name, value in said.items() if not is_unprotected(name, value)}
        return NewPhase(slug=slug, **said)

    @property
    def confirms_disclosure(self) -> bool:
        return bool(self.cleaned_data.get("confirm_disclosure"))
