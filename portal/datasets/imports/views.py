"""Pages of imports: upload, report with live progress, and cancelling."""

from typing import Any, NamedTuple

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render

from portal.accounts.access import UserRequest, organiser_required
from portal.datasets.access import get_dataset, get_import
from portal.datasets.dataset_tasks import cancel_work
from portal.datasets.models import DocumentType, ImportRun
from portal.datasets.responses import keep_private
from portal.files.archives import ArchiveFault
from portal.files.uploads import UploadForm, was_too_large
from portal.web.refusals import post_action
from portal.web.requests import refuse_unknown

from .formats import format_choices, import_format
from .layouts import BENCHMARKS
from .services import (
    carry_out_preview,
    check_source,
    import_report,
    report_file,
    start_import,
)


class Layout(NamedTuple):
    """A choice of layout: its radio button, description and the extensions of single files."""

    radio: Any
    about: str
    endings: tuple[str, ...]


class ImportForm(UploadForm):
    """Layout and file of an import; the file is checked before it is accepted."""

    form = forms.ChoiceField(
        label="Format",
        choices=format_choices,
        initial=ImportRun.Form.PAGES,
        required=False,
        widget=forms.RadioSelect,
    )
    file = forms.FileField(label="File", widget=forms.ClearableFileInput)
    benchmark = forms.ChoiceField(
        label="Benchmark",
        required=False,
        choices=[("", "None (no gold)"), *BENCHMARKS.items()],
        help_text="Only for Parquet files that contain the gold of a benchmark.",
    )

    differences = forms.ChoiceField(
        label="If an existing document differs",
        choices=ImportRun.Differences.choices,
        initial=ImportRun.Differences.KEEP,
        required=False,
        widget=forms.RadioSelect,
        help_text="Applies to images and metadata. Text and gold are never overwritten, and"
        " documents in a release never change.",
    )
    dry_run = forms.BooleanField(
        label="Preview first",
        required=False,
        help_text="Lists what the import would change, and changes nothing.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["file"].help_text = (
            "A ZIP archive, or a single file of a type listed for the format. Maximum file size:"
            f" {settings.UPLOAD_LIMIT // settings.MEGABYTE} MB."
        )

    def layouts(self) -> list[Layout]:
        """The choices of the layout with their descriptions and file extensions."""
        formats = ((radio, import_format(radio.data["value"])) for radio in self["form"])
        return [Layout(radio, each.about, each.alone) for radio, each in formats]

    def clean_form(self) -> str:
        return self.cleaned_data["form"] or ImportRun.Form.PAGES

    def clean_differences(self) -> str:
        return self.cleaned_data["differences"] or ImportRun.Differences.KEEP

    def clean(self) -> dict[str, Any]:
        """Checks the file if all other fields are valid."""
        data: dict[str, Any] = super().clean() or self.cleaned_data
        if {"form", "file"} <= data.keys():
            try:
                check_upload(data["file"], data["form"], data.get("benchmark", ""))
            except ValidationError as error:
                self.add_error("file", error)
        return data


def check_upload(
    upload: "UploadedFile[bytes]", form: str = ImportRun.Form.PAGES, benchmark: str = ""
) -> None:
    """Raises ValidationError for a file that cannot be imported as a whole."""
    name = upload.name or ""
    try:
        check_source(upload.file, form, name=name, benchmark=benchmark)  # type: ignore[arg-type]
    except ArchiveFault as fault:
        raise ValidationError(f"{name}: {fault}", code=fault.code) from fault
    upload.seek(0)


def report_file_response(run: ImportRun, form: str, outcome: str = "") -> StreamingHttpResponse:
    """The report of an import as a streamed file."""
    file = report_file(run, form, outcome=outcome)
    response = StreamingHttpResponse(file.pieces, content_type=file.media_type)
    response["Content-Disposition"] = f'attachment; filename="{file.name}"'
    keep_private(response)
    return response


@organiser_required
def new_import(request: UserRequest, slug: str) -> HttpResponse:
    dataset = get_dataset(request.user, slug)
    if request.method == "POST":
        form = ImportForm(request.POST, request.FILES, too_large=was_too_large(request))
        if form.is_valid():
            chosen = form.cleaned_data
            upload = chosen.pop("file")
            run = start_import(
                dataset=dataset,
                upload=upload,
                source_name=upload.name,
                actor=request.user,
                **chosen,
            )
            return redirect(run)
        status = 413 if was_too_large(request) else 400
    else:
        form, status = ImportForm(), 200
    context = {"form": form, "dataset": dataset, "types": DocumentType.values}
    return render(request, "datasets/imports/import.html", context, status=status)


@organiser_required
def import_run(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    """The report; for htmx requests, only the part that changes while the import runs."""
    run = get_import(slug, pk)
    outcome, page = request.GET.get("outcome", ""), request.GET.get("page", "1")
    report = import_report(run, outcome=outcome, page=page)
    template = "datasets/imports/import_run.html"
    if request.headers.get("HX-Request"):
        template += "#report"
    response = render(request, template, {"report": report, "run": run, "dataset": run.dataset})
    response["Vary"] = "HX-Request, Cookie"
    return response


@organiser_required
def import_report_file(
    request: UserRequest, slug: str, pk: int, form: str
) -> StreamingHttpResponse:
    """The outcome for each file, optionally filtered by outcome, as CSV or JSON Lines."""
    run = get_import(slug, pk)
    refuse_unknown(request, {"outcome"})
    return report_file_response(run, form, request.GET.get("outcome", ""))


@organiser_required
@post_action("datasets:import-run", "slug", "pk")
def cancel(request: UserRequest, slug: str, pk: int) -> str:
    cancel_work(work=get_import(slug, pk), actor=request.user)
    return "Import cancelled. Documents that were already imported remain in the dataset."


@organiser_required
@post_action("datasets:import-run", "slug", "pk")
def carry_out(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    """Imports the files of a preview."""
    return redirect(carry_out_preview(run=get_import(slug, pk), actor=request.user))
