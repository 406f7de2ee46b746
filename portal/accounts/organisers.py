"""Who is an organiser. A site always keeps one."""

from django.db import transaction

from portal.audit.models import record_event
from portal.web.refusals import Refused

from .models import User


def is_only_organiser(user: User) -> bool:
    others = User.objects.filter(is_organiser=True, is_active=True).exclude(pk=user.pk)
    return user.is_organiser and not others.exists()


def lock_organisers() -> None:
    """Until the transaction ends, so that two organisers cannot both stop being one."""
    organisers = User.objects.select_for_update(no_key=True).filter(
        is_organiser=True, is_active=True
    )
    list(organisers.order_by("pk"))


@transaction.atomic
def make_organiser(*, user: User) -> None:
    """Give the account the role. A second time changes nothing."""
    user = User.objects.select_for_update(no_key=True).get(pk=user.pk)
    if user.is_organiser:
        return
    if not user.is_active:
        raise Refused(f"The account {user.email} is deactivated.")
    user.is_organiser = True
    user.save(update_fields=["is_organiser"])
    record_event(verb="make_organiser", subject=user)


@transaction.atomic
def withdraw_organiser(*, user: User) -> None:
    """Take the role from the account. Raises Refused for the only organiser."""
    lock_organisers()
    user = User.objects.select_for_update(no_key=True).get(pk=user.pk)
    if is_only_organiser(user):
        raise Refused("This is the only organiser of the site. Appoint another one first.")
    if not user.is_organiser:
        return
    user.is_organiser = False
    user.save(update_fields=["is_organiser"])
    record_event(verb="withdraw_organiser", subject=user)
