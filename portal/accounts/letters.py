"""Letters by e-mail, written from templates. Jobs send them: a slow mail server blocks no page."""

from typing import Any, NamedTuple

from django.conf import settings
from django.core.mail import send_mail
from django.template.loader import render_to_string

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


def send_letter(
    *, to: str, subject: str, template: str, origin: str, context: dict[str, Any]
) -> None:
    """Sends plain text. `template` extends `accounts/letters/base.txt`; `origin` heads its links.

    Raises what the mail server raises; the job tries again.
    """
    # A title or a name may hold line breaks, which no subject may.
    one_line = " ".join(f"[{settings.SITE_NAME}] {subject}".split())
    text = render_to_string(template, {"origin": origin, "site": settings.SITE_NAME} | context)
    send_mail(one_line, text.strip() + "\n", settings.DEFAULT_FROM_EMAIL, [to])
