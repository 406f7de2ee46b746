"""Taking along what the site knows about oneself: a ZIP, made by a job, deleted after some days."""

import json
import tempfile
import zipfile
from collections.abc import Iterator
from datetime import timedelta
from shutil import copyfileobj
from typing import IO
from uuid import uuid4

from django.conf import settings
from django.core.files.base import File
from django.core.files.storage import default_storage
from django.core.serializers.json import DjangoJSONEncoder
from django.db import transaction
from django.utils import timezone

from portal.audit.models import record_event
from portal.jobs.services import enqueue

from .account_data import Table, Upload, sources
from .models import AccountExport, User

KEPT_FOR = timedelta(days=7)
# Enough for whoever wants the newest; each holds all uploads of the person once more.
EXPORTS_PER_DAY = 3
KIND, DROP_KIND = "export_account", "drop_account_export"
_COPY = 1024 * 1024


class ExportRefused(Exception):
    """Why no export is made now. The message is for people."""


@transaction.atomic
def request_export(*, user: User) -> AccountExport:
    """Orders one. A second click finds the one under way. Raises ExportRefused."""
    # Two tabs wait for each other here.
    User.objects.select_for_update(no_key=True).get(pk=user.pk)
    waiting = user.data_exports.filter(state=AccountExport.State.WAITING).first()
    if waiting is not None:
        return waiting
    today = user.data_exports.filter(created_at__gt=timezone.now() - timedelta(days=1))
    if today.count() >= EXPORTS_PER_DAY:
        raise ExportRefused(f"{EXPORTS_PER_DAY} exports a day are made at most. Take the newest.")
    export = AccountExport.objects.create(user=user, file=f"account-exports/{uuid4().hex}.zip")
    record_event(verb="request_export", subject=export, actor=user)
    enqueue(kind=KIND, payload={"export": export.pk}, group=export.job_group)
    return export


def store_export(export: AccountExport) -> int:
    """Writes the file and returns its size in bytes. A second run replaces the first's."""
    with tempfile.TemporaryFile() as file:
        write_export(export.user, file)
        size = file.tell()
        file.seek(0)
        drop_file(export.path)
        default_storage.save(export.path, File(file))
    return size


def drop_file(name: str) -> None:
    if default_storage.exists(name):
        default_storage.delete(name)


def write_export(user: User, file: IO[bytes]) -> None:
    """A ZIP with a list of contents, a file of JSON Lines for each table, and the uploads."""
    contents: list[str] = []
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for source in sources():
            for table in source.tables(user):
                with archive.open(f"{table.name}.jsonl", "w", force_zip64=True) as member:
                    count = _write_rows(table, member)
                contents.append(f"{table.name}.jsonl: {table.about} Lines: {count}.")
            contents += _write_uploads(archive, source.uploads(user))
        archive.writestr("README.txt", _read_me(user, contents))


def _write_rows(table: Table, member: IO[bytes]) -> int:
    count = 0
    for count, row in enumerate(table.rows, start=1):  # noqa: B007
        line = json.dumps(row, cls=DjangoJSONEncoder, ensure_ascii=False)
        member.write(line.encode() + b"\n")
    return count


def _write_uploads(archive: zipfile.ZipFile, uploads: Iterator[Upload]) -> list[str]:
    names = []
    for upload in uploads:
        with upload.file as source, archive.open(upload.name, "w", force_zip64=True) as member:
            copyfileobj(source, member, _COPY)
        names.append(f"{upload.name}: A file you uploaded, as it came.")
    return names


def _read_me(user: User, contents: list[str]) -> str:
    day = timezone.now().strftime("%Y-%m-%d")
    lines = [
        f"What {settings.SITE_NAME} knows about {user.email}, {day}.",
        "",
        "Each .jsonl file has one JSON object a line, in UTF-8. Times are UTC.",
        "",
        *contents,
    ]
    return "\n".join(lines) + "\n"
