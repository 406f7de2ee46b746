"""The list of datasets, the card of one, and its making."""

from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from portal.accounts.access import UserRequest, is_organiser, organiser_required
from portal.datasets.access import get_dataset
from portal.datasets.forms import DatasetForm, DocumentSearchForm, EditDatasetForm
from portal.datasets.selectors.datasets import dataset_card, dataset_rows
from portal.datasets.selectors.documents import document_table
from portal.datasets.services.datasets import create_dataset, edit_dataset


def datasets(request: HttpRequest) -> HttpResponse:
    context = {"rows": dataset_rows(request.user), "may_manage": is_organiser(request.user)}
    return render(request, "datasets/datasets.html", context)


def dataset(request: HttpRequest, slug: str) -> HttpResponse:
    dataset = get_dataset(request.user, slug)
    search = DocumentSearchForm(request.GET)
    wanted = search.wanted()
    table = document_table(request.user, dataset, **wanted, page=request.GET.get("page", "1"))
    query = {key: request.GET[key] for key in ("q", "type") if request.GET.get(key)}
    context = {
        "card": dataset_card(request.user, dataset),
        "search": search,
        "is_filtered": any(wanted.values()),
        "table": table,
        "query": urlencode(query),
    }
    return render(request, "datasets/dataset.html", context)


@organiser_required
def new_dataset(request: UserRequest) -> HttpResponse:
    form = DatasetForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        dataset = create_dataset(**form.cleaned_data, actor=request.user)
        messages.success(request, f"Dataset “{dataset}” created. Import its documents next.")
        return redirect("datasets:import", dataset.slug)
    return render(request, "datasets/new.html", {"form": form}, status=400 if form.errors else 200)


@organiser_required
def edit(request: UserRequest, slug: str) -> HttpResponse:
    dataset = get_dataset(request.user, slug)
    form = EditDatasetForm(request.POST or None, instance=dataset)
    if request.method == "POST" and form.is_valid():
        edit_dataset(dataset=dataset, changes=form.cleaned_data, actor=request.user)
        messages.success(request, "Dataset saved.")
        return redirect(dataset)
    context = {"form": form, "dataset": dataset}
    return render(request, "datasets/edit.html", context, status=400 if form.errors else 200)
