"""Documents whose gold everybody can already read in another release, though it is to be hidden."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Exists, OuterRef, Q, QuerySet

from portal.datasets.models import Dataset, Document, Release, ReleaseItem

MOST_NAMED = 5


@dataclass(frozen=True)
class OpenGold:
    """How many documents, and which releases show the gold of the same content to everybody."""

    documents: int
    releases: Sequence[str]
    """Title of the dataset and version, in order."""

    def words(self) -> str:
        """A warning; empty if there is none."""
        if not self.documents:
            return ""
        named = ", ".join(self.releases[:MOST_NAMED])
        if more := len(self.releases) - MOST_NAMED:
            named += f" and {more:,} more" if more > 0 else ""
        plural = "" if self.documents == 1 else "s"
        return (
            f"The content of {self.documents:,} document{plural} is public with open gold in"
            f" {named}, so a model may have seen the answers. Before you hide their gold, leave"
            " these documents out or put them in the development part."
        )


def open_gold_of_dataset(dataset: Dataset) -> OpenGold:
    """Of all documents that a release of the dataset could hide."""
    return _open_gold(dataset.documents.filter(state=Document.State.ACTIVE), _open_items())


def open_gold_of_release(release: Release) -> OpenGold:
    """Of the items whose gold the release hides; none for a public one."""
    hidden = [split for split in ("", *ReleaseItem.Split.values) if not release.opens(split)]
    items = release.items.filter(split__in=hidden, document__isnull=False)
    documents = Document.objects.filter(pk__in=items.values("document"))
    return _open_gold(documents, _open_items().exclude(release=release))


def _open_items() -> QuerySet[ReleaseItem]:
    """Items whose gold anybody may read."""
    public, hidden = Release.Visibility.PUBLIC, Release.Visibility.GOLD_HIDDEN
    is_open = Q(release__visibility=public) | Q(
        release__visibility=hidden, split=ReleaseItem.Split.DEV
    )
    return ReleaseItem.objects.filter(
        is_open, release__dataset__in=Dataset.objects.public(), document__isnull=False
    ).order_by()


def _open_gold(documents: QuerySet[Document], items: QuerySet[ReleaseItem]) -> OpenGold:
    """Pages are the same by their text, pictures by the hash of what they ask."""
    page = Document.Kind.PAGE
    same_text = items.filter(document__kind=page, document__text_sha256=OuterRef("text_sha256"))
    same_picture = items.exclude(document__kind=page).filter(
        document__html_sha256=OuterRef("html_sha256")
    )
    shown = documents.order_by().filter(
        Q(Exists(same_text), kind=page) | Q(~Q(kind=page), Exists(same_picture))
    )
    count = shown.count()
    if not count:
        return OpenGold(0, ())
    pages = shown.filter(kind=page).values("text_sha256")
    pictures = shown.exclude(kind=page).values("html_sha256")
    holding = items.filter(
        Q(document__kind=page, document__text_sha256__in=pages)
        | Q(~Q(document__kind=page), document__html_sha256__in=pictures)
    )
    found = Release.objects.filter(pk__in=holding.values("release")).select_related("dataset")
    names = [f"{release.dataset.title} {release.version}" for release in found.order_by("pk")]
    return OpenGold(count, names)
