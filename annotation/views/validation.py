"""Documents that failed integrity validation, and what a lead does with them."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotation.access import adjudicated_campaign
from annotation.selectors.validation import FaultyDocument, faulty_documents
from annotation.services.errors import Refused
from annotation.services.validating import let_pass, send_back
from annotation.workflow_forms import ValidationForm
from portal.accounts.access import UserRequest


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def validation(request: UserRequest, slug: str) -> HttpResponse:
    """The list; a POST names its `document` and decides about that one."""
    standing = adjudicated_campaign(request.user, slug)
    chosen = request.POST.get("document", "")
    rows = []
    for document in faulty_documents(standing.campaign):
        data = request.POST if document.name == chosen else None
        form = ValidationForm(data, works=document.works, auto_id=f"id_{document.row.pk}_%s")
        if form.is_valid() and _decide(request, document, form):
            return redirect("annotation:validation", slug)
        rows.append((document, form))
    if chosen and chosen not in {document.name for document, _ in rows}:
        messages.error(request, f"{chosen} does not wait for validation any more.")
        return redirect("annotation:validation", slug)
    return render(request, "annotation/validation.html", {"standing": standing, "rows": rows})


def _decide(request: UserRequest, document: FaultyDocument, form: ValidationForm) -> bool:
    """Whether it was done; else the form says why not."""
    reason = form.cleaned_data["reason"]
    try:
        if form.cleaned_data["action"] == ValidationForm.LET_PASS:
            stage = let_pass(campaign_document=document.row, reason=reason, actor=request.user)
            messages.success(request, f"{document.name} passed: its stage is {stage} now.")
        else:
            works = form.cleaned_data["assignments"]
            send_back(
                campaign_document=document.row,
                assignments=works,
                reason=reason,
                actor=request.user,
            )
            messages.success(request, f"{document.name} went back to its annotators.")
    except Refused as refusal:
        form.add_error(refusal.code if refusal.code in form.fields else None, refusal.message)
        return False
    return True
