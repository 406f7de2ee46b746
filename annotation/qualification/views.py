"""Pages of qualification: an annotator's own results; for leads, all results and quality."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect

from annotation.access import (
    CampaignAccess,
    annotator_member,
    led_campaign,
    managed_campaign,
    qualified_campaign,
)
from annotation.api_base import (
    action,
    campaign_page,
    choose,
    form_view,
    page_view,
    posted,
    refusals_in,
)
from annotation.models import Campaign
from portal.accounts.access import UserRequest
from portal.accounts.models import User
from portal.files.tables import csv_text

from .quality import COLUMNS, PERIODS, campaign_quality, chosen_period, page_findings, quality_rows
from .selectors import Source, annotator_rounds, find_source, known_pages, own_round, source_rows
from .services import (
    MAX_PAGES,
    MAX_REASON,
    MAX_SEED,
    add_qualification,
    grant_qualification_try,
    qualify_by_decision,
)


class QualificationForm(forms.Form):
    """Pages of a source, given by name or drawn."""

    source = forms.ChoiceField(label="Gold source")
    names = forms.CharField(
        required=False,
        label="Documents",
        widget=forms.Textarea(attrs={"rows": 3}),
        max_length=20_000,
        help_text="One name per line. Leave empty to draw documents at random.",
    )
    count = forms.IntegerField(
        required=False,
        label="Number of random documents",
        initial=3,
        min_value=1,
        max_value=MAX_PAGES,
    )
    seed = forms.IntegerField(
        required=False,
        initial=1,
        min_value=0,
        max_value=MAX_SEED,
        help_text="The same seed draws the same documents.",
    )

    def __init__(self, *args: Any, user: Any, access: CampaignAccess, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._user, self._campaign = user, access.campaign
        rows = source_rows(user, access.campaign)
        self.has_sources = bool(rows)
        pages = {row.key: f"{row.pages} document{'' if row.pages == 1 else 's'}" for row in rows}
        choose(self, "source", [(row.key, f"{row.title} ({pages[row.key]})") for row in rows])

    def clean_source(self) -> Source:
        source = find_source(self._user, self._campaign, self.cleaned_data["source"])
        if source is None:
            raise forms.ValidationError("Choose one of the sources.")
        return source

    def clean_names(self) -> list[str]:
        lines = [line.strip() for line in self.cleaned_data["names"].splitlines()]
        names = [line for line in lines if line]
        if len(names) > MAX_PAGES:
            raise forms.ValidationError(f"Enter at most {MAX_PAGES} documents.")
        return names

    def clean(self) -> dict[str, Any]:
        data = self.cleaned_data
        if "names" in data and not data["names"] and not data.get("count"):
            self.add_error("count", "Enter document names, or the number of documents to draw.")
        data["seed"] = data.get("seed") or 0
        data["count"] = data.get("count") or 0
        return data


@form_view
def qualification(request: UserRequest, slug: str) -> HttpResponse:
    """Shows the round. A POST adds pages to it."""
    access = qualified_campaign(request.user, slug)
    if request.method == "POST":
        access = managed_campaign(request.user, slug)
    form = None
    if access.may_manage:
        form = QualificationForm(posted(request), user=request.user, access=access)
        if _added(request, access, form):
            return redirect("annotation:qualification", slug)
    own = own_round(access, request.user.pk)
    context: dict[str, Any] = {
        "form": form,
        "own": own,
        "findings": page_findings(access.campaign, own) if own else (),
        "max_reason": MAX_REASON,
    }
    if access.may_manage:
        pages = known_pages(access.campaign)
        context |= {"pages": pages, "annotators": annotator_rounds(access.campaign, pages)}
    return campaign_page(
        request, access, "qualification", "qualification/qualification.html", context
    )


def _added(request: UserRequest, access: CampaignAccess, form: QualificationForm) -> bool:
    if not form.is_valid():
        return False
    with refusals_in(form):
        pages = add_qualification(campaign=access.campaign, actor=request.user, **form.cleaned_data)
        added = f"Added to the qualification: {', '.join(pages)}."
        messages.success(request, added)
    return not form.errors


@action(annotator_member, "annotation:qualification")
def grant_try(request: UserRequest, campaign: Campaign, user: User) -> str:
    pages = grant_qualification_try(campaign=campaign, user=user, actor=request.user)
    return f"{user} can retry {pages} document{'' if pages == 1 else 's'}."


@action(annotator_member, "annotation:qualification")
def qualify(request: UserRequest, campaign: Campaign, user: User) -> str:
    reason = request.POST.get("reason", "")[:MAX_REASON]
    qualify_by_decision(campaign=campaign, user=user, reason=reason, actor=request.user)
    return f"{user} is qualified."


@page_view
def annotator_quality(request: UserRequest, slug: str) -> HttpResponse:
    """`?every=` is the period of a point of the lines."""
    access = led_campaign(request.user, slug)
    every = chosen_period(request.GET.get("every", ""))
    context = {
        "quality": campaign_quality(access.campaign, every),
        "every": every,
        "periods": PERIODS.items(),
    }
    return campaign_page(
        request, access, "quality", "qualification/annotator_quality.html", context
    )


@page_view
def annotator_quality_csv(request: UserRequest, slug: str) -> HttpResponse:
    """The figures of the page, with a row for each annotator, label and period."""
    access = led_campaign(request.user, slug)
    every = chosen_period(request.GET.get("every", ""))
    rows = quality_rows(campaign_quality(access.campaign, every))
    response = HttpResponse(csv_text([COLUMNS, *rows]), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="annotators-{slug}.csv"'
    return response
