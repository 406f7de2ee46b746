"""Batches of quality acceptance: the list, opening one, one of them, closing it, its report."""

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from portal.accounts.access import UserRequest, organiser_required
from portal.datasets.acceptance_forms import NewBatchForm
from portal.datasets.access import get_batch, get_dataset
from portal.datasets.file_responses import file_response
from portal.datasets.models import Batch
from portal.datasets.selectors.acceptance import batch_list
from portal.datasets.selectors.acceptance_chart import accuracy_chart
from portal.datasets.selectors.batches import audit_file, get_batch_page
from portal.datasets.services.acceptance import (
    AcceptanceRefused,
    close_batch,
    held_by,
    open_batch,
    put_back_batch,
)

REPORT_FORMS = ("json", "markdown", "csv")


@organiser_required
@require_safe
def batches(request: UserRequest, slug: str) -> HttpResponse:
    dataset = get_dataset(request.user, slug)
    found = batch_list(dataset, request.GET.get("page", "1"))
    context = {"dataset": dataset, "list": found, "chart": accuracy_chart(dataset, found.closed)}
    return render(request, "datasets/batches.html", context)


@organiser_required
def new_batch(request: UserRequest, slug: str) -> HttpResponse:
    dataset = get_dataset(request.user, slug)
    form = NewBatchForm(request.POST or None, request.FILES or None, dataset=dataset)
    if request.method == "POST" and form.is_valid():
        try:
            batch = open_batch(dataset=dataset, **form.arguments(), actor=request.user)
        except AcceptanceRefused as refusal:
            form.add_error(refusal.field if refusal.field in form.fields else None, refusal.message)
        else:
            messages.success(request, f"Batch {batch.number} is open: {batch.sample_size} drawn.")
            return redirect("datasets:batch", slug, batch.number)
    context = {"dataset": dataset, "form": form}
    return render(request, "datasets/batch_new.html", context, status=400 if form.errors else 200)


@organiser_required
@require_safe
def batch(request: UserRequest, slug: str, number: int) -> HttpResponse:
    found = get_batch(slug, number)
    held = held_by(found).count() if found.state == Batch.State.REJECTED else 0
    show = request.GET.get("show", "")
    page = get_batch_page(found, show=show, page=request.GET.get("page", "1"), held=held)
    context = {"page": page, "dataset": found.dataset, "batch": found}
    return render(request, "datasets/batch.html", context)


@organiser_required
@require_POST
def close(request: UserRequest, slug: str, number: int) -> HttpResponse:
    try:
        closed = close_batch(batch=get_batch(slug, number), actor=request.user)
    except AcceptanceRefused as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(request, f"Batch {closed.number} is {closed.state}.")
    return redirect("datasets:batch", slug, number)


@organiser_required
@require_POST
def put_back(request: UserRequest, slug: str, number: int) -> HttpResponse:
    try:
        count = put_back_batch(batch=get_batch(slug, number), actor=request.user)
    except AcceptanceRefused as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(request, f"{count:,} document{'' if count == 1 else 's'} put back.")
    return redirect("datasets:batch", slug, number)


@organiser_required
@require_safe
def report(request: UserRequest, slug: str, number: int) -> HttpResponse:
    form = request.GET.get("form", REPORT_FORMS[0])
    if form not in REPORT_FORMS:
        raise Http404(f"There is no form of this name; there are {', '.join(REPORT_FORMS)}.")
    return file_response(audit_file(get_batch(slug, number), form))
