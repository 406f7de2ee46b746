"""Exports of a campaign's labels, and the progress of imports.

An export contains only gold and work that all annotators have submitted. Pseudonyms replace people.
A pseudonym is the same in every export of this site, so that the work of a person stays together
and can be imported for that person here, while no one else can identify them.
"""

import json
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import IO, Any

from django.apps import apps
from django.db import connection, transaction
from django.db.models import Count, F, Q, QuerySet
from django.utils.crypto import salted_hmac

from annotation.models import Assignment, Campaign, CampaignDocument, CampaignImport, GoldSpan, Span
from annotation.spans import FACT
from portal.accounts.models import User, display_name
from portal.datasets.models import Document
from portal.facts import FactSpan, LabelledBy, write_document_line, write_tags, write_task
from portal.facts import Span as TextSpan
from portal.files.archives import DRAIN_AT, ZipSink, ZipWriter
from portal.jobs.selectors import group_progress

from . import formats

_SALT = "annotation.exchange.selectors"
_LENGTH = 12


def pseudonym(user_id: int) -> str:
    """`p_` and twelve hexadecimal digits, from the account's id and the site's secret key."""
    return f"p_{salted_hmac(_SALT, str(user_id), algorithm='sha256').hexdigest()[:_LENGTH]}"


def goes_by(user: User, name: str) -> bool:
    """Whether a file's name for an annotator is the pseudonym or email address of the user."""
    return name == pseudonym(user.pk) or name.lower() == user.email.lower()


def people_called(names: Iterable[str]) -> dict[str, User]:
    """The accounts of this site by pseudonym or email address, without unknown names."""
    wanted = {name.lower() for name in names}
    accounts: dict[str, User] = {}
    for user in User.objects.filter(is_active=True).order_by("pk").iterator():
        for name in (pseudonym(user.pk), user.email.lower()):
            if name in wanted:
                accounts[name] = user
    return accounts


Layer = CampaignImport.Layer
AT_ONCE = 20


@dataclass(frozen=True)
class Labels:
    """The spans of an annotator in text order, or gold if there is no annotator."""

    id: int
    annotator: int | None
    seconds: int | None
    spans: tuple[FactSpan, ...]


@dataclass(frozen=True)
class LabelledDocument:
    number: int
    document: Document
    labels: tuple[Labels, ...]


def exported_documents(campaign: Campaign, layer: str) -> QuerySet[CampaignDocument]:
    """Finished documents for gold; for annotations, those that all annotators have submitted."""
    documents = CampaignDocument.objects.filter(campaign=campaign)
    if layer == Layer.GOLD:
        return documents.in_work().filter(stage=CampaignDocument.Stage.GOLD)
    return documents.settled()


def labelled_documents(campaign: Campaign, layer: str) -> Iterator[LabelledDocument]:
    """The documents of a layer by name, with content and labels.

    Loads a few at a time, so that memory does not grow with the campaign.
    """
    rows = exported_documents(campaign, layer).order_by("document__name")
    keys = list(rows.values_list("pk", "document"))
    for first in range(0, len(keys), AT_ONCE):
        batch = dict(keys[first : first + AT_ONCE])
        labels = _gold([*batch]) if layer == Layer.GOLD else _work([*batch])
        documents = Document.objects.select_related("content").in_bulk(batch.values())
        for number, (pk, document) in enumerate(batch.items(), start=first + 1):
            yield LabelledDocument(number, documents[document], tuple(labels[pk]))


def _gold(documents: Sequence[int]) -> dict[int, list[Labels]]:
    """Gold by document. Its spans have no keys, so the offset makes one that never changes."""
    spans: dict[int, list[FactSpan]] = defaultdict(list)
    rows = GoldSpan.objects.filter(campaign_document__in=documents).order_by("start")
    for document, *values in rows.values_list("campaign_document", *FACT):
        spans[document].append(FactSpan(f"g{values[1]}", *values))
    return {
        document: [Labels(document, None, None, tuple(spans[document]))] for document in documents
    }


def _work(documents: Sequence[int]) -> dict[int, list[Labels]]:
    work = Assignment.objects.filter(campaign_document__in=documents).submitted().order_by("id")
    spans: dict[int, list[FactSpan]] = defaultdict(list)
    rows = Span.objects.filter(assignment__in=work).order_by("start")
    for assignment, *values in rows.values_list("assignment", "key", *FACT):
        spans[assignment].append(FactSpan(*values))
    by_document: dict[int, list[Labels]] = defaultdict(list)
    for row in work:
        mine = tuple(spans[row.pk])
        labels = Labels(row.pk, row.annotator_id, row.active_seconds, mine)
        by_document[row.campaign_document_id].append(labels)
    return by_document


IN_MEMORY = 4 * 1024 * 1024
Row = dict[str, Any]
Stage = CampaignDocument.Stage


def campaign_archive(campaign: Campaign, *, emails: bool) -> Iterator[bytes]:
    """The archive's bytes in chunks; with `emails`, another site can find the people.

    The archive is complete before the first chunk, so that it shows a single point in time.
    """
    with tempfile.SpooledTemporaryFile(max_size=IN_MEMORY) as file:
        with _one_moment():
            _write(file, Campaign.objects.get(pk=campaign.pk), emails)
        file.seek(0)
        while piece := file.read(DRAIN_AT):
            yield piece


@contextmanager
def _one_moment() -> Iterator[None]:
    """A transaction in which all queries see the same state of the database."""
    is_outermost = not connection.in_atomic_block
    with transaction.atomic():
        if is_outermost and connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield


def _write(file: IO[bytes], campaign: Campaign, emails: bool) -> None:
    sink = ZipSink()
    writer = ZipWriter(sink)
    lines = _Lines(campaign)
    for kind in formats.KINDS:
        for _ in writer.adding(f"{kind.file}.jsonl", map(_line, lines.of(kind))):
            file.writelines(sink.drain(DRAIN_AT))
    writer.add(f"{formats.PEOPLE}.jsonl", b"".join(map(_line, lines.people(emails=emails))))
    head = {
        "format": formats.FORMAT,
        "version": formats.VERSION,
        "slug": campaign.slug,
        "title": campaign.title,
        "dataset": campaign.dataset.slug,
        "settings": {name: getattr(campaign, name) for name in formats.SETTINGS},
        "withheld": lines.withheld,
        "files": writer.files,
    }
    writer.add(formats.HEAD, (json.dumps(head, ensure_ascii=False, indent=1) + "\n").encode())
    writer.close()
    file.writelines(sink.drain(0))


def _line(row: Mapping[str, Any]) -> bytes:
    return (json.dumps(row, ensure_ascii=False) + "\n").encode()


def open_documents(campaign: Campaign) -> QuerySet[CampaignDocument]:
    """The documents whose labels all their annotators have submitted.

    Qualification pages are never settled, and excluded ones not always. They count if every
    annotator has submitted.
    """
    unfinished = (
        Assignment.objects.filter(campaign_document__campaign=campaign)
        .active()
        .exclude(state=Assignment.State.SUBMITTED)
        .values("campaign_document")
    )
    qualification = Q(purpose=CampaignDocument.Purpose.QUALIFICATION)
    return CampaignDocument.objects.filter(campaign=campaign).filter(
        Q(stage__in=CampaignDocument.SETTLED) & ~qualification
        | (qualification | Q(stage=Stage.EXCLUDED)) & ~Q(pk__in=unfinished)
    )


class _Lines:
    """The rows of each kind, with numbers instead of keys and pseudonyms instead of people."""

    def __init__(self, campaign: Campaign) -> None:
        self._campaign = campaign
        self._open = set(open_documents(campaign).values_list("pk", flat=True))
        self._numbers: dict[str, dict[int, int]] = {file: {} for file in formats.NUMBERED}
        # The faults of documents refer to assignments, which follow later.
        work = Assignment.objects.filter(campaign_document__campaign=campaign).order_by("pk")
        pks = work.values_list("pk", flat=True)
        self._numbers["assignments"] = {pk: number for number, pk in enumerate(pks, start=1)}
        self._people: set[int] = set()

    @property
    def withheld(self) -> int:
        """The number of documents whose work is not exported."""
        documents = CampaignDocument.objects.filter(campaign=self._campaign)
        return documents.exclude(pk__in=self._open).exclude(assignments=None).count()

    def people(self, *, emails: bool) -> Iterator[Row]:
        """Everyone referred to so far, by pseudonym."""
        people = User.objects.in_bulk(self._people).values()
        for user in sorted(people, key=lambda user: pseudonym(user.pk)):
            row = {"person": pseudonym(user.pk), "name": display_name(user)}
            yield row | ({"email": user.email} if emails else {})

    def of(self, kind: formats.Kind) -> Iterator[Row]:
        for number, values in enumerate(self._stored(kind), start=1):
            pk, document = values.pop("pk"), values.pop("_document", None)
            row = self._translated(kind, values)
            if kind.file in formats.NUMBERED:
                self._numbers[kind.file][pk] = number
                row = {"id": number} | row
            if kind.file in {"documents", "assignments"}:
                row = self._veiled(kind, row, is_open=(document or pk) in self._open)
            yield row

    def _stored(self, kind: formats.Kind) -> Iterable[Row]:
        """The rows by primary key, without the labels of unsettled documents."""
        model = apps.get_model("annotation", kind.model)
        rows = model._base_manager.filter(**{kind.owner: self._campaign}).order_by("pk")
        if kind.document:
            # A subquery, because a list of keys may be too long for a statement.
            rows = rows.filter(**{f"{kind.document}__in": open_documents(self._campaign)})
        if "assignment" in kind.refs:
            rows = rows.exclude(assignment__state=Assignment.State.WITHDRAWN)
        extra: dict[str, Any] = {}
        if kind.file == "documents":
            extra = {"name": F("document__name"), "text_sha256": F("document__text_sha256")}
        elif kind.file == "assignments":
            extra = {"_document": F("campaign_document")}
        stored: Iterable[Row] = rows.values("pk", *kind.keys, **extra).iterator(chunk_size=2000)
        return stored

    def _translated(self, kind: formats.Kind, values: Row) -> Row:
        row = dict(values)
        for name, target in kind.refs.items():
            row[name] = self._numbers[target].get(values[name])
        for name in kind.people:
            row[name] = self._person(values[name])
        for name in (*kind.fields, *kind.times):
            if isinstance(values[name], datetime):
                row[name] = values[name].isoformat()
        for name in formats.NAMING_ASSIGNMENTS.get(kind.file, ()):
            row[name] = self._renamed(values[name])
        return row

    def _person(self, pk: int | None) -> str | None:
        if pk is None:
            return None
        self._people.add(pk)
        return pseudonym(pk)

    def _renamed(self, entries: Iterable[Row]) -> list[Row]:
        """JSON entries with the numbers of assignments instead of their keys."""
        numbers = self._numbers["assignments"]
        return [entry | {"assignment": numbers.get(entry["assignment"])} for entry in entries]

    def _veiled(self, kind: formats.Kind, row: Row, *, is_open: bool) -> Row:
        withdrawn = row.get("state") == Assignment.State.WITHDRAWN
        if kind.file == "documents":
            return row if is_open else row | {"faults": []}
        if is_open and not withdrawn:
            return row
        state = Assignment.State.WITHDRAWN if withdrawn else Assignment.State.ASSIGNED
        return row | formats.UNTOUCHED | {"state": str(state)}


Form = CampaignImport.Form
# File name suffix and media type by form.
FILES = {
    Form.LABEL_STUDIO: ("labelstudio.json", "application/json"),
    Form.TAGS: ("tags.zip", "application/zip"),
    Form.JSONL: ("jsonl", "application/x-ndjson"),
    Form.FULL: ("campaign.zip", "application/zip"),
}
# Display names of the forms.
FORM_WORDS = [
    (Form.LABEL_STUDIO.value, "Label Studio JSON"),
    (Form.JSONL.value, "JSON Lines with offsets"),
    (Form.TAGS.value, "HTML with inline tags (ZIP)"),
    (Form.FULL.value, "The whole campaign (ZIP)"),
]


@dataclass(frozen=True)
class CampaignFile:
    """A file that is generated while it is sent."""

    name: str
    media_type: str
    content: Iterator[bytes]


def export_state(campaign: Campaign) -> dict[str, int]:
    """The numbers of documents in the campaign and in each export, and of gold facts."""
    gold = exported_documents(campaign, Layer.GOLD)
    return {
        "documents": CampaignDocument.objects.filter(campaign=campaign).count(),
        "settled": exported_documents(campaign, Layer.ANNOTATIONS).count(),
        "gold": gold.count(),
        "facts": gold.aggregate(facts=Count("gold_spans"))["facts"],
    }


def campaign_file(
    campaign: Campaign, form: str, layer: str, *, emails: bool = False
) -> CampaignFile:
    """The export in one form. A whole campaign ignores `layer`; other forms ignore `emails`."""
    suffix, media_type = FILES[Form(form)]
    if form == Form.FULL:
        return CampaignFile(
            f"{campaign.slug}.{suffix}", media_type, campaign_archive(campaign, emails=emails)
        )
    documents = labelled_documents(campaign, layer)
    content = {Form.LABEL_STUDIO: _label_studio, Form.TAGS: _tagged_pages, Form.JSONL: _json_lines}[
        Form(form)
    ](campaign, documents)
    return CampaignFile(f"{campaign.slug}.{layer}.{suffix}", media_type, content)


def _label_studio(campaign: Campaign, documents: Iterable[LabelledDocument]) -> Iterator[bytes]:
    people = annotator_numbers(campaign)
    separator = "[\n"
    for item in documents:
        document = item.document
        mine = [labels.annotator for labels in item.labels if labels.annotator is not None]
        data = {
            "name": document.name,
            "text_sha256": document.text_sha256,
            "annotators": {str(people[pk]): pseudonym(pk) for pk in mine},
        }
        labelled = [
            LabelledBy(
                labels.id,
                people[labels.annotator] if labels.annotator is not None else None,
                labels.spans,
                labels.seconds,
                is_gold=labels.annotator is None,
            )
            for labels in item.labels
        ]
        task = write_task(item.number, data, document.content.html, labelled)
        yield f"{separator}{json.dumps(task, ensure_ascii=False)}".encode()
        separator = ",\n"
    yield b"[]\n" if separator == "[\n" else b"\n]\n"


def annotator_numbers(campaign: Campaign) -> dict[int, int]:
    """A number from 1 for everyone with work in the campaign, in the order of their accounts."""
    work = Assignment.objects.filter(campaign_document__campaign=campaign)
    pks = work.order_by("annotator").values_list("annotator", flat=True).distinct()
    return {pk: number for number, pk in enumerate(pks, start=1)}


def _tagged_pages(_campaign: Campaign, documents: Iterable[LabelledDocument]) -> Iterator[bytes]:
    """A ZIP archive with `gold/NAME.html`, or with a folder for each annotator."""
    sink = ZipSink()
    writer = ZipWriter(sink)
    for item in documents:
        for labels in item.labels:
            folder = "gold" if labels.annotator is None else pseudonym(labels.annotator)
            spans = [TextSpan(span.start, span.end, span.label) for span in labels.spans]
            page = write_tags(item.document.content.html, spans)
            writer.add(f"{folder}/{item.document.name}.html", page.encode())
            yield from sink.drain(DRAIN_AT)
    writer.close()
    yield from sink.drain(0)


def _json_lines(_campaign: Campaign, documents: Iterable[LabelledDocument]) -> Iterator[bytes]:
    for item in documents:
        for labels in item.labels:
            line = write_document_line(
                item.document.name,
                item.document.text_sha256,
                labels.spans,
                "" if labels.annotator is None else pseudonym(labels.annotator),
            )
            yield f"{line}\n".encode()


IMPORTS_SHOWN = 20


def import_group(campaign_import: CampaignImport) -> str:
    """The group of the import's job, to look up its progress."""
    return f"campaign-import-{campaign_import.pk}"


def latest_imports(campaign: Campaign) -> list[Any]:
    """The newest imports with `percent`, the share read so far. One extra query for each unfinished
    one.
    """
    imports: list[Any] = list(
        campaign.imports.select_related("created_by", "annotator")[:IMPORTS_SHOWN]
    )
    for row in imports:
        row.percent = _percent(row)
    return imports


def _percent(campaign_import: CampaignImport) -> int:
    if campaign_import.is_finished:
        return 100
    progress = group_progress(import_group(campaign_import))
    return 100 * progress.done // progress.total if progress.total else 0
