"""Forms of annotation. They check what was typed; services decide what happens."""

from typing import Any

from django import forms
from django.http import HttpRequest, QueryDict

from annotation.access import Standing
from annotation.models import Case, Membership, SuggestionSource
from annotation.services.adjudicating import proposed_spans
from annotation.services.campaigns import default_guidelines
from annotation.services.errors import Refused
from portal.accounts.models import User
from portal.common.uploads import upload_limit_message
from portal.datasets.models import Dataset, Release
from portal.datasets.versions import Version
from portal.facts import Span as TextSpan
from portal.facts.labels import check_labels
from scoring.metrics.agreement import OUTSIDE

MAX_LABELS = 9
MAX_OVERLAP = 4
MAX_GUIDELINES = 100_000
MAX_NOTE = 300


def posted(request: HttpRequest) -> QueryDict | None:
    """The fields sent. A form sent without any is a form, so `request.POST or None` will not do."""
    return request.POST if request.method == "POST" else None


def label_problems(labels: list[str]) -> list[str]:
    """What is wrong with the label set of a campaign, one sentence each."""
    problems = check_labels(labels)
    if len(labels) > MAX_LABELS:
        problems.append(f"{len(labels)} labels are more than the {MAX_LABELS} keys")
    if OUTSIDE in labels:
        problems.append(f"label {OUTSIDE!r} stands for “not marked” in agreement")
    return problems


class CampaignForm(forms.Form):
    dataset = forms.ModelChoiceField(
        Dataset.objects.all(), to_field_name="slug", empty_label="Choose a dataset"
    )
    title = forms.CharField(max_length=160)
    labels = forms.CharField(
        initial="Number, Date",
        help_text="Up to nine names, separated by commas. Their order gives the keys 1 to 9.",
    )
    overlap = forms.IntegerField(
        label="Annotators per document",
        initial=2,
        min_value=1,
        max_value=MAX_OVERLAP,
        help_text="Two or more label each document without seeing each other's marks.",
    )
    guidelines = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 14}),
        initial=default_guidelines,
        max_length=MAX_GUIDELINES,
        help_text="Markdown. Can be changed at any time.",
    )

    def clean_labels(self) -> list[str]:
        names = [name.strip() for name in self.cleaned_data["labels"].split(",")]
        labels = [name for name in names if name]
        if problems := label_problems(labels):
            raise forms.ValidationError(problems)
        return labels


class MemberForm(forms.Form):
    """Who, by e-mail, gets which role. Only roles that the person asking may give."""

    email = forms.EmailField(label="E-mail", help_text="Of an account on this site.")
    role = forms.ChoiceField()

    def __init__(self, *args: Any, standing: Standing, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        role = self.fields["role"]
        assert isinstance(role, forms.ChoiceField)
        role.choices = [
            (value, label) for value, label in Membership.Role.choices if standing.may_give(value)
        ]

    def clean_email(self) -> User:
        user = User.objects.filter(email__iexact=self.cleaned_data["email"], is_active=True).first()
        if user is None:
            raise forms.ValidationError(
                "Nobody has an account with this address. Ask them to sign up first."
            )
        return user


class GuidelinesForm(forms.Form):
    guidelines = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 24}),
        max_length=MAX_GUIDELINES,
        help_text="Markdown.",
    )
    note = forms.CharField(
        required=False,
        max_length=MAX_NOTE,
        label="What changes",
        help_text="In a few words, for the annotators who know the former version.",
    )


class SuggestionSourcesForm(forms.Form):
    sources = forms.MultipleChoiceField(
        required=False,
        label="Annotators are shown",
        choices=SuggestionSource.choices,
        widget=forms.CheckboxSelectMultiple,
        help_text="Suggestions save work, but they also steer it: whoever sees them agrees more. "
        "Choose none to measure agreement on independent work.",
    )


class SuggestionUploadForm(forms.Form):
    """A model's marks; a worker reads the file and says of each document how it went."""

    file = forms.FileField(
        label="File",
        widget=forms.ClearableFileInput(attrs={"accept": ".jsonl,.gz,.zip"}),
    )

    def __init__(self, *args: Any, too_large: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if too_large:
            # The upload was stopped and is not there; to call it missing would mislead.
            self.fields["file"].error_messages["required"] = upload_limit_message()


class SpanForm(forms.Form):
    """One span of an edited decision; an empty row counts for nothing."""

    start = forms.IntegerField(min_value=0)
    end = forms.IntegerField(min_value=1)
    label = forms.ChoiceField()

    def __init__(self, *args: Any, labels: list[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        label = self.fields["label"]
        assert isinstance(label, forms.ChoiceField)
        label.choices = [(name, name) for name in labels]

    def has_changed(self) -> bool:
        """Rows begin with a label chosen; only offsets make a span."""
        return bool(
            self.data.get(self.add_prefix("start")) or self.data.get(self.add_prefix("end"))
        )


SpanFormSet = forms.formset_factory(SpanForm, extra=1, max_num=50, validate_max=True)


class DecisionForm(forms.Form):
    """A lead's answer to a case: the number of a proposal (from 1), `none`, or `edit`."""

    NONE, EDIT = "none", "edit"

    choice = forms.CharField(required=False)
    reason = forms.CharField(
        required=False,
        max_length=2000,
        help_text="Why, in a few words. It stays with the decision.",
    )

    def __init__(self, *args: Any, case: Case, labels: list[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.case = case
        self.spans = SpanFormSet(
            self.data if self.is_bound and self.data.get("choice") == self.EDIT else None,
            prefix="spans",
            # A row that was emptied is left out; it need not be the last one.
            form_kwargs={"labels": labels, "empty_permitted": True},
            initial=_suggested(case),
        )

    def clean(self) -> dict[str, Any]:
        choice = self.cleaned_data.get("choice", "")
        self.cleaned_data["spans"] = self._chosen(choice)
        return self.cleaned_data

    def _chosen(self, choice: str) -> list[TextSpan]:
        if choice == self.NONE:
            return []
        if choice == self.EDIT:
            return self._edited()
        try:
            return proposed_spans(self.case, int(choice) - 1)
        except (ValueError, Refused):
            raise forms.ValidationError("Choose a proposal, none, or edit.") from None

    def _edited(self) -> list[TextSpan]:
        if not self.spans.is_valid():
            raise forms.ValidationError("A span of the edit needs a start, an end and a label.")
        rows = [form.cleaned_data for form in self.spans if form.has_changed()]
        if not rows:
            raise forms.ValidationError("The edit holds no span. Choose “none” to mark nothing.")
        return [TextSpan(row["start"], row["end"], row["label"]) for row in rows]


def _suggested(case: Case) -> list[dict[str, Any]]:
    """The edit begins with the proposal that marked most."""
    fullest = max(case.proposals, key=lambda proposal: len(proposal["spans"]))
    return [
        {"start": span["start"], "end": span["end"], "label": span["label"]}
        for span in fullest["spans"]
    ]


class ReleaseForm(forms.Form):
    version = forms.CharField(max_length=32, help_text="Semantic version, such as 1.0.0.")
    visibility = forms.ChoiceField(
        choices=Release.Visibility.choices, initial=Release.Visibility.GOLD_HIDDEN
    )
    notes = forms.CharField(
        required=False,
        max_length=20_000,
        widget=forms.Textarea(attrs={"rows": 5}),
        help_text="What is new in this version. Markdown.",
    )
    leave_out_unfinished = forms.BooleanField(
        required=False, label="Leave unfinished documents out"
    )

    def __init__(self, *args: Any, may_leave_out: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not may_leave_out:
            del self.fields["leave_out_unfinished"]

    def clean_version(self) -> str:
        version: str = self.cleaned_data["version"]
        try:
            return str(Version.parse(version))
        except ValueError as error:
            raise forms.ValidationError(str(error)) from error
