"""An annotator's tasks and the workbench. Everything here is the reader's own."""

from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import FileResponse, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from annotation.access import own_assignment, readable_assignment
from annotation.models import Assignment
from annotation.selectors.adjudication import label_css
from annotation.selectors.tasks import my_assignments, next_task, position_of, task_groups
from annotation.services.saving import current_spans
from portal.accounts.access import UserRequest
from portal.datasets.rendering import image_response, sandboxed_html_response

PER_PAGE = 100


@login_required
@require_safe
def tasks(request: UserRequest) -> HttpResponse:
    """All campaigns in short; `?campaign=SLUG` lists everything of one."""
    campaign = request.GET.get("campaign")
    if not campaign:
        return render(request, "annotation/tasks.html", {"groups": task_groups(request.user)})
    mine = my_assignments(request.user).filter(campaign_document__campaign__slug=campaign)
    page = Paginator(mine, PER_PAGE).get_page(request.GET.get("page"))
    context = {"page": page, "campaign": campaign, "query": f"campaign={campaign}"}
    return render(request, "annotation/tasks_all.html", context)


@login_required
@require_safe
def workbench(request: UserRequest, pk: int) -> HttpResponse:
    assignment = own_assignment(request.user, pk)
    campaign = assignment.campaign_document.campaign
    document = assignment.campaign_document.document
    number, total = position_of(assignment)
    following = next_task(request.user, assignment)
    context = {
        "assignment": assignment,
        "campaign": campaign,
        "document": document,
        "images": _images(assignment),
        "html_url": reverse("annotation:assignment-html", args=[pk]),
        "next_url": following.get_absolute_url() if following else None,
        "position": f"{number} of {total}",
        "guidelines": campaign.guidelines,
        "workbench_data": _workbench_data(assignment),
    }
    return render(request, "annotation/workbench.html", context)


def _images(assignment: Assignment) -> list[dict[str, Any]]:
    return [
        {
            "number": image.number,
            "url": reverse("annotation:assignment-image", args=[assignment.pk, image.number]),
            "width": image.width,
            "height": image.height,
        }
        for image in assignment.campaign_document.document.images.all()
    ]


def _workbench_data(assignment: Assignment) -> dict[str, Any]:
    """What the page's JavaScript works on."""
    campaign = assignment.campaign_document.campaign
    document = assignment.campaign_document.document
    return {
        "assignment": assignment.pk,
        "revision": assignment.revision,
        "state": assignment.state,
        "labels": [
            {"name": name, "key": str(place), "css": label_css(name, campaign.labels)}
            for place, name in enumerate(campaign.labels, start=1)
        ],
        "text_sha256": document.text_sha256,
        "text_chars": document.text_chars,
        "spans": current_spans(assignment),
        "urls": {
            "save": reverse("api:assignment-spans", args=[assignment.pk]),
            "submit": reverse("api:assignment-submit", args=[assignment.pk]),
            "tasks": reverse("annotation:tasks"),
            "html": reverse("annotation:assignment-html", args=[assignment.pk]),
        },
        "readonly": not assignment.is_workable,
    }


@login_required
@require_safe
def assignment_html(request: UserRequest, pk: int) -> HttpResponse:
    assignment = readable_assignment(request.user, pk)
    return sandboxed_html_response(assignment.campaign_document.document.content.html)


@login_required
@require_safe
def assignment_image(request: UserRequest, pk: int, number: int) -> FileResponse:
    assignment = readable_assignment(request.user, pk)
    images = assignment.campaign_document.document.images
    return image_response(get_object_or_404(images, number=number))
