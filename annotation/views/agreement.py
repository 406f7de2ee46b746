"""Agreement between the annotators of a campaign."""

import csv

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation.access import managed_campaign
from annotation.selectors.agreement import campaign_agreement
from annotation.selectors.agreement_rows import COLUMNS, agreement_rows
from portal.accounts.access import UserRequest


@login_required
@require_safe
def agreement(request: UserRequest, slug: str) -> HttpResponse:
    standing = managed_campaign(request.user, slug)
    context = {"standing": standing, "agreement": campaign_agreement(standing.campaign)}
    return render(request, "annotation/agreement.html", context)


@login_required
@require_safe
def agreement_csv(request: UserRequest, slug: str) -> HttpResponse:
    """Every figure of the page as one row."""
    standing = managed_campaign(request.user, slug)
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="agreement-{slug}.csv"'
    writer = csv.writer(response)
    writer.writerow(COLUMNS)
    writer.writerows(agreement_rows(campaign_agreement(standing.campaign)))
    return response
