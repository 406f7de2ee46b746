"""Forms of rows by organisers. Page, API and CSV use the same form."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.forms import BoundField

from portal.datasets.curation.draws import new_seed
from scoring.benchmarks import Column
from scoring.figures import is_score
from scoring.models import Board, Entry, Phase
from scoring.models.submissions import CARD_FIELDS
from scoring.submissions.forms import PhaseField

from .selectors import ItemSample, draw_items, enterable_figures

FIGURE = "figure-"
# A percentage further away from zero is a typing error; some ratios are above 100.
MOST_PER_CENT = 1000
KINDS = [(Entry.Kind.REPORTED, "Result from a paper"), (Entry.Kind.HUMAN, "Human baseline")]


class RowForm(forms.ModelForm):  # type: ignore[type-arg]
    """A row from a publication: its model card, source and figures, as the source prints them."""

    kind = forms.ChoiceField(choices=KINDS, initial=Entry.Kind.REPORTED)
    source = forms.CharField(
        max_length=300,
        help_text="Publication and table, for example “FCMBench-V1.1, Table 4”. Rows with the same "
        "source are shown in one table.",
    )
    source_url = forms.URLField(
        required=False, assume_scheme="https", label="Link to source", max_length=200
    )

    field_order = ["kind", "name", "source", "source_url"]

    class Meta:
        model = Entry
        fields = CARD_FIELDS
        widgets = {
            name: forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")
            for name in ("released_on", "training_until")
        }

    def __init__(self, *args: Any, board: Board, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.board, self.columns = board, enterable_figures(board)
        for name in ("notes", "training_data", "prompt", "decoding"):
            self.fields[name].widget.attrs["rows"] = 2
        for column in self.columns.values():
            self.fields[f"{FIGURE}{column.key}"] = _figure_field(column)
        if self.instance.pk:
            self.initial.update(row_values(self.instance, self.columns))

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        if not self.errors and not self.scores():
            raise ValidationError("Enter at least one score.")
        return data

    def _post_clean(self) -> None:
        """Leaves the instance unchanged: the service writes it."""

    def scores(self) -> dict[str, float]:
        """The figures as the board stores them: percentages as rates."""
        given = {key: self.cleaned_data.get(f"{FIGURE}{key}") for key in self.columns}
        return {
            key: float(value / _scale(self.columns[key]))
            for key, value in given.items()
            if value is not None
        }

    def row(self) -> dict[str, Any]:
        """The fields of the entry."""
        data = self.cleaned_data
        return {
            "kind": data["kind"],
            "provenance": data["source"],
            "provenance_url": data["source_url"],
            "scores": self.scores(),
            **{name: data[name] for name in CARD_FIELDS},
        }

    def main_fields(self) -> list[BoundField]:
        """The fields of the row itself, without figures and the rest of the model card."""
        names = ("kind", "name", "source", "source_url", "organisation", "size", "category")
        return [self[name] for name in (*names, "released_on", "notes")]

    def further_fields(self) -> list[BoundField]:
        main = {field.name for field in self.main_fields()}
        return [self[name] for name in CARD_FIELDS if name not in main]

    def figure_groups(self) -> list[tuple[str, bool, list[BoundField]]]:
        """The fields of the figures by group: heading, whether it has figures of the board's own
        table, fields. Groups of that table come first."""
        main = {column.key for column in self.board.spec.columns if column.headline}
        groups: dict[str, list[Column]] = {}
        for column in sorted(self.columns.values(), key=lambda each: each.key not in main):
            groups.setdefault(column.group or "Scores", []).append(column)
        return [
            (
                heading,
                any(column.key in main for column in columns),
                [self[f"{FIGURE}{column.key}"] for column in columns],
            )
            for heading, columns in groups.items()
        ]


def _figure_field(column: Column) -> forms.DecimalField:
    return forms.DecimalField(
        required=False,
        label=f"{column.label} ({column.unit})" if column.unit else column.label,
        max_digits=16,
        decimal_places=10,
        min_value=-MOST_PER_CENT if column.unit else None,
        max_value=MOST_PER_CENT if column.unit else None,
        widget=forms.NumberInput(attrs={"step": "any", "inputmode": "decimal"}),
    )


def _scale(column: Column) -> int:
    return 100 if column.unit == "%" else 1


def row_values(entry: Entry, columns: Mapping[str, Column]) -> dict[str, Any]:
    """The values of the form's own fields for a stored row; figures in the unit of the form."""
    figures = {
        f"{FIGURE}{key}": _decimal(entry.scores.get(key), column) for key, column in columns.items()
    }
    source = {"source": entry.provenance, "source_url": entry.provenance_url}
    return {"kind": entry.kind, **source, **figures}


def _decimal(value: Any, column: Column) -> Decimal | None:
    """
    >>> _decimal(0.6516, Column("overall", "Overall", "", ""))
    Decimal('65.16')
    """
    if not is_score(value):
        return None
    exact = (Decimal(repr(float(value))) * _scale(column)).normalize()
    return Decimal(f"{exact:f}")


def row_faults(form: RowForm) -> list[tuple[str, str]]:
    """The errors of a form that was sent: the field, by its name in files and in the API, and the
    message. The field is empty for the row as a whole."""
    return [
        ("" if name == "__all__" else name.removeprefix(FIGURE), str(message))
        for name, messages in form.errors.items()
        for message in messages
    ]


class TableForm(forms.Form):
    """A table of rows as CSV."""

    file = forms.FileField(
        label="CSV file", widget=forms.ClearableFileInput(attrs={"accept": ".csv,text/csv"})
    )


class SampleForm(forms.Form):
    """A seeded sample of the items of a phase."""

    phase = PhaseField(queryset=Phase.objects.none(), to_field_name="slug", empty_label=None)
    size = forms.IntegerField(min_value=1, initial=100, label="Items")
    seed = forms.IntegerField(
        min_value=0,
        max_value=2**31 - 1,
        initial=new_seed,
        help_text="The same seed always draws the same items.",
    )

    def __init__(self, *args: Any, board: Board, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        phase = self.fields["phase"]
        assert isinstance(phase, forms.ModelChoiceField)
        phase.queryset = board.phases.select_related("board", "release__dataset").order_by("id")

    def sample(self) -> ItemSample:
        """Draw the items of a valid form. One query."""
        data = self.cleaned_data
        return draw_items(data["phase"], size=data["size"], seed=data["seed"])


RUN_CARD = ("name", "organisation", "link", "notes")


class HumanRunForm(SampleForm):
    """The answers of people to a drawn sample."""

    name = forms.CharField(max_length=120, initial="Human annotators")
    organisation = forms.CharField(max_length=120, required=False)
    link = forms.URLField(
        required=False, assume_scheme="https", help_text="Published report of the study."
    )
    notes = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Who answered the items, and under which conditions.",
    )
    file = forms.FileField(
        label="Answers",
        widget=forms.ClearableFileInput(attrs={"accept": ".zip,.jsonl,.gz"}),
        help_text="One line per drawn item, in the submission format.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("phase", "size", "seed"):
            self.fields[name].widget = forms.HiddenInput()

    def card(self) -> dict[str, Any]:
        return {name: self.cleaned_data[name] for name in RUN_CARD}
