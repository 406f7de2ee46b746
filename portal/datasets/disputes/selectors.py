"""Data for the pages of disputes and of release items with their facts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from portal.accounts.models import display_name
from portal.datasets.access import (
    Workplace,
    may_decide,
    may_see_item_gold,
    own_part,
    visible_disputes,
    workplaces,
)
from portal.datasets.models import (
    Dataset,
    Dispute,
    DocumentContent,
    PageImage,
    ReleaseItem,
)
from portal.datasets.releases.corrections import correction_words
from portal.facts.page_text import Context, Excerpts


@dataclass(frozen=True)
class DisputeRow:
    """A dispute in the list."""

    dispute: Dispute
    is_own: bool


@dataclass(frozen=True)
class FactRow:
    """A gold fact with its open disputes and its context, which is None without a text."""

    n: int
    type: str
    value: str
    context: Context | None
    disputes: list[Dispute]


@dataclass(frozen=True)
class DisputePage(DisputeRow):
    """A dispute for one user. `may_decide` is false for decided disputes, and for those about the
    user's own work, which `obstacle` explains.
    """

    sees_gold: bool
    fact: FactRow | None
    raiser: str
    decider: str
    decides: bool
    may_decide: bool
    obstacle: str
    workplaces: list[Workplace]
    images: list[PageImage]
    correction: str
    """Description of the correction in the next release, for users who decide."""


def filter_disputes(
    user: Any, dataset: Dataset, *, state: str = "", release: str = "", mine: bool = False
) -> QuerySet[Dispute]:
    disputes = visible_disputes(user, dataset)
    if state:
        disputes = disputes.filter(state=state)
    if release:
        disputes = disputes.filter(item__release__version=release)
    if mine:
        disputes = disputes.filter(raised_by=user) if user.is_authenticated else disputes.none()
    return disputes


def dispute_rows(user: Any, dataset: Dataset, disputes: Sequence[Dispute]) -> list[DisputeRow]:
    rows = []
    for dispute in disputes:
        dispute.item.release.dataset = dataset
        if dispute.settled_in is not None:
            dispute.settled_in.dataset = dataset
        rows.append(DisputeRow(dispute=dispute, is_own=_is_own(user, dispute)))
    return rows


def dispute_page(user: Any, dispute: Dispute) -> DisputePage:
    item = dispute.item
    dataset = item.release.dataset
    decides = may_decide(user, dataset)
    sees_gold = may_see_item_gold(user, item)
    is_open = dispute.state == Dispute.State.OPEN
    obstacle = own_part(user, dispute) if decides and is_open else ""
    return DisputePage(
        dispute=dispute,
        sees_gold=sees_gold,
        fact=fact_row(item, dispute.fact) if sees_gold else None,
        raiser=_name(dispute.raised_by),
        decider=_name(dispute.decided_by),
        is_own=_is_own(user, dispute),
        decides=decides,
        may_decide=decides and is_open and not obstacle,
        obstacle=obstacle,
        workplaces=workplaces(user, dataset, item.document) if decides else [],
        images=item_images(item),
        correction=correction_words(dispute) if decides else "",
    )


def fact_row(item: ReleaseItem, n: int | None) -> FactRow | None:
    """Return a fact by number. The caller must check that the user may see it."""
    facts = [] if n is None else [fact for fact in item.facts if fact["n"] == n]
    rows = fact_rows(item, facts, [])
    return rows[0] if rows else None


def item_images(item: ReleaseItem) -> list[PageImage]:
    document = item.document
    if document is None:
        return []
    document.dataset = item.release.dataset
    return list(document.images.all())


def fact_rows(
    item: ReleaseItem, facts: Sequence[dict[str, Any]], disputes: Sequence[Dispute]
) -> list[FactRow]:
    """Return facts with their open disputes. The caller must check that the user may see them."""
    if not facts:
        return []
    content = DocumentContent.objects.filter(document=item.document_id).first()
    excerpts = Excerpts(content.html, content.text, reach=40) if content else None
    opened: dict[int | None, list[Dispute]] = {}
    for dispute in disputes:
        if dispute.state == Dispute.State.OPEN:
            opened.setdefault(dispute.fact, []).append(dispute)
    return [
        FactRow(
            n=fact["n"],
            type=fact["type"],
            value=fact["value"],
            context=excerpts.around(fact["start"], fact["end"]) if excerpts else None,
            disputes=opened.get(fact["n"], []),
        )
        for fact in facts
    ]


def _is_own(user: Any, dispute: Dispute) -> bool:
    return bool(user.is_authenticated and dispute.raised_by_id == user.pk)


def _name(user: Any) -> str:
    return "" if user is None else display_name(user)
