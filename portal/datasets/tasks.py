"""The jobs of the dataset manager."""

from typing import Any

from django.urls import reverse
from django.utils.module_loading import import_string

from portal.accounts.emails import send_email
from portal.accounts.models import display_name
from portal.datasets.imports.services import carry_out_import
from portal.files.archives import ArchiveFault
from portal.jobs.handlers import Claim, handler

from .dataset_tasks import Runner, Steps, TaskError, carry_out, end_work
from .models import DatasetTask, DatasetWork, Dispute, ImportRun

# By dotted path, because some runners need libraries that are slow to load.
RUNNERS: dict[str, str] = {
    "render": "portal.datasets.imaging.services.render_documents",
    "pii": "portal.datasets.curation.personal_data.scan_personal_data",
    "duplicates": "portal.datasets.curation.services.find_duplicates",
    "content": "portal.datasets.curation.services.check_content",
    "freeze": "portal.datasets.releases.freezing.freeze_task",
    "derive": "portal.datasets.variants.deriving.derive",
}


def _work(payload: dict[str, Any]) -> ImportRun | DatasetTask:
    if "run" in payload:
        return ImportRun.objects.get(pk=payload["run"])
    return DatasetTask.objects.get(pk=payload["task"])


def _failed(payload: dict[str, Any], error: str) -> None:
    end_work(work=_work(payload), state=DatasetWork.State.FAILED, error=error)


def _cancelled(payload: dict[str, Any]) -> None:
    end_work(work=_work(payload), state=DatasetWork.State.CANCELLED)


@handler("import_files", on_failed=_failed, on_cancelled=_cancelled)
def import_files(claim: Claim) -> None:
    """Import the archive of a run, page by page. A second attempt continues the first one."""
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
        end_work(work=run, state=state, error=error)


@handler("dataset_task", on_failed=_failed, on_cancelled=_cancelled)
def dataset_task(claim: Claim) -> None:
    """Run a task of a dataset. A second attempt continues the first one."""
    task = DatasetTask.objects.select_related("dataset", "created_by").get(pk=claim.payload["task"])
    if task.is_finished:
        return
    run: Runner = import_string(RUNNERS[task.kind])
    state, error, report = DatasetTask.State.DONE, "", None
    try:
        report = carry_out(task=task, run=run, steps=Steps(claim.progress, claim.cancelled))
        if report is None:
            return
    except TaskError as fault:
        state, error, report = DatasetTask.State.FAILED, str(fault), fault.report
    with claim.finish():
        end_work(work=task, state=state, report=report, error=error)


@handler("email_raiser")
def email_raiser(claim: Claim) -> None:
    """Send the decision on a dispute to its raiser, unless the account is deleted or inactive."""
    disputes = Dispute.objects.select_related("item__release__dataset", "raised_by")
    dispute, origin = disputes.get(pk=claim.payload["dispute"]), claim.payload["origin"]
    raiser, dataset = dispute.raised_by, dispute.item.release.dataset
    if raiser is None or not raiser.is_active:
        return
    send_email(
        to=raiser.email,
        subject=f"Dispute {dispute.pk} is {dispute.state}",
        template="datasets/disputes/emails/dispute_decided.txt",
        origin=origin,
        context={
            "name": display_name(raiser),
            "dispute": dispute,
            "link": origin + reverse("datasets:dispute", args=[dataset.slug, dispute.pk]),
        },
    )
