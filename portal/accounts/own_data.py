"""What accounts themselves hold about a person: profile, tokens, teams, invitations, acts."""

import re
from collections.abc import Iterator
from typing import Any

from django.db.models import Count, Q, QuerySet

from portal.audit.models import Event
from portal.jobs.models import Job

from .account_data import AccountKept, Fate, Table, Upload, counted
from .invitations import invitation_state
from .models import FORMER_MEMBER, AccountExport, Invitation, TeamMember, User
from .session_ending import end_sessions
from .teams.services import TeamRefused, close_team, remove_from_team


class AccountsData:
    def tables(self, user: User) -> Iterator[Table]:
        yield Table("profile", "Your account.", [_profile(user)])
        yield Table("addresses", "Your e-mail addresses.", _addresses(user))
        yield Table("tokens", "Your API tokens; their secrets are not kept.", _tokens(user))
        yield Table("teams", "The teams you are in.", _teams(user))
        yield Table("invitations", "Invitations to you, and when you sent others.", _letters(user))
        yield Table("two_factor", "How you log in besides the password.", _authenticators(user))
        yield Table("events", "What the log says you did, and when.", _events(user))

    def uploads(self, user: User) -> Iterator[Upload]:
        yield from ()

    def fate(self, user: User) -> Fate:
        alone, only_owner, others = _sorted_teams(user)
        goes = [
            "Your name, affiliation, e-mail addresses, password and two-factor log-in.",
            "Your API tokens, sessions and exports.",
        ]
        if others:
            goes.append(f"Your place in {counted(len(others), 'team')}.")
        if alone:
            named = ", ".join(f"“{row.team}”" for row in alone)
            goes.append(f"Teams of which you are the only member, which are closed: {named}.")
        prevents = [
            f"You are the only owner of the team “{row.team}”: make another member owner, or close "
            "it."
            for row in only_owner
        ]
        if is_only_organiser(user):
            prevents.append(
                "You are the only organiser of this site: somebody else has to become one first."
            )
        stays = ["The log of what was done when, without your name."]
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
        # Logged out they are already, since the account is switched off.
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
    # Loaded here, as in `invitations.accounts_of`.
    from allauth.account.models import EmailAddress

    for row in EmailAddress.objects.filter(user=user).order_by("pk"):
        yield {"email": row.email, "confirmed": row.verified, "primary": row.primary}


def _authenticators(user: User) -> Iterator[dict[str, Any]]:
    from allauth.mfa.models import Authenticator

    for row in Authenticator.objects.filter(user=user).order_by("pk"):
        yield {"kind": row.type, "made": row.created_at, "last_used": row.last_used_at}


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


def _letters(user: User) -> Iterator[dict[str, Any]]:
    """Whom one has invited is told to nobody else: their addresses are theirs."""
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
    """Without what the log notes beside the act, which may tell of others."""
    for event in Event.objects.filter(actor=user).order_by("pk").iterator():
        yield {
            "at": event.at,
            "act": event.verb,
            "on": event.subject_type,
            "number": event.subject_id,
        }


def _sorted_teams(user: User) -> tuple[list[TeamMember], list[TeamMember], list[TeamMember]]:
    """Memberships in teams without anybody else, in those without another owner, and the rest."""
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


def is_only_organiser(user: User) -> bool:
    others = User.objects.filter(is_organiser=True, is_active=True).exclude(pk=user.pk)
    return user.is_organiser and not others.exists()


def addresses_of(user: User) -> set[str]:
    """In lower case: the account's own, and those that were added to it."""
    from allauth.account.models import EmailAddress

    added = EmailAddress.objects.filter(user=user).values_list("email", flat=True)
    return {email.lower() for email in [user.email, *added]}


def invitations_to(user: User) -> QuerySet[Invitation]:
    wanted = Q(accepted_by=user)
    for email in addresses_of(user):
        wanted |= Q(email__iexact=email)
    return Invitation.objects.filter(wanted)


def wipe_traces(user: User, emails: set[str], placeholder: str) -> None:
    """Takes names and addresses out of rows of accounts that are kept."""
    # Loaded here, as in `invitations.accounts_of`.
    from django.contrib.admin.models import LogEntry

    AccountExport.objects.filter(user=user).delete()
    user.api_tokens.all().delete()
    user.groups.clear()
    user.user_permissions.clear()
    LogEntry.objects.filter(
        content_type__app_label="accounts", content_type__model="user", object_id=str(user.pk)
    ).update(object_repr=FORMER_MEMBER)
    # A mail server's refusal quotes the address.
    for job in Job.objects.exclude(error=""):
        error = without(job.error, emails, placeholder)
        if error != job.error:
            Job.objects.filter(pk=job.pk).update(error=error)


def without(text: str, emails: set[str], placeholder: str) -> str:
    """The text with each of the addresses replaced, in any case."""
    for email in emails:
        text = re.sub(re.escape(email), placeholder, text, flags=re.IGNORECASE)
    return text
