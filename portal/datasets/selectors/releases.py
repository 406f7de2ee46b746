"""The page of a release."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import QuerySet

from portal.accounts.access import is_organiser
from portal.datasets.access import may_see_gold
from portal.datasets.models import PageImage, Release, ReleaseItem

PER_PAGE = 50


@dataclass(frozen=True)
class ReleaseRow:
    """An item of a release; `facts`, their number, and `sha256` are None where gold is hidden."""

    name: str
    facts: int | None
    sha256: str | None
    images: list[PageImage]


@dataclass(frozen=True)
class ReleasePage:
    """A release; `gold` says whether its gold, facts and hashes are open to the reader."""

    release: Release
    gold: bool
    may_manage: bool
    page: Page[ReleaseItem]
    rows: list[ReleaseRow]


def release_page(user: Any, release: Release, *, page: str = "1") -> ReleasePage:
    gold = may_see_gold(user, release)
    shown = Paginator(release_items(release), PER_PAGE).get_page(page)
    return ReleasePage(
        release=release,
        gold=gold,
        may_manage=is_organiser(user),
        page=shown,
        rows=release_rows(release, shown, gold=gold),
    )


def release_items(release: Release) -> QuerySet[ReleaseItem]:
    """Items without their gold, which is large, and with their documents' images."""
    items = release.items.select_related("document").prefetch_related("document__images")
    return items.defer("gold", "document__metadata")


def release_rows(release: Release, items: Iterable[ReleaseItem], *, gold: bool) -> list[ReleaseRow]:
    return [
        ReleaseRow(
            name=item.name,
            facts=len(item.facts) if gold else None,
            sha256=item.sha256 if gold else None,
            images=_images(release, item),
        )
        for item in items
    ]


def _images(release: Release, item: ReleaseItem) -> list[PageImage]:
    """The images with what their addresses need already in place."""
    if item.document is None:
        return []
    item.document.dataset = release.dataset
    images = list(item.document.images.all())
    for image in images:
        image.document = item.document
    return images
