"""Pages of annotators: tasks, workbench, comparison with gold; for leads, suggestions."""

from functools import cache
from typing import Any

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import get_script_prefix, reverse
from django.utils.text import capfirst

from annotation.access import CampaignAccess, managed_campaign, own_assignment, readable_page
from annotation.api_base import (
    action,
    campaign_page,
    form_view,
    page_files,
    page_view,
    refusals_in,
)
from annotation.assignments.handing_over import take_back
from annotation.assignments.selectors import may_take_back
from annotation.models import Assignment, SuggestionSource
from annotation.spans import label_keys
from portal.accounts.access import UserRequest
from portal.datasets.responses import file_response
from portal.files.uploads import upload_limit_message, was_too_large

from . import selectors
from .offers import acceptance_file, suggestion_acceptance
from .suggestions import MODEL_NAME, choose_suggestions, suggestion_state, upload_suggestions


class SuggestionSourcesForm(forms.Form):
    sources = forms.MultipleChoiceField(
        required=False,
        label="Suggestions for annotators",
        choices=[(value, capfirst(label)) for value, label in SuggestionSource.choices],
        widget=forms.CheckboxSelectMultiple,
        help_text="Suggestions can inflate agreement. Changes affect only unopened documents.",
    )


class SuggestionUploadForm(forms.Form):
    """A file with a model's marks, which a worker reads and reports on."""

    file = forms.FileField(
        label="File", widget=forms.ClearableFileInput(attrs={"accept": ".jsonl,.gz,.zip"})
    )
    model = forms.CharField(
        required=False,
        max_length=MODEL_NAME,
        help_text="The model that produced the labels. Files from “factboard suggest” include it.",
    )
    prompt = forms.CharField(required=False, max_length=MODEL_NAME, label="Prompt version")

    def __init__(self, *args: Any, too_large: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if too_large:
            # The upload was stopped, so the file is not just missing.
            self.fields["file"].error_messages["required"] = upload_limit_message()


PER_PAGE = 100


@page_view
def tasks(request: UserRequest) -> HttpResponse:
    """All campaigns with a few tasks each; `?campaign=SLUG` lists all tasks of one."""
    campaign = request.GET.get("campaign")
    if not campaign:
        return render(
            request,
            "annotation/workbench/tasks.html",
            {
                "groups": selectors.task_groups(request.user),
                "former": list(selectors.former_submissions(request.user)[: PER_PAGE + 1]),
                "most_former": PER_PAGE,
            },
        )
    mine = selectors.my_assignments(request.user).filter(campaign_document__campaign__slug=campaign)
    page = Paginator(mine, PER_PAGE).get_page(request.GET.get("page"))
    context = {"page": page, "campaign": campaign, "query": f"campaign={campaign}"}
    return render(request, "annotation/workbench/tasks_all.html", context)


@page_view
def workbench(request: UserRequest, pk: int) -> HttpResponse:
    assignment = own_assignment(request.user, pk)
    campaign = assignment.campaign_document.campaign
    document = assignment.campaign_document.document
    number, total = selectors.position_of(assignment)
    following = selectors.next_task(request.user, assignment)
    data = _workbench_data(assignment)
    context = {
        "assignment": assignment,
        "campaign": campaign,
        "document": document,
        "images": _images(assignment),
        "html_url": data["urls"]["html"],
        "may_take_back": may_take_back(assignment),
        "next_url": following.get_absolute_url() if following else None,
        "position": f"{number} of {total}",
        "guidelines": campaign.guidelines,
        "workbench_data": data,
    }
    return render(request, "annotation/workbench/workbench.html", context)


@action(own_assignment, lambda _, pk: reverse("annotation:workbench", args=[pk]))
def take_back_(request: UserRequest, assignment: Assignment) -> str:
    take_back(assignment=assignment, actor=request.user)
    return "Submission withdrawn. You can edit the document and submit it again."


def _images(assignment: Assignment) -> list[dict[str, Any]]:
    return [
        {
            "number": number,
            "url": reverse("annotation:assignment-image", args=[assignment.pk, number]),
            "width": width,
            "height": height,
            "has_boxes": is_rendered,
        }
        for number, width, height, is_rendered in selectors.page_images(
            assignment.campaign_document.document_id
        )
    ]


def _workbench_data(assignment: Assignment) -> dict[str, Any]:
    """The data of the page's script."""
    campaign = assignment.campaign_document.campaign
    return {
        "assignment": assignment.pk,
        # Browsers store unsaved work per user, because a machine may be shared.
        "user": assignment.annotator_id,
        "labels": label_keys(campaign.labels),
        **selectors.work_data(assignment),
        "urls": _workbench_urls(assignment),
        "readonly": not assignment.is_workable,
    }


def _workbench_urls(assignment: Assignment) -> dict[str, str]:
    """The URLs of the page's script, which appends the number of a revision or comment."""
    campaign = assignment.campaign_document.campaign
    return {
        name: pattern.replace(_ANY_PK, str(assignment.pk)).replace(_ANY_SLUG, campaign.slug)
        for name, pattern in _url_patterns(get_script_prefix()).items()
    }


# Placeholders of the task and of the campaign in a pattern. No URL has both.
_ANY_PK, _ANY_SLUG = "9007199254740993", "any-campaign"


@cache
def _url_patterns(_prefix: str) -> dict[str, str]:
    """The workbench's URLs below the site's prefix, cached because resolving them is slow."""
    endpoints = {
        "save": "assignment-spans",
        "submit": "assignment-submit",
        "content": "assignment-content",
        "facts": "assignment-facts",
        "boxes": "assignment-boxes",
        "warnings": "assignment-warnings",
        "revisions": "assignment-revisions",
        "comments": "assignment-comments",
        "flag": "assignment-flag",
        "export": "assignment-export",
        "import": "assignment-import",
    }
    urls = {name: reverse(f"api:{at}", args=[_ANY_PK]) for name, at in endpoints.items()}
    return urls | {
        "tasks": reverse("annotation:tasks"),
        "html": reverse("annotation:assignment-html", args=[_ANY_PK]),
        "guidelines": reverse("api:campaign-guidelines", args=[_ANY_SLUG]),
        "guidelines_seen": reverse("api:campaign-guidelines-seen", args=[_ANY_SLUG]),
        "guidelines_page": reverse("annotation:guidelines", args=[_ANY_SLUG]),
    }


assignment_html, assignment_image = page_files(
    lambda user, **url: readable_page(user, **url).campaign_document.document
)


@page_view
def own_gold_page(request: UserRequest, pk: int) -> HttpResponse:
    assignment = own_assignment(request.user, pk)
    context: dict[str, Any] = {
        "assignment": assignment,
        "campaign": assignment.campaign_document.campaign,
        "document": assignment.campaign_document.document,
    }
    if selectors.is_gold(assignment):
        found = selectors.own_gold(assignment)
        context |= {"found": found, "page_data": selectors.own_gold_page_data(assignment, found)}
    return render(request, "annotation/workbench/own_gold.html", context)


@form_view
def suggestions(request: UserRequest, slug: str) -> HttpResponse:
    """Two forms: one uploads a file, the other chooses the sources."""
    access = managed_campaign(request.user, slug)
    uploading = bool(request.FILES) or was_too_large(request) or "upload" in request.POST
    choosing = request.method == "POST" and not uploading
    sources = SuggestionSourcesForm(
        request.POST if choosing else None,
        initial={"sources": access.campaign.suggestion_sources},
    )
    upload = SuggestionUploadForm(
        request.POST if uploading else None,
        request.FILES if uploading else None,
        too_large=was_too_large(request),
    )
    if _chosen(request, access, sources) or _uploaded(request, access, upload):
        return redirect("annotation:suggestions", slug)
    context = {
        "sources": sources,
        "upload": upload,
        "state": suggestion_state(access.campaign),
        "acceptance": suggestion_acceptance(access.campaign),
    }
    template, status = "workbench/suggestions.html", _status(request, upload)
    return campaign_page(request, access, "suggestions", template, context, status=status)


@page_view
def suggestions_csv(request: UserRequest, slug: str) -> HttpResponse:
    access = managed_campaign(request.user, slug)
    return file_response(acceptance_file(access.campaign))


def _chosen(request: UserRequest, access: CampaignAccess, form: SuggestionSourcesForm) -> bool:
    if not form.is_valid():
        return False
    sources = form.cleaned_data["sources"]
    choose_suggestions(campaign=access.campaign, sources=sources, actor=request.user)
    messages.success(request, "Suggestions saved. The change affects only unopened documents.")
    return True


def _uploaded(request: UserRequest, access: CampaignAccess, form: SuggestionUploadForm) -> bool:
    if not form.is_valid():
        return False
    file = form.cleaned_data["file"]
    with refusals_in(form):
        upload_suggestions(
            campaign=access.campaign,
            file=file,
            source_name=file.name,
            actor=request.user,
            model=form.cleaned_data["model"],
            prompt=form.cleaned_data["prompt"],
        )
        messages.success(request, "Upload started. Reload this page to see the result.")
    return not form.errors


def _status(request: UserRequest, upload: SuggestionUploadForm) -> int:
    return 413 if upload.is_bound and was_too_large(request) else 200
