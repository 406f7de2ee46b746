"""Suggestions for annotators, and files with a model's marks that leads upload as suggestions.

A model's file is
a .jsonl or .jsonl.gz    one document a line: {"id", "html"} with inline tags, or
                         {"id", "spans": [{"start", "end", "label"}, …]}, code points
a .zip                   ID.html with inline tags, or ID.json with {"spans": […]}

Lines may begin with one about the file: {"format": "factboard-suggestions-1", "model", "prompt"}.
"""

import json
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import IO, Any, NamedTuple, TypeVar
from uuid import uuid4

from django.core.files.base import File
from django.db import transaction
from django.db.models import Count, QuerySet
from django.utils import timezone

from annotation.errors import Refused
from annotation.models import (
    Campaign,
    CampaignDocument,
    ModelSuggestions,
    SuggestionSource,
    SuggestionUpload,
)
from annotation.models.campaigns import Upload
from annotation.page_facts import page_facts
from annotation.spans import MAX_SPANS
from portal.accounts.models import User
from portal.audit.models import record_event
from portal.datasets.imports.opening import PAGE_SUFFIXES, bounded_lines, printable
from portal.datasets.models import XbrlFacts
from portal.datasets.releases.gold import text_difference
from portal.facts import (
    FoundFact,
    RefusedHtml,
    Span,
    TagError,
    check_spans,
    decode_html,
    label_kind,
    read_tags,
)
from portal.files.archives import ArchiveFault, ArchiveLimits, Member, open_archive
from portal.files.uploads import archive_limits
from portal.jobs.services import enqueue

LINES = (".jsonl", ".jsonl.gz")
# `factboard suggest` writes it.
HEAD = "factboard-suggestions-1"
MODEL_NAME = 200


@dataclass(frozen=True)
class MadeBy:
    """The model and the version of its prompt, as the file names them."""

    model: str
    prompt: str


@dataclass(frozen=True)
class ModelPage:
    """A model's marks in one document: a tagged page, or spans. `where` is the file, and the line
    if it has lines. `text_sha256` is the hash of the text that the spans are for, if it is known.
    """

    where: str
    name: str
    html: str | None = None
    spans: Sequence[Span] = ()
    text_sha256: str = ""


# A string is a fault: why a part could not be read, with the file or line, and the field.
Part = ModelPage | MadeBy | str


def read_model_pages(file: IO[bytes], filename: str, limits: ArchiveLimits) -> Iterator[Part]:
    """Yields each document, or a message if it cannot be read.

    Raises ArchiveFault if the whole file is unusable.
    """
    if filename.lower().endswith(LINES):
        yield from _from_lines(file, filename, limits)
    elif filename.lower().endswith(".zip"):
        yield from _from_archive(file, limits)
    else:
        message = f"{filename}: upload a .zip, .jsonl or .jsonl.gz file"
        raise ArchiveFault("not_suggestions", message)


def _from_lines(file: IO[bytes], filename: str, limits: ArchiveLimits) -> Iterator[Part]:
    for number, line in bounded_lines(file, filename, limits):
        if line.strip():
            yield _page(f"{filename}:{number}", line)


def _from_archive(file: IO[bytes], limits: ArchiveLimits) -> Iterator[Part]:
    with open_archive(file, limits) as archive:
        for member in _page_members(archive.members()):
            where, path = printable(member), PurePosixPath(member)
            try:
                data = archive.read(member)
                if path.suffix.lower() == ".json":
                    yield _page(where, data, path.stem)
                else:
                    yield ModelPage(where, path.stem, decode_html(data))
            except ArchiveFault as fault:
                yield str(fault)
            except RefusedHtml as fault:
                yield f"{where}: {fault.reason}"


def _page_members(members: Sequence[Member]) -> list[str]:
    suffixes = PAGE_SUFFIXES | {".json"}
    names = [m.name for m in members if PurePosixPath(m.name).suffix.lower() in suffixes]
    if not names:
        raise ArchiveFault("no_pages", "the archive has neither an ID.html nor an ID.json")
    return sorted(names)


def _page(where: str, data: bytes, name: str = "") -> Part:
    """The page of one JSON object. `name` is the id if the file name is."""
    try:
        page = json.loads(data.decode("utf-8"))
        if not isinstance(page, dict):
            raise ValueError("it must be a JSON object")
        if "format" in page:
            return _made_by(page)
        return _page_of(where, page, name)
    except UnicodeDecodeError as error:
        return f"{where}: not UTF-8 at byte {error.start + 1}"
    except (ValueError, RecursionError) as error:
        return f"{where}: {error}"


def _made_by(page: Mapping[str, Any]) -> MadeBy:
    if page["format"] != HEAD:
        raise ValueError(f"format must be {HEAD}")
    names = [page.get(field) for field in ("model", "prompt")]
    for field, name in zip(("model", "prompt"), names, strict=True):
        if not isinstance(name, str) or len(name) > MODEL_NAME or "\x00" in name:
            raise ValueError(f"{field} must be a string of at most {MODEL_NAME} characters")
    return MadeBy(*(str(name) for name in names))


def _page_of(where: str, page: Mapping[str, Any], name: str) -> ModelPage:
    identity = name or page.get("id")
    if not isinstance(identity, str):
        raise ValueError("id is missing or not a string")
    if isinstance(page.get("html"), str):
        return ModelPage(where, identity, page["html"])
    spans = page.get("spans")
    if not isinstance(spans, list):
        raise ValueError("html (a string) or spans (a list) is missing")
    if len(spans) > MAX_SPANS:
        raise ValueError(f"spans: a document may have {MAX_SPANS} at most, not {len(spans)}")
    text_sha256 = page.get("text_sha256", "")
    if not isinstance(text_sha256, str):
        raise ValueError("text_sha256 must be a string")
    read = [_read_span(n, span) for n, span in enumerate(spans)]
    return ModelPage(where, identity, spans=read, text_sha256=text_sha256)


def _read_span(number: int, span: object) -> Span:
    where = f"spans[{number}]"
    if not isinstance(span, dict):
        raise ValueError(f"{where} must be an object with start, end and label")
    for field in ("start", "end"):
        # bool is an int in Python; in JSON it is not a number.
        if type(span.get(field)) is not int:
            raise ValueError(f"{where}.{field} must be an integer")
    if not isinstance(span.get("label"), str):
        raise ValueError(f"{where}.label must be a string")
    return Span(span["start"], span["end"], span["label"])


UPLOADS_SHOWN = 20


class Suggestion(NamedTuple):
    """`[start, end)` in code points of the text; `source` is a SuggestionSource.

    `details` are the filer's XBRL details as text: concept, sign, scale, unit and period.
    """

    start: int
    end: int
    label: str
    source: str
    details: str = ""


Place = tuple[int, int, str, str]


def page_suggestions(campaign_document: CampaignDocument) -> list[Suggestion]:
    """The suggestions for a page in text order, without overlaps.

    If two overlap, the better source has priority: the filer's XBRL, then a model, then the rules.
    """
    chosen: list[Suggestion] = []
    for source in SuggestionSource.values:
        if source in campaign_document.campaign.suggestion_sources:
            chosen = _merged(chosen, _from(source, campaign_document))
    return chosen


def _from(source: str, campaign_document: CampaignDocument) -> list[Suggestion]:
    if source == SuggestionSource.MODEL:
        stored = ModelSuggestions.objects.filter(pk=campaign_document.pk).first()
        spans = stored.spans if stored else []
        return [Suggestion(start, end, label, source) for start, end, label in spans]
    document = campaign_document.document
    if source == SuggestionSource.XBRL:
        tagged = XbrlFacts.objects.filter(pk=document.pk).first()
        places = _whole(tagged.facts if tagged else [], page_facts(document).facts)
    else:
        places = [(fact.start, fact.end, fact.kind, "") for fact in page_facts(document).facts]
    return list(_labelled(places, source, campaign_document.campaign))


def _whole(tagged: Sequence[Sequence[Any]], facts: Sequence[FoundFact]) -> list[Place]:
    """The tagged places, extended by parentheses and percent signs that filers leave outside.

    `tagged` are rows of XbrlFacts, with or without details.
    """
    places: list[Place] = []
    for start, end, kind, concept, *more in tagged:
        details = _details(concept, more[0] if more else {})
        place = start, end, kind, details
        around = bisect_left(facts, end, key=_end_of)
        if around < len(facts) and facts[around].start <= start and facts[around].kind == kind:
            place = facts[around].start, facts[around].end, kind, details
        # Two elements may be parts of one fact.
        if not places or places[-1][1] <= place[0]:
            places.append(place)
    return places


def _details(concept: str, said: Mapping[str, Any]) -> str:
    """`us-gaap:Revenues, minus, ×10^6, USD, 2024-01-01 to 2024-12-31`: the known details."""
    scale = said.get("scale")
    parts = (
        concept,
        "minus" if said.get("sign") == "-" else "",
        f"×10^{scale}" if scale else "",
        said.get("unit", ""),
        str(said.get("period", "")).replace("/", " to "),
    )
    return ", ".join(part for part in parts if part)


def _end_of(fact: FoundFact) -> int:
    return fact.end


def _labelled(places: Iterable[Place], source: str, campaign: Campaign) -> Iterable[Suggestion]:
    """Suggestions with the campaign's first label for facts of their kind."""
    labels = {label_kind(label): label for label in reversed(campaign.labels)}
    for start, end, kind, details in places:
        if kind in labels:
            yield Suggestion(start, end, labels[kind], source, details)


def _merged(chosen: list[Suggestion], further: list[Suggestion]) -> list[Suggestion]:
    """Both lists together, without those of `further` that overlap a chosen one."""
    ends = [suggestion.end for suggestion in chosen]

    def is_free(suggestion: Suggestion) -> bool:
        following = bisect_left(ends, suggestion.start + 1)
        return following == len(chosen) or chosen[following].start >= suggestion.end

    return sorted(chosen + [suggestion for suggestion in further if is_free(suggestion)])


@dataclass(frozen=True)
class SuggestionState:
    """The campaign's sources of suggestions, its documents by source, and the newest uploads.

    `opened` documents keep the suggestions that their first annotator saw.
    """

    sources: list[str]
    documents: int
    with_xbrl: int
    with_model: int
    opened: int
    uploads: QuerySet[SuggestionUpload]


def suggestion_state(campaign: Campaign) -> SuggestionState:
    documents = CampaignDocument.objects.filter(campaign=campaign)
    counts = documents.aggregate(
        documents=Count("pk"),
        with_xbrl=Count("document__xbrl_facts"),
        with_model=Count("model_suggestions"),
        opened=Count("offered_suggestions"),
    )
    uploads = campaign.suggestion_uploads.select_related("created_by")
    return SuggestionState(
        sources=campaign.suggestion_sources, **counts, uploads=uploads[:UPLOADS_SHOWN]
    )


SOURCE_NAME = 300
FAULTS_KEPT = 1_000

Placed = dict[int, list[Span]]


@transaction.atomic
def choose_suggestions(*, campaign: Campaign, sources: Sequence[str], actor: User) -> Campaign:
    """Sets the sources of suggestions that annotators see; raises Refused for an unknown source."""
    if unknown := sorted(set(sources) - set(SuggestionSource.values)):
        known = ", ".join(SuggestionSource.values)
        raise Refused(f"{unknown[0]!r} is not one of {known}.", code="source")
    chosen = [source for source in SuggestionSource.values if source in sources]
    if chosen != campaign.suggestion_sources:
        campaign.suggestion_sources = chosen
        campaign.save(update_fields=["suggestion_sources"])
        record_event(verb="choose_suggestions", subject=campaign, actor=actor, sources=chosen)
    return campaign


@transaction.atomic
def upload_suggestions(
    *,
    campaign: Campaign,
    file: "File[bytes]",
    source_name: str,
    actor: User,
    model: str = "",
    prompt: str = "",
) -> SuggestionUpload:
    """Stores a file with a model's marks and enqueues a job that reads it.

    `model` and the version of its `prompt` are used if the file does not name them. Raises Refused
    for another type of file.
    """
    name = printable(source_name)
    suffix = next((s for s in (*LINES, ".zip") if name.lower().endswith(s)), "")
    if not suffix:
        raise Refused(f"{name}: upload a .zip, .jsonl or .jsonl.gz file", code="file")
    upload = SuggestionUpload.objects.create(
        campaign=campaign,
        created_by=actor,
        source_name=name[-SOURCE_NAME:],
        upload=File(file.file, name=f"{uuid4().hex}{suffix}"),
        model=model,
        prompt=prompt,
    )
    enqueue(kind="place_suggestions", payload={"upload": upload.pk})
    record_event(verb="upload_suggestions", subject=upload, actor=actor, source=upload.source_name)
    return upload


def read_suggestions(
    upload: SuggestionUpload, *, progress: Callable[[int], None]
) -> tuple[Placed, list[str]]:
    """The file's spans by campaign document, and a message for each document without a place.

    Writes nothing; sets the upload's model and prompt if the file names them. Raises ArchiveFault
    if the whole file is unusable.
    """
    placed: Placed = {}
    faults: list[str] = []
    with upload.upload.open("rb") as file:
        pages = read_model_pages(file, upload.source_name, archive_limits())
        for done, page in enumerate(pages, start=1):
            if isinstance(page, MadeBy):
                upload.model, upload.prompt = page.model, page.prompt
                continue
            if isinstance(page, str):
                faults.append(page)
            else:
                try:
                    _place(upload.campaign, page, placed)
                except ValueError as error:
                    faults.append(str(error))
            progress(done)
    return placed, faults


def _place(campaign: Campaign, page: ModelPage, placed: Placed) -> None:
    """Adds the page's spans to `placed`; raises ValueError with the place of a fault."""
    documents = CampaignDocument.objects.filter(campaign=campaign, document__name=page.name)
    campaign_document = documents.select_related("campaign", "document__content").first()
    if campaign_document is None:
        raise ValueError(f"{page.where}: the campaign has no document {printable(page.name)}")
    if campaign_document.pk in placed:
        raise ValueError(f"{page.where}: {campaign_document.document} is in the file twice")
    try:
        placed[campaign_document.pk] = _spans_of(campaign_document, page)
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
    if page.text_sha256 not in {"", document.text_sha256}:
        raise ValueError(f"text_sha256: the spans are for another text than that of {document}")
    if faults := check_spans(document.content.text, spans, labels):
        more = f" ({len(faults) - 1} more errors)" if len(faults) > 1 else ""
        raise ValueError(f"{faults[0].message}{more}")
    return sorted(spans)


@transaction.atomic
def keep_suggestions(*, upload: SuggestionUpload, placed: Placed, faults: Sequence[str]) -> None:
    """Replaces the model's suggestions of these documents; other documents keep theirs."""
    for document, spans in placed.items():
        ModelSuggestions.objects.update_or_create(
            campaign_document_id=document,
            defaults={
                "upload": upload,
                "spans": [[span.start, span.end, span.label] for span in spans],
            },
        )
    end_upload(
        upload,
        SuggestionUpload.State.DONE,
        verb="suggestions_done",
        model=upload.model,
        prompt=upload.prompt,
        documents=len(placed),
        spans=sum(map(len, placed.values())),
        faults=list(faults[:FAULTS_KEPT]),
        fault_count=len(faults),
    )


@transaction.atomic
def fail_suggestions(*, upload: SuggestionUpload, error: str) -> None:
    """Records why the file could not be read. Existing suggestions are kept."""
    end_upload(upload, SuggestionUpload.State.FAILED, verb="suggestions_failed", error=error)


AnyUpload = TypeVar("AnyUpload", bound=Upload)


def end_upload(upload: AnyUpload, state: Upload.State, *, verb: str, **fields: Any) -> AnyUpload:
    """Ends an unfinished upload and deletes its file."""
    stored = type(upload)._default_manager.select_for_update().get(pk=upload.pk)
    if stored.is_finished:
        return stored
    storage, name = stored.upload.storage, stored.upload.name
    stored.state, stored.finished_at, stored.upload = state, timezone.now(), ""
    for field, value in fields.items():
        setattr(stored, field, value)
    stored.save()
    record_event(verb=verb, subject=stored, actor=None)
    if name:
        transaction.on_commit(lambda: storage.delete(name))
    return stored
