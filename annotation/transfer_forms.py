"""Forms of what goes out of a campaign and comes into it."""

from typing import Any

from django import forms

from annotation.access import Standing
from annotation.models import CampaignImport, Membership
from annotation.selectors.campaign_export import FORM_WORDS
from portal.accounts.models import User, display_name
from portal.files.uploads import upload_limit_message

Form = CampaignImport.Form
Layer = CampaignImport.Layer
ACCEPTED = ".json,.jsonl,.gz,.zip"


class ExportForm(forms.Form):
    """What to download; it is sent to the API, which makes the file."""

    form = forms.ChoiceField(
        label="Form", choices=FORM_WORDS, initial=Form.LABEL_STUDIO, widget=forms.RadioSelect
    )
    layer = forms.ChoiceField(
        label="Labels",
        choices=Layer.choices,
        initial=Layer.GOLD,
        help_text="A whole campaign has both.",
    )
    emails = forms.BooleanField(
        required=False,
        label="With e-mail addresses",
        help_text="Only in a whole campaign, and only to bring it into another site: there people "
        "are found by their address. Otherwise they have a pseudonym.",
    )


class _PersonField(forms.ModelChoiceField):  # type: ignore[type-arg]
    def label_from_instance(self, obj: User) -> str:
        return f"{display_name(obj)} ({obj.email})"


class ImportForm(forms.Form):
    """A file with labels; a worker reads it and says what it placed."""

    file = forms.FileField(
        label="File", widget=forms.ClearableFileInput(attrs={"accept": ACCEPTED})
    )
    form = forms.ChoiceField(label="Form")
    layer = forms.ChoiceField(
        label="Becomes",
        choices=Layer.choices,
        initial=Layer.GOLD,
        help_text="Work is submitted as its annotator's. Nothing that somebody has begun is "
        "replaced.",
    )
    annotator = _PersonField(
        User.objects.none(),
        required=False,
        empty_label="Nobody: it is gold",
        help_text="Of a file with the work of several people, theirs is taken.",
    )

    def __init__(
        self, *args: Any, standing: Standing, too_large: bool = False, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self._offer_forms(standing)
        self._offer_annotators(standing)
        if too_large:
            # The upload was stopped and is not there; to call it missing would mislead.
            self.fields["file"].error_messages["required"] = upload_limit_message()

    def _offer_forms(self, standing: Standing) -> None:
        """A whole campaign gives roles and says who did what: organisers alone bring one in."""
        form = self.fields["form"]
        assert isinstance(form, forms.ChoiceField)
        form.choices = [
            (value, words)
            for value, words in FORM_WORDS
            if value != Form.FULL or standing.is_organiser
        ]

    def _offer_annotators(self, standing: Standing) -> None:
        annotator = self.fields["annotator"]
        assert isinstance(annotator, forms.ModelChoiceField)
        annotator.queryset = User.objects.filter(
            memberships__campaign=standing.campaign,
            memberships__role=Membership.Role.ANNOTATOR,
        ).order_by("name", "pk")
