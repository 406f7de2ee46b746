"""Terms, privacy and contact: the operator's own texts where there are any, else ours.

Ours are true for this software and name the operator as far as the settings do. The operator's are
Markdown and taken as they are.
"""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime

from django.conf import settings
from django.template.loader import render_to_string

TITLES = {"terms": "Terms of use", "privacy": "Privacy", "contact": "Contact"}
_HEADING = re.compile(r"\A\s*# +(.+?)\s*\n")


@dataclass(frozen=True)
class LegalText:
    title: str
    body: str
    """Markdown."""
    changed_on: date | None
    """Of the operator's file; None for our text, which has no date of its own."""


def legal_text(name: str) -> LegalText:
    """`name` is one of TITLES. A heading on top of the operator's text becomes the page's title."""
    folder = settings.LEGAL_DIR
    path = folder / f"{name}.md" if folder else None
    if path is None or not path.is_file():
        return LegalText(TITLES[name], _our_text(name), None)
    text = path.read_text(encoding="utf-8-sig", errors="replace")
    changed = datetime.fromtimestamp(path.stat().st_mtime, tz=UTC).date()
    heading = _HEADING.match(text)
    if heading is None:
        return LegalText(TITLES[name], text, changed)
    return LegalText(heading[1], text[heading.end() :], changed)


def _our_text(name: str) -> str:
    context = {
        "site": settings.SITE_NAME,
        "operator": " ".join(settings.OPERATOR_NAME.split()),
        "email": settings.CONTACT_EMAIL.strip(),
        "session_days": settings.SESSION_COOKIE_AGE // 86_400,
    }
    return render_to_string(f"home/legal/{name}.md", context)
