"""Personal data: the registry of apps that store it, data exports, and account deletion.

Each app registers its own data source when it starts, because `portal.accounts` cannot import the
apps above it. An export is a ZIP file, created by a job and deleted after some days.

An account is deleted in two steps. First, one transaction gives up roles, hands over work and
removes everything that identifies the user. The row remains without a name, because labels, gold
and published results refer to it. Then a job deletes the remaining data, and the row itself if
nothing refers to it.
"""

import json
import re
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from shutil import copyfileobj
from typing import IO, Any, Protocol
from uuid import uuid4

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.core.files.base import File
from django.core.files.storage import default_storage
from django.core.serializers.json import DjangoJSONEncoder
from django.db import transaction
from django.db.models import Count, F, ProtectedError, Q, QuerySet, RestrictedError
from django.http import FileResponse, Http404
from django.shortcuts import get_object_or_404
from django.utils import timezone

from portal.accounts.invitations.selectors import invitation_state, unanswered
from portal.accounts.teams.services import TeamRefused, close_team, remove_from_team
from portal.audit.models import Event, record_event
from portal.jobs.models import Job
from portal.jobs.services import enqueue
from portal.web.refusals import Refused

from .access import is_only_organiser, lock_organisers
from .models import (
    DELETED_DOMAIN,
    FORMER_MEMBER,
    AccountExport,
    Invitation,
    TeamMember,
    User,
    is_former,
)


@dataclass(frozen=True)
class Table:
    """One file of the export: `name.jsonl`, with one JSON object per line."""

    name: str
    about: str
    """One sentence for the export's list of contents."""
    rows: Iterable[dict[str, Any]]
    """JSON values, dates or decimals. The iterable is read once."""


@dataclass(frozen=True)
class Upload:
    """A file that the user uploaded, unchanged."""

    name: str
    """A generated path inside the export."""
    file: IO[bytes]


@dataclass(frozen=True)
class Fate:
    """Sentences that explain what deleting the account does."""

    goes: list[str] = field(default_factory=list)
    stays: list[str] = field(default_factory=list)
    prevents: list[str] = field(default_factory=list)
    """Reasons why the account cannot be deleted yet, and what to do first."""


class DataSource(Protocol):
    """An app that stores personal data."""

    def tables(self, user: User) -> Iterator[Table]:
        """Return the user's own data, without other users' data or anything they may not read."""

    def uploads(self, user: User) -> Iterator[Upload]:
        """Open the uploads one by one; the caller closes each before requesting the next."""
        yield from ()

    def fate(self, user: User) -> Fate:
        """Describe what deleting the account would do, without changing anything."""

    def let_go(self, user: User) -> None:
        """Give up roles and hand over work, in the transaction that deletes the account.

        The user's permissions still apply here. Must be quick. Raises AccountKept to cancel the
        deletion.
        """

    def erase(self, user: User) -> None:
        """Delete the remaining data, in a job that follows the deletion.

        May be slow, and may run again after a crash, so it is not one transaction.
        """


class AccountKept(Refused):
    """The account cannot be deleted yet. The message is shown to the user."""


_sources: list[DataSource] = []


def register_account_data(source: DataSource) -> None:
    """Register an app's data source. Called once, from its AppConfig."""
    _sources.append(source)


def sources() -> list[DataSource]:
    return list(_sources)


def fate_of(user: User) -> Fate:
    parts = [source.fate(user) for source in _sources]
    return Fate(
        goes=[line for part in parts for line in part.goes],
        stays=[line for part in parts for line in part.stays],
        prevents=[line for part in parts for line in part.prevents],
    )


def counted(number: int, one: str, many: str = "") -> str:
    """Format a count with its noun, such as “1 document” or “3 documents”."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


_AT_ONCE = 500


def end_sessions(user: User, *, keep: str | None = None) -> int:
    """Log the account out of all sessions except `keep`. Returns how many were ended."""
    # Imported here because sessions are not installed in processes that only run jobs.
    from django.contrib.sessions.models import Session

    mine = [
        session.session_key
        for session in Session.objects.filter(expire_date__gt=timezone.now()).iterator(_AT_ONCE)
        if session.session_key != keep and session.get_decoded().get(SESSION_KEY) == str(user.pk)
    ]
    for start in range(0, len(mine), _AT_ONCE):
        Session.objects.filter(session_key__in=mine[start : start + _AT_ONCE]).delete()
    return len(mine)


class AccountsData(DataSource):
    def tables(self, user: User) -> Iterator[Table]:
        yield Table("profile", "Your account.", [_profile(user)])
        yield Table("addresses", "Your email addresses.", _addresses(user))
        yield Table("tokens", "Your API tokens, without their secrets.", _tokens(user))
        yield Table("teams", "The teams you are in.", _teams(user))
        yield Table(
            "invitations", "Invitations to you, and when you sent others.", _invitations(user)
        )
        yield Table("two_factor", "Your two-factor authentication methods.", _authenticators(user))
        yield Table("events", "Your actions in the event log.", _events(user))

    def fate(self, user: User) -> Fate:
        alone, only_owner, others = _sorted_teams(user)
        goes = [
            "Your name, affiliation, email addresses, password and two-factor settings.",
            "Your API tokens, sessions and data exports.",
        ]
        if others:
            goes.append(f"Your membership of {counted(len(others), 'team')}.")
        if alone:
            named = ", ".join(f"“{row.team}”" for row in alone)
            goes.append(f"Teams in which you are the only member: {named}. They will be closed.")
        prevents = [
            f"You are the only owner of the team “{row.team}”. Make another member an owner, or "
            "close the team."
            for row in only_owner
        ]
        if is_only_organiser(user):
            prevents.append(
                "You are the only organiser of this site. Make another user an organiser first."
            )
        stays = ["The event log."]
        return Fate(goes=goes, stays=stays, prevents=prevents)

    def let_go(self, user: User) -> None:
        alone, only_owner, others = _sorted_teams(user)
        try:
            for row in alone:
                close_team(team=row.team, actor=user)
            for row in [*only_owner, *others]:
                remove_from_team(member=row, actor=user)
        except TeamRefused as refusal:
            raise AccountKept(f"The team “{row.team}”: {refusal.message}") from refusal

    def erase(self, user: User) -> None:
        # The account is inactive, so these sessions are already logged out.
        end_sessions(user)


def _profile(user: User) -> dict[str, Any]:
    return {
        "email": user.email,
        "name": user.name,
        "affiliation": user.affiliation,
        "is_organiser": user.is_organiser,
        "joined": user.date_joined,
        "last_login": user.last_login,
        "terms_accepted": user.terms_accepted_at,
    }


def _addresses(user: User) -> Iterator[dict[str, Any]]:
    # Imported here, as in `invitations.selectors.accounts_of`.
    from allauth.account.models import EmailAddress

    for row in EmailAddress.objects.filter(user=user).order_by("pk"):
        yield {"email": row.email, "confirmed": row.verified, "primary": row.primary}


def _authenticators(user: User) -> Iterator[dict[str, Any]]:
    from allauth.mfa.models import Authenticator

    rows = Authenticator.objects.filter(user=user).order_by("pk")
    yield from rows.values(kind=F("type"), made=F("created_at"), last_used=F("last_used_at"))


def _tokens(user: User) -> Iterator[dict[str, Any]]:
    for token in user.api_tokens.order_by("pk"):
        yield {
            "name": token.name,
            "begins_with": token.prefix,
            "scope": token.scope,
            "made": token.created_at,
            "last_used": token.last_used_at,
            "expires": token.expires_at,
        }


def _teams(user: User) -> Iterator[dict[str, Any]]:
    for row in TeamMember.objects.filter(user=user).select_related("team").order_by("pk"):
        yield {"team": row.team.name, "role": row.role, "joined": row.joined_at}


def _invitations(user: User) -> Iterator[dict[str, Any]]:
    """Leaves out the email addresses of invited users: they are personal data of others."""
    for row in invitations_to(user).order_by("pk"):
        yield {
            "kind": "received",
            "email": row.email,
            "made": row.created_at,
            "state": invitation_state(row),
        }
    for row in Invitation.objects.filter(invited_by=user).order_by("pk").iterator():
        yield {"kind": "sent", "made": row.created_at, "state": invitation_state(row)}


def _events(user: User) -> Iterator[dict[str, Any]]:
    """Leaves out the event data, which may contain personal data of others."""
    events = Event.objects.filter(actor=user).order_by("pk")
    rows: Any = events.values("at", act=F("verb"), on=F("subject_type"), number=F("subject_id"))
    yield from rows.iterator()


def _sorted_teams(user: User) -> tuple[list[TeamMember], list[TeamMember], list[TeamMember]]:
    """Return memberships as the only member, as the only owner, and all others."""
    owners = Count("team__members", filter=Q(team__members__role=TeamMember.Role.OWNER))
    rows: Any = (
        TeamMember.objects.filter(user=user)
        .select_related("team")
        .annotate(size=Count("team__members"), owners=owners)
        .order_by("team_id")
    )
    alone = [row for row in rows if row.size == 1]
    only_owner = [row for row in rows if row.size > 1 and row.is_owner and row.owners == 1]
    return alone, only_owner, [row for row in rows if row not in [*alone, *only_owner]]


def addresses_of(user: User) -> set[str]:
    """The account's primary and secondary email addresses, in lower case."""
    from allauth.account.models import EmailAddress

    added = EmailAddress.objects.filter(user=user).values_list("email", flat=True)
    return {email.lower() for email in [user.email, *added]}


def invitations_to(user: User) -> QuerySet[Invitation]:
    wanted = Q(accepted_by=user)
    for email in addresses_of(user):
        wanted |= Q(email__iexact=email)
    return Invitation.objects.filter(wanted)


def wipe_traces(user: User, emails: set[str], placeholder: str) -> None:
    """Remove names and email addresses from the rows that are kept."""
    # Imported here, as in `invitations.selectors.accounts_of`.
    from django.contrib.admin.models import LogEntry

    AccountExport.objects.filter(user=user).delete()
    user.api_tokens.all().delete()
    user.groups.clear()
    user.user_permissions.clear()
    LogEntry.objects.filter(
        content_type__app_label="accounts", content_type__model="user", object_id=str(user.pk)
    ).update(object_repr=FORMER_MEMBER)
    # Error messages of mail servers quote the email address.
    for job in Job.objects.exclude(error=""):
        error = without(job.error, emails, placeholder)
        if error != job.error:
            Job.objects.filter(pk=job.pk).update(error=error)


def without(text: str, emails: set[str], placeholder: str) -> str:
    """Replace each of the email addresses in the text, ignoring case."""
    for email in emails:
        text = re.sub(re.escape(email), placeholder, text, flags=re.IGNORECASE)
    return text


KEPT_FOR = timedelta(days=7)
# Each export contains a copy of all the user's uploads.
EXPORTS_PER_DAY = 3
KIND, DROP_KIND = "export_account", "drop_account_export"
_COPY = 1024 * 1024


class ExportRefused(Refused):
    """The export is not created. The message is shown to the user."""


@transaction.atomic
def request_export(*, user: User) -> AccountExport:
    """Return the pending export, or request a new one. Raises ExportRefused."""
    # The lock serialises simultaneous requests.
    User.objects.select_for_update(no_key=True).get(pk=user.pk)
    waiting = user.data_exports.filter(state=AccountExport.State.WAITING).first()
    if waiting is not None:
        return waiting
    today = user.data_exports.filter(created_at__gt=timezone.now() - timedelta(days=1))
    if today.count() >= EXPORTS_PER_DAY:
        raise ExportRefused(
            f"You can request {EXPORTS_PER_DAY} exports a day. Download the latest one.",
            code="too_many",
        )
    export = AccountExport.objects.create(user=user, file=f"account-exports/{uuid4().hex}.zip")
    record_event(verb="request_export", subject=export, actor=user)
    enqueue(kind=KIND, payload={"export": export.pk}, group=export.job_group)
    return export


def store_export(export: AccountExport) -> int:
    """Write the file and return its size in bytes. A second run replaces the file."""
    with tempfile.TemporaryFile() as file:
        write_export(export.user, file)
        size = file.tell()
        file.seek(0)
        drop_file(export.path)
        default_storage.save(export.path, File(file))
    return size


def export_file(user: User, pk: int) -> FileResponse:
    """A response with a ready export of the user; 404 if there is none."""
    export = get_object_or_404(user.data_exports, pk=pk, state=AccountExport.State.READY)
    if not default_storage.exists(export.path):
        raise Http404("The file was deleted.")
    return FileResponse(
        export.file.open("rb"),
        as_attachment=True,
        filename=f"account-{export.created_at:%Y-%m-%d}.zip",
        content_type="application/zip",
    )


def drop_file(name: str) -> None:
    if default_storage.exists(name):
        default_storage.delete(name)


def write_export(user: User, file: IO[bytes]) -> None:
    """Write a ZIP with a list of contents, a JSON Lines file per table, and the uploads."""
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
        names.append(f"{upload.name}: A file you uploaded, unchanged.")
    return names


def _read_me(user: User, contents: list[str]) -> str:
    day = timezone.now().strftime("%Y-%m-%d")
    lines = [
        f"Data that {settings.SITE_NAME} stores about {user.email}, {day}.",
        "",
        "Each .jsonl file has one JSON object per line, in UTF-8. Times are UTC.",
        "",
        *contents,
    ]
    return "\n".join(lines) + "\n"


ERASE_KIND = "erase_account"


@transaction.atomic
def delete_account(*, user: User) -> None:
    """Raises AccountKept without changing anything if something prevents the deletion."""
    user = _locked(user)
    prevents = fate_of(user).prevents
    if prevents:
        raise AccountKept(" ".join(prevents))
    for source in sources():
        source.let_go(user)
    # No name and no email address, because the log is kept for ever.
    record_event(verb="delete_account", subject=user, actor=user)
    _make_anonymous(user)
    enqueue(kind=ERASE_KIND, payload={"user": user.pk})


def _locked(user: User) -> User:
    """Locked, so that two organisers cannot delete their accounts at the same time."""
    if user.is_organiser:
        lock_organisers()
    locked = User.objects.select_for_update(no_key=True).get(pk=user.pk)
    if is_former(locked):
        raise AccountKept("This account is already deleted.")
    return locked


def _make_anonymous(user: User) -> None:
    # Imported here, as in `invitations.selectors.accounts_of`.
    from allauth.account.models import EmailAddress
    from allauth.mfa.models import Authenticator

    placeholder = f"former-member-{user.pk}@{DELETED_DOMAIN}"
    for export in user.data_exports.all():
        transaction.on_commit(partial(drop_file, export.path))
    emails = addresses_of(user)
    addressed = list(invitations_to(user).values_list("pk", flat=True))
    unanswered().filter(pk__in=addressed).update(revoked_at=timezone.now())
    Invitation.objects.filter(pk__in=addressed).update(email=placeholder)
    wipe_traces(user, emails, placeholder)
    EmailAddress.objects.filter(user=user).delete()
    Authenticator.objects.filter(user=user).delete()
    user.email, user.name, user.affiliation = placeholder, "", ""
    user.is_active = user.is_staff = user.is_superuser = user.is_organiser = False
    user.last_login = user.terms_accepted_at = None
    user.set_unusable_password()
    user.save()


def erase_rest(user: User) -> None:
    """The second step of deletion. May run again; ignores accounts that are not deleted."""
    if not is_former(user):
        return
    for source in sources():
        source.erase(user)
    try:
        with transaction.atomic():
            user.delete()
    except (ProtectedError, RestrictedError):
        # Other rows still refer to the account: keep it, without a name.
        return
