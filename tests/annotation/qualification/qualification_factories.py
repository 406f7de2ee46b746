"""Known gold, and annotators in a qualification round."""

from collections.abc import Sequence

from annotation.models import Assignment, Campaign, Membership
from annotation.qualification.services import add_qualification
from portal.accounts.models import User
from portal.datasets.models import Release
from portal.datasets.releases.gold import GoldItem
from portal.datasets.releases.services import freeze_release
from portal.facts import Span
from tests.annotation.factories import spans_in
from tests.factories import empty_dataset, make_document

# Three facts: 5.00 · 7.50 · June 30, 2024.
KNOWN = "<p>Page {number}: dividends of 5.00 and 7.50 were paid on June 30, 2024.</p>"
RIGHT = (("Number", "5.00"), ("Number", "7.50"), ("Date", "June 30, 2024"))


def known_release(
    pages: int = 2,
    *,
    labels: Sequence[str] = ("Number", "Date"),
    visibility: str = Release.Visibility.PUBLIC,
    dataset_visibility: str = "public",
    first: int = 1,
) -> Release:
    """A release with the three facts of KNOWN on each page: known-1, known-2, …, or others from
    `first` on."""
    dataset = empty_dataset(visibility=dataset_visibility)
    items = []
    for number in range(first, first + pages):
        document = make_document(dataset, f"known-{number}", KNOWN.format(number=number))
        marks = spans_in(document.content.text, *RIGHT)
        items.append(GoldItem(document, [Span(m["start"], m["end"], m["label"]) for m in marks]))
    return freeze_release(
        dataset=dataset, version="1.0.0", items=items, labels=labels, visibility=visibility
    )


def hold_round(campaign: Campaign, pages: int = 2, release: Release | None = None) -> list[str]:
    """Adds a qualification round with `pages` pages to the campaign; returns their names."""
    source = release or known_release(pages)
    names = [f"known-{number}" for number in range(1, pages + 1)]
    return add_qualification(campaign=campaign, source=source, names=names, actor=None)


def trial_of(user: User, campaign: Campaign, number: int = 1) -> Assignment:
    """The user's assignment of a page of the round."""
    return Assignment.objects.get(
        annotator=user,
        campaign_document__campaign=campaign,
        campaign_document__document__name=f"known-{number}",
    )


def member_of(user: User, campaign: Campaign) -> Membership:
    return Membership.objects.get(user=user, campaign=campaign, role=Membership.Role.ANNOTATOR)
