"""The jobs of annotation."""

from typing import Any

from portal.common.archives import ArchiveFault
from portal.jobs.handlers import Claim, handler

from .models import SuggestionUpload
from .services.suggestions import fail_suggestions, keep_suggestions, read_suggestions


def _failed(payload: dict[str, Any], error: str) -> None:
    upload = SuggestionUpload.objects.get(pk=payload["upload"])
    fail_suggestions(upload=upload, error=error)


def _cancelled(payload: dict[str, Any]) -> None:
    _failed(payload, "it was cancelled")


@handler("place_suggestions", on_failed=_failed, on_cancelled=_cancelled)
def place_suggestions(claim: Claim) -> None:
    """Reads an uploaded file and places its marks; nothing is written before all of it is read."""
    upload = SuggestionUpload.objects.select_related("campaign").get(pk=claim.payload["upload"])
    if upload.is_finished:
        return
    SuggestionUpload.objects.filter(pk=upload.pk).update(state=SuggestionUpload.State.RUNNING)
    try:
        placed, faults = read_suggestions(upload, progress=claim.progress)
    except ArchiveFault as fault:
        with claim.finish():
            fail_suggestions(upload=upload, error=str(fault))
        return
    with claim.finish():
        keep_suggestions(upload=upload, placed=placed, faults=faults)
