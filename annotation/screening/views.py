"""Pages of screening: the queue, a page with its verdicts, its HTML and its images."""

from typing import Any

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from annotation.access import CampaignAccess, campaign_for
from annotation.api_base import (
    action,
    campaign_page,
    form_view,
    page_files,
    page_view,
    posted,
    refusals_in,
)
from annotation.errors import MAX_WORKFLOW_REASON
from annotation.models import CampaignDocument, Screening
from portal.accounts.access import UserRequest

from . import services


class ScreeningForm(forms.Form):
    """A verdict on a page. A faulty page needs faults and a reason."""

    verdict = forms.ChoiceField(choices=Screening.Verdict.choices)
    faults = forms.MultipleChoiceField(
        required=False,
        label="Faults",
        choices=Screening.Fault.choices,
        widget=forms.CheckboxSelectMultiple,
    )
    reason = forms.CharField(
        required=False,
        max_length=MAX_WORKFLOW_REASON,
        label="Reason",
        widget=forms.Textarea(attrs={"rows": 3}),
    )

    def clean(self) -> dict[str, Any]:
        data = self.cleaned_data
        if data.get("verdict") == Screening.Verdict.FAULTY:
            if not data.get("faults") and "faults" not in self.errors:
                self.add_error("faults", "Select at least one fault.")
            if not data.get("reason") and "reason" not in self.errors:
                self.add_error("reason", "Describe the fault.")
        else:
            data["faults"] = []
        return data


PER_PAGE = 50
STATES = ("waiting", "passed", "excluded")
Stage = CampaignDocument.Stage


@page_view
def queue(request: UserRequest, slug: str) -> HttpResponse:
    access = campaign_for(request.user, slug)
    state = request.GET.get("state", "")
    state = state if state in STATES else "waiting"
    rows = services.screening_rows(access.campaign, state)
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    page.object_list = services.with_verdicts(list(page.object_list))
    context = {
        "queue": services.screening_queue(access.campaign),
        "page": page,
        "state": state,
        "query": f"state={state}",
        "next": services.next_to_screen(access.campaign),
    }
    return campaign_page(request, access, "screening", "screening/queue.html", context)


@form_view
def page(request: UserRequest, slug: str, name: str) -> HttpResponse:
    access, document = services.screening_page(request.user, slug, name)
    form = ScreeningForm(posted(request))
    if form.is_valid():
        answer = _screen(request, access, document, form)
        if answer is not None:
            return answer
    context = {
        "document": document,
        "verdicts": services.verdicts_of(document),
        "may": _offered(access, document),
        "form": form,
        "images": document.document.images.all(),
        "queue": services.screening_queue(access.campaign),
        "next": services.next_to_screen(access.campaign, document),
        "undo": services.last_screened_by(request.user.pk, access.campaign),
    }
    return campaign_page(
        request,
        access,
        "screening",
        "screening/page.html",
        context,
        name=document.document.name,
        below=True,
    )


def _offered(access: CampaignAccess, document: CampaignDocument) -> dict[str, bool]:
    """The verdicts that the user can give on the page now."""
    is_open = access.campaign.state == access.campaign.State.OPEN
    waits = document.stage == Stage.SCREENING
    manages = is_open and access.may_manage
    return {
        "intact": is_open and waits,
        "faulty": (is_open and waits) or (manages and document.stage == Stage.ANNOTATION),
        "bring_back": manages and document.stage == Stage.EXCLUDED,
    }


def _screen(
    request: UserRequest, access: CampaignAccess, document: CampaignDocument, form: ScreeningForm
) -> HttpResponse | None:
    """Saves the verdict and redirects; None, with an error in the form, if it was refused."""
    given = dict(form.cleaned_data)
    faulty = given["verdict"] == Screening.Verdict.FAULTY
    with refusals_in(form):
        if not faulty and document.stage == Stage.EXCLUDED and access.may_manage:
            services.bring_back_document(
                campaign_document=document, reason=given["reason"], actor=request.user
            )
        else:
            services.screen_or_exclude(
                campaign_document=document,
                may_manage=access.may_manage,
                actor=request.user,
                **given,
            )
    return None if form.errors else _on(request, access, document)


def _on(request: UserRequest, access: CampaignAccess, document: CampaignDocument) -> HttpResponse:
    following = services.next_to_screen(access.campaign, document)
    if following is None:
        messages.success(request, "All documents have been screened.")
        return redirect("annotation:screening", access.campaign.slug)
    return redirect("annotation:screening-page", access.campaign.slug, following.document.name)


@action(
    services.screening_page,
    lambda _, slug, name: reverse("annotation:screening-page", args=[slug, name]),
)
def undo(request: UserRequest, _: CampaignAccess, document: CampaignDocument) -> str:
    services.undo_screening(campaign_document=document, actor=request.user)
    return "Verdict undone. The document returned to screening."


page_html, page_image = page_files(
    lambda user, **url: services.screening_page(user, **url)[1].document
)
