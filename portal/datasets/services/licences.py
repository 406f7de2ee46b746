"""Accepting the licence of a release."""

from django.db import transaction

from portal.accounts.models import User
from portal.audit.models import record_event
from portal.datasets.models import LicenceAcceptance, Release


@transaction.atomic
def accept_licence(*, release: Release, actor: User) -> LicenceAcceptance:
    """Keeps that somebody accepted the licence; a second time changes nothing."""
    acceptance, is_new = LicenceAcceptance.objects.get_or_create(release=release, user=actor)
    if is_new:
        record_event(verb="accept_licence", subject=release, actor=actor, licence=release.licence)
    return acceptance
