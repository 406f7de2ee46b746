"""Forms of the workflow: settings, screening, validation, teams. Services decide what happens."""

from collections.abc import Sequence
from typing import Any

from django import forms

from annotation.models import Campaign, Screening
from annotation.selectors.validation import FaultyWork
from annotation.services.campaign_settings import (
    MAX_REVIEW_PAGES,
    CampaignSettings,
    fixed_settings,
)
from annotation.services.errors import MAX_WORKFLOW_REASON
from annotation.services.teams import MAX_OVERLAP

_DEFAULTS = CampaignSettings()


class SettingsFields(forms.Form):
    """How the quality workflow of a campaign runs."""

    screening = forms.BooleanField(
        required=False,
        label="Screen pages first",
        help_text="Somebody looks at every page before annotators get it, and excludes those whose "
        "text or layout is broken.",
    )
    agreement_threshold = forms.FloatField(
        label="Agreement threshold",
        initial=_DEFAULTS.agreement_threshold,
        min_value=0,
        max_value=1,
        widget=forms.NumberInput(attrs={"step": "any"}),
        help_text="From 0 to 1: the share of annotators who must have marked a fact alike. "
        "With 1 every difference goes to adjudication; with 0.6 two of three make it gold.",
    )
    review_pages = forms.IntegerField(
        label="Pages between domain reviews",
        initial=_DEFAULTS.review_pages,
        min_value=0,
        max_value=MAX_REVIEW_PAGES,
        help_text="After so many gold pages a reviewer checks a random draw of their facts; 0 for "
        "no review.",
    )
    review_percent = forms.FloatField(
        label="Facts drawn for a review, in percent",
        initial=_DEFAULTS.review_share * 100,
        min_value=0.01,
        max_value=100,
        widget=forms.NumberInput(attrs={"step": "any"}),
        help_text="The draw depends on a seed that is recorded, so that it can be made again.",
    )
    qualification_f1 = forms.FloatField(
        label="Span F1 to qualify",
        initial=_DEFAULTS.qualification_f1,
        min_value=0,
        max_value=1,
        widget=forms.NumberInput(attrs={"step": "any"}),
        help_text="From 0 to 1. Counts only where the campaign has a qualification round: pages "
        "with known gold that annotators label before they get work.",
    )

    def chosen_settings(self) -> dict[str, Any]:
        """The cleaned values, named as in `CampaignSettings`."""
        names = ["screening", "agreement_threshold", "review_pages", "qualification_f1"]
        chosen = {name: self.cleaned_data[name] for name in names if name in self.cleaned_data}
        return chosen | {"review_share": self.cleaned_data["review_percent"] / 100}


class CampaignSettingsForm(SettingsFields):
    """The same for a campaign that exists. What can no longer be changed is shown with why."""

    overlap = forms.IntegerField(
        label="Annotators per document",
        min_value=1,
        max_value=MAX_OVERLAP,
        help_text="Two or more label each document without seeing each other's marks. Single "
        "documents can have a number of their own.",
    )
    field_order = ["overlap", "screening"]

    def __init__(self, *args: Any, campaign: Campaign, **kwargs: Any) -> None:
        initial = {name: getattr(campaign, name) for name in _INITIAL}
        kwargs["initial"] = initial | {"review_percent": round(campaign.review_share * 100, 6)}
        super().__init__(*args, **kwargs)
        for name, why in fixed_settings(campaign).items():
            field = self.fields[name]
            # Django takes the initial value of a disabled field, whatever was sent.
            field.disabled = True
            field.help_text = f"{field.help_text} <strong>Fixed:</strong> {why}"

    def changes(self) -> dict[str, Any]:
        """What was changed. The rest was shown rounded and stays as it is."""
        chosen = self.chosen_settings() | {"overlap": self.cleaned_data["overlap"]}
        fields = {"review_share": "review_percent"}
        return {
            name: value
            for name, value in chosen.items()
            if fields.get(name, name) in self.changed_data
        }


_INITIAL = ("overlap", "screening", "agreement_threshold", "review_pages", "qualification_f1")


class ScreeningForm(forms.Form):
    """A verdict on a page. Faults and the reason belong to a faulty one."""

    verdict = forms.ChoiceField(choices=Screening.Verdict.choices)
    faults = forms.MultipleChoiceField(
        required=False,
        label="What is wrong",
        choices=Screening.Fault.choices,
        widget=forms.CheckboxSelectMultiple,
    )
    reason = forms.CharField(
        required=False,
        max_length=MAX_WORKFLOW_REASON,
        label="Reason",
        widget=forms.Textarea(attrs={"rows": 3}),
    )

    def clean(self) -> dict[str, Any]:
        data = self.cleaned_data
        if data.get("verdict") == Screening.Verdict.FAULTY:
            if not data.get("faults") and "faults" not in self.errors:
                self.add_error("faults", "Choose at least one fault.")
            if not data.get("reason") and "reason" not in self.errors:
                self.add_error("reason", "Say in a few words what is wrong with the page.")
        else:
            data["faults"] = []
        return data


class ValidationForm(forms.Form):
    """What becomes of faulty work: it goes back to annotators, who read the reason, or passes."""

    SEND_BACK, LET_PASS = "send_back", "let_pass"

    action = forms.ChoiceField(choices=[(SEND_BACK, "send back"), (LET_PASS, "let pass")])
    assignments = forms.TypedMultipleChoiceField(
        required=False,
        coerce=int,
        label="Whose work goes back",
        widget=forms.CheckboxSelectMultiple,
    )
    reason = forms.CharField(
        max_length=MAX_WORKFLOW_REASON,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Annotators read it when their work goes back.",
    )

    def __init__(self, *args: Any, works: Sequence[FaultyWork], **kwargs: Any) -> None:
        faulty = [work.assignment for work in works if work.faults]
        kwargs["initial"] = {"assignments": faulty}
        super().__init__(*args, **kwargs)
        field = self.fields["assignments"]
        assert isinstance(field, forms.TypedMultipleChoiceField)
        field.choices = [(work.assignment, work.annotator) for work in works]

    def clean(self) -> dict[str, Any]:
        sends_back = self.cleaned_data.get("action") == self.SEND_BACK
        if sends_back and not self.cleaned_data.get("assignments"):
            self.add_error("assignments", "Choose whose work goes back.")
        return self.cleaned_data


class AssignmentFilterForm(forms.Form):
    """The filter of the assignments table; what is wrong in it counts for nothing."""

    idle = forms.IntegerField(
        required=False, min_value=0, max_value=10_000, label="Idle for more than (days)"
    )
    annotator = forms.TypedChoiceField(
        required=False, coerce=int, empty_value=None, label="Annotator"
    )

    def __init__(self, *args: Any, annotators: list[tuple[int, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["annotator"]
        assert isinstance(field, forms.TypedChoiceField)
        field.choices = [("", "everybody"), *annotators]


class DrawForm(forms.Form):
    """A calibration set drawn by a seed."""

    count = forms.IntegerField(label="Documents", min_value=1, max_value=10_000, initial=10)
    seed = forms.IntegerField(
        label="Seed",
        min_value=0,
        max_value=2**53 - 1,
        help_text="Any number: the same one draws the same documents again.",
    )


class DocumentTeamForm(forms.Form):
    """What to do with the documents chosen in the table."""

    documents = forms.MultipleChoiceField(
        error_messages={"required": "Choose documents in the table first."}
    )
    action = forms.ChoiceField(
        choices=[("calibration", ""), ("ordinary", ""), ("overlap", "")],
    )
    overlap = forms.TypedChoiceField(
        required=False,
        coerce=int,
        empty_value=None,
        label="Annotators",
        choices=[("", "as the campaign"), *((n, str(n)) for n in range(1, MAX_OVERLAP + 1))],
    )

    def __init__(self, *args: Any, names: list[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["documents"]
        assert isinstance(field, forms.MultipleChoiceField)
        field.choices = [(name, name) for name in names]
