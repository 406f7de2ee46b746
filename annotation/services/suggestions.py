"""Suggestions: which a campaign shows, and the marks of a model that its lead uploads."""

from collections.abc import Callable, Sequence
from typing import Any
from uuid import uuid4

from django.core.files.base import File
from django.db import transaction
from django.utils import timezone

from annotation.models import (
    Campaign,
    CampaignDocument,
    ModelSuggestions,
    SuggestionSource,
    SuggestionUpload,
)
from annotation.suggestion_input import LINES, ModelFault, ModelPage, read_model_pages
from portal.accounts.models import User
from portal.audit.models import record_event
from portal.datasets.services.gold import text_difference
from portal.datasets.sources.layout import printable
from portal.facts import RefusedHtml, Span, TagError, check_spans, read_tags
from portal.files.uploads import archive_limits
from portal.jobs.services import enqueue

from .errors import Refused

SOURCE_NAME = 300
FAULTS_KEPT = 1_000

Placed = dict[int, list[Span]]


@transaction.atomic
def choose_suggestions(*, campaign: Campaign, sources: Sequence[str], actor: User) -> Campaign:
    """Says which suggestions annotators are shown, from now on; none is the default.

    Raises Refused for an unknown source.
    """
    if unknown := sorted(set(sources) - set(SuggestionSource.values)):
        known = ", ".join(SuggestionSource.values)
        raise Refused(f"{unknown[0]!r} is none of {known}.", code="source")
    chosen = [source for source in SuggestionSource.values if source in sources]
    if chosen != campaign.suggestion_sources:
        campaign.suggestion_sources = chosen
        campaign.save(update_fields=["suggestion_sources"])
        record_event(verb="choose_suggestions", subject=campaign, actor=actor, sources=chosen)
    return campaign


@transaction.atomic
def upload_suggestions(
    *, campaign: Campaign, file: "File[bytes]", source_name: str, actor: User
) -> SuggestionUpload:
    """Stores a file with a model's marks and queues its reading.

    Raises Refused for a file of another kind.
    """
    name = printable(source_name)
    suffix = next((s for s in (*LINES, ".zip") if name.lower().endswith(s)), "")
    if not suffix:
        raise Refused(f"{name}: suggestions are a .zip, a .jsonl or a .jsonl.gz", code="file")
    upload = SuggestionUpload.objects.create(
        campaign=campaign,
        created_by=actor,
        source_name=name[-SOURCE_NAME:],
        upload=File(file.file, name=f"{uuid4().hex}{suffix}"),
    )
    enqueue(kind="place_suggestions", payload={"upload": upload.pk})
    record_event(verb="upload_suggestions", subject=upload, actor=actor, source=upload.source_name)
    return upload


def read_suggestions(
    upload: SuggestionUpload, *, progress: Callable[[int], None]
) -> tuple[Placed, list[str]]:
    """The file's spans by campaign document, and a sentence for each document not placed.

    Writes nothing. Raises ArchiveFault when the file as a whole is unusable.
    """
    placed: Placed = {}
    faults: list[str] = []
    with upload.upload.open("rb") as file:
        pages = read_model_pages(file, upload.source_name, archive_limits())
        for done, page in enumerate(pages, start=1):
            try:
                _place(upload.campaign, page, placed)
            except ValueError as error:
                faults.append(str(error))
            progress(done)
    return placed, faults


def _place(campaign: Campaign, page: ModelPage | ModelFault, placed: Placed) -> None:
    """Adds the page's spans to `placed`; raises ValueError with its place when it has none."""
    if isinstance(page, ModelFault):
        raise ValueError(page.message)
    documents = CampaignDocument.objects.filter(campaign=campaign, document__name=page.name)
    found = documents.select_related("campaign", "document__content").first()
    if found is None:
        raise ValueError(f"{page.where}: the campaign has no document {printable(page.name)}")
    if found.pk in placed:
        raise ValueError(f"{page.where}: {found.document} came before")
    try:
        placed[found.pk] = _spans_of(found, page)
    except (TagError, RefusedHtml, ValueError) as error:
        raise ValueError(f"{page.where}: {error}") from error


def _spans_of(campaign_document: CampaignDocument, page: ModelPage) -> list[Span]:
    document, labels = campaign_document.document, campaign_document.campaign.labels
    spans = page.spans
    if page.html is not None:
        tagged = read_tags(page.html, labels)
        if tagged.canonical.text_sha256 != document.text_sha256:
            raise ValueError(text_difference(tagged.canonical.text, document))
        spans = tagged.spans
    if faults := check_spans(document.content.text, spans, labels):
        more = f" ({len(faults) - 1} more faults)" if len(faults) > 1 else ""
        raise ValueError(f"{faults[0].message}{more}")
    return sorted(spans)


@transaction.atomic
def keep_suggestions(*, upload: SuggestionUpload, placed: Placed, faults: Sequence[str]) -> None:
    """Replaces what the campaign had for these documents; other documents keep theirs."""
    for document, spans in placed.items():
        ModelSuggestions.objects.update_or_create(
            campaign_document_id=document,
            defaults={
                "upload": upload,
                "spans": [[span.start, span.end, span.label] for span in spans],
            },
        )
    _end(
        upload,
        SuggestionUpload.State.DONE,
        documents=len(placed),
        spans=sum(map(len, placed.values())),
        faults=list(faults[:FAULTS_KEPT]),
        fault_count=len(faults),
    )


@transaction.atomic
def fail_suggestions(*, upload: SuggestionUpload, error: str) -> None:
    """Says why the whole file was not read; what the campaign had stays."""
    _end(upload, SuggestionUpload.State.FAILED, error=error)


def _end(upload: SuggestionUpload, state: SuggestionUpload.State, **fields: Any) -> None:
    """Ends an upload that has not ended; the file is no longer needed and goes."""
    stored = SuggestionUpload.objects.select_for_update().get(pk=upload.pk)
    if stored.is_finished:
        return
    storage, name = stored.upload.storage, stored.upload.name
    stored.state, stored.finished_at, stored.upload = state, timezone.now(), ""
    for field, value in fields.items():
        setattr(stored, field, value)
    stored.save()
    record_event(verb=f"suggestions_{state}", subject=stored, actor=None)
    if name:
        transaction.on_commit(lambda: storage.delete(name))
