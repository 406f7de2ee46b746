"""Adjudication: the queue, one case, and the page it stands on."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import FileResponse, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from annotation.access import Standing, adjudicated_campaign, case_for
from annotation.forms import DecisionForm, posted
from annotation.models import Case
from annotation.selectors.adjudication import (
    case_page_data,
    case_queue,
    case_view,
    next_open_case,
    open_cases,
)
from annotation.services.adjudicating import AlreadyDecided, decide_case
from annotation.services.errors import InvalidSpans
from portal.accounts.access import UserRequest
from portal.datasets.rendering import image_response, sandboxed_html_response

PER_PAGE = 50


@login_required
@require_safe
def queue(request: UserRequest, slug: str) -> HttpResponse:
    standing = adjudicated_campaign(request.user, slug)
    state, kind = request.GET.get("state", ""), request.GET.get("kind", "")
    state = state if state in Case.State.values else Case.State.OPEN
    kind = kind if kind in Case.Kind.values else ""
    cases = case_queue(standing.campaign, state=state, kind=kind)
    context = {
        "standing": standing,
        "queue": cases,
        "page": Paginator(cases.cases, PER_PAGE).get_page(request.GET.get("page")),
        "first": open_cases(standing.campaign).first(),
        "state": state,
        "kind": kind,
        "query": f"state={state}&kind={kind}",
    }
    return render(request, "annotation/adjudication.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def case(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    standing, found = case_for(request.user, slug, pk)
    form = DecisionForm(posted(request), case=found, labels=standing.campaign.labels)
    if form.is_valid():
        decided = _decide(request, standing, found, form)
        if decided is not None:
            return decided
    view = case_view(standing.campaign, found)
    context = {
        "standing": standing,
        "view": view,
        "form": form,
        "images": found.campaign_document.document.images.all(),
        "page_data": case_page_data(standing.campaign, view),
    }
    return render(request, "annotation/case.html", context)


def _decide(
    request: UserRequest, standing: Standing, found: Case, form: DecisionForm
) -> HttpResponse | None:
    """The way on after a decision; None, with the form's errors, when the spans cannot be taken."""
    try:
        decide_case(
            case=found,
            decision_spans=form.cleaned_data["spans"],
            reason=form.cleaned_data["reason"],
            actor=request.user,
        )
    except InvalidSpans as invalid:
        form.add_error(None, [error["message"] for error in invalid.errors])
        return None
    except AlreadyDecided as refusal:
        messages.warning(request, refusal.message)
    following = next_open_case(standing.campaign, found)
    if following is None:
        messages.success(request, "No case is open any more.")
        return redirect("annotation:adjudication", standing.campaign.slug)
    return redirect("annotation:case", standing.campaign.slug, following.pk)


@login_required
@require_safe
def case_html(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    _, found = case_for(request.user, slug, pk)
    return sandboxed_html_response(found.campaign_document.document.content.html)


@login_required
@require_safe
def case_image(request: UserRequest, slug: str, pk: int, number: int) -> FileResponse:
    _, found = case_for(request.user, slug, pk)
    images = found.campaign_document.document.images
    return image_response(get_object_or_404(images, number=number))
