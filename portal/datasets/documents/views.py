"""Pages of datasets, documents, images, statistics and tasks."""

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect, render
from django.template.defaultfilters import pluralize
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from portal.accounts.access import UserRequest, is_organiser, organiser_required
from portal.datasets.access import (
    get_dataset,
    get_document,
    get_image,
    get_readable_document,
    get_task,
    may_read,
    visible_releases,
)
from portal.datasets.dataset_tasks import cancel_work, trouble_of
from portal.datasets.imaging.services import (
    ImageRefusedError,
    add_image,
    remove_rendered_images,
    start_rendering,
)
from portal.datasets.models import Dataset, Document
from portal.datasets.responses import (
    file_response,
    image_response,
    sandboxed_html_response,
    thumbnail_response,
)
from portal.files.uploads import was_too_large
from portal.web.refusals import errors_in, form_page, post_action
from portal.web.requests import refuse_unknown

from .forms import (
    BulkEditForm,
    DatasetForm,
    DocumentFilterForm,
    DocumentForm,
    DocumentSearchForm,
    EditDatasetForm,
    ImageForm,
    checked_filter,
    filter_form,
)
from .selectors import (
    FIRST_SHOWN,
    PER_PAGE,
    document_page,
    image_counts,
    latest_imports,
    listed_datasets,
    page_content,
    pending_work,
    suspect_documents,
    task_faults,
    type_counts,
)
from .services import (
    PublicationRefused,
    bulk_edit_documents,
    create_dataset,
    edit_dataset,
    edit_document,
)
from .statistics_page import (
    FORMS,
    StatisticsPage,
    statistics_charts,
    statistics_file,
    statistics_page,
    strata_tables,
)
from .table import DocumentFilter, document_rows, filter_documents, filtered_table


def datasets(request: HttpRequest) -> HttpResponse:
    context = {"datasets": listed_datasets(request.user), "may_manage": is_organiser(request.user)}
    return render(request, "datasets/documents/datasets.html", context)


def dataset(request: HttpRequest, slug: str) -> HttpResponse:
    dataset, may_manage = get_dataset(request.user, slug), is_organiser(request.user)
    types = type_counts(dataset)
    search = DocumentSearchForm(request.GET)
    wanted = search.wanted()
    found = filter_documents(request.user, dataset, wanted).defer("metadata")
    # The overview shows the first documents only, until someone searches or turns a page.
    is_short = not wanted.is_set and "page" not in request.GET
    page = Paginator(found, FIRST_SHOWN if is_short else PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "dataset": dataset,
        "may_manage": may_manage,
        "documents": sum(row.count for row in types),
        "types": types,
        "releases": list(visible_releases(request.user, dataset)),
        "imports": latest_imports(dataset) if may_manage else [],
        "pending": pending_work(dataset) if may_manage else [],
        "search": search,
        "is_filtered": wanted.is_set,
        "is_short": is_short and page.has_next(),
        "page": page,
        "rows": document_rows(request.user, dataset, page),
        "query": wanted.as_parameters().urlencode(),
    }
    return render(request, "datasets/documents/dataset.html", context)


@organiser_required
def new_dataset(request: UserRequest) -> HttpResponse:
    form = DatasetForm(request.POST or None)
    if form.is_valid():
        dataset = create_dataset(**form.cleaned_data, actor=request.user)
        messages.success(request, f"Dataset “{dataset}” created. Import its documents next.")
        return redirect("datasets:import", dataset.slug)
    return form_page(request, "datasets/documents/new.html", form)


@organiser_required
def edit(request: UserRequest, slug: str) -> HttpResponse:
    dataset = get_dataset(request.user, slug)
    form = EditDatasetForm(request.POST or None, instance=dataset)
    if form.is_valid():
        changes, accepted = form.cleaned_data, form.accepted_overlaps()
        try:
            edit_dataset(
                dataset=dataset, changes=changes, actor=request.user, accept_overlaps=accepted
            )
        except PublicationRefused as refused:
            form.refuse(refused.faults, refused.count)
        else:
            messages.success(request, "Dataset saved.")
            return redirect(dataset)
    return form_page(request, "datasets/documents/edit.html", form, dataset=dataset)


def document(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    document = get_document(request.user, slug, name)
    may_manage = is_organiser(request.user)
    view = document_page(request.user, document)
    context = {
        "view": view,
        "dataset": document.dataset,
        "content": page_content(document) if may_manage else None,
        "may_manage": may_manage,
        "upload": ImageForm(numbers=[image.number for image in view.images]),
    }
    return render(request, "datasets/documents/document.html", context)


def document_html(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    document = get_readable_document(request.user, slug, name)
    if document.kind == Document.Kind.PICTURE:
        raise Http404("An image document has no HTML.")
    return sandboxed_html_response(document.content.html)


def document_image(request: HttpRequest, slug: str, name: str, number: int) -> HttpResponseBase:
    image = get_image(request.user, slug, name, number)
    return image_response(image, bare=not may_read(request.user, image.document))


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
    parameters = wanted.as_parameters()
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
    return render(request, "datasets/documents/table.html", context)


def _with_sort(parameters: QueryDict, sort: str) -> str:
    query = parameters.copy()
    if sort != "name":
        query["sort"] = sort
    return query.urlencode()


def _sort_links(parameters: QueryDict, sort: str) -> dict[str, dict[str, str]]:
    """Return label, link and current direction of each column that can be sorted."""
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
    if form.is_valid():
        edit_document(document=document, changes=form.cleaned_data, actor=request.user)
        messages.success(request, "Document saved.")
        return redirect(document)
    return form_page(
        request,
        "datasets/documents/document_edit.html",
        form,
        document=document,
        dataset=document.dataset,
    )


@organiser_required
@require_POST
def bulk_edit(request: UserRequest, slug: str) -> HttpResponse:
    """Show the form with the number of documents, then change them once confirmed."""
    dataset = get_dataset(request.user, slug)
    documents, wanted = _chosen(request, dataset)
    count = documents.count()
    back = f"{reverse('datasets:table', args=[slug])}?{wanted.as_parameters().urlencode()}"
    if not count:
        messages.info(request, "No documents were selected.")
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
            messages.success(request, f"{changed:,} document{pluralize(changed)} changed.")
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
    return render(request, "datasets/documents/bulk_edit.html", context, status=status)


def _chosen(request: UserRequest, dataset: Dataset) -> tuple[QuerySet[Document], DocumentFilter]:
    """Return the selected documents, or all documents of the filter with `all`."""
    query = QueryDict(request.POST.get("filter", ""))
    if "all" in request.POST:
        wanted = checked_filter(request, dataset, query)
        return filter_documents(request.user, dataset, wanted), wanted
    wanted = filter_form(request, dataset, query).wanted()
    ticked = request.POST.getlist("document")[:MAX_TICKED]
    return dataset.documents.filter(name__in=ticked), wanted


@organiser_required
def images(request: UserRequest, slug: str) -> HttpResponse:
    dataset = get_dataset(request.user, slug)
    if request.method == "POST":
        again = request.POST.get("again") == "on"
        return redirect(start_rendering(dataset=dataset, again=again, actor=request.user))
    context = {
        "dataset": dataset,
        "counts": image_counts(dataset),
        "page": Paginator(suspect_documents(dataset), PER_PAGE).get_page(request.GET.get("page")),
        "running": dataset.tasks.unfinished().filter(kind="render").defer("report").first(),
    }
    return render(request, "datasets/documents/images.html", context)


@organiser_required
@require_POST
def upload(request: UserRequest, slug: str, name: str) -> HttpResponse:
    document = get_document(request.user, slug, name)
    _ = request.FILES  # reading the files detects a body that is too large
    too_large = was_too_large(request)
    numbers = list(document.images.values_list("number", flat=True))
    form = ImageForm(request.POST, request.FILES, numbers=numbers, too_large=too_large)
    if form.is_valid():
        replaces, actor = form.cleaned_data.get("replaces"), request.user
        with errors_in(form, ImageRefusedError):
            add_image(document=document, picture=form.picture, replaces=replaces, actor=actor)
            messages.success(request, f"Image {replaces} replaced." if replaces else "Image added.")
            return redirect(document)
    view = document_page(request.user, document)
    context = {"view": view, "dataset": document.dataset, "may_manage": True, "upload": form}
    status = 413 if too_large else 400
    return render(request, "datasets/documents/document.html", context, status=status)


@organiser_required
@post_action("datasets:document", "slug", "name", refusals=(ImageRefusedError,))
def remove_rendered(request: UserRequest, slug: str, name: str) -> str:
    document = get_document(request.user, slug, name)
    count = remove_rendered_images(document=document, actor=request.user)
    return f"{count} rendered image{pluralize(count)} removed."


def thumbnail(request: HttpRequest, slug: str, name: str, number: int) -> HttpResponse:
    return thumbnail_response(get_image(request.user, slug, name, number))


@require_safe
def statistics(request: HttpRequest, slug: str) -> HttpResponse:
    page = _statistics_page(request, slug)
    figures = page.statistics
    charts = {chart.key: chart for chart in statistics_charts(figures, page.dataset.title)}
    context = {
        "page": page,
        "dataset": page.dataset,
        "strata": [(table, charts[table.key]) for table in strata_tables(figures)],
        "charts": charts,
    }
    return render(request, "datasets/documents/statistics.html", context)


@require_safe
def statistics_export(request: HttpRequest, slug: str) -> HttpResponse:
    """Download the figures, the table or a chart, depending on `form`."""
    refuse_unknown(request, {"form", "release"})
    page, form = _statistics_page(request, slug), request.GET.get("form", FORMS[0])
    if form not in FORMS:
        raise Http404(f"Unknown format. Use {', '.join(FORMS)}.")
    return file_response(statistics_file(page, form))


def _statistics_page(request: HttpRequest, slug: str) -> StatisticsPage:
    dataset = get_dataset(request.user, slug)
    return statistics_page(request.user, dataset, request.GET.get("release", ""))


FAULTS_PER_PAGE = 100


@organiser_required
def tasks(request: UserRequest, slug: str) -> HttpResponse:
    dataset = get_dataset(request.user, slug)
    tasks = dataset.tasks.select_related("created_by").defer("report")
    page = Paginator(tasks, PER_PAGE).get_page(request.GET.get("page"))
    context = {"dataset": dataset, "page": page}
    return render(request, "datasets/documents/tasks.html", context)


@organiser_required
def task(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    """Show the task's report; for htmx, only the part that changes while the task runs."""
    task = get_task(slug, pk)
    template = "datasets/documents/task.html"
    if request.headers.get("HX-Request"):
        template += "#report"
    pages = Paginator(task.report.get("faults", []), FAULTS_PER_PAGE)
    page = pages.get_page(request.GET.get("page"))
    context = {
        "task": task,
        "dataset": task.dataset,
        "trouble": "" if task.is_finished else trouble_of(task.job_group),
        # PostgreSQL keeps no order of an object's keys.
        "counts": sorted(task.report.get("counts", {}).items()),
        "page": page,
        "faults": task_faults(task, page),
    }
    response = render(request, template, context)
    response["Vary"] = "HX-Request, Cookie"
    return response


@organiser_required
@require_POST
def cancel(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    task = get_task(slug, pk)
    if task.is_finished:
        messages.info(request, "The job has already ended.")
    else:
        cancel_work(work=task, actor=request.user)
        messages.info(request, "Job cancelled. Results up to this point are saved.")
    return redirect(task)
