"""Freezing a release without a campaign, and restoring one from its archive. For organisers."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from typing import Any

from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from portal.accounts.access import UserRequest, organiser_required
from portal.common.uploads import archive_limits, was_too_large
from portal.datasets.access import get_dataset
from portal.datasets.models import Dataset, Release
from portal.datasets.release_forms import FILE, NewReleaseForm, RestoreForm
from portal.datasets.selectors.dispute_notes import unsettled_disputes
from portal.datasets.selectors.freeze_reports import freeze_remarks, freeze_warnings
from portal.datasets.selectors.open_gold import open_gold_of_dataset
from portal.datasets.services.record_releases import (
    Gold,
    draft_notes,
    freeze_gold,
    gold_of_file,
    gold_of_records,
    told_splits,
)
from portal.datasets.services.release_rows import ReleaseError
from portal.datasets.services.releases import suggest_version
from portal.datasets.services.restoring import restore_release


@organiser_required
@require_http_methods(["GET", "HEAD", "POST"])
def new_release(request: UserRequest, slug: str) -> HttpResponse:
    dataset = get_dataset(request.user, slug)
    form = _form(request, dataset)
    if form.is_bound and form.is_valid():
        try:
            with _gold(dataset, form) as gold:
                if "draft" in request.POST:
                    _draft(request, dataset, form, gold)
                else:
                    return _frozen(request, _freeze(request, dataset, form, gold))
        except ReleaseError as error:
            form.add_error(None, error.faults)
    return _page(request, dataset, form, RestoreForm())


@organiser_required
@require_POST
def restore(request: UserRequest, slug: str) -> HttpResponse:
    dataset = get_dataset(request.user, slug)
    form = RestoreForm(request.POST, request.FILES, too_large=_is_too_large(request))
    if form.is_valid():
        try:
            with _stored(form.upload) as path:
                release = restore_release(
                    dataset=dataset, path=path, limits=archive_limits(), actor=request.user
                )
            return _frozen(request, release)
        except ReleaseError as error:
            form.add_error(None, error.faults)
    return _page(request, dataset, _unbound(dataset), form)


def _form(request: UserRequest, dataset: Dataset) -> NewReleaseForm:
    if request.method != "POST":
        return _unbound(dataset)
    return NewReleaseForm(
        request.POST, request.FILES, dataset=dataset, too_large=_is_too_large(request)
    )


def _unbound(dataset: Dataset) -> NewReleaseForm:
    initial: dict[str, Any] = {"version": suggest_version(dataset)}
    newest = dataset.releases.order_by("-pk").first()
    if newest is not None:
        # What was said of the last one is most likely true of the next.
        citation = newest.citation
        initial |= {
            "visibility": newest.visibility,
            "licence": newest.licence,
            "authors": "\n".join(citation.get("authors", [])),
            **{key: citation[key] for key in ("year", "doi", "url") if citation.get(key)},
        }
    return NewReleaseForm(dataset=dataset, initial=initial)


def _page(
    request: UserRequest, dataset: Dataset, form: NewReleaseForm, restoring: RestoreForm
) -> HttpResponse:
    context = {
        "dataset": dataset,
        "form": form,
        "restoring": restoring,
        "accepted_disputes": unsettled_disputes(dataset),
        "open_gold": open_gold_of_dataset(dataset).words(),
    }
    refused = 413 if was_too_large(request) else 400
    status = refused if form.errors or restoring.errors else 200
    return render(request, "datasets/new_release.html", context, status=status)


@contextmanager
def _gold(dataset: Dataset, form: NewReleaseForm) -> Iterator[Gold]:
    source, benchmark = form.chosen
    labels = form.label_set()
    if source == FILE:
        with _stored(form.cleaned_data["file"]) as path:
            yield gold_of_file(dataset=dataset, benchmark=benchmark, path=path, labels=labels)
    else:
        yield gold_of_records(dataset=dataset, benchmark=benchmark, labels=labels)


@contextmanager
def _stored(upload: "UploadedFile[bytes]") -> Iterator[Path]:
    """The upload as a file of its own name, for readers that go by its ending."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / (PurePath(upload.name or "").name or "upload")
        with path.open("wb") as file:
            for chunk in upload.chunks():
                file.write(chunk)
        yield path


def _draft(request: UserRequest, dataset: Dataset, form: NewReleaseForm, gold: Gold) -> None:
    """Writes the change notes into the form; what the person wrote stays above them."""
    drafted = draft_notes(
        dataset=dataset,
        gold=gold,
        visibility=form.cleaned_data["visibility"],
        splits=_splits(form, gold),
    )
    if drafted:
        form.show_notes(drafted)
        messages.info(request, "The notes are drafted. Read them over before you freeze.")
    else:
        messages.info(request, "This is the first release: there is nothing to compare it with.")


def _freeze(request: UserRequest, dataset: Dataset, form: NewReleaseForm, gold: Gold) -> Release:
    data = form.cleaned_data
    return freeze_gold(
        dataset=dataset,
        gold=gold,
        version=data["version"],
        notes=data["notes"],
        visibility=data["visibility"],
        licence=data["licence"],
        citation=form.citation(),
        splits=_splits(form, gold),
        actor=request.user,
    )


def _splits(form: NewReleaseForm, gold: Gold) -> Any:
    return told_splits(gold) if form.split_is_told else form.draw()


def _frozen(request: UserRequest, release: Release) -> HttpResponse:
    messages.success(request, f"Release {release.version} is frozen.")
    for remark in freeze_remarks(release):
        messages.info(request, remark)
    for warning in freeze_warnings(release):
        messages.warning(request, warning)
    return redirect(release)


def _is_too_large(request: UserRequest) -> bool:
    """Known once the upload was read, which reading any of its fields does."""
    _ = request.FILES
    return was_too_large(request)
