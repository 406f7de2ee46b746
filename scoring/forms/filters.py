"""The filters of a leaderboard, the same for page, CSV and API."""

import re
from typing import Any

from django import forms

from scoring.models import Category, Entry
from scoring.selectors.model_sizes import parameters
from scoring.selectors.row_filters import CLOSED, OPEN, RowFilter

_SIZE = re.compile(r"\d+(\.\d+)?\s*[kmbt]", re.IGNORECASE)
KINDS = [
    (Entry.Kind.GRADED, "Graded here"),
    (Entry.Kind.REPORTED, "Reported by papers"),
    (Entry.Kind.HUMAN, "Human upper bound"),
]
WEIGHTS = [(OPEN, "Open"), (CLOSED, "Closed")]


class SizeField(forms.CharField):
    """A number of parameters with its unit, such as 7B or 350M; kept as it was written."""

    def __init__(self, **options: Any) -> None:
        attributes = {"placeholder": "such as 7B", "size": "8", "autocomplete": "off"}
        widget = forms.TextInput(attrs=attributes)
        super().__init__(required=False, max_length=20, widget=widget, **options)

    def clean(self, value: Any) -> str:
        size = str(super().clean(value))
        if size and not _SIZE.fullmatch(size):
            raise forms.ValidationError("Give a number and its unit, such as 350M, 7B or 1.5T.")
        return size


class DayField(forms.DateField):
    def __init__(self, **options: Any) -> None:
        day = "%Y-%m-%d"
        widget = forms.DateInput(format=day, attrs={"type": "date"})
        told = {"invalid": "Give a day as year-month-day, such as 2026-05-31."}
        super().__init__(
            required=False, input_formats=[day], widget=widget, error_messages=told, **options
        )


class RowFilterForm(forms.Form):
    """Filters of a leaderboard; what cannot be understood is told and filters nothing."""

    q = forms.CharField(
        required=False,
        max_length=100,
        label="Search",
        widget=forms.TextInput(attrs={"type": "search", "placeholder": "Name or organisation"}),
    )
    category = forms.ChoiceField(
        required=False, label="Kind of system", choices=[("", "All kinds"), *Category.choices]
    )
    size_from = SizeField(label="Parameters from")
    size_to = SizeField(label="Parameters to")
    weights = forms.ChoiceField(required=False, label="Weights", choices=[("", "Any"), *WEIGHTS])
    released_from = DayField(label="Released since")
    published_from = DayField(label="Published since")
    kind = forms.MultipleChoiceField(
        required=False, label="Rows", choices=KINDS, widget=forms.CheckboxSelectMultiple
    )
    verified = forms.BooleanField(required=False, label="Verified only")

    def clean(self) -> dict[str, Any]:
        values = self.cleaned_data
        least, most = (parameters(values.get(name) or "") for name in ("size_from", "size_to"))
        if least is not None and most is not None and least > most:
            self.add_error("size_to", "No size is from the larger to the smaller one.")
        return values

    @property
    def messages(self) -> dict[str, list[str]]:
        """What cannot be understood, by parameter."""
        faults = self.errors.get_json_data()
        return {name: [str(each["message"]) for each in told] for name, told in faults.items()}

    def wanted(self) -> RowFilter:
        """The valid part of what was asked for."""
        self.is_valid()
        values = {name: value for name, value in self.cleaned_data.items() if value}
        if "kind" in values:
            values["kind"] = tuple(kind for kind, _ in KINDS if kind in values["kind"])
        return RowFilter(**values)
