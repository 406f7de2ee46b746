"""A released document with two facts, campaigns with it, and disputes."""

from annotation.models import Campaign, Membership
from portal.accounts.models import User
from portal.datasets.disputes.services import decide_dispute, raise_dispute
from portal.datasets.models import Dataset, Dispute, Release, ReleaseItem
from portal.datasets.releases.gold import GoldItem
from portal.datasets.releases.services import freeze_release
from tests.datasets.factories import LABELS, add_image, spans_of
from tests.factories import empty_dataset, make_document

ORIGIN = "https://factboard.example"
SECRET_CLAIM = "it reads 4,711,000"


def released(
    *,
    visibility: str = "public",
    dataset_visibility: str = "public",
    version: str = "1.0.0",
    splits: dict[str, str] | None = None,
    number: str = "1,200",
) -> Release:
    """The dataset `world` with the pages a and b; each has the facts `number` and March 31, 2025.

    Another number that is on the pages is "77".
    """
    dataset = Dataset.objects.filter(slug="world").first()
    if dataset is None:
        dataset = empty_dataset(slug="world", title="World", visibility=dataset_visibility)
        for name in ("a", "b"):
            html = f"<p>Page {name}: sales 1,200 until March 31, 2025 of 77 shops</p>"
            add_image(make_document(dataset, name, html))
    items = [
        GoldItem(document, spans_of(document, Number=[number], Date=["March 31, 2025"]))
        for document in dataset.documents.all()
    ]
    return freeze_release(
        dataset=dataset,
        version=version,
        items=items,
        labels=LABELS,
        visibility=visibility,
        splits=splits,
    )


def item_of(release: Release, name: str = "a") -> ReleaseItem:
    return release.items.select_related("release__dataset", "document").get(name=name)


def lead_of(user: User, dataset: Dataset, slug: str = "spring") -> Campaign:
    campaign, _ = Campaign.objects.get_or_create(
        slug=slug, defaults={"title": slug.title(), "dataset": dataset}
    )
    Membership.objects.create(campaign=campaign, user=user, role="lead")
    return campaign


def make_dispute(
    release: Release,
    raiser: User,
    *,
    name: str = "a",
    fact: int | None = 0,
    claim: str = "1,300",
) -> Dispute:
    return raise_dispute(
        item=item_of(release, name), fact=fact, claim=claim, reason="So the page.", actor=raiser
    )


def decide(dispute: Dispute, actor: User, *, accept: bool = True, answer: str = "Yes.") -> Dispute:
    return decide_dispute(dispute=dispute, accept=accept, answer=answer, actor=actor, origin=ORIGIN)
