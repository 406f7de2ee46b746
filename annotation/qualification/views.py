"""Pages of qualification: an annotator's own results; for leads, all results and quality."""

from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.access import CampaignAccess, led_campaign, managed_campaign, qualified_campaign
from annotation.errors import Refused
from annotation.models import Membership
from portal.accounts.access import UserRequest
from portal.accounts.models import User
from portal.files.tables import csv_text

from .quality import COLUMNS, PERIODS, campaign_quality, chosen_period, page_findings, quality_rows
from .selectors import Source, campaign_qualification, find_source, own_round, source_rows
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

    source = forms.ChoiceField(label="Gold from")
    names = forms.CharField(
        required=False,
        label="Pages",
        widget=forms.Textarea(attrs={"rows": 3}),
        max_length=20_000,
        help_text="One name per line. Leave empty to draw pages at random.",
    )
    count = forms.IntegerField(
        required=False, label="Number to draw", initial=3, min_value=1, max_value=MAX_PAGES
    )
    seed = forms.IntegerField(
        required=False,
        initial=1,
        min_value=0,
        max_value=MAX_SEED,
        help_text="The same seed draws the same pages.",
    )

    def __init__(self, *args: Any, user: Any, access: CampaignAccess, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._user, self._campaign = user, access.campaign
        rows = source_rows(user, access.campaign)
        source = self.fields["source"]
        assert isinstance(source, forms.ChoiceField)
        source.choices = [
            (row.key, f"{row.title} ({row.pages} page{'' if row.pages == 1 else 's'})")
            for row in rows
        ]

    @property
    def has_sources(self) -> bool:
        source = self.fields["source"]
        assert isinstance(source, forms.ChoiceField)
        return bool(source.choices)

    def clean_source(self) -> Source:
        source = find_source(self._user, self._campaign, self.cleaned_data["source"])
        if source is None:
            raise forms.ValidationError("Choose one of the sources.")
        return source

    def clean_names(self) -> list[str]:
        lines = [line.strip() for line in self.cleaned_data["names"].splitlines()]
        names = [line for line in lines if line]
        if len(names) > MAX_PAGES:
            raise forms.ValidationError(f"Enter at most {MAX_PAGES} pages.")
        return names

    def clean(self) -> dict[str, Any]:
        data = self.cleaned_data
        if "names" in data and not data["names"] and not data.get("count"):
            self.add_error("count", "Enter page names or a number to draw.")
        data["seed"] = data.get("seed") or 0
        data["count"] = data.get("count") or 0
        return data


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def qualification(request: UserRequest, slug: str) -> HttpResponse:
    """Shows the round. A POST adds pages to it."""
    access = qualified_campaign(request.user, slug)
    if request.method == "POST":
        access = managed_campaign(request.user, slug)
    form = None
    if access.may_manage:
        form = QualificationForm(
            request.POST if request.method == "POST" else None, user=request.user, access=access
        )
        if _added(request, access, form):
            return redirect("annotation:qualification", slug)
    own = own_round(access, request.user.pk)
    context = {
        "access": access,
        "form": form,
        "own": own,
        "findings": page_findings(access.campaign, own) if own else (),
        "round": campaign_qualification(access.campaign) if access.may_manage else None,
        "max_reason": MAX_REASON,
    }
    return render(request, "annotation/qualification/qualification.html", context)


def _added(request: UserRequest, access: CampaignAccess, form: QualificationForm) -> bool:
    if not form.is_valid():
        return False
    try:
        pages = add_qualification(campaign=access.campaign, actor=request.user, **form.cleaned_data)
    except Refused as refusal:
        form.add_error(None, refusal.message)
        return False
    messages.success(
        request, f"Added to the round: {', '.join(pages)}. Annotators see them in their tasks."
    )
    return True


@login_required
@require_POST
def grant_try(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    def act(access: CampaignAccess, user: User) -> str:
        pages = grant_qualification_try(campaign=access.campaign, user=user, actor=request.user)
        return f"{user} can retry {pages} page{'' if pages == 1 else 's'}."

    return _changed(request, slug, pk, act)


@login_required
@require_POST
def qualify(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    reason = request.POST.get("reason", "")[:MAX_REASON]

    def act(access: CampaignAccess, user: User) -> str:
        qualify_by_decision(campaign=access.campaign, user=user, reason=reason, actor=request.user)
        return f"{user} is qualified."

    return _changed(request, slug, pk, act)


def _changed(
    request: UserRequest, slug: str, pk: int, act: Callable[[CampaignAccess, User], str]
) -> HttpResponse:
    """Calls `act` for the annotator of a membership, and shows its message or the refusal."""
    access = managed_campaign(request.user, slug)
    members = access.campaign.memberships.filter(role=Membership.Role.ANNOTATOR)
    member = get_object_or_404(members.select_related("user"), pk=pk)
    try:
        messages.success(request, act(access, member.user))
    except Refused as refusal:
        messages.error(request, refusal.message)
    return redirect("annotation:qualification", slug)


@login_required
@require_safe
def annotator_quality(request: UserRequest, slug: str) -> HttpResponse:
    """`?every=` is the period of a point of the lines."""
    access = led_campaign(request.user, slug)
    every = chosen_period(request.GET.get("every", ""))
    context = {
        "access": access,
        "quality": campaign_quality(access.campaign, every),
        "every": every,
        "periods": PERIODS.items(),
    }
    return render(request, "annotation/qualification/annotator_quality.html", context)


@login_required
@require_safe
def annotator_quality_csv(request: UserRequest, slug: str) -> HttpResponse:
    """The figures of the page, with a row for each annotator, label and period."""
    access = led_campaign(request.user, slug)
    every = chosen_period(request.GET.get("every", ""))
    rows = quality_rows(campaign_quality(access.campaign, every))
    response = HttpResponse(csv_text([COLUMNS, *rows]), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="annotators-{slug}.csv"'
    return response
