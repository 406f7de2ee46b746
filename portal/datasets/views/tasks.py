"""Work that a worker does on many documents: the list of it, its report, and stopping it."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from portal.accounts.access import UserRequest, organiser_required
from portal.datasets.access import get_dataset, get_task
from portal.datasets.selectors.dataset_tasks import task_list, task_page
from portal.datasets.services.dataset_tasks import cancel_task


@organiser_required
def tasks(request: UserRequest, slug: str) -> HttpResponse:
    dataset = get_dataset(request.user, slug)
    context = {"dataset": dataset, "page": task_list(dataset, page=request.GET.get("page", "1"))}
    return render(request, "datasets/tasks.html", context)


@organiser_required
def task(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    """The report; asked for by htmx, only the part that changes while the task runs."""
    task = get_task(slug, pk)
    template = "datasets/task.html"
    if request.headers.get("HX-Request"):
        template += "#report"
    context = {"task": task, "view": task_page(task, page=request.GET.get("page", "1"))}
    response = render(request, template, context)
    response["Vary"] = "HX-Request, Cookie"
    return response


@organiser_required
@require_POST
def cancel(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    task = get_task(slug, pk)
    if task.is_finished:
        messages.info(request, "The task had ended already.")
    else:
        cancel_task(task=task, actor=request.user)
        messages.info(request, "The task stops. What it has done so far stays.")
    return redirect(task)
