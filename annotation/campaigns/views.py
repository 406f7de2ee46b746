"""Pages of campaigns: list, form, overview, settings, guidelines and releases."""

from typing import Any

from django import forms
from django.contrib import messages
from django.forms.models import model_to_dict
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotation.access import CampaignAccess, campaign_for, managed_campaign
from annotation.api_base import action, campaign_page, form_view, page_view, posted, refusals_in
from annotation.assignments.sharing import MAX_OVERLAP, assign_documents
from annotation.models import Campaign
from portal.accounts.access import UserRequest, organiser_required
from portal.datasets.models import Dataset, Selection
from portal.datasets.releases.corrections import unsettled_disputes
from portal.datasets.releases.forms import ReleaseTermsForm
from portal.datasets.releases.overlaps import own_hidden_versions
from portal.datasets.releases.services import (
    documents_without_image,
    freeze_remarks,
    open_gold_of_dataset,
)

from . import selectors, services, waiting

_DEFAULTS = services.CampaignSettings()
# Settings whose form field has the same name.
_PLAIN = ("screening", "agreement_threshold", "review_pages", "qualification_f1")


class SettingsFields(forms.Form):
    """The workflow settings of a campaign."""

    overlap = forms.IntegerField(
        label="Annotators per document",
        initial=2,
        min_value=1,
        max_value=MAX_OVERLAP,
        help_text="You can change it for individual documents.",
    )
    screening = forms.BooleanField(
        required=False,
        label="Screen documents before annotation",
        help_text="Find and exclude documents with corrupt text or layout.",
    )
    agreement_threshold = forms.FloatField(
        label="Agreement threshold",
        initial=_DEFAULTS.agreement_threshold,
        min_value=0,
        max_value=1,
        widget=forms.NumberInput(attrs={"step": "any"}),
        help_text="Minimum share of annotators who must agree. 1 makes every difference a case.",
    )
    review_pages = forms.IntegerField(
        label="Gold documents between reviews",
        initial=_DEFAULTS.review_pages,
        min_value=0,
        max_value=services.MAX_REVIEW_PAGES,
        help_text="Enter 0 to turn off reviews. Open reviews must still be completed.",
    )
    review_percent = forms.FloatField(
        label="Facts sampled per review (%)",
        initial=round(_DEFAULTS.review_share * 100, 6),
        min_value=0.01,
        max_value=100,
        widget=forms.NumberInput(attrs={"step": "any"}),
    )
    qualification_f1 = forms.FloatField(
        label="Minimum span F1 to qualify",
        initial=_DEFAULTS.qualification_f1,
        min_value=0,
        max_value=1,
        widget=forms.NumberInput(attrs={"step": "any"}),
        help_text="Used in qualification rounds.",
    )

    def chosen_settings(self) -> dict[str, Any]:
        """The cleaned values by the names of `CampaignSettings`."""
        chosen = {name: self.cleaned_data[name] for name in _PLAIN if name in self.cleaned_data}
        return chosen | {"review_share": self.cleaned_data["review_percent"] / 100}


class CampaignSettingsForm(SettingsFields):
    """The settings of an existing campaign. Fixed settings are disabled and give the reason."""

    field_order = ["overlap", "screening"]

    def __init__(self, *args: Any, campaign: Campaign, **kwargs: Any) -> None:
        initial = model_to_dict(campaign, ["overlap", *_PLAIN])
        kwargs["initial"] = initial | {"review_percent": round(campaign.review_share * 100, 6)}
        super().__init__(*args, **kwargs)
        for name, why in services.fixed_settings(campaign).items():
            field = self.fields[name]
            # Django ignores what is sent for a disabled field.
            field.disabled = True
            field.help_text = f"<strong>Locked:</strong> {why}"

    def changes(self) -> dict[str, Any]:
        """The changed settings only: the others were shown rounded."""
        chosen = self.chosen_settings() | {"overlap": self.cleaned_data["overlap"]}
        fields = {"review_share": "review_percent"}
        return {
            name: value
            for name, value in chosen.items()
            if fields.get(name, name) in self.changed_data
        }


class CampaignForm(SettingsFields):
    dataset = forms.ModelChoiceField(
        Dataset.objects.all(), to_field_name="slug", empty_label="Choose a dataset"
    )
    selection = forms.ModelChoiceField(
        Selection.objects.select_related("dataset"),
        required=False,
        empty_label="All documents of the dataset",
        label="Documents",
        help_text="Documents that are held back are excluded.",
    )
    title = forms.CharField(max_length=160)
    labels = forms.CharField(
        initial="Number, Date",
        help_text="Up to nine, separated by commas. Press 1 to 9 in the workbench to apply them.",
    )
    guidelines = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 14}),
        initial=services.default_guidelines,
        max_length=services.MAX_GUIDELINES,
        help_text="Supports Markdown.",
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
            self.add_error("selection", "This selection belongs to another dataset.")
        return data

    def clean_labels(self) -> list[str]:
        names = [name.strip() for name in self.cleaned_data["labels"].split(",")]
        labels = [name for name in names if name]
        if problems := services.label_problems(labels):
            raise forms.ValidationError(problems)
        return labels


class GuidelinesForm(forms.Form):
    guidelines = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 24}),
        max_length=services.MAX_GUIDELINES,
        help_text="Supports Markdown.",
    )
    note = forms.CharField(
        required=False,
        max_length=services.MAX_NOTE,
        label="Summary of changes",
        help_text="Shown to annotators.",
    )


class ReleaseForm(ReleaseTermsForm):
    """The terms of a release, with the choice to leave out unfinished documents."""

    leave_out_unfinished = forms.BooleanField(required=False, label="Exclude unfinished documents")

    def __init__(self, *args: Any, may_leave_out: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not may_leave_out:
            del self.fields["leave_out_unfinished"]


@page_view
def campaigns(request: UserRequest) -> HttpResponse:
    return render(
        request,
        "annotation/campaigns/campaigns.html",
        {"rows": selectors.campaign_rows(request.user)},
    )


@organiser_required
@require_http_methods(["GET", "HEAD", "POST"])
def new_campaign(request: UserRequest) -> HttpResponse:
    form = CampaignForm(
        posted(request),
        initial={name: request.GET.get(name) for name in ("dataset", "selection")},
    )
    if form.is_valid():
        chosen = services.CampaignSettings(**form.chosen_settings())
        named = {name: form.cleaned_data[name] for name in CampaignForm.field_order}
        with refusals_in(form):
            campaign = services.create_campaign(**named, settings=chosen, actor=request.user)
            messages.success(request, "Campaign created. Invite people, then open the campaign.")
            return redirect("annotation:people", campaign.slug)
    return render(request, "annotation/campaigns/campaign_new.html", {"form": form})


@page_view
def overview(request: UserRequest, slug: str) -> HttpResponse:
    access = campaign_for(request.user, slug)
    figures = selectors.campaign_overview(access.campaign)
    context = {
        "overview": figures,
        "steps": waiting.next_steps(access, figures, request.user.pk),
        "stages": waiting.stage_lines(access, figures),
        "flagged": selectors.flagged_work(access.campaign) if access.may_manage else [],
    }
    return campaign_page(request, access, "overview", "campaigns/campaign.html", context)


_manage = action(managed_campaign, "annotation:campaign")


@_manage
def open_(request: UserRequest, access: CampaignAccess) -> str:
    campaign = access.campaign
    services.open_campaign(campaign=campaign, actor=request.user)
    if campaign.screening:
        return "The campaign is open. Documents are assigned to annotators after screening."
    return "The campaign is open. Annotators can find their documents under My tasks."


@_manage
def close(request: UserRequest, access: CampaignAccess) -> str:
    services.close_campaign(campaign=access.campaign, actor=request.user)
    return "The campaign is closed. Its documents are read-only."


@_manage
def reopen(request: UserRequest, access: CampaignAccess) -> str:
    services.reopen_campaign(campaign=access.campaign, actor=request.user)
    return "The campaign is open again."


@_manage
def assign(request: UserRequest, access: CampaignAccess) -> str:
    shared = assign_documents(campaign=access.campaign, actor=request.user)
    done = f"{shared.documents} document{'' if shared.documents == 1 else 's'} assigned."
    if access.campaign.screening and shared.added:
        added = f"{shared.added} document{'' if shared.added == 1 else 's'} added to screening."
        done = f"{added} {done}" if shared.documents else added
    return " ".join([done, *shared.waiting])


@form_view
def settings(request: UserRequest, slug: str) -> HttpResponse:
    access = managed_campaign(request.user, slug)
    form = CampaignSettingsForm(posted(request), campaign=access.campaign)
    if form.is_valid() and _change(request, access, form):
        return redirect("annotation:campaign-settings", slug)
    context = {"form": form}
    return campaign_page(
        request, access, "settings", "campaigns/settings.html", context, name="Settings"
    )


def _change(request: UserRequest, access: CampaignAccess, form: CampaignSettingsForm) -> bool:
    """Whether the settings were saved; otherwise adds the error to the form."""
    with refusals_in(form):
        changes = form.changes()
        services.change_settings(campaign=access.campaign, actor=request.user, **changes)
        messages.success(request, "Settings saved." if changes else "No changes.")
    return not form.errors


@form_view
def guidelines(request: UserRequest, slug: str) -> HttpResponse:
    """Shows the newest version, or that of `?version=N`; `?edit` shows the form.

    Opening the newest version marks it as seen and hides the notice in the workbench.
    """
    access = campaign_for(request.user, slug)
    if request.method == "POST":
        access = managed_campaign(request.user, slug)
    form = GuidelinesForm(
        posted(request),
        initial={"guidelines": access.campaign.guidelines},
    )
    if form.is_valid():
        text, note = form.cleaned_data["guidelines"], form.cleaned_data["note"]
        services.edit_guidelines(campaign=access.campaign, text=text, note=note, actor=request.user)
        messages.success(request, "Guidelines saved.")
        return redirect("annotation:guidelines", slug)
    if access.may_manage and ("edit" in request.GET or form.is_bound):
        return campaign_page(
            request,
            access,
            "guidelines",
            "campaigns/guidelines_edit.html",
            {"form": form},
            name="Edit guidelines",
            below=True,
        )
    context = _reading(request, access.campaign)
    return campaign_page(request, access, "guidelines", "campaigns/guidelines.html", context)


def _reading(request: UserRequest, campaign: Campaign) -> dict[str, Any]:
    number = _number(request.GET.get("version", ""), campaign.guidelines_version)
    version = selectors.guidelines_version(campaign, number)
    services.mark_guidelines_seen(campaign=campaign, version=number, user=request.user)
    return {
        "version": version,
        "is_newest": number == campaign.guidelines_version,
        "changes": selectors.changes_of(version),
        "versions": selectors.guidelines_versions(campaign),
    }


def _number(asked: str, newest: int) -> int:
    """The requested version. Numbers of more than nine digits do not fit the database field."""
    if not asked:
        return newest
    if not asked.isascii() or not asked.isdigit() or len(asked) > 9:
        raise Http404("No such version.")
    return int(asked)


@form_view
def release(request: UserRequest, slug: str) -> HttpResponse:
    access = managed_campaign(request.user, slug)
    state = selectors.release_state(access.campaign)
    form = ReleaseForm(
        posted(request),
        may_leave_out=access.is_organiser and bool(state.unfinished),
        initial={"version": state.next_version},
    )
    if form.is_valid():
        act = _draft if "draft" in request.POST else _freeze
        if response := act(request, access, form):
            return response
    disputes = unsettled_disputes(access.campaign.dataset)
    context = {
        "state": state,
        "form": form,
        "accepted_disputes": disputes,
        "open_gold": open_gold_of_dataset(access.campaign.dataset).words(),
        "own_hidden": own_hidden_versions(access.campaign.dataset),
        "without_image": documents_without_image(access.campaign.dataset),
    }
    return campaign_page(request, access, "release", "campaigns/release.html", context)


def _freeze(request: UserRequest, access: CampaignAccess, form: ReleaseForm) -> HttpResponse | None:
    """Freezes the release and redirects; None, with errors in the form, if it was refused."""
    with refusals_in(form):
        frozen = services.release_gold(
            campaign=access.campaign,
            version=form.cleaned_data["version"],
            notes=form.cleaned_data["notes"],
            visibility=form.cleaned_data["visibility"],
            leave_out_unfinished=form.cleaned_data.get("leave_out_unfinished", False),
            licence=form.cleaned_data["licence"],
            citation=form.citation(),
            draw=form.draw(),
            split_is_given=form.split_is_given,
            accept_overlaps=form.accepted_overlaps(),
            actor=request.user,
        )
        messages.success(request, f"Release {frozen.version} is frozen.")
        for remark in freeze_remarks(frozen):
            messages.info(request, remark)
        for warning in selectors.release_warnings(frozen):
            messages.warning(request, warning)
    return None if form.errors else redirect("annotation:release", access.campaign.slug)


def _draft(request: UserRequest, access: CampaignAccess, form: ReleaseForm) -> None:
    """Writes drafted change notes into the form."""
    with refusals_in(form):
        notes = services.draft_release_notes(
            campaign=access.campaign,
            visibility=form.cleaned_data["visibility"],
            draw=form.draw(),
            split_is_given=form.split_is_given,
        )
        if notes:
            form.show_notes(notes)
            messages.info(request, "Release notes generated. Check them before you freeze.")
        else:
            messages.info(request, "First release of the dataset: there are no changes to list.")
