"""Letters by e-mail, written from templates. Jobs send them: a slow mail server blocks no page."""

from typing import Any

from django.conf import settings
from django.core.mail import send_mail
from django.template.loader import render_to_string


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
