"""Forms of boards."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from portal.datasets.models import Release
from scoring.benchmarks import BENCHMARKS, Benchmark
from scoring.models import Board, Phase
from scoring.models.submissions import CARD_FIELDS
from scoring.selectors.headings import column_groups
from scoring.services.boards import NewPhase, phase_faults, phase_slug


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
    confirm_disclosure = forms.BooleanField(required=False, label="Make this public")

    def new_state(self) -> Board.State:
        return Board.State(self.cleaned_data["state"])


class BoardSettingsForm(forms.ModelForm):  # type: ignore[type-arg]
    """What may change of a board that is there."""

    card_fields = forms.MultipleChoiceField(
        required=False,
        choices=[(name, name.replace("_", " ").capitalize()) for name in CARD_FIELDS[1:]],
        widget=forms.CheckboxSelectMultiple,
        label="Must be filled in",
        help_text="Of the model card; the name always is.",
    )
    column_groups = forms.MultipleChoiceField(
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label="Columns shown",
        help_text="By group, as the leaderboard names them; none ticked shows all. The group of "
        "the deciding rank is always shown. Ranks count every figure, shown or not.",
    )
    default_sort = forms.ChoiceField(
        required=False, label="Sorted by", help_text="Until a reader chooses another column."
    )

    class Meta:
        model = Board
        fields = ["title", "description", "rules", "card_fields", "column_groups", "default_sort"]
        labels = {"rules": "Rules"}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        sort = self.fields["default_sort"]
        assert isinstance(sort, forms.ChoiceField)
        sort.choices = [("", "the rank that decides"), *sort_columns(self.instance)]
        groups = self.fields["column_groups"]
        assert isinstance(groups, forms.MultipleChoiceField)
        groups.choices = [(name, name) for name in group_names(self.instance)]


def group_names(board: Board) -> list[str]:
    """The groups of columns that the leaderboards of a board's phases have."""
    names = (name for phase in board.phases.all() for name in column_groups(phase.columns))
    return list(dict.fromkeys(names))


def sort_columns(board: Board) -> list[tuple[str, str]]:
    """The columns of all phases of a board, as (key, label)."""
    columns = {
        column.key: f"{column.group}: {column.label}" if column.group else column.label
        for phase in board.phases.all()
        for column in phase.columns
    }
    return list(columns.items())
