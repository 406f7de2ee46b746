"""Selections: drawing one, looking at it, drawing it again, its documents as a file."""

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.http import HttpResponse, QueryDict, StreamingHttpResponse
from django.shortcuts import redirect, render

from portal.accounts.access import UserRequest, organiser_required
from portal.datasets.access import get_dataset, get_selection
from portal.datasets.curation_forms import SelectionForm
from portal.datasets.document_forms import as_parameters
from portal.datasets.models import Dataset, Document, Selection
from portal.datasets.selectors.document_filters import DocumentFilter
from portal.datasets.selectors.selections import (
    PER_PAGE,
    selection_lines,
    selection_page,
    selection_rows,
    strata_table,
)
from portal.datasets.services.selections import (
    STRATA,
    DrawSpec,
    check_selection,
    create_selection,
    draw,
)
from portal.files.tables import csv_text

from .table import filter_form


@organiser_required
def selections(request: UserRequest, slug: str) -> HttpResponse:
    dataset = get_dataset(request.user, slug)
    page = Paginator(selection_rows(dataset), PER_PAGE).get_page(request.GET.get("page", "1"))
    return render(request, "datasets/selections.html", {"dataset": dataset, "page": page})


@organiser_required
def new_selection(request: UserRequest, slug: str) -> HttpResponse:
    """The strata are shown before anything is kept; posted with `keep`, the selection is made."""
    dataset = get_dataset(request.user, slug)
    is_posted = request.method == "POST"
    keeps = "keep" in request.POST
    filters = filter_form(
        request, dataset, QueryDict(request.POST.get("filter", "")) if is_posted else request.GET
    )
    wanted = _active(filters.wanted())
    form = SelectionForm(request.POST if is_posted else None, keeps=keeps)
    table = None
    if is_posted and (spec := form.spec(wanted)):
        if keeps and (made := _keep(form, request, dataset, spec)):
            return redirect("datasets:selection", slug, made.pk)
        table = strata_table(
            draw(dataset=dataset, spec=spec, seed=form.cleaned_data["seed"]), spec.strata
        )
    context = {
        "dataset": dataset,
        "form": form,
        "table": table,
        "columns": [STRATA[name] for name in form.cleaned_data.get("strata", [])] if table else [],
        "filter_query": as_parameters(wanted).urlencode(),
        "filters": [(name.replace("_", " "), value) for name, value in wanted.as_json().items()],
    }
    status = 400 if form.errors else 200
    return render(request, "datasets/selection_new.html", context, status=status)


def _active(wanted: DocumentFilter) -> DocumentFilter:
    """What is held back goes nowhere, so nobody draws it unless it is asked for."""
    values = {"state": Document.State.ACTIVE.value, **wanted.as_json()}
    return DocumentFilter.from_json(values)


def _keep(
    form: SelectionForm, request: UserRequest, dataset: Dataset, spec: DrawSpec
) -> Selection | None:
    try:
        made = create_selection(
            dataset=dataset,
            title=form.cleaned_data["title"],
            spec=spec,
            seed=form.cleaned_data["seed"],
            actor=request.user,
        )
    except ValidationError as error:
        for name, found in error.message_dict.items():
            form.add_error(name if name in form.fields else None, found)
        return None
    messages.success(request, f"Selection “{made}” kept.")
    return made


@organiser_required
def selection(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    """With `check=1` it is drawn again and compared."""
    selection = get_selection(slug, pk)
    context = {
        "view": selection_page(selection, page=request.GET.get("page", "1")),
        "dataset": selection.dataset,
        "strata": [STRATA.get(name, name) for name in selection.spec["strata"]],
        "check": check_selection(selection) if request.GET.get("check") == "1" else None,
    }
    return render(request, "datasets/selection.html", context)


@organiser_required
def selection_download(_: UserRequest, slug: str, pk: int) -> StreamingHttpResponse:
    selection = get_selection(slug, pk)
    response = StreamingHttpResponse(
        (csv_text([line]) for line in selection_lines(selection)),
        content_type="text/csv; charset=utf-8",
    )
    name = f"{slug}-selection-{selection.pk}.csv"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
