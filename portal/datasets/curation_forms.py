"""Forms of curation: deciding on findings and pairs, checking content, drawing selections."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from .curation.content_rules import CONTENTS
from .models import NearDuplicate, PiiFinding
from .selectors.document_filters import DocumentFilter
from .selectors.page_content import CONTENT_LABELS
from .services.duplicates import LEAST_THRESHOLD, THRESHOLD
from .services.selections import MAX_SEED, MAX_TITLE, STRATA, DrawSpec, new_seed

MAX_REASON = 1000


class FindingFilterForm(forms.Form):
    """What is shown of the findings; what is unknown filters nothing."""

    kind = forms.ChoiceField(
        required=False, label="Kind", choices=[("", "All kinds"), *PiiFinding.Kind.choices]
    )
    decision = forms.ChoiceField(
        required=False, choices=[("", "All"), *PiiFinding.Decision.choices], label="Decision"
    )

    def wanted(self) -> dict[str, str]:
        self.is_valid()
        return {name: self.cleaned_data.get(name, "") for name in ("kind", "decision")}


class DecideFindingsForm(forms.Form):
    """The ticked findings are kept or masked, for a reason."""

    finding = forms.TypedMultipleChoiceField(coerce=int, label="Findings")
    decision = forms.ChoiceField(
        choices=[("kept", "keep"), ("masked", "mask")],
        error_messages={"required": "Choose whether they are kept or masked."},
    )
    reason = forms.CharField(
        max_length=MAX_REASON,
        error_messages={"required": "Say why: it is recorded with the decision."},
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["finding"]
        assert isinstance(field, forms.TypedMultipleChoiceField)
        # Whether they are findings of this dataset is for the service to find out.
        ticked = [value for value in _listed(self.data, "finding") if value.isdecimal()]
        field.choices = [(value, value) for value in ticked if len(value) < 19]
        field.error_messages["required"] = "Tick at least one finding."


def _listed(data: Any, name: str) -> list[str]:
    return list(data.getlist(name)) if hasattr(data, "getlist") else []


class DuplicateSearchForm(forms.Form):
    threshold = forms.FloatField(
        initial=THRESHOLD,
        min_value=LEAST_THRESHOLD,
        max_value=1,
        label="From this similarity on",
        help_text=f"{LEAST_THRESHOLD} to 1, of words and numbers; a number counts like five words.",
        widget=forms.NumberInput(attrs={"step": "0.01"}),
    )


class DecideDuplicateForm(forms.Form):
    decision = forms.ChoiceField(choices=NearDuplicate.Decision.choices)


class ContentForm(forms.Form):
    """Which content pages must have, and whether those that lack it are held back."""

    required = forms.MultipleChoiceField(
        label="Every page has",
        choices=list(CONTENT_LABELS.items()),
        initial=list(CONTENTS),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one kind of content."},
    )
    action = forms.ChoiceField(
        label="Pages that lack some of it",
        choices=[("report", "are reported"), ("hold", "are reported and held back")],
        initial="report",
        widget=forms.RadioSelect,
    )


class SelectionForm(forms.Form):
    """How a selection is drawn. `title` is needed only where it is kept."""

    strata = forms.MultipleChoiceField(
        label="Strata by",
        choices=list(STRATA.items()),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose what the strata are made by."},
    )
    how = forms.ChoiceField(
        label="How many",
        choices=[
            ("size", "a number in all, shared out in proportion"),
            ("per_stratum", "a number of each stratum"),
        ],
        widget=forms.RadioSelect,
    )
    number = forms.IntegerField(label="Number", min_value=1, max_value=10_000_000)
    seed = forms.IntegerField(
        min_value=0,
        max_value=MAX_SEED,
        help_text="The same seed draws the same documents, as long as these are the same.",
    )
    title = forms.CharField(
        required=False, max_length=MAX_TITLE, help_text="To keep the selection under."
    )

    def __init__(self, data: Any = None, *, keeps: bool = False) -> None:
        initial = {"strata": ["doc_type"], "how": "size", "number": 100, "seed": new_seed()}
        super().__init__(data, initial=initial)
        self.fields["title"].required = keeps

    def spec(self, wanted: DocumentFilter) -> DrawSpec | None:
        """What was asked for, or None with the reason among the errors."""
        if not self.is_valid():
            return None
        number = {self.cleaned_data["how"]: self.cleaned_data["number"]}
        try:
            return DrawSpec(strata=tuple(self.cleaned_data["strata"]), wanted=wanted, **number)
        except ValidationError as error:
            self.add_error(None, ValidationError(error.messages))
            return None
