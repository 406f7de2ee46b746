"""Every URL of annotation with its arguments, so that access tests cover new ones."""

from collections.abc import Iterator
from typing import Any

from django.urls import URLPattern, reverse

from annotation import urls
from annotation.models import (
    Assignment,
    Campaign,
    CampaignInvitation,
    Case,
    Comment,
    Membership,
)


def page_names() -> list[str]:
    return [str(pattern.name) for pattern in urls.urlpatterns]


def api_names() -> list[str]:
    return [str(pattern.name) for pattern in urls.api_urlpatterns]


def pages(campaign: Campaign) -> Iterator[tuple[str, str]]:
    """(name, URL) of every page, once for each row it can show."""
    for pattern in urls.urlpatterns:
        for arguments in _arguments(pattern, campaign):
            yield str(pattern.name), reverse(f"annotation:{pattern.name}", kwargs=arguments)


def endpoints(campaign: Campaign) -> Iterator[tuple[str, str]]:
    """(name, URL) of every endpoint, once for each row it can return."""
    for pattern in urls.api_urlpatterns:
        for arguments in _arguments(pattern, campaign):
            yield str(pattern.name), reverse(f"api:{pattern.name}", kwargs=arguments)


def _arguments(pattern: URLPattern, campaign: Campaign) -> Iterator[dict[str, Any]]:
    parts = pattern.pattern.converters
    fixed: dict[str, Any] = {"slug": campaign.slug} if "slug" in parts else {}
    fixed |= {part: 1 for part in ("number", "position", "image") if part in parts}
    fixed |= {"name": "page-001"} if "name" in parts else {}
    if "comment" in parts:
        rows = Comment.objects.filter(assignment__campaign_document__campaign=campaign)
        yield from ({"pk": row.assignment_id, "comment": row.pk} for row in rows)
        return
    if "pk" not in parts:
        yield fixed
        return
    for pk in _rows(str(pattern.pattern), campaign):
        yield fixed | {"pk": pk}


def _rows(route: str, campaign: Campaign) -> list[int]:
    """The primary keys that fit the route."""
    if route.startswith("annotate/") or "assignments/" in route:
        rows = Assignment.objects.filter(campaign_document__campaign=campaign)
        return list(rows.values_list("pk", flat=True))
    if "/people/" in route or "/qualification/" in route:
        members = Membership.objects.filter(campaign=campaign)
        return list(members.values_list("pk", flat=True))
    if "/assignments/" in route:
        rows = Assignment.objects.filter(campaign_document__campaign=campaign)
        return list(rows.values_list("pk", flat=True))
    if "/waiting/" in route or "/annotators/" in route:
        return sorted(set(campaign.memberships.values_list("user", flat=True)))
    if "/invitations/" in route:
        invitations = CampaignInvitation.objects.filter(campaign=campaign)
        return list(invitations.values_list("pk", flat=True))
    assert "/adjudication/" in route or "/cases/" in route, f"rows of {route}?"
    cases = Case.objects.filter(campaign_document__campaign=campaign)
    return list(cases.values_list("pk", flat=True))
