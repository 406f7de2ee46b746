"""The table of documents, editing one or many of them."""

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from portal.accounts.access import UserRequest, is_organiser, organiser_required
from portal.datasets.access import get_dataset, get_document
from portal.datasets.document_forms import (
    BulkEditForm,
    DocumentFilterForm,
    DocumentForm,
    as_parameters,
)
from portal.datasets.models import Dataset, Document
from portal.datasets.selectors.document_filters import DocumentFilter, filter_documents
from portal.datasets.selectors.document_tables import filtered_table
from portal.datasets.selectors.facets import document_facets
from portal.datasets.services.documents import bulk_edit_documents, edit_document
from portal.web.requests import refuse_unknown

SORT_LABELS = [
    ("name", "Document"),
    ("type", "Type"),
    ("year", "Year"),
    ("size", "Characters"),
    ("facts", "Facts"),
]
MAX_TICKED = 1_000


def table(request: HttpRequest, slug: str) -> HttpResponse:
    dataset = get_dataset(request.user, slug)
    refuse_unknown(request, {*DocumentFilterForm.base_fields, "sort", "page"})
    form = filter_form(request, dataset, request.GET)
    wanted = form.wanted()
    sort = request.GET.get("sort", "name")
    shown = filtered_table(
        request.user, dataset, wanted, sort=sort, page=request.GET.get("page", "1")
    )
    parameters = as_parameters(wanted)
    context = {
        "dataset": dataset,
        "form": form,
        "wanted": wanted,
        "table": shown,
        "filter_query": parameters.urlencode(),
        "query": _with_sort(parameters, sort),
        "sorts": _sort_links(parameters, sort),
        "sort": sort,
        "may_manage": is_organiser(request.user),
    }
    return render(request, "datasets/table.html", context)


def filter_form(request: HttpRequest, dataset: Dataset, data: QueryDict) -> DocumentFilterForm:
    facets = document_facets(request.user, dataset)
    return DocumentFilterForm(data, facets=facets, may_manage=is_organiser(request.user))


def _with_sort(parameters: QueryDict, sort: str) -> str:
    query = parameters.copy()
    if sort != "name":
        query["sort"] = sort
    return query.urlencode()


def _sort_links(parameters: QueryDict, sort: str) -> dict[str, dict[str, str]]:
    """For each column, where its heading leads, and how it is sorted now."""
    links = {}
    for key, label in SORT_LABELS:
        turned = f"-{key}" if sort == key else key
        direction = {key: "ascending", f"-{key}": "descending"}.get(sort, "")
        links[key] = {
            "label": label,
            "url": f"?{_with_sort(parameters, turned)}",
            "direction": direction,
        }
    return links


@organiser_required
def document_edit(request: UserRequest, slug: str, name: str) -> HttpResponse:
    document = get_document(request.user, slug, name)
    form = DocumentForm(request.POST or None, instance=document)
    if request.method == "POST" and form.is_valid():
        edit_document(document=document, changes=form.cleaned_data, actor=request.user)
        messages.success(request, "Document saved. Its content and its releases stay as they are.")
        return redirect(document)
    context = {"form": form, "document": document}
    status = 400 if form.errors else 200
    return render(request, "datasets/document_edit.html", context, status=status)


@organiser_required
@require_POST
def bulk_edit(request: UserRequest, slug: str) -> HttpResponse:
    """First the form with the number of documents, then, confirmed, the change."""
    dataset = get_dataset(request.user, slug)
    documents, wanted = _chosen(request, dataset)
    count = documents.count()
    back = f"{reverse('datasets:table', args=[slug])}?{as_parameters(wanted).urlencode()}"
    if not count:
        messages.info(request, "No document was ticked.")
        return redirect(back)
    is_confirmed = "confirm" in request.POST
    form = BulkEditForm(request.POST if is_confirmed else None)
    is_other = is_confirmed and request.POST.get("expected") != str(count)
    if is_confirmed and form.is_valid() and not is_other:
        try:
            changed = bulk_edit_documents(
                dataset=dataset,
                documents=documents,
                changes=form.changes(),
                hold=form.hold(),
                actor=request.user,
            )
        except ValidationError as error:
            form.add_error(None, error)
        else:
            messages.success(request, f"{changed:,} document{'s' * (changed != 1)} changed.")
            return redirect(back)
    context = {
        "dataset": dataset,
        "form": form,
        "count": count,
        "is_other": is_other,
        "all_found": "all" in request.POST,
        "is_filtered": wanted.is_set,
        "filter_query": request.POST.get("filter", ""),
        "ticked": request.POST.getlist("document")[:MAX_TICKED],
        "sample": documents.order_by("name").values_list("name", flat=True)[:10],
        "back": back,
    }
    status = 400 if is_confirmed else 200
    return render(request, "datasets/bulk_edit.html", context, status=status)


def _chosen(request: UserRequest, dataset: Dataset) -> tuple[QuerySet[Document], DocumentFilter]:
    """The ticked documents, or with `all` everything that the filter of the table finds."""
    wanted = filter_form(request, dataset, QueryDict(request.POST.get("filter", ""))).wanted()
    if "all" in request.POST:
        return filter_documents(request.user, dataset, wanted), wanted
    ticked = request.POST.getlist("document")[:MAX_TICKED]
    return dataset.documents.filter(name__in=ticked), wanted
