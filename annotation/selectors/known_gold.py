"""Where the known gold of a qualification can come from, and the pages each source has.

A source is a frozen release whose gold the person may see, or another campaign that they manage.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from django.db.models import Count, Q, QuerySet

from annotation.access import visible_campaigns
from annotation.models import Campaign, CampaignDocument, GoldSpan, Membership
from portal.accounts.access import is_organiser
from portal.datasets.access import visible_datasets
from portal.datasets.models import Document, Release, ReleaseItem
from portal.facts import RefusedHtml, Span, TagError, read_tags

Source = Release | Campaign


@dataclass(frozen=True)
class Candidate:
    """A page of a source by its published name, and what keeps it out, in words; else empty."""

    name: str
    document: int
    obstacle: str


@dataclass(frozen=True)
class SourceRow:
    """A source as forms and programs name it: `release:PK` or `campaign:SLUG`."""

    key: str
    title: str
    pages: int


class UnusableGold(Exception):
    """Why the gold of a page cannot be taken; the message names the page."""


def gold_releases(user: Any, campaign: Campaign) -> QuerySet[Release]:
    """Releases with the campaign's labels whose gold the user may see, newest first."""
    releases = Release.objects.filter(dataset__in=visible_datasets(user)).select_related("dataset")
    if not is_organiser(user):
        releases = releases.filter(visibility=Release.Visibility.PUBLIC)
    fitting = [row.pk for row in releases if labels_fit(row, campaign)]
    return releases.filter(pk__in=fitting).order_by("-frozen_at")


def gold_campaigns(user: Any, campaign: Campaign) -> QuerySet[Any]:
    """Other campaigns with the same labels that the user manages, with their `gold_pages`, of
    which there is at least one.
    """
    campaigns = visible_campaigns(user).exclude(pk=campaign.pk)
    if not is_organiser(user):
        led = Membership.objects.filter(user=user, role=Membership.Role.LEAD)
        campaigns = campaigns.filter(pk__in=led.values("campaign"))
    gold = Q(documents__stage=CampaignDocument.Stage.GOLD) & ~Q(
        documents__purpose=CampaignDocument.Purpose.QUALIFICATION
    )
    fitting = [row.pk for row in campaigns if labels_fit(row, campaign)]
    counted = campaigns.filter(pk__in=fitting).annotate(gold_pages=Count("documents", filter=gold))
    return counted.filter(gold_pages__gt=0).order_by("title")


def labels_fit(source: Source, campaign: Campaign) -> bool:
    """Gold answers every question of the campaign, and no other, when the labels are the same."""
    return bool(source.labels) and set(source.labels) == set(campaign.labels)


def source_rows(user: Any, campaign: Campaign) -> list[SourceRow]:
    """All sources the user may choose from; campaigns, which nobody can look up, come first."""
    return [
        *(
            SourceRow(f"campaign:{row.slug}", f"gold of {row.title}", row.gold_pages)
            for row in gold_campaigns(user, campaign)
        ),
        *(
            SourceRow(f"release:{row.pk}", f"release {row}", row.item_count)
            for row in gold_releases(user, campaign)
        ),
    ]


def find_source(user: Any, campaign: Campaign, key: str) -> Source | None:
    """The source that the key of a `SourceRow` names; None when the user has no such source."""
    kind, _, name = key.partition(":")
    if kind == "campaign":
        return gold_campaigns(user, campaign).filter(slug=name).first()
    if kind == "release" and name.isascii() and name.isdigit() and len(name) <= 9:
        return gold_releases(user, campaign).filter(pk=name).first()
    return None


def describe_source(source: Source) -> str:
    """What `KnownGold.source` keeps of it."""
    return f"release {source}" if isinstance(source, Release) else f"gold of {source.title}"


def qualification_pages(campaign: Campaign) -> QuerySet[CampaignDocument]:
    return CampaignDocument.objects.filter(
        campaign=campaign, purpose=CampaignDocument.Purpose.QUALIFICATION
    )


def candidates(campaign: Campaign, source: Source) -> list[Candidate]:
    """The pages of the source by name, and which of them cannot be used here."""
    rows = _pages(source).values_list(
        "document__name", "document", "document__text_sha256", "document__kind", "document__state"
    )
    inside = set(campaign.documents.values_list("document", flat=True))
    # The same text under another name would be labelled for gold by people who know the answers,
    # and a name must lead to one page.
    taken: defaultdict[str, set[int]] = defaultdict(set)
    others = Document.objects.filter(dataset=campaign.dataset_id).exclude(
        pk__in=qualification_pages(campaign).values("document")
    )
    for document, digest in others.values_list("pk", "text_sha256"):
        taken[digest].add(document)
    known = Document.objects.filter(Q(dataset=campaign.dataset_id) | Q(pk__in=inside))
    for document, name in known.values_list("pk", "name"):
        taken[name].add(document)
    found = []
    for name, document, digest, kind, state in rows.order_by("document__name"):
        obstacle = ""
        if kind == Document.Kind.PICTURE:
            obstacle = "is a picture without text"
        elif state == Document.State.HELD:
            obstacle = "is held back"
        elif document in inside:
            obstacle = "is in the campaign already"
        elif taken[digest] - {document}:
            obstacle = "has the same text as a page of the campaign"
        elif taken[name] - {document}:
            obstacle = "has the name of another page of the campaign"
        found.append(Candidate(name, document, obstacle))
    return found


def _pages(source: Source) -> QuerySet[Any]:
    if isinstance(source, Release):
        return ReleaseItem.objects.filter(release=source, document__isnull=False)
    return CampaignDocument.objects.in_work().filter(
        campaign=source, stage=CampaignDocument.Stage.GOLD
    )


def draw_names(names: Iterable[str], count: int, seed: int) -> list[str]:
    """`count` of the names, sorted; the same for the same seed, whatever their order.

    Each name in alphabetical order is given the next number of `random.Random(seed).random()`,
    which Python promises to keep; the smallest numbers are drawn. All names when there are fewer.

    >>> draw_names(["c", "a", "b"], 2, seed=1)
    ['a', 'c']
    """
    numbers = Random(seed)  # noqa: S311 - a draw to be made again, and no secret
    numbered = sorted((numbers.random(), name) for name in sorted(names))
    return sorted(name for _, name in numbered[:count])


def known_spans(source: Source, chosen: Sequence[Candidate]) -> dict[int, list[Span]]:
    """The gold of the chosen pages by document, in text order; raises UnusableGold."""
    documents = [each.document for each in chosen]
    if isinstance(source, Release):
        items = ReleaseItem.objects.filter(release=source, document__in=documents)
        return {
            item.document.pk: _tagged(item, item.document, source.labels)
            for item in items.select_related("document")
            if item.document
        }
    spans: dict[int, list[Span]] = {document: [] for document in documents}
    rows = GoldSpan.objects.filter(
        campaign_document__campaign=source, campaign_document__document__in=documents
    ).order_by("start")
    for document, start, end, label in rows.values_list(
        "campaign_document__document", "start", "end", "label"
    ):
        spans[document].append(Span(start, end, label))
    return spans


def _tagged(item: ReleaseItem, document: Document, labels: Sequence[str]) -> list[Span]:
    html = item.gold.get("html")
    if not isinstance(html, str):
        raise UnusableGold(f"{item.name}: its gold is no page with fact tags")
    try:
        tagged = read_tags(html, labels)
    except (TagError, RefusedHtml, ValueError) as error:
        raise UnusableGold(f"{item.name}: {error}") from error
    if tagged.canonical.text_sha256 != document.text_sha256:
        raise UnusableGold(f"{item.name}: without its tags the gold is not the stored page")
    return sorted(tagged.spans)
