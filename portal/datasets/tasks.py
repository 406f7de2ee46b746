"""The jobs of the dataset manager."""

from typing import Any

from portal.common.archives import ArchiveFault
from portal.jobs.handlers import Claim, handler

from .models import ImportRun
from .services.imports import carry_out_import, end_import


def _failed(payload: dict[str, Any], error: str) -> None:
    run = ImportRun.objects.get(pk=payload["run"])
    end_import(run=run, state=ImportRun.State.FAILED, error=error)


def _cancelled(payload: dict[str, Any]) -> None:
    run = ImportRun.objects.get(pk=payload["run"])
    end_import(run=run, state=ImportRun.State.CANCELLED)


@handler("import_files", on_failed=_failed, on_cancelled=_cancelled)
def import_files(claim: Claim) -> None:
    """Imports the archive of a run, page by page: a second worker goes on where the first fell."""
    run = ImportRun.objects.select_related("dataset").get(pk=claim.payload["run"])
    if run.is_finished:
        return
    state, error = ImportRun.State.DONE, ""
    try:
        with run.upload.open("rb") as archive:
            if not carry_out_import(
                run=run, source=archive, progress=claim.progress, stop=claim.cancelled
            ):
                return
    except ArchiveFault as fault:
        state, error = ImportRun.State.FAILED, str(fault)
    with claim.finish():
        end_import(run=run, state=state, error=error)
