"""Suggestions of a campaign: which are shown, and uploads of a model's marks."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotation.access import Standing, managed_campaign
from annotation.forms import SuggestionSourcesForm, SuggestionUploadForm
from annotation.selectors.suggestions import suggestion_state
from annotation.services.errors import Refused
from annotation.services.suggestions import choose_suggestions, upload_suggestions
from portal.accounts.access import UserRequest
from portal.files.uploads import was_too_large


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def suggestions(request: UserRequest, slug: str) -> HttpResponse:
    """Two forms: the one with a file uploads it, the other chooses the sources."""
    standing = managed_campaign(request.user, slug)
    uploading = bool(request.FILES) or was_too_large(request) or "upload" in request.POST
    choosing = request.method == "POST" and not uploading
    sources = SuggestionSourcesForm(
        request.POST if choosing else None,
        initial={"sources": standing.campaign.suggestion_sources},
    )
    upload = SuggestionUploadForm(
        request.POST if uploading else None,
        request.FILES if uploading else None,
        too_large=was_too_large(request),
    )
    if _chosen(request, standing, sources) or _uploaded(request, standing, upload):
        return redirect("annotation:suggestions", slug)
    context = {
        "standing": standing,
        "sources": sources,
        "upload": upload,
        "state": suggestion_state(standing.campaign),
    }
    return render(request, "annotation/suggestions.html", context, status=_status(request, upload))


def _chosen(request: UserRequest, standing: Standing, form: SuggestionSourcesForm) -> bool:
    if not form.is_valid():
        return False
    sources = form.cleaned_data["sources"]
    choose_suggestions(campaign=standing.campaign, sources=sources, actor=request.user)
    messages.success(request, "Saved. Annotators see it when they open their next page.")
    return True


def _uploaded(request: UserRequest, standing: Standing, form: SuggestionUploadForm) -> bool:
    if not form.is_valid():
        return False
    file = form.cleaned_data["file"]
    try:
        upload_suggestions(
            campaign=standing.campaign, file=file, source_name=file.name, actor=request.user
        )
    except Refused as refusal:
        form.add_error("file", refusal.message)
        return False
    messages.success(request, "The file is being read. Load this page again to see how it went.")
    return True


def _status(request: UserRequest, upload: SuggestionUploadForm) -> int:
    return 413 if upload.is_bound and was_too_large(request) else 200
