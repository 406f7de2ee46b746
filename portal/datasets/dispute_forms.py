"""Forms of disputes. The limits are the services'."""

from typing import Any

from django import forms

from .models import Dispute, Release
from .selectors.corrections import ADD, CHANGE, REMOVE
from .services.corrections import WantedCorrection
from .services.disputes import CLAIM_LENGTH, REASON_LENGTH


class DisputeForm(forms.Form):
    """A challenge of a fact, or of an item whose facts one does not see."""

    claim = forms.CharField(
        max_length=CLAIM_LENGTH,
        label="What it should be",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    reason = forms.CharField(
        max_length=REASON_LENGTH,
        label="Why",
        widget=forms.Textarea(attrs={"rows": 5}),
        help_text="Where you see it on the page, and what speaks for it.",
    )

    def __init__(self, *args: Any, sees_gold: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not sees_gold:
            self.fields["claim"].label = "What is wrong"
            self.fields["claim"].help_text = "Such as: the image cannot be read."


class DecisionForm(forms.Form):
    """Accepting or declining, with the answer that the raiser gets."""

    answer = forms.CharField(
        max_length=REASON_LENGTH,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text="The raiser gets it by e-mail.",
    )
    decision = forms.ChoiceField(
        choices=[("accept", "Accept"), ("decline", "Decline")], widget=forms.HiddenInput
    )

    act = forms.ChoiceField(
        required=False,
        label="Correction",
        choices=[
            ("", "as the claim says"),
            (CHANGE, "change the fact"),
            (REMOVE, "remove the fact"),
            (ADD, "add a fact"),
        ],
        help_text="Applied when the next release is made from the gold of the newest one.",
    )
    type = forms.CharField(required=False, max_length=64, label="Label")
    value = forms.CharField(
        required=False, max_length=CLAIM_LENGTH, label="Text, as the page has it"
    )
    start = forms.IntegerField(
        required=False,
        min_value=0,
        label="Where it starts",
        help_text="Only if the page has the text more than once.",
    )

    def accepts(self) -> bool:
        return bool(self.cleaned_data["decision"] == "accept")

    def correction(self) -> WantedCorrection | None:
        data = self.cleaned_data
        if not data["act"]:
            return None
        return WantedCorrection(data["act"], data["type"], data["value"], data["start"])


class DisputeFilterForm(forms.Form):
    """Filters of the list; what is unknown filters nothing."""

    state = forms.ChoiceField(
        required=False, choices=[("", "All"), *Dispute.State.choices], widget=forms.HiddenInput
    )
    release = forms.ChoiceField(required=False)
    mine = forms.BooleanField(required=False, label="Mine only")

    def __init__(self, *args: Any, releases: list[Release], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        release = self.fields["release"]
        assert isinstance(release, forms.ChoiceField)
        release.choices = [("", "All releases"), *((r.version, r.version) for r in releases)]
