"""Emails that the site sends, and whether an account's address is known to be its owner's.

Jobs send them: a slow mail server blocks no page.
"""

from typing import Any, NamedTuple

from django.conf import settings
from django.core.mail import send_mail
from django.http import HttpRequest
from django.template.loader import render_to_string

from .models import User

_BACKENDS = "django.core.mail.backends."


class EmailRoute(NamedTuple):
    """Whether this site sends emails and, if it keeps them, where the operator finds them."""

    is_sent: bool
    kept_in: str = ""


_KEPT = {
    f"{_BACKENDS}console.EmailBackend": EmailRoute(False, "the server’s log"),
    f"{_BACKENDS}filebased.EmailBackend": EmailRoute(False, "a folder on the server"),
    f"{_BACKENDS}dummy.EmailBackend": EmailRoute(False),
}


def email_route() -> EmailRoute:
    """By EMAIL_URL. Without it emails are printed, and no one receives them."""
    return _KEPT.get(settings.EMAIL_BACKEND, EmailRoute(True))


def send_email(
    *, to: str, subject: str, template: str, origin: str, context: dict[str, Any]
) -> None:
    """Sends plain text. `template` extends `accounts/letters/base.txt`; `origin` heads its links.

    Raises what the mail server raises; the job tries again.
    """
    # A title or a name may hold line breaks, which no subject may.
    one_line = " ".join(f"[{settings.SITE_NAME}] {subject}".split())
    text = render_to_string(template, {"origin": origin, "site": settings.SITE_NAME} | context)
    send_mail(one_line, text.strip() + "\n", settings.DEFAULT_FROM_EMAIL, [to])


def is_email_confirmed(user: User) -> bool:
    """At most one query; where the site asks for no confirmation every address counts."""
    # Loaded here, as in `invitations.selectors.accounts_of`.
    from allauth.account.models import EmailAddress

    if settings.ACCOUNT_EMAIL_VERIFICATION == "none":
        return True
    addresses = EmailAddress.objects.filter(user=user, email__iexact=user.email, verified=True)
    return bool(addresses.exists())


def mark_confirmed(user: User) -> None:
    """For accounts that are made with a confirmed address, such as those of the sample."""
    from allauth.account.models import EmailAddress

    EmailAddress.objects.update_or_create(
        user=user, email=user.email.lower(), defaults={"verified": True, "primary": True}
    )


def send_confirmation(request: HttpRequest, user: User) -> bool:
    """Sends the email with the link again; False if one was sent a moment ago."""
    from allauth.account.internal.flows.email_verification import send_verification_email_for_user

    return bool(send_verification_email_for_user(request, user))


def origin_of(request: HttpRequest) -> str:
    """Scheme and host, checked against ALLOWED_HOSTS: what links in letters begin with."""
    return f"{request.scheme}://{request.get_host()}"
