"""Creating, opening and closing campaigns, their settings and guidelines, releasing their gold."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils.text import slugify

from annotation.assignments.sharing import (
    MAX_OVERLAP,
    check_enough_annotators,
    lock_calibration,
    share_out,
    take_in_documents,
)
from annotation.doubts import DoubtfulFact, doubt_counts, doubtful_facts
from annotation.errors import DoubtfulGold, Refused, Unfinished
from annotation.models import Campaign, CampaignDocument, GoldSpan, GuidelinesVersion, Membership
from annotation.models.campaigns import (
    AGREEMENT_THRESHOLD,
    QUALIFICATION_F1,
    REVIEW_PAGES,
    REVIEW_SHARE,
)
from annotation.qualification.services import qualify_who_passed
from annotation.review.selectors import review_blocks_release
from portal.accounts.models import User
from portal.audit.models import record_event
from portal.datasets.curation.draws import SplitDraw
from portal.datasets.models import Dataset, Release, Selection
from portal.datasets.releases.gold import GoldItem, page_rows
from portal.datasets.releases.services import freeze_release, notes_of_rows
from portal.facts.spans import check_labels
from scoring.metrics import OUTSIDE

from .selectors import gold_documents, seen_guidelines, unfinished_documents, why_no_documents

MAX_REVIEW_PAGES = 100_000
State = Campaign.State


@dataclass(frozen=True)
class CampaignSettings:
    """The workflow settings of a campaign, with the defaults of a new one."""

    screening: bool = False
    agreement_threshold: float = AGREEMENT_THRESHOLD
    review_pages: int = REVIEW_PAGES
    review_share: float = REVIEW_SHARE
    qualification_f1: float = QUALIFICATION_F1

    def check(self) -> None:
        """Raises Refused, with the field as its code, for a value out of range."""
        for name, (is_right, rule) in _RANGES.items():
            if not is_right(getattr(self, name)):
                raise Refused(rule, code=name)


# NaN is in none of these ranges: its comparisons are false.
_RANGES: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "agreement_threshold": (
        lambda value: 0 <= value <= 1,
        "The agreement threshold must be between 0 and 1.",
    ),
    "review_pages": (
        lambda value: 0 <= value <= MAX_REVIEW_PAGES,
        f"Gold documents between reviews must be from 0 (off) to {MAX_REVIEW_PAGES}.",
    ),
    "review_share": (
        lambda value: 0 < value <= 1,
        "The share of reviewed facts must be above 0 and at most 1.",
    ),
    "qualification_f1": (
        lambda value: 0 <= value <= 1,
        "The span F1 to qualify must be from 0 to 1.",
    ),
}
NAMES = tuple(each.name for each in fields(CampaignSettings))


def settings_of(campaign: Campaign) -> CampaignSettings:
    return CampaignSettings(**{name: getattr(campaign, name) for name in NAMES})


@transaction.atomic
def change_settings(
    *, campaign: Campaign, actor: User, overlap: int | None = None, **changes: Any
) -> Campaign:
    """Changes fields of `CampaignSettings`, and the overlap of a draft.

    Raises Refused, with the field as its code, for a value out of range and for a setting that can
    no longer be changed (see `fixed_settings`), and if the actor would qualify by the change.
    Nothing is changed then.
    """
    if "qualification_f1" in changes:
        # Annotators who now pass get work. Lock order: pages before their campaign.
        lock_calibration(campaign)
    locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
    wanted = replace(settings_of(locked), **changes)
    wanted.check()
    if overlap is not None and not 1 <= overlap <= MAX_OVERLAP:
        raise Refused(f"A document can have 1 to {MAX_OVERLAP} annotators.", code="overlap")
    values = asdict(wanted) | {"overlap": locked.overlap if overlap is None else overlap}
    before = {name: getattr(locked, name) for name in values}
    changed = {name: value for name, value in values.items() if value != before[name]}
    fixed = fixed_settings(locked)
    for name in changed:
        if name in fixed:
            raise Refused(fixed[name], code=name)
    if changed:
        for name, value in changed.items():
            setattr(locked, name, value)
        locked.save(update_fields=list(changed))
        record_event(
            verb="change_settings", subject=locked, actor=actor,
            changed={name: [before[name], value] for name, value in changed.items()},
        )  # fmt: skip
    if "qualification_f1" in changed:
        qualify_who_passed(campaign=locked, actor=actor)
    return locked


def fixed_settings(campaign: Campaign) -> dict[str, str]:
    """The settings that can no longer be changed, with the reason for users."""
    fixed: dict[str, str] = {}
    documents = CampaignDocument.objects.filter(campaign=campaign)
    if campaign.state != State.DRAFT:
        fixed["overlap"] = (
            "Documents are already assigned. Set the number per document under Documents."
        )
    waiting = documents.filter(stage=CampaignDocument.Stage.SCREENING).count()
    if campaign.screening and waiting:
        fixed["screening"] = (
            f"{waiting} document{'s are' if waiting > 1 else ' is'} not screened yet. Screen "
            f"{'them' if waiting > 1 else 'it'} first."
        )
    if documents.filter(settled_at__isnull=False).exists():
        fixed["agreement_threshold"] = "The threshold has already been applied to some documents."
    if campaign.state == State.CLOSED:
        closed = "The campaign is closed."
        fixed |= {"screening": closed, "qualification_f1": closed}
    return fixed


_GUIDELINES = Path(__file__).resolve().parent.parent / "data" / "guidelines.md"
_SLUG_LENGTH = 60


def default_guidelines() -> str:
    """The guidelines of a new campaign, Markdown."""
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
    """Creates a draft. The slug is made from the title unless given.

    `selection` limits the campaign to some documents of the dataset. Raises Refused for settings
    out of range, for a dataset of images only, and for a selection of another dataset.
    """
    chosen = settings or CampaignSettings()
    chosen.check()
    if not dataset.has_pages and dataset.documents.exists():
        raise Refused(
            "This dataset contains only images. A campaign needs documents with HTML.",
            code="dataset",
        )
    if selection is not None and selection.dataset_id != dataset.pk:
        raise Refused("The selection belongs to another dataset.", code="selection")
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
    # "new" is the URL of the form.
    taken.add("new")
    numbered = (f"{base}-{number}" for number in range(2, len(taken) + 3))
    return base if base not in taken else next(slug for slug in numbered if slug not in taken)


@transaction.atomic
def open_campaign(*, campaign: Campaign, actor: User | None) -> Campaign:
    """Adds every document of the dataset and assigns the work.

    With screening, each document is assigned once it passes. Raises Refused if the campaign is not
    a draft, has no documents or too few annotators.
    """
    _change_state(
        campaign, State.DRAFT, State.OPEN, "This campaign is not a draft and cannot be opened."
    )
    documents = _begin(campaign)
    record_event(
        verb="open_campaign", subject=campaign, actor=actor, documents=documents,
        overlap=campaign.overlap,
    )  # fmt: skip
    return campaign


def _change_state(campaign: Campaign, before: str, after: str, refusal: str) -> None:
    if not Campaign.objects.filter(pk=campaign.pk, state=before).update(state=after):
        raise Refused(refusal, code="state")
    campaign.state = after


def _begin(campaign: Campaign) -> int:
    """Puts every document into its first stage; returns the number of documents."""
    rows = CampaignDocument.objects.in_work().filter(campaign=campaign)
    if campaign.screening:
        # A draft already has documents if they were chosen for calibration or given an overlap.
        rows.update(stage=CampaignDocument.Stage.SCREENING)
    take_in_documents(campaign=campaign)
    documents = rows.count()
    if not documents:
        raise Refused(why_no_documents(campaign), code="no_documents")
    check_enough_annotators(campaign)
    share_out(campaign=campaign)
    return documents


@transaction.atomic
def close_campaign(*, campaign: Campaign, actor: User) -> Campaign:
    """Closes the campaign: unfinished work can be read, but not changed."""
    _change_state(campaign, State.OPEN, State.CLOSED, "Only an open campaign can be closed.")
    record_event(verb="close_campaign", subject=campaign, actor=actor)
    return campaign


@transaction.atomic
def reopen_campaign(*, campaign: Campaign, actor: User) -> Campaign:
    """Reopens a closed campaign, so that annotators can continue."""
    _change_state(campaign, State.CLOSED, State.OPEN, "Only a closed campaign can be reopened.")
    record_event(verb="reopen_campaign", subject=campaign, actor=actor)
    return campaign


@transaction.atomic
def edit_guidelines(*, campaign: Campaign, text: str, actor: User, note: str = "") -> Campaign:
    """Saves a new version of the guidelines. Does nothing if the text is unchanged."""
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
    """Records that a member opened this version; returns the newest one they opened.

    The number never decreases and never exceeds the newest version. Does nothing for users without
    a role.
    """
    opened = min(version, Campaign.objects.get(pk=campaign.pk).guidelines_version)
    Membership.objects.filter(campaign=campaign, user=user, seen_guidelines__lt=opened).update(
        seen_guidelines=opened
    )
    return seen_guidelines(campaign, user.pk)


MAX_LABELS = 9
MAX_GUIDELINES = 100_000
MAX_NOTE = 300


def label_problems(labels: list[str]) -> list[str]:
    """The faults of a campaign's label set, one sentence each."""
    problems = check_labels(labels)
    if len(labels) > MAX_LABELS:
        problems.append(f"a campaign can have at most {MAX_LABELS} labels, not {len(labels)}")
    if OUTSIDE in labels:
        problems.append(f"label {OUTSIDE!r} is reserved: agreement uses it for “no label”")
    return problems


def release_gold(
    *,
    campaign: Campaign,
    version: str,
    notes: str,
    visibility: str,
    leave_out_unfinished: bool,
    actor: User,
    licence: str = "",
    citation: Mapping[str, Any] | None = None,
    draw: SplitDraw | None = None,
    split_is_given: bool = False,
    accept_overlaps: int = 0,
) -> Release:
    """Freezes the gold of the campaign's finished documents.

    `draw` draws a split; `split_is_given` reads it from the documents' metadata. For the other
    arguments see `freeze_release`.

    With `leave_out_unfinished`, unfinished documents are left out and counted in the notes;
    otherwise they raise Unfinished. Raises DoubtfulGold for facts with a warning on which no one
    decided (the decided ones are in the notes and the event); Refused if nothing is finished; and
    the errors of `freeze_release`.
    """
    unfinished = unfinished_documents(campaign)
    if unfinished and not leave_out_unfinished:
        review = review_blocks_release(campaign)
        message = f"{len(unfinished)} of the dataset's documents are not finished."
        names = [document.name for document in unfinished]
        raise Unfinished(f"{message} {review}" if review else message, names)
    documents = _finished(campaign)
    doubtful = doubtful_facts(gold_documents(campaign))
    if undecided := [fact for fact in doubtful if not fact.is_signed]:
        raise DoubtfulGold(undecided)

    def record(release: Release) -> None:
        record_event(
            verb="release_gold", subject=campaign, actor=actor, release=release.pk, version=version,
            documents=len(documents), left_out=len(unfinished), accepted_warnings=len(doubtful),
            warnings=doubt_counts(doubtful),
        )  # fmt: skip

    # The items are computed before any lock, because many pages take a while.
    return freeze_release(
        dataset=campaign.dataset,
        version=version,
        items=_items(campaign, documents),
        labels=campaign.labels,
        notes=_notes(notes, len(unfinished), doubtful, visibility),
        visibility=visibility,
        licence=licence,
        citation=citation,
        splits=_given_splits(documents) if split_is_given else draw,
        accept_overlaps=accept_overlaps,
        actor=actor,
        then=record,
    )


def draft_release_notes(
    *,
    campaign: Campaign,
    visibility: str,
    draw: SplitDraw | None = None,
    split_is_given: bool = False,
) -> str:
    """Change notes against the dataset's newest release, in Markdown; empty for the first release.

    Raises Refused if nothing is finished, and ReleaseError where freezing would.
    """
    documents = _finished(campaign)
    rows = page_rows(campaign.dataset, _items(campaign, documents), campaign.labels)
    splits = _given_splits(documents) if split_is_given else draw
    return notes_of_rows(Release(dataset=campaign.dataset, visibility=visibility), rows, splits)


def _finished(campaign: Campaign) -> list[CampaignDocument]:
    documents = list(gold_documents(campaign).select_related("document"))
    if not documents:
        review = review_blocks_release(campaign)
        message = review or "There is nothing to release. No documents are gold yet."
        raise Refused(message, code="no_gold")
    return documents


def _given_splits(documents: list[CampaignDocument]) -> dict[str, str]:
    """The splits from the documents' metadata. Freezing reports documents without one."""
    given = {row.document.name: row.document.metadata.get("split") for row in documents}
    return {name: split.strip().lower() for name, split in given.items() if isinstance(split, str)}


def _items(campaign: Campaign, documents: list[CampaignDocument]) -> list[GoldItem]:
    gold = GoldSpan.objects.filter(campaign_document__campaign=campaign)
    spans, meanings = gold.by_document(), gold.meanings_by_document()
    return [
        GoldItem(row.document, spans[row.document_id], meanings[row.document_id])
        for row in documents
    ]


# Notes list no more facts than this.
_MOST_NOTED = 100


def _notes(notes: str, left_out: int, doubtful: Sequence[DoubtfulFact], visibility: str) -> str:
    paragraphs = [notes]
    if left_out:
        plural = "s that were" if left_out > 1 else " that was"
        paragraphs.append(f"Excluded: {left_out} document{plural} not finished.")
    if doubtful:
        plural = "s that have" if len(doubtful) > 1 else " that has"
        paragraphs.append(f"Accepted: {len(doubtful)} fact{plural} a warning.")
        # The texts of hidden gold must not be in notes, which are public.
        if visibility == Release.Visibility.PUBLIC:
            paragraphs.append(_noted(doubtful))
    return "\n\n".join(paragraphs).strip() if len(paragraphs) > 1 else notes


def _noted(doubtful: Sequence[DoubtfulFact]) -> str:
    lines = [
        f"- {fact.document}: “{fact.quote}” ({fact.label}). {' '.join(fact.messages)}"
        for fact in doubtful[:_MOST_NOTED]
    ]
    if more := len(doubtful) - len(lines):
        lines.append(f"- and {more} more")
    return "\n".join(lines)
