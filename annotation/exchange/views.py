"""The page to export and import a campaign's labels."""

from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import redirect

from annotation.access import CampaignAccess, managed_campaign
from annotation.api_base import campaign_page, choose, form_view, posted, refusals_in
from annotation.models import CampaignImport, Membership
from portal.accounts.access import UserRequest
from portal.accounts.models import User, display_name
from portal.facts import label_config
from portal.files.uploads import upload_limit_message, was_too_large

from .selectors import FORM_WORDS, export_state, latest_imports
from .services import new_import

Form = CampaignImport.Form
Layer = CampaignImport.Layer
LAYER_WORDS = [(Layer.GOLD, "Gold"), (Layer.ANNOTATIONS, "Annotators’ labels")]
ACCEPTED = ".json,.jsonl,.gz,.zip"


class ExportForm(forms.Form):
    """The export to download. The form is submitted to the API, which streams the file."""

    form = forms.ChoiceField(
        label="Format", choices=FORM_WORDS, initial=Form.LABEL_STUDIO, widget=forms.RadioSelect
    )
    layer = forms.ChoiceField(
        label="Labels",
        choices=LAYER_WORDS,
        initial=Layer.GOLD,
        help_text="A whole campaign includes both.",
    )
    emails = forms.BooleanField(
        required=False,
        label="Include email addresses",
        help_text="Required to import the campaign into another site.",
    )


class _PersonField(forms.ModelChoiceField):  # type: ignore[type-arg]
    is_conditional = True

    def label_from_instance(self, obj: User) -> str:
        return f"{display_name(obj)} ({obj.email})"


class ImportForm(forms.Form):
    """A file with labels to import."""

    file = forms.FileField(
        label="File", widget=forms.ClearableFileInput(attrs={"accept": ACCEPTED})
    )
    form = forms.ChoiceField(label="Format")
    layer = forms.ChoiceField(
        label="Import as",
        choices=LAYER_WORDS,
        initial=Layer.GOLD,
        help_text="Documents that an annotator has started are not replaced.",
    )
    annotator = _PersonField(
        User.objects.none(),
        required=False,
        label="Annotator",
        empty_label="None (gold)",
        help_text="Required for annotators’ labels. If the file has labels of several annotators, "
        "only those of this one are imported.",
    )
    accept_unplaced = forms.IntegerField(
        required=False,
        min_value=0,
        label="Labels to leave out",
        help_text="A document with labels that have no place is not imported. To import it without "
        "them, enter their number in the whole file. In HTML with inline tags, every label has a "
        "place.",
    )

    def clean_accept_unplaced(self) -> int:
        return self.cleaned_data["accept_unplaced"] or 0

    def __init__(
        self, *args: Any, access: CampaignAccess, too_large: bool = False, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        # Only organisers may import a whole campaign, because it grants roles.
        offered = [row for row in FORM_WORDS if row[0] != Form.FULL or access.is_organiser]
        choose(self, "form", offered)
        annotator = self.fields["annotator"]
        assert isinstance(annotator, forms.ModelChoiceField)
        annotator.queryset = User.objects.filter(
            memberships__campaign=access.campaign, memberships__role=Membership.Role.ANNOTATOR
        ).order_by("name", "pk")
        if too_large:
            # The upload was stopped: “missing” would be the wrong message.
            self.fields["file"].error_messages["required"] = upload_limit_message()


@form_view
def in_and_out(request: UserRequest, slug: str) -> HttpResponse:
    """The page. For htmx only the list of imports, which refreshes while a file is being read."""
    access = managed_campaign(request.user, slug)
    # The body must be read before `was_too_large`.
    data = posted(request)
    files = None if data is None else request.FILES
    too_large = was_too_large(request)
    form = ImportForm(data, files, access=access, too_large=too_large)
    if form.is_valid() and _taken(request, access, form):
        messages.success(request, "Import started. Follow its progress in the list below.")
        return redirect("annotation:export", slug)
    imports = latest_imports(access.campaign)
    context = {
        "export": ExportForm(auto_id="id_export_%s"),
        "form": form,
        "state": export_state(access.campaign),
        "imports": imports,
        "is_reading": any(not row.is_finished for row in imports),
        "label_config": label_config(access.campaign.labels),
    }
    template = "exchange/in_and_out.html"
    if request.headers.get("HX-Request"):
        template += "#imports"
    status = 413 if too_large else 200
    response = campaign_page(request, access, "export", template, context, status=status)
    response["Vary"] = "HX-Request, Cookie"
    return response


def _taken(request: UserRequest, access: CampaignAccess, form: ImportForm) -> bool:
    """Whether the import was started; otherwise adds the error to the form."""
    wanted = form.cleaned_data
    if wanted["form"] == CampaignImport.Form.FULL and not access.is_organiser:
        raise PermissionDenied("Only organisers can import whole campaigns.")
    with refusals_in(form):
        new_import(campaign=access.campaign, actor=request.user, **wanted)
    return not form.errors
