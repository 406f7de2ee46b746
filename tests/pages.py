"""Helper for tests that read a page."""

import html

from django.test import Client


def text_of(
    client: Client, url: str, *, status: int = 200, headers: dict[str, str] | None = None
) -> str:
    """The page with its entities decoded."""
    response = client.get(url, headers=headers)
    assert response.status_code == status
    return html.unescape(response.content.decode())
