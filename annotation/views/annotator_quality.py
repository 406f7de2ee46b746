"""How well each annotator works, over time. For the campaign's leads alone."""

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation.access import led_campaign
from annotation.selectors.annotator_quality import PERIODS, campaign_quality, chosen_period
from annotation.selectors.annotator_quality_rows import COLUMNS, quality_rows
from portal.accounts.access import UserRequest
from portal.files.tables import csv_text


@login_required
@require_safe
def annotator_quality(request: UserRequest, slug: str) -> HttpResponse:
    """`?every=` names the period that a point of the lines stands for."""
    standing = led_campaign(request.user, slug)
    every = chosen_period(request.GET.get("every", ""))
    context = {
        "standing": standing,
        "quality": campaign_quality(standing.campaign, every),
        "every": every,
        "periods": PERIODS.items(),
    }
    return render(request, "annotation/annotator_quality.html", context)


@login_required
@require_safe
def annotator_quality_csv(request: UserRequest, slug: str) -> HttpResponse:
    """Every figure of the page, a row for each annotator, label and period."""
    standing = led_campaign(request.user, slug)
    every = chosen_period(request.GET.get("every", ""))
    rows = quality_rows(campaign_quality(standing.campaign, every))
    response = HttpResponse(csv_text([COLUMNS, *rows]), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="annotators-{slug}.csv"'
    return response
