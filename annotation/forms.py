"""Forms of annotation. They check what was typed; services decide what happens."""

from typing import Any

from django import forms

from annotation.models import SuggestionSource
from annotation.services.campaigns import default_guidelines
from annotation.services.teams import MAX_OVERLAP
from annotation.workflow_forms import SettingsFields
from portal.datasets.models import Dataset, Selection
from portal.datasets.release_forms import ReleaseTermsForm
from portal.facts.spans import check_labels
from portal.files.uploads import upload_limit_message
from scoring.metrics.agreement_labels import OUTSIDE

MAX_LABELS = 9
MAX_GUIDELINES = 100_000
MAX_NOTE = 300


def label_problems(labels: list[str]) -> list[str]:
    """What is wrong with the label set of a campaign, one sentence each."""
    problems = check_labels(labels)
    if len(labels) > MAX_LABELS:
        problems.append(f"{len(labels)} labels are more than the {MAX_LABELS} keys")
    if OUTSIDE in labels:
        problems.append(f"label {OUTSIDE!r} stands for “not marked” in agreement")
    return problems


class CampaignForm(SettingsFields):
    dataset = forms.ModelChoiceField(
        Dataset.objects.all(), to_field_name="slug", empty_label="Choose a dataset"
    )
    selection = forms.ModelChoiceField(
        Selection.objects.select_related("dataset"),
        required=False,
        empty_label="All documents of the dataset",
        label="Documents",
        help_text="All that are not held back, or a selection of the dataset.",
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
    field_order = ["dataset", "selection", "title", "labels", "overlap", "guidelines"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        chosen = self.initial.get("dataset")
        field = self.fields["selection"]
        assert isinstance(field, forms.ModelChoiceField)
        if chosen and not self.is_bound:
            field.queryset = Selection.objects.filter(dataset__slug=chosen)

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        selection, dataset = data.get("selection"), data.get("dataset")
        if selection and dataset and selection.dataset_id != dataset.pk:
            self.add_error("selection", "This is a selection of another dataset.")
        return data

    def clean_labels(self) -> list[str]:
        names = [name.strip() for name in self.cleaned_data["labels"].split(",")]
        labels = [name for name in names if name]
        if problems := label_problems(labels):
            raise forms.ValidationError(problems)
        return labels


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


class ReleaseForm(ReleaseTermsForm):
    """The terms of a release, and for organisers what to do about unfinished documents."""

    leave_out_unfinished = forms.BooleanField(
        required=False, label="Leave unfinished documents out"
    )
    accept_warnings = forms.BooleanField(required=False)

    def __init__(self, *args: Any, may_leave_out: bool, warned: int, **kwargs: Any) -> None:
        """`warned`: how many facts have a warning; the checkbox sends that number."""
        super().__init__(*args, **kwargs)
        if not may_leave_out:
            del self.fields["leave_out_unfinished"]
        if not warned:
            del self.fields["accept_warnings"]
            return
        field = self.fields["accept_warnings"]
        plural = "s" if warned > 1 else ""
        field.label = f"Release {warned:,} fact{plural} with a warning"
        field.help_text = "They are listed on this page. The notes will say how many there are."
        field.widget.attrs["value"] = str(warned)

    def accepted_warnings(self) -> int:
        """The number that was ticked: what its reader saw, which may not be the present one."""
        sent = str(self.data.get("accept_warnings", ""))
        return int(sent) if sent.isdecimal() else 0
