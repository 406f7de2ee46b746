"""The forms of submissions: the model card with its file, the verdict, webhooks."""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import uuid4

from django import forms
from django.db.models import QuerySet
from django.forms import BoundField

from portal.accounts.emails import email_route
from portal.accounts.models import Team
from portal.files.uploads import upload_limit_message
from scoring.answering.manifest import RunManifest
from scoring.models import Phase, Submission
from scoring.models.submissions import CARD_FIELDS, SHORT_CARD

from .manifests import FILLED, ManifestRefused, filled_card, read_manifest


class PhaseField(forms.ModelChoiceField):  # type: ignore[type-arg]
    """Phases of one board, shown by their titles."""

    def label_from_instance(self, obj: Phase) -> str:
        return obj.title


class ManifestField(forms.FileField):
    """An optional file that is read as a run manifest."""

    widget = forms.ClearableFileInput(attrs={"accept": ".json"})

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(required=False, label="Run manifest", **kwargs)

    def clean(self, data: Any, initial: Any = None) -> RunManifest | None:
        file = super().clean(data, initial)
        try:
            return read_manifest(file) if file else None
        except ManifestRefused as refusal:
            raise forms.ValidationError(refusal.faults) from None


def predictions_field(help_text: str) -> forms.FileField:
    widget = forms.ClearableFileInput(attrs={"accept": ".zip,.jsonl,.gz"})
    return forms.FileField(label="Predictions", widget=widget, help_text=help_text)


# The fields that the form asks for besides the card.
_ASKED = ("phase", "team", "file", "manifest", "letter")


class SubmissionForm(forms.ModelForm):  # type: ignore[type-arg]
    """A model card and a file. `services.check_upload` checks what is inside the file."""

    form_key = forms.CharField(max_length=40, widget=forms.HiddenInput)
    phase = PhaseField(queryset=Phase.objects.none(), empty_label=None)
    team: Any = forms.ModelChoiceField(
        queryset=Team.objects.none(),
        to_field_name="slug",
        required=False,
        empty_label="Myself",
        label="Submit for",
        help_text="Team members can view, publish and replace the submission.",
    )
    file = predictions_field("ZIP, JSON Lines or gzipped JSON Lines.")
    manifest = ManifestField(
        help_text="manifest.json from factboard run. Empty model card fields are filled in from it."
    )
    letter = forms.BooleanField(required=False, label="Email me when grading is complete")
    accept_missing = forms.BooleanField(required=False)
    accept_identical = forms.BooleanField(required=False)
    accept_terms = forms.BooleanField(
        label="I accept the terms of this board",
        error_messages={"required": "To submit, accept the terms."},
    )

    class Meta:
        model = Submission
        fields = [*CARD_FIELDS, "form_key"]
        help_texts = {
            "name": "Shown on the leaderboard. Defaults to the model in the run manifest.",
            "organisation": "Marked as unverified until organisers verify the submission.",
            "size": "For example, 7B.",
            "notes": "Other information for readers.",
            "open_weights": "",
            "training_until": "",
            "licence": "",
            "output_tokens": "Total for all items.",
        }
        labels = {"size": "Parameters", "training_until": "Training cutoff"}
        widgets = {
            name: forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")
            for name in ("released_on", "training_until")
        }

    field_order = ["form_key", "phase", "team", "file", "manifest", *CARD_FIELDS]

    def __init__(
        self,
        *args: Any,
        phases: Iterable[Phase],
        teams: QuerySet[Team],
        earlier: Submission | None = None,
        phase: str = "",
        required: Iterable[str] = (),
        has_terms: bool = False,
        too_large: bool = False,
        **kwargs: Any,
    ) -> None:
        """`teams` are the user's; `earlier` is the previous version, whose card is filled in.
        `phase` is the slug of the phase to select at first. `required` names the fields of the card
        that the board requires."""
        kwargs["initial"] = {"form_key": uuid4().hex} | _initial_card(earlier)
        super().__init__(*args, **kwargs)
        self.phases, self.teams = list(phases), list(teams)
        self.fields["team"].queryset = teams  # type: ignore[attr-defined]
        if earlier or not self.teams:
            # There is no choice: a new version has the same team as the previous one.
            self.fields["team"].widget = forms.HiddenInput()
        has_manifest, is_check = "manifest" in self.files, "check_only" in self.data
        # A check of the file needs no card and no terms.
        self.required = set() if is_check else {"name", *required}
        for name in ("name", "accept_terms") if is_check else ():
            self.fields[name].required = False
        for name in self.required & self.fields.keys():
            # `clean` checks those that the manifest may fill, and the browser none of them.
            self.fields[name].required = not (has_manifest and name in FILLED)
        for name in FILLED & self.fields.keys():
            self.fields[name].widget.use_required_attribute = lambda _: False
        if not has_terms:
            del self.fields["accept_terms"]
        self._offer_phases(phase)
        for name in ("notes", "training_data", "prompt", "decoding"):
            self.fields[name].widget.attrs["rows"] = 4
        if not email_route().is_sent:
            del self.fields["letter"]
        if too_large:
            # The upload was stopped, so that the file looks missing.
            self.fields["file"].error_messages["required"] = upload_limit_message()

    def _offer_phases(self, selected: str) -> None:
        field = self.fields["phase"]
        assert isinstance(field, PhaseField)
        field.queryset = Phase.objects.filter(pk__in=[each.pk for each in self.phases])
        field.initial = next((each.pk for each in self.phases if each.slug == selected), None)
        if len(self.phases) == 1:
            field.initial, field.widget = self.phases[0].pk, forms.HiddenInput()

    def shown_fields(self) -> list[BoundField]:
        """The fields that are shown at first. `accept_missing` is shown when ids are missing,
        and `accept_identical` for a file that was submitted before."""
        first = {*_ASKED, *SHORT_CARD, *self.required}
        return [field for field in self.visible_fields() if field.name in first]

    def further_fields(self) -> list[BoundField]:
        """The rest of the model card."""
        asked = {*_ASKED, "accept_missing", "accept_identical", "accept_terms"}
        first = asked | {*SHORT_CARD, *self.required}
        return [field for field in self.visible_fields() if field.name not in first]

    @property
    def has_further_errors(self) -> bool:
        return any(field.errors for field in self.further_fields())

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        data |= filled_card(
            {name: data[name] for name in CARD_FIELDS if name in data}, data.get("manifest")
        )
        for name in self.required & self.fields.keys():
            if data.get(name) in (None, "") and name not in self.errors:
                self.add_error(name, forms.Field.default_error_messages["required"])
        return data

    def card(self) -> dict[str, Any]:
        return {name: self.cleaned_data[name] for name in CARD_FIELDS}


def _initial_card(earlier: Submission | None) -> dict[str, Any]:
    if earlier is None:
        return {}
    team = earlier.team.slug if earlier.team else ""
    return earlier.card() | {"phase": earlier.phase_id, "team": team}


class VerdictForm(forms.ModelForm):  # type: ignore[type-arg]
    """An organiser's verdict on a submission."""

    class Meta:
        model = Submission
        fields = ["verdict", "verdict_reason"]
        labels = {"verdict_reason": "Reason"}
        widgets = {"verdict_reason": forms.Textarea(attrs={"rows": 2})}

    def _post_clean(self) -> None:
        """Leaves the instance unchanged: the service validates and writes it."""


class ApprovalForm(forms.Form):
    """An account to approve for the hidden gold of a phase."""

    phase = PhaseField(queryset=Phase.objects.none(), empty_label=None)
    email = forms.EmailField(label="Email address of the account")

    def __init__(self, *args: Any, phases: Sequence[Phase], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["phase"]
        assert isinstance(field, PhaseField)
        field.queryset = Phase.objects.filter(pk__in=[phase.pk for phase in phases])


class WebhookForm(forms.Form):
    """A webhook's URL, which the service validates."""

    url = forms.CharField(
        label="URL",
        max_length=500,
        help_text="For example, https://example.org/graded. Receives POST requests with JSON.",
        widget=forms.TextInput(attrs={"inputmode": "url", "spellcheck": "false"}),
    )
