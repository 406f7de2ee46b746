"""Forms of adjudication, for deciding a case without JavaScript, and for filtering the queue."""

from typing import Any

from django import forms

from annotation.models import Campaign, Case, Decision
from annotation.proposals import Answer
from annotation.selectors.adjudication import ORDERS, CaseFilter
from annotation.services.adjudicating import MAX_REASON
from annotation.span_values import SIGN_CHOICES

Choice = Decision.Choice


class SpanForm(forms.Form):
    """One span of an edited decision; an empty row counts for nothing."""

    start = forms.IntegerField(min_value=0)
    end = forms.IntegerField(min_value=1)
    label = forms.ChoiceField()
    value = forms.CharField(required=False, max_length=200)
    sign = forms.ChoiceField(required=False)

    def __init__(self, *args: Any, labels: list[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _choose(self.fields["label"], [(name, name) for name in labels])
        _choose(self.fields["sign"], [("", "derived"), *SIGN_CHOICES])

    def has_changed(self) -> bool:
        """Rows begin with a label chosen; only offsets make a span."""
        return bool(
            self.data.get(self.add_prefix("start")) or self.data.get(self.add_prefix("end"))
        )

    @property
    def answer(self) -> Answer:
        row = self.cleaned_data
        return Answer(
            row["label"], row["start"], row["end"], row["value"] or None, row["sign"] or None
        )


SpanFormSet = forms.formset_factory(SpanForm, extra=1, max_num=50, validate_max=True)


class ReasonForm(forms.Form):
    """Why; it stays with the decision."""

    reason = forms.CharField(
        max_length=MAX_REASON,
        help_text="Why, in a few words. It stays with the decision.",
    )


class DecisionForm(ReasonForm):
    """A lead's answer to a case: the number of a proposal (from 1) or one of Decision.Choice."""

    choice = forms.CharField(required=False)

    def __init__(self, *args: Any, case: Case, labels: list[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.case = case
        is_edit = self.is_bound and self.data.get("choice") == Choice.EDIT
        # The majority needs no reason, which the service knows.
        self.fields["reason"].required = self.data.get("choice") != Choice.MAJORITY
        self.spans = SpanFormSet(
            self.data if is_edit else None,
            prefix="spans",
            # A row that was emptied is left out; it need not be the last one.
            form_kwargs={"labels": labels, "empty_permitted": True},
            initial=_suggested(case),
        )

    def clean(self) -> dict[str, Any]:
        data = self.cleaned_data
        choice = data.get("choice", "")
        data |= {"proposal": None, "spans": []}
        numbers = [str(place) for place in range(1, len(self.case.proposals) + 1)]
        if choice in numbers:
            data |= {"choice": Choice.PROPOSAL, "proposal": numbers.index(choice)}
        elif choice == Choice.EDIT:
            data["spans"] = self._edited()
        elif choice not in {Choice.MAJORITY, Choice.BOTH, Choice.NEITHER}:
            raise forms.ValidationError("Choose a proposal, neither, or edit.")
        return data

    def _edited(self) -> list[Answer]:
        if not self.spans.is_valid():
            raise forms.ValidationError("A span of the edit needs a start, an end and a label.")
        rows = [form.answer for form in self.spans if form.has_changed()]
        if not rows:
            raise forms.ValidationError("The edit holds no span. Choose “neither” to mark nothing.")
        return rows


def _suggested(case: Case) -> list[dict[str, Any]]:
    """The edit begins with the proposal that marked most."""
    fullest = max(case.proposals, key=lambda proposal: len(proposal["spans"]))
    return [
        {"start": span["start"], "end": span["end"], "label": span["label"]}
        for span in fullest["spans"]
    ]


class CaseFilterForm(forms.Form):
    """Which cases are listed. What makes no sense is left out, so that an old link still works."""

    state = forms.ChoiceField(required=False, choices=Case.State.choices, widget=forms.HiddenInput)
    kind = forms.ChoiceField(
        required=False, choices=[("", "every kind"), *Case.Kind.choices], widget=forms.HiddenInput
    )
    label = forms.ChoiceField(required=False)
    document = forms.CharField(required=False, max_length=200)
    order = forms.ChoiceField(required=False, choices=list(ORDERS.items()))

    def __init__(
        self, *args: Any, campaign: Campaign, documents: list[str] | None = None, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        names = [(name, name) for name in campaign.labels]
        _choose(self.fields["label"], [("", "every label"), *names])
        if documents is not None:
            pages = [("", "every page"), *((name, name) for name in documents)]
            self.fields["document"].widget = forms.Select(choices=pages)

    @property
    def wanted(self) -> CaseFilter:
        self.is_valid()
        given = {name: value for name, value in self.cleaned_data.items() if value}
        return CaseFilter(**given)


def _choose(field: forms.Field, choices: list[tuple[str, str]]) -> None:
    assert isinstance(field, forms.ChoiceField)
    field.choices = choices
