"""Content whose gold is public in one dataset and hidden in another.

Freezing stops if it would publish gold that another dataset hides, or hide gold that another
dataset publishes. So does making a private dataset public. Pages are compared by their text
(`copies`), so that an inserted paragraph makes no difference, pictures by the hash of image and
question, and lines without a document by that of the gold.

A dataset may publish its own hidden gold in another version; `own_hidden_gold` warns of it.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from django.db.models import Q, QuerySet

from portal.accounts.access import is_organiser
from portal.accounts.models import User
from portal.datasets.models import Dataset, Document, DocumentContent, Release, ReleaseItem

from .gold import AT_ONCE, ReleaseError

Key = TypeVar("Key")
_PUBLIC, _HIDDEN = Release.Visibility.PUBLIC, Release.Visibility.GOLD_HIDDEN
# A stranger learns neither the release nor the documents.
UNSEEN = (
    "some documents also belong to a hidden test set that you may not see; ask an organiser to"
    " {act}"
)


class Overlap(NamedTuple):
    """An item to freeze or publish, and the item of another release with the same content."""

    name: str
    item: str
    release: Release
    publishes: bool
    """Whether this publishes the gold that the other release hides, or the reverse."""

    def words(self) -> str:
        other = f"{self.release.dataset.title} {self.release.version}"
        state = "hidden" if self.publishes else "public"
        return f"{self.name}: its gold is {state} in {other}, as {self.item}"


class OverlapError(ReleaseError):
    """The gold of `count` documents is public in one release and hidden in another.

    `count` confirms them; it is 0 if the user may not see all of the other releases.
    """

    def __init__(self, faults: Sequence[str], count: int, act: str = "freeze") -> None:
        self.count = count
        how = f"To {act} it anyway, confirm the number of these documents"
        super().__init__(faults)
        if count:
            self.faults.append(f"{how}: {count:,}")


def check_overlaps(release: Release, rows: Sequence[ReleaseItem], accepted: int) -> None:
    """Raises OverlapError unless `accepted` is the number of overlapping documents.

    Only people who may see the hidden releases can accept them.
    """
    _accept(overlaps_of(release, rows), accepted, release.frozen_by, "freeze", "this release")


class Publication(NamedTuple):
    """Why a private dataset may not become public, and the number that confirms it, or 0."""

    faults: Sequence[str] = ()
    confirmed_by: int = 0


def check_publication(dataset: Dataset, accepted: int, actor: User | None) -> Publication:
    """The same before a private dataset becomes public, with its releases and public variants."""
    public = Q(derived_from=dataset, visibility=Dataset.Visibility.PUBLIC)
    published = Dataset.objects.filter(Q(pk=dataset.pk) | public)
    opened = ReleaseItem.objects.filter(open_condition(), release__dataset__in=published)
    rows = list(opened.defer("gold", "facts", "pinned").order_by("pk"))
    try:
        _accept(_publications(rows, _others(dataset)), accepted, actor, "publish", "this dataset")
    except OverlapError as error:
        return Publication(error.faults, error.count)
    return Publication()


def _accept(
    overlaps: Iterable[Overlap], accepted: int, actor: User | None, act: str, what: str
) -> None:
    found = list(overlaps)
    seen = [one for one in found if not one.publishes or _may_see(actor, one.release)]
    faults = [one.words() for one in seen]
    if len(seen) < len(found):
        raise OverlapError([UNSEEN.format(act=f"{act} {what}"), *faults], 0)
    count = len({one.name for one in found})
    if count != accepted and found:
        raise OverlapError(faults, count, act)


def _may_see(user: User | None, release: Release) -> bool:
    """Whether the user may see the release's hidden gold. Commands run without a user."""
    return user is None or is_organiser(user) or release.frozen_by_id == user.pk


def overlaps_of(release: Release, rows: Sequence[ReleaseItem]) -> Iterator[Overlap]:
    """The overlaps of a coming release, whose rows are in their splits, with other datasets."""
    opened = [row for row in rows if release.opens(row.split)]
    closed = [row for row in rows if not release.opens(row.split)]
    others = _others(release.dataset)
    yield from _publications(opened, others)
    for row, item in _matches(closed, _published(others)):
        yield Overlap(row.name, item.name, item.release, publishes=False)


def _others(dataset: Dataset) -> QuerySet[ReleaseItem]:
    return ReleaseItem.objects.exclude(release__dataset=dataset).order_by("-pk")


def _published(items: QuerySet[ReleaseItem]) -> QuerySet[ReleaseItem]:
    return items.filter(open_condition(), release__dataset__in=Dataset.objects.public())


def _publications(
    opened: Sequence[ReleaseItem], others: QuerySet[ReleaseItem]
) -> Iterator[Overlap]:
    """The rows whose gold is hidden in other datasets."""
    known = _published(others).filter(document__isnull=False).values("document")
    hidden = others.exclude(open_condition()).exclude(
        # Published by its own dataset: nothing is left to hide.
        document__isnull=False, document__in=known
    )  # fmt: skip
    for row, item in _matches(opened, hidden):
        yield Overlap(row.name, item.name, item.release, publishes=True)


def open_condition() -> Q:
    """The condition that the gold of an item is public."""
    is_dev = Q(release__visibility=_HIDDEN, split=ReleaseItem.Split.DEV)
    return Q(release__visibility=_PUBLIC) | is_dev


def own_hidden_gold(release: Release) -> str:
    """Warns that the release publishes gold that other versions of its dataset hide, or empty."""
    opened = release.items.filter(open_condition())
    own = ReleaseItem.objects.filter(release__dataset=release.dataset_id).exclude(open_condition())
    same = Q(document__in=opened.exclude(document=None).values("document"))
    same |= Q(document=None, sha256__in=opened.filter(document=None).values("sha256"))
    hidden = own.filter(same)
    count = hidden.values("name").distinct().count()
    if not count:
        return ""
    versions = ", ".join(sorted(set(hidden.values_list("release__version", flat=True))))
    what = "1 document" if count == 1 else f"{count:,} documents"
    return (
        f"This release publishes the gold of {what} that {versions} hides: scores on boards with"
        " this hidden gold no longer show how well a model reads unseen documents."
    )


def own_hidden_versions(dataset: Dataset) -> str:
    """Warns before a release which versions of the dataset hide gold, or empty."""
    hiding = dataset.releases.filter(visibility=_HIDDEN).order_by("pk")
    versions = ", ".join(hiding.values_list("version", flat=True))
    if not versions:
        return ""
    return (
        f"The gold of {versions} is hidden. A public release of the same documents publishes it,"
        " and you will not be asked to confirm."
    )


@dataclass
class _Content:
    """The rows by what they are compared by."""

    texts: dict[int, ReleaseItem]
    """Pages, by the key of their document."""
    pictures: dict[str, ReleaseItem]
    lines: dict[str, ReleaseItem]


def _matches(
    rows: Sequence[ReleaseItem], items: QuerySet[ReleaseItem]
) -> Iterator[tuple[ReleaseItem, ReleaseItem]]:
    """Each row with the newest item that has its content."""
    if not rows or not items.exists():
        return
    content = _content_of(rows)
    wanted: tuple[tuple[Callable[[Iterable[str]], Q], dict[str, ReleaseItem]], ...] = (
        (lambda keys: Q(document__html_sha256__in=keys), content.pictures),
        (lambda keys: Q(document=None, sha256__in=keys), content.lines),
    )
    same = items.select_related("release__dataset", "document")
    for condition, by_hash in wanted:
        found: dict[str, ReleaseItem] = {}
        for keys in _parts(list(by_hash)):
            for item in same.filter(condition(keys)):
                key = item.document.html_sha256 if item.document else item.sha256
                found.setdefault(key, item)
        yield from ((by_hash[key], item) for key, item in found.items())
    yield from _same_texts(content.texts, same)


def _content_of(rows: Sequence[ReleaseItem]) -> _Content:
    keys = [row.document_id for row in rows if row.document_id is not None]
    documents: dict[int, Document] = {}
    for part in _parts(keys):
        documents |= Document.objects.only("kind", "html_sha256").in_bulk(part)
    content = _Content({}, {}, {})
    for row in rows:
        document = documents.get(row.document_id) if row.document_id else None
        if document is None:
            content.lines[row.sha256] = row
        elif document.kind == Document.Kind.PAGE:
            content.texts[document.pk] = row
        else:
            content.pictures[document.html_sha256] = row
    return content


def _same_texts(
    rows: dict[int, ReleaseItem], items: QuerySet[ReleaseItem]
) -> Iterator[tuple[ReleaseItem, ReleaseItem]]:
    # It loads numpy, which the site does not need to start.
    from portal.datasets.curation.near_duplicates import copies

    pages = items.filter(document__kind=Document.Kind.PAGE).order_by()
    others = list(pages.values_list("document", flat=True).distinct()) if rows else []
    if not others:
        return
    texts = dict(_texts(list(rows)))
    found: dict[int, int] = {}
    for own, other in copies(texts, _texts(others)):
        found.setdefault(own, other)
    newest = {
        item.document_id: item
        for part in _parts(list(found.values()))
        for item in pages.filter(document__in=part).order_by("pk")
    }
    yield from ((rows[own], newest[other]) for own, other in found.items())


def _texts(keys: Sequence[int]) -> Iterator[tuple[int, str]]:
    for part in _parts(keys):
        found = DocumentContent.objects.filter(pk__in=part).order_by("pk")
        yield from found.values_list("pk", "text")


def _parts(keys: Sequence[Key]) -> Iterator[Sequence[Key]]:
    for start in range(0, len(keys), AT_ONCE):
        yield keys[start : start + AT_ONCE]
