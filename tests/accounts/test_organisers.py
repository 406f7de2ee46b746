"""`manage.py organiser`: gives and takes the role, with an event, and leaves a site one."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from portal.accounts.models import User
from portal.audit.models import Event

pytestmark = pytest.mark.django_db


def run(*arguments: str) -> str:
    out = StringIO()
    call_command("organiser", *arguments, stdout=out)
    return out.getvalue().strip()


def verbs() -> list[str]:
    return list(Event.objects.order_by("id").values_list("verb", flat=True))


def test_role_is_given_and_withdrawn(researcher: User, organiser: User) -> None:
    for _ in range(2):
        assert run(researcher.email.upper()) == f"{researcher.email} is an organiser"
        researcher.refresh_from_db()
        assert researcher.is_organiser
    for _ in range(2):
        assert run(researcher.email, "--withdraw").endswith("no longer an organiser")
        researcher.refresh_from_db()
        assert not researcher.is_organiser
    assert verbs() == ["make_organiser", "withdraw_organiser"]


def test_only_organiser_keeps_the_role(organiser: User) -> None:
    with pytest.raises(CommandError, match="only organiser"):
        run(organiser.email, "--withdraw")
    organiser.refresh_from_db()
    assert organiser.is_organiser
    assert verbs() == []


def test_unknown_and_deactivated_accounts_are_refused(researcher: User) -> None:
    with pytest.raises(CommandError, match="no account with the email address x@example"):
        run("x@example.org")
    User.objects.filter(pk=researcher.pk).update(is_active=False)
    with pytest.raises(CommandError, match="is deactivated"):
        run(researcher.email)
