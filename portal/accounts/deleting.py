"""Deleting an account, in two steps.

At once, in one transaction: roles are given up, work is handed over, and everything that says who
it was goes. What is left is a row without a name, because labels, gold and published results point
at it. Afterwards a job deletes what may take long, and the row itself if nothing points at it.
"""

from functools import partial

from django.db import transaction
from django.db.models import ProtectedError, RestrictedError
from django.utils import timezone

from portal.audit.models import record_event
from portal.jobs.services import enqueue

from .account_data import AccountKept, fate_of, sources
from .exporting import drop_file
from .invitations import unanswered
from .models import Invitation, User, is_former
from .models.people import DELETED_DOMAIN
from .own_data import addresses_of, invitations_to, wipe_traces

ERASE_KIND = "erase_account"


@transaction.atomic
def delete_account(*, user: User) -> None:
    """Raises AccountKept, with nothing done, where something has to be settled first."""
    user = _locked(user)
    prevents = fate_of(user).prevents
    if prevents:
        raise AccountKept(" ".join(prevents))
    for source in sources():
        source.let_go(user)
    # Neither name nor address: the log is kept for ever.
    record_event(verb="delete_account", subject=user, actor=user)
    _make_anonymous(user)
    enqueue(kind=ERASE_KIND, payload={"user": user.pk})


def _locked(user: User) -> User:
    """Of two organisers who delete their accounts at once the second sees that one is left."""
    if user.is_organiser:
        organisers = User.objects.select_for_update(no_key=True).filter(
            is_organiser=True, is_active=True
        )
        list(organisers.order_by("pk"))
    locked = User.objects.select_for_update(no_key=True).get(pk=user.pk)
    if is_former(locked):
        raise AccountKept("This account was deleted before.")
    return locked


def _make_anonymous(user: User) -> None:
    # Loaded here, as in `invitations.accounts_of`.
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
    """The second step; may run again. An account that was not deleted is left alone."""
    if not is_former(user):
        return
    for source in sources():
        source.erase(user)
    try:
        with transaction.atomic():
            user.delete()
    except (ProtectedError, RestrictedError):
        # Somebody's work still points at the row: it stays, without a name.
        return
