"""In and out: a campaign's labels as files, and files with labels brought in."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotation.access import Standing, managed_campaign
from annotation.models import CampaignImport
from annotation.selectors.campaign_export import export_state
from annotation.selectors.campaign_imports import import_rows
from annotation.services.campaign_imports import upload_import
from annotation.services.errors import Refused
from annotation.transfer_forms import ExportForm, ImportForm
from portal.accounts.access import UserRequest
from portal.facts import label_config
from portal.files.uploads import was_too_large


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def in_and_out(request: UserRequest, slug: str) -> HttpResponse:
    """The page; asked for by htmx, only the list of imports, which changes while one is read."""
    standing = managed_campaign(request.user, slug)
    # Reading the body first tells whether the upload was stopped for its size.
    data, files = (
        request.POST if request.method == "POST" else None,
        request.FILES if request.method == "POST" else None,
    )
    too_large = was_too_large(request)
    form = ImportForm(data, files, standing=standing, too_large=too_large)
    if form.is_valid() and _taken(request, standing, form):
        messages.success(request, "The file is being read; below it is told how it went.")
        return redirect("annotation:export", slug)
    imports = import_rows(standing.campaign)
    context = {
        "standing": standing,
        "export": ExportForm(auto_id="id_export_%s"),
        "form": form,
        "state": export_state(standing.campaign),
        "imports": imports,
        "is_reading": any(not row.taken.is_finished for row in imports),
        "label_config": label_config(standing.campaign.labels),
    }
    template = "annotation/in_and_out.html"
    if request.headers.get("HX-Request"):
        template += "#imports"
    response = render(request, template, context, status=413 if too_large else 200)
    response["Vary"] = "HX-Request, Cookie"
    return response


def _taken(request: UserRequest, standing: Standing, form: ImportForm) -> bool:
    """Whether the file was taken in; otherwise the form says why not."""
    wanted = form.cleaned_data
    if wanted["form"] == CampaignImport.Form.FULL and not standing.is_organiser:
        raise PermissionDenied("Whole campaigns are brought in by organisers.")
    try:
        upload_import(
            campaign=standing.campaign,
            file=wanted["file"],
            source_name=wanted["file"].name,
            form=wanted["form"],
            layer=wanted["layer"],
            annotator=wanted["annotator"],
            actor=request.user,
        )
    except Refused as refusal:
        field = {"file": "file", "layer": "layer", "annotator": "annotator"}.get(refusal.code)
        form.add_error(field, refusal.message)
        return False
    return True
