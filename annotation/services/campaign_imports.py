"""Files with labels, or with a whole campaign: taken in, read by a job, and kept or refused."""

from collections.abc import Callable, Sequence
from typing import IO, Any
from uuid import uuid4

from django.core.files.base import File
from django.db import transaction
from django.utils import timezone

from annotation.archive_input import ArchiveContent, read_archive
from annotation.label_files import SUFFIXES
from annotation.models import Campaign, CampaignImport, Membership
from annotation.selectors.campaign_imports import import_group
from portal.accounts.models import User, display_name
from portal.audit.models import record_event
from portal.datasets.sources.layout import printable
from portal.files.uploads import archive_limits
from portal.jobs.services import enqueue

from .archive_imports import keep_archive, require_empty_draft
from .errors import Refused
from .label_imports import Kept, ReadLabels, keep_labels, read_labels

SOURCE_NAME = 300
FAULTS_KEPT = 1_000
Form = CampaignImport.Form
Layer = CampaignImport.Layer
Content = ReadLabels | ArchiveContent


@transaction.atomic
def upload_import(
    *,
    campaign: Campaign,
    file: "File[bytes]",
    source_name: str,
    form: str,
    layer: str,
    annotator: User | None,
    actor: User,
) -> CampaignImport:
    """Stores a file and queues its reading; raises Refused for what cannot be brought in."""
    taken = new_import(
        campaign=campaign,
        source_name=source_name,
        form=form,
        layer=layer,
        annotator=annotator,
        actor=actor,
        upload=file,
    )
    enqueue(kind="import_labels", payload={"import": taken.pk}, group=import_group(taken))
    return taken


@transaction.atomic
def new_import(
    *,
    campaign: Campaign,
    source_name: str,
    form: str,
    layer: str,
    annotator: User | None,
    actor: User | None,
    upload: "File[bytes] | None" = None,
) -> CampaignImport:
    """The row of an import; a file that the server's own machine has is not stored.

    Raises Refused for a file of another kind, a whole campaign into one that is not an empty draft,
    gold or work into one that cannot take it, and work without an annotator of the campaign.
    """
    name = printable(source_name)
    suffix = next((s for s in SUFFIXES[form] if name.lower().endswith(s)), "")
    if not suffix:
        wanted = " or ".join(SUFFIXES[form])
        raise Refused(f"{name}: {Form(form).label} is a file {wanted}.", code="file")
    if form == Form.FULL:
        layer, annotator = "", None
        require_empty_draft(campaign)
    else:
        annotator = _checked_annotator(campaign, layer, annotator)
    taken = CampaignImport.objects.create(
        campaign=campaign,
        created_by=actor,
        source_name=name[-SOURCE_NAME:],
        upload=File(upload.file, name=f"{uuid4().hex}{suffix}") if upload else "",
        form=form,
        layer=layer,
        annotator=annotator,
    )
    record_event(
        verb="import_labels", subject=taken, actor=actor, source=taken.source_name, form=form,
        layer=layer, annotator=annotator.pk if annotator else None,
    )  # fmt: skip
    return taken


def _checked_annotator(campaign: Campaign, layer: str, annotator: User | None) -> User | None:
    if layer not in Layer.values:
        raise Refused(f"Choose what the labels become: {', '.join(Layer.values)}.", code="layer")
    if layer == Layer.GOLD:
        if campaign.state == Campaign.State.CLOSED:
            raise Refused("The campaign is closed; gold goes into a draft or an open one.",
                          code="state")  # fmt: skip
        return None
    if campaign.state != Campaign.State.OPEN:
        message = "Work is brought into an open campaign, whose documents are shared out."
        raise Refused(message, code="state")
    role = Membership.Role.ANNOTATOR
    if annotator is None:
        raise Refused("Choose the annotator whose work the labels are.", code="annotator")
    if not Membership.objects.filter(campaign=campaign, user=annotator, role=role).exists():
        message = f"{display_name(annotator)} is no annotator of the campaign."
        raise Refused(message, code="annotator")
    return annotator


def read_import(
    campaign_import: CampaignImport, file: IO[bytes], *, progress: Callable[[int], None]
) -> Content:
    """What the file holds. Writes nothing; raises ArchiveFault when it is unusable as a whole."""
    if campaign_import.form == Form.FULL:
        return read_archive(file, archive_limits(), progress=progress)
    return read_labels(campaign_import, file, progress=progress)


@transaction.atomic
def keep_import(
    *,
    campaign_import: CampaignImport,
    content: Content,
    people: dict[str, str] | None = None,
) -> CampaignImport:
    """Writes all of it and ends the import; `people` gives e-mail addresses for pseudonyms.

    Raises Refused, with nothing written, when the campaign cannot take it.
    """
    if isinstance(content, ArchiveContent):
        kept = keep_archive(campaign=campaign_import.campaign, content=content, people=people or {})
        return _end_well(campaign_import, kept, [], moved=0)
    kept = keep_labels(campaign_import, content)
    return _end_well(campaign_import, kept, content.faults, moved=content.moved)


def _end_well(
    campaign_import: CampaignImport, kept: Kept, faults: Sequence[str], *, moved: int
) -> CampaignImport:
    told = [*kept.faults, *faults]
    return _end(
        campaign_import,
        CampaignImport.State.DONE,
        documents=kept.documents,
        spans=kept.spans,
        moved=moved,
        faults=told[:FAULTS_KEPT],
        fault_count=len(told),
    )


@transaction.atomic
def fail_import(*, campaign_import: CampaignImport, error: str) -> None:
    """Says why nothing was brought in."""
    _end(campaign_import, CampaignImport.State.FAILED, error=error)


def _end(
    campaign_import: CampaignImport, state: CampaignImport.State, **fields: Any
) -> CampaignImport:
    """Ends an import that has not ended; the file is no longer needed and goes."""
    stored = CampaignImport.objects.select_for_update().get(pk=campaign_import.pk)
    if stored.is_finished:
        return stored
    storage, name = stored.upload.storage, stored.upload.name
    stored.state, stored.finished_at, stored.upload = state, timezone.now(), ""
    for field, value in fields.items():
        setattr(stored, field, value)
    stored.save()
    record_event(verb=f"import_{state}", subject=stored, actor=None)
    if name:
        transaction.on_commit(lambda: storage.delete(name))
    return stored
