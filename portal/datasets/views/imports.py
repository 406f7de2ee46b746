"""Imports: the upload, the report that fills up by itself, the way to stop one."""

from django.contrib import messages
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from portal.accounts.access import UserRequest, organiser_required
from portal.datasets.access import get_dataset, get_import
from portal.datasets.forms import ImportForm
from portal.datasets.models import DocumentType
from portal.datasets.rendering import report_file_response
from portal.datasets.selectors.imports import import_report
from portal.datasets.services.imports import cancel_import, start_import
from portal.files.uploads import was_too_large
from portal.web.requests import refuse_unknown


@organiser_required
def new_import(request: UserRequest, slug: str) -> HttpResponse:
    dataset = get_dataset(request.user, slug)
    if request.method == "POST":
        too_large = _is_too_large(request)
        form = ImportForm(request.POST, request.FILES, too_large=too_large)
        if form.is_valid():
            upload = form.cleaned_data["file"]
            run = start_import(
                dataset=dataset,
                upload=upload,
                source_name=upload.name,
                actor=request.user,
                form=form.cleaned_data["form"],
                benchmark=form.cleaned_data["benchmark"],
            )
            return redirect(run)
        status = 413 if too_large else 400
    else:
        form, status = ImportForm(), 200
    context = {"form": form, "dataset": dataset, "types": DocumentType.values}
    return render(request, "datasets/import.html", context, status=status)


def _is_too_large(request: UserRequest) -> bool:
    """Known once the upload was read, which reading any of its fields does."""
    _ = request.FILES
    return was_too_large(request)


@organiser_required
def import_run(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    """The report; asked for by htmx, only the part that changes while the import runs."""
    run = get_import(slug, pk)
    outcome, page = request.GET.get("outcome", ""), request.GET.get("page", "1")
    report = import_report(run, outcome=outcome, page=page)
    template = "datasets/import_run.html"
    if request.headers.get("HX-Request"):
        template += "#report"
    response = render(request, template, {"report": report, "run": run})
    response["Vary"] = "HX-Request, Cookie"
    return response


@organiser_required
def import_report_file(
    request: UserRequest, slug: str, pk: int, form: str
) -> StreamingHttpResponse:
    """What became of each file, or of those with one outcome, as CSV or JSON Lines."""
    run = get_import(slug, pk)
    refuse_unknown(request, {"outcome"})
    return report_file_response(run, form, request.GET.get("outcome", ""))


@organiser_required
@require_POST
def cancel(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    run = get_import(slug, pk)
    cancel_import(run=run, actor=request.user)
    messages.info(request, "The import stops. What it has imported so far stays.")
    return redirect(run)
