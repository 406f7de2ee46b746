"""Adjudication: the queue, a whole page with its cases, and one case without JavaScript."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.access import Standing, adjudicated_campaign, adjudicated_page, case_for
from annotation.decision_forms import CaseFilterForm, DecisionForm, ReasonForm
from annotation.models import CampaignDocument, Case
from annotation.selectors.adjudication import (
    CaseFilter,
    case_queue,
    documents_with_cases,
    filtered_cases,
    label_css,
    next_open_case,
    page_address,
)
from annotation.selectors.case_views import case_view, page_remarks, remarks_at
from annotation.selectors.doubts import case_doubts, page_doubts
from annotation.services.adjudicating import AlreadyDecided, decide_case
from annotation.services.errors import InvalidSpans, Refused
from annotation.services.reopening import reopen_case
from portal.accounts.access import UserRequest
from portal.datasets.rendering import image_response, sandboxed_html_response
from portal.facts.page_text import Excerpts

PER_PAGE = 50


@login_required
@require_safe
def queue(request: UserRequest, slug: str) -> HttpResponse:
    standing = adjudicated_campaign(request.user, slug)
    documents = documents_with_cases(standing.campaign)
    form = CaseFilterForm(
        {"state": Case.State.OPEN, "order": "text"} | request.GET.dict(),
        campaign=standing.campaign,
        documents=documents,
    )
    wanted = form.wanted
    cases = case_queue(standing.campaign, wanted)
    page = Paginator(cases.cases, PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "standing": standing,
        "queue": cases,
        "page": page,
        "rows": [(row, _address(standing, row, wanted)) for row in page],
        "first": _first(standing, wanted),
        "wanted": wanted,
        "form": form,
        "query": wanted.query,
    }
    return render(request, "annotation/adjudication.html", context)


def _address(standing: Standing, case: Case, wanted: CaseFilter) -> str:
    """The case on its page; the filter goes along, for what comes after it."""
    name = case.campaign_document.document.name
    along = CaseFilter(Case.State.OPEN, wanted.kind, wanted.label, "", wanted.order)
    return f"{page_address(standing.campaign, name, along)}#case-{case.pk}"


def _first(standing: Standing, wanted: CaseFilter) -> str | None:
    open_ = CaseFilter(Case.State.OPEN, wanted.kind, wanted.label, wanted.document, wanted.order)
    cases = filtered_cases(standing.campaign, open_).select_related("campaign_document__document")
    first = cases.first()
    return _address(standing, first, wanted) if first else None


@login_required
@require_safe
def page(request: UserRequest, slug: str, name: str) -> HttpResponse:
    standing, found = adjudicated_page(request.user, slug, name)
    wanted = CaseFilterForm(request.GET, campaign=standing.campaign).wanted
    context = {
        "standing": standing,
        "page": found,
        "document": found.document,
        "images": _images(standing, found),
        "cases": found.cases.order_by("start"),
        "doubts": page_doubts(found),
        "page_data": {
            "user": request.user.pk,
            "document": found.document.name,
            "narrowed": bool(wanted.kind or wanted.label),
            "urls": _page_urls(standing, found, wanted),
        },
    }
    return render(request, "annotation/adjudication_page.html", context)


def _page_urls(standing: Standing, found: CampaignDocument, wanted: CaseFilter) -> dict[str, str]:
    """Addresses by what they are for. A case adds its number; `decide` and `reopen` follow it."""
    slug, name = standing.campaign.slug, found.document.name
    query = f"?{wanted.query}" if wanted.query else ""
    return {
        "data": reverse("api:adjudication-page", args=[slug, name]),
        "query": query,
        "case": reverse("api:cases", args=[slug]),
        "reopen": reverse("api:adjudication-reopen", args=[slug, name]),
        "readings": reverse("api:adjudication-readings", args=[slug, name]),
        "html": reverse("annotation:adjudication-html", args=[slug, name]),
        "adjudication": reverse("annotation:adjudication", args=[slug]) + query,
    }


def _images(standing: Standing, found: CampaignDocument) -> list[dict[str, Any]]:
    slug, name = standing.campaign.slug, found.document.name
    return [
        {
            "number": image.number,
            "url": reverse("annotation:adjudication-image", args=[slug, name, image.number]),
            "width": image.width,
            "height": image.height,
        }
        for image in found.document.images.all()
    ]


@login_required
@require_safe
def page_html(request: UserRequest, slug: str, name: str) -> HttpResponse:
    _, found = adjudicated_page(request.user, slug, name)
    return sandboxed_html_response(found.document.content.html)


@login_required
@require_safe
def page_image(request: UserRequest, slug: str, name: str, number: int) -> HttpResponseBase:
    _, found = adjudicated_page(request.user, slug, name)
    return image_response(get_object_or_404(found.document.images, number=number))


# --- one case, without JavaScript --------------------------------------------------------------


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def case(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    standing, found = case_for(request.user, slug, pk)
    form = DecisionForm(
        request.POST if request.method == "POST" else None,
        case=found,
        labels=standing.campaign.labels,
    )
    if form.is_valid():
        decided = _decide(request, standing, found, form)
        if decided is not None:
            return decided
    return _case_page(request, standing, found, form, ReasonForm())


def _case_page(
    request: UserRequest, standing: Standing, found: Case, form: DecisionForm, reopen: ReasonForm
) -> HttpResponse:
    content = found.campaign_document.document.content
    view = case_view(found)
    excerpts = Excerpts(content.html, content.text)
    following = next_open_case(standing.campaign, found)
    context = {
        "standing": standing,
        "case": found,
        "view": view,
        "context": excerpts.around(found.start, found.end),
        "proposals": [
            (number, proposal, [_excerpt(standing, excerpts, span) for span in proposal.spans])
            for number, proposal in enumerate(view.proposals, start=1)
        ],
        "remarks": remarks_at(page_remarks(found.campaign_document), found.start, found.end),
        "doubts": case_doubts(found),
        "next_open": following.pk if following else None,
        "form": form,
        "reopen_form": reopen,
    }
    return render(request, "annotation/case.html", context)


def _excerpt(standing: Standing, excerpts: Excerpts, span: Any) -> dict[str, Any]:
    around = excerpts.around(span["start"], span["end"])
    css = label_css(span["label"], standing.campaign.labels)
    return around._asdict() | {"span": span, "css": css}


def _decide(
    request: UserRequest, standing: Standing, found: Case, form: DecisionForm
) -> HttpResponse | None:
    """The way on after a decision; None, with the form's errors, when it cannot be taken."""
    fields = ("choice", "proposal", "spans", "reason")
    try:
        decide_case(
            case=found,
            actor=request.user,
            **{name: form.cleaned_data[name] for name in fields},
        )
    except InvalidSpans as invalid:
        form.add_error(None, [error["message"] for error in invalid.errors])
        return None
    except AlreadyDecided as refusal:
        messages.warning(request, refusal.message)
    except Refused as refusal:
        form.add_error(None, refusal.message)
        return None
    following = next_open_case(standing.campaign, found)
    if following is None:
        messages.success(request, "No case is open any more.")
        return redirect("annotation:adjudication", standing.campaign.slug)
    return redirect("annotation:case", standing.campaign.slug, following.pk)


@login_required
@require_POST
def case_reopen(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    standing, found = case_for(request.user, slug, pk)
    reason = ReasonForm(request.POST)
    if not reason.is_valid():
        form = DecisionForm(None, case=found, labels=standing.campaign.labels)
        return _case_page(request, standing, found, form, reason)
    try:
        reopen_case(case=found, reason=reason.cleaned_data["reason"], actor=request.user)
    except Refused as refusal:
        messages.warning(request, refusal.message)
    return redirect("annotation:case", slug, pk)
