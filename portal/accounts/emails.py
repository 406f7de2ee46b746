"""Sending emails, and confirmation of email addresses.

Emails are sent by jobs, so that a slow mail server does not delay requests.
"""

from typing import Any, NamedTuple

from django.conf import settings
from django.core.mail import send_mail
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.crypto import salted_hmac

from .models import User

_BACKENDS = "django.core.mail.backends."


class EmailRoute(NamedTuple):
    """Whether this site sends email, and where unsent emails are stored."""

    is_sent: bool
    kept_in: str = ""


_KEPT = {
    f"{_BACKENDS}console.EmailBackend": EmailRoute(False, "the server’s log"),
    f"{_BACKENDS}filebased.EmailBackend": EmailRoute(False, "a folder on the server"),
    f"{_BACKENDS}dummy.EmailBackend": EmailRoute(False),
}


def email_route() -> EmailRoute:
    """Return the route set by EMAIL_URL. By default emails are printed, not sent."""
    return _KEPT.get(settings.EMAIL_BACKEND, EmailRoute(True))


def send_email(
    *, to: str, subject: str, template: str, origin: str, context: dict[str, Any]
) -> None:
    """Send a plain-text email.

    `template` extends `accounts/emails/base.txt`; links start with `origin`. Exceptions of the
    mail server are not caught: the calling job retries.
    """
    # Titles and names may contain line breaks; subjects may not.
    one_line = " ".join(f"[{settings.SITE_NAME}] {subject}".split())
    text = render_to_string(template, {"origin": origin, "site": settings.SITE_NAME} | context)
    send_mail(one_line, text.strip() + "\n", settings.DEFAULT_FROM_EMAIL, [to])


def how_to_confirm() -> str:
    """Explain in sentences how to confirm the email address."""
    if not email_route().is_sent:
        return "This site does not send email. Ask the operator for the confirmation link."
    return (
        "Open the link in the email that we sent you. You can request it again under Account, "
        "Email (POST /api/v1/account/confirmation/)."
    )


def is_email_confirmed(user: User) -> bool:
    """Always true if the site requires no confirmation. At most one query."""
    # Loaded here, as in `invitations.selectors.accounts_of`.
    from allauth.account.models import EmailAddress

    if settings.ACCOUNT_EMAIL_VERIFICATION == "none":
        return True
    addresses = EmailAddress.objects.filter(user=user, email__iexact=user.email, verified=True)
    return bool(addresses.exists())


# Mail services that ignore dots in front of the @.
_DOTLESS = {"gmail.com", "googlemail.com"}


def person_key(user: User) -> str:
    """A keyed hash of the mailbox behind the user's email address, 64 hexadecimal digits.

    It recognises a person whose account was deleted, without keeping the email address. Spellings
    that reach the same mailbox have the same key: `Ann+2@example.org` and `ann@example.org`.
    """
    name, _, domain = user.email.lower().rpartition("@")
    name = name.partition("+")[0]
    if domain in _DOTLESS:
        name = name.replace(".", "")
    return salted_hmac("portal.accounts.person", f"{name}@{domain}", algorithm="sha256").hexdigest()


def mark_confirmed(user: User) -> None:
    """Confirm the email address directly, as for sample accounts."""
    from allauth.account.models import EmailAddress

    EmailAddress.objects.update_or_create(
        user=user, email=user.email.lower(), defaults={"verified": True, "primary": True}
    )


def send_confirmation(request: HttpRequest, user: User) -> bool:
    """Resend the confirmation email. Returns False if one was sent very recently."""
    from allauth.account.internal.flows.email_verification import send_verification_email_for_user

    return bool(send_verification_email_for_user(request, user))


def origin_of(request: HttpRequest) -> str:
    """Return scheme and host, checked against ALLOWED_HOSTS, for links in emails."""
    return f"{request.scheme}://{request.get_host()}"
