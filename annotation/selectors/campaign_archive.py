"""A whole campaign as an archive, see `annotation.archive_format`.

Work that not everybody has submitted stays behind: of its documents the archive has who labels
them, and nothing of what they did.
"""

import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import IO, Any

from django.apps import apps
from django.db import connection, transaction
from django.db.models import F, Q, QuerySet

from annotation.archive_format import (
    FORMAT,
    HEAD,
    KINDS,
    NAMING_ASSIGNMENTS,
    NUMBERED,
    PEOPLE,
    SETTINGS,
    UNTOUCHED,
    VERSION,
    Kind,
)
from annotation.models import Assignment, Campaign, CampaignDocument
from annotation.pseudonyms import pseudonym
from portal.accounts.models import User, display_name
from portal.files.archives import DRAIN_AT, ZipSink, ZipWriter

IN_MEMORY = 4 * 1024 * 1024
Row = dict[str, Any]
Stage = CampaignDocument.Stage


def campaign_archive(campaign: Campaign, *, emails: bool) -> Iterator[bytes]:
    """The archive's bytes, in pieces; with `emails` it names people for another site to find.

    It is written whole before the first piece is given, so that it is of one moment.
    """
    with tempfile.SpooledTemporaryFile(max_size=IN_MEMORY) as file:
        with _one_moment():
            _write(file, Campaign.objects.get(pk=campaign.pk), emails)
        file.seek(0)
        while piece := file.read(DRAIN_AT):
            yield piece


@contextmanager
def _one_moment() -> Iterator[None]:
    """A transaction in which all queries see the same state, whatever is saved meanwhile."""
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
    for kind in KINDS:
        for _ in writer.adding(f"{kind.file}.jsonl", map(_line, lines.of(kind))):
            file.writelines(sink.drain(DRAIN_AT))
    writer.add(f"{PEOPLE}.jsonl", b"".join(map(_line, lines.people(emails=emails))))
    head = {
        "format": FORMAT,
        "version": VERSION,
        "slug": campaign.slug,
        "title": campaign.title,
        "dataset": campaign.dataset.slug,
        "settings": {name: getattr(campaign, name) for name in SETTINGS},
        "withheld": lines.withheld,
        "files": writer.files,
    }
    writer.add(HEAD, (json.dumps(head, ensure_ascii=False, indent=1) + "\n").encode())
    writer.close()
    file.writelines(sink.drain(0))


def _line(row: Mapping[str, Any]) -> bytes:
    return (json.dumps(row, ensure_ascii=False) + "\n").encode()


def open_documents(campaign: Campaign) -> QuerySet[CampaignDocument]:
    """The documents whose labels everybody concerned has submitted.

    A qualification page is never settled, and an excluded one not always: there every annotator
    must have submitted.
    """
    unfinished = (
        Assignment.objects.filter(campaign_document__campaign=campaign)
        .standing()
        .exclude(state=Assignment.State.SUBMITTED)
        .values("campaign_document")
    )
    qualification = Q(purpose=CampaignDocument.Purpose.QUALIFICATION)
    return CampaignDocument.objects.filter(campaign=campaign).filter(
        Q(stage__in=CampaignDocument.SETTLED) & ~qualification
        | (qualification | Q(stage=Stage.EXCLUDED)) & ~Q(pk__in=unfinished)
    )


class _Lines:
    """The rows of every kind with numbers in place of keys, and pseudonyms in place of people."""

    def __init__(self, campaign: Campaign) -> None:
        self._campaign = campaign
        self._open = set(open_documents(campaign).values_list("pk", flat=True))
        self._numbers: dict[str, dict[int, int]] = {file: {} for file in NUMBERED}
        # The faults of documents name assignments, which come after them.
        work = Assignment.objects.filter(campaign_document__campaign=campaign).order_by("pk")
        pks = work.values_list("pk", flat=True)
        self._numbers["assignments"] = {pk: number for number, pk in enumerate(pks, start=1)}
        self._people: set[int] = set()

    @property
    def withheld(self) -> int:
        """How many documents have work that stays behind."""
        documents = CampaignDocument.objects.filter(campaign=self._campaign)
        return documents.exclude(pk__in=self._open).exclude(assignments=None).count()

    def people(self, *, emails: bool) -> Iterator[Row]:
        """Everybody who has been named, in the order of their pseudonyms."""
        people = User.objects.in_bulk(self._people).values()
        for user in sorted(people, key=lambda user: pseudonym(user.pk)):
            row = {"person": pseudonym(user.pk), "name": display_name(user)}
            yield row | ({"email": user.email} if emails else {})

    def of(self, kind: Kind) -> Iterator[Row]:
        for number, values in enumerate(self._stored(kind), start=1):
            pk, document = values.pop("pk"), values.pop("_document", None)
            row = self._translated(kind, values)
            if kind.file in NUMBERED:
                self._numbers[kind.file][pk] = number
                row = {"id": number} | row
            if kind.file in {"documents", "assignments"}:
                row = self._veiled(kind, row, is_open=(document or pk) in self._open)
            yield row

    def _stored(self, kind: Kind) -> Iterable[Row]:
        """The rows in the order they were made, without those of documents not yet open."""
        model = apps.get_model("annotation", kind.model)
        rows = model._base_manager.filter(**{kind.owner: self._campaign}).order_by("pk")
        if kind.document:
            # A set of keys may be too large for one statement, a query is not.
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

    def _translated(self, kind: Kind, values: Row) -> Row:
        row = dict(values)
        for name, target in kind.refs.items():
            row[name] = self._numbers[target].get(values[name])
        for name in kind.people:
            row[name] = self._person(values[name])
        for name in (*kind.fields, *kind.times):
            if isinstance(values[name], datetime):
                row[name] = values[name].isoformat()
        for name in NAMING_ASSIGNMENTS.get(kind.file, ()):
            row[name] = self._renamed(values[name])
        return row

    def _person(self, pk: int | None) -> str | None:
        if pk is None:
            return None
        self._people.add(pk)
        return pseudonym(pk)

    def _renamed(self, entries: Iterable[Row]) -> list[Row]:
        """JSON that names assignments by key, with their numbers."""
        numbers = self._numbers["assignments"]
        return [entry | {"assignment": numbers.get(entry["assignment"])} for entry in entries]

    def _veiled(self, kind: Kind, row: Row, *, is_open: bool) -> Row:
        withdrawn = row.get("state") == Assignment.State.WITHDRAWN
        if kind.file == "documents":
            return row if is_open else row | {"faults": []}
        if is_open and not withdrawn:
            return row
        state = Assignment.State.WITHDRAWN if withdrawn else Assignment.State.ASSIGNED
        return row | UNTOUCHED | {"state": str(state)}
