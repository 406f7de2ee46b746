"""An annotator's own marks beside the gold of the page, once it is gold."""

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation.access import own_assignment
from annotation.selectors.own_gold import is_gold, own_gold, own_gold_page_data
from portal.accounts.access import UserRequest


@login_required
@require_safe
def own_gold_page(request: UserRequest, pk: int) -> HttpResponse:
    assignment = own_assignment(request.user, pk)
    context: dict[str, Any] = {
        "assignment": assignment,
        "campaign": assignment.campaign_document.campaign,
        "document": assignment.campaign_document.document,
    }
    if is_gold(assignment):
        found = own_gold(assignment)
        context |= {"found": found, "page_data": own_gold_page_data(assignment, found)}
    return render(request, "annotation/own_gold.html", context)
