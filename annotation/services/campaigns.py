"""Campaigns: make, open, close, and write their guidelines."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from django.db import transaction
from django.utils.text import slugify

from annotation.models import Campaign, CampaignDocument, GuidelinesVersion, Membership
from annotation.selectors.guidelines import seen_guidelines
from portal.accounts.models import User
from portal.audit.models import record_event
from portal.datasets.models import Dataset, Selection

from .assigning import check_enough_annotators, share_out, take_in_documents
from .campaign_settings import CampaignSettings
from .errors import Refused

_GUIDELINES = Path(__file__).resolve().parent.parent / "data" / "guidelines.md"
_SLUG_LENGTH = 60


def default_guidelines() -> str:
    """The rules a new campaign begins with, Markdown."""
    return _GUIDELINES.read_text(encoding="utf-8")


@transaction.atomic
def create_campaign(
    *,
    dataset: Dataset,
    title: str,
    labels: Sequence[str],
    overlap: int,
    guidelines: str,
    actor: User | None,
    slug: str = "",
    is_sample: bool = False,
    settings: CampaignSettings | None = None,
    selection: Selection | None = None,
) -> Campaign:
    """Makes a draft. Its address comes from the title unless `slug` is given.

    With a selection of the dataset it is for these documents alone.

    Raises Refused for settings out of range.
    """
    chosen = settings or CampaignSettings()
    chosen.check()
    if selection is not None and selection.dataset_id != dataset.pk:
        raise Refused("The selection is one of another dataset.", code="selection")
    campaign = Campaign.objects.create(
        slug=slug or _free_slug(title),
        title=title,
        dataset=dataset,
        selection=selection,
        labels=list(labels),
        overlap=overlap,
        guidelines=guidelines,
        is_sample=is_sample,
        created_by=actor,
        **asdict(chosen),
    )
    _write_version(campaign, number=1, text=guidelines, note="", author=actor)
    record_event(
        verb="create_campaign", subject=campaign, actor=actor, dataset=dataset.slug, overlap=overlap
    )
    return campaign


def _free_slug(title: str) -> str:
    base = slugify(title)[:_SLUG_LENGTH].strip("-") or "campaign"
    taken = set(Campaign.objects.filter(slug__startswith=base).values_list("slug", flat=True))
    # "new" is the address of the form.
    taken.add("new")
    numbered = (f"{base}-{number}" for number in range(2, len(taken) + 3))
    return base if base not in taken else next(slug for slug in numbered if slug not in taken)


@transaction.atomic
def open_campaign(*, campaign: Campaign, actor: User | None) -> Campaign:
    """Takes in every document of the dataset, assigns the work and lets annotators begin.

    Where there is screening, documents are assigned one by one as they pass it. Raises Refused when
    the campaign is not a draft, the dataset is empty or annotators are too few.
    """
    opened = Campaign.objects.filter(pk=campaign.pk, state=Campaign.State.DRAFT).update(
        state=Campaign.State.OPEN
    )
    if not opened:
        raise Refused("Only a draft can be opened; this campaign was opened before.", code="state")
    campaign.state = Campaign.State.OPEN
    documents = _begin(campaign)
    record_event(
        verb="open_campaign", subject=campaign, actor=actor, documents=documents,
        overlap=campaign.overlap,
    )  # fmt: skip
    return campaign


def _begin(campaign: Campaign) -> int:
    """Puts every document into its first stage; returns how many there are to label."""
    rows = CampaignDocument.objects.in_work().filter(campaign=campaign)
    if campaign.screening:
        # Those that a draft holds already were chosen for calibration or for a team of their own.
        rows.update(stage=CampaignDocument.Stage.SCREENING)
    take_in_documents(campaign=campaign)
    documents = rows.count()
    if not documents:
        raise Refused(_why_none(campaign), code="no_documents")
    check_enough_annotators(campaign)
    share_out(campaign=campaign)
    return documents


def _why_none(campaign: Campaign) -> str:
    if campaign.dataset.documents.exists():
        return (
            "The dataset holds no page that could be labelled: its documents are pictures, held "
            "back, or used to qualify annotators."
        )
    return "The dataset holds no documents yet: import some, then open the campaign."


@transaction.atomic
def close_campaign(*, campaign: Campaign, actor: User) -> Campaign:
    """Ends annotation: what was not submitted can be read but not changed."""
    closed = Campaign.objects.filter(pk=campaign.pk, state=Campaign.State.OPEN).update(
        state=Campaign.State.CLOSED
    )
    if not closed:
        raise Refused("Only an open campaign can be closed.", code="state")
    campaign.state = Campaign.State.CLOSED
    record_event(verb="close_campaign", subject=campaign, actor=actor)
    return campaign


@transaction.atomic
def reopen_campaign(*, campaign: Campaign, actor: User) -> Campaign:
    """Lets annotators go on with what they had not submitted when the campaign was closed."""
    reopened = Campaign.objects.filter(pk=campaign.pk, state=Campaign.State.CLOSED).update(
        state=Campaign.State.OPEN
    )
    if not reopened:
        raise Refused("Only a closed campaign can be reopened.", code="state")
    campaign.state = Campaign.State.OPEN
    record_event(verb="reopen_campaign", subject=campaign, actor=actor)
    return campaign


@transaction.atomic
def edit_guidelines(*, campaign: Campaign, text: str, actor: User, note: str = "") -> Campaign:
    """Puts a new version of the guidelines in force; the same text again changes nothing."""
    locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
    if text != locked.guidelines:
        number = locked.guidelines_version + 1
        locked.guidelines, locked.guidelines_version = text, number
        locked.save(update_fields=["guidelines", "guidelines_version"])
        _write_version(locked, number=number, text=text, note=note, author=actor)
        record_event(verb="edit_guidelines", subject=campaign, actor=actor, version=number)
    return locked


def _write_version(
    campaign: Campaign, *, number: int, text: str, note: str, author: User | None
) -> None:
    GuidelinesVersion.objects.create(
        campaign=campaign, number=number, text=text, note=note, author=author
    )


def mark_guidelines_seen(*, campaign: Campaign, version: int, user: User) -> int:
    """Remembers that a member has opened this version; returns the newest one they opened.

    It never goes back, and not beyond the newest version there is. Who holds no role has nothing to
    remember.
    """
    opened = min(version, Campaign.objects.get(pk=campaign.pk).guidelines_version)
    Membership.objects.filter(campaign=campaign, user=user, seen_guidelines__lt=opened).update(
        seen_guidelines=opened
    )
    return seen_guidelines(campaign, user.pk)
