"""Forms of scoring."""

from collections.abc import Iterable
from typing import Any
from uuid import uuid4

from django import forms
from django.core.exceptions import ValidationError
from django.forms import BoundField

from portal.common.uploads import upload_limit_message
from portal.datasets.models import Release
from scoring.benchmarks import BENCHMARKS, Benchmark

from .models import Board, ModelCard, Phase, Submission
from .services.boards import NewPhase, phase_faults, phase_slug

CARD_FIELDS = [field.name for field in ModelCard._meta.local_fields]


class BoardForm(forms.ModelForm):  # type: ignore[type-arg]
    """A new board with its first phase."""

    benchmark = forms.ChoiceField(help_text="What is measured, and how.")
    phase_title = forms.CharField(
        max_length=80, initial="Test", label="First phase", help_text="Such as Test or Development."
    )
    release = forms.ModelChoiceField(
        queryset=Release.objects.none(),
        help_text="The frozen gold that submissions are graded against.",
    )
    options = forms.JSONField(
        required=False,
        initial=dict,
        help_text="A JSON object with the benchmark's options that differ from its defaults.",
        widget=forms.Textarea(attrs={"rows": 3, "class": "mono", "spellcheck": "false"}),
    )
    diagnostics = forms.ChoiceField(
        choices=Phase.Diagnostics,
        initial=Phase.Diagnostics.AGGREGATES,
        label="Submitters see",
        help_text="Of the single items. Every fact includes its gold value.",
    )
    opens_at = forms.DateTimeField(required=False, label="Opens (UTC)")
    closes_at = forms.DateTimeField(required=False, label="Closes (UTC)")

    class Meta:
        model = Board
        fields = ["title", "slug", "benchmark", "description"]
        help_texts = {"slug": "Its word in addresses: /boards/SLUG/."}

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
        """The benchmarks to choose from, for the page that explains their options."""
        return list(BENCHMARKS.values())

    def clean_slug(self) -> str:
        slug: str = self.cleaned_data["slug"]
        if slug == "new":
            raise ValidationError("This word is taken: it is the address of this page.")
        return slug

    def clean_options(self) -> dict[str, Any]:
        options = self.cleaned_data["options"] or {}
        if not isinstance(options, dict):
            raise ValidationError('The options must be an object, such as {"missing": "skip"}.')
        return options

    def clean(self) -> dict[str, Any]:
        """Rules over several fields; a field with an error of its own is left aside."""
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
            (Board.State.DRAFT, "draft: organisers alone see it"),
            (Board.State.OPEN, "open: everybody sees it, it takes submissions"),
            (Board.State.ARCHIVED, "archived: everybody sees it, it takes no submissions"),
        ]
    )

    def new_state(self) -> Board.State:
        return Board.State(self.cleaned_data["state"])


class PhaseField(forms.ModelChoiceField):  # type: ignore[type-arg]
    """Phases of one board, by their titles alone."""

    def label_from_instance(self, obj: Phase) -> str:
        return obj.title


class SubmissionForm(forms.ModelForm):  # type: ignore[type-arg]
    """A model card and a file. What is inside the file is the validation's business."""

    form_key = forms.CharField(max_length=40, widget=forms.HiddenInput)
    phase = PhaseField(
        queryset=Phase.objects.none(), empty_label=None, help_text="What it is graded against."
    )
    file = forms.FileField(
        label="Predictions",
        widget=forms.ClearableFileInput(attrs={"accept": ".zip,.jsonl,.gz"}),
        help_text="ZIP, JSON Lines or gzipped JSON Lines.",
    )
    accept_missing = forms.BooleanField(required=False)

    class Meta:
        model = Submission
        fields = [*CARD_FIELDS, "form_key"]

    field_order = ["form_key", "phase", "file", *CARD_FIELDS]

    def __init__(
        self, *args: Any, phases: Iterable[Phase], too_large: bool = False, **kwargs: Any
    ) -> None:
        kwargs["initial"] = {"form_key": uuid4().hex} | (kwargs.get("initial") or {})
        super().__init__(*args, **kwargs)
        self.phases = list(phases)
        phase = self.fields["phase"]
        assert isinstance(phase, PhaseField)
        phase.queryset = Phase.objects.filter(pk__in=[each.pk for each in self.phases])
        if len(self.phases) == 1:
            phase.initial, phase.widget = self.phases[0].pk, forms.HiddenInput()
        self.fields["notes"].widget.attrs["rows"] = 4
        if too_large:
            # The upload was stopped and is not there; to call it missing would mislead.
            self.fields["file"].error_messages["required"] = upload_limit_message()

    def shown_fields(self) -> list[BoundField]:
        """What is asked for at first; missing ids are asked about when there are any."""
        return [field for field in self.visible_fields() if field.name != "accept_missing"]

    def card(self) -> dict[str, str]:
        return {name: self.cleaned_data[name] for name in CARD_FIELDS}
