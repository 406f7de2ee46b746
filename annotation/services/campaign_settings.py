"""The settings of a campaign's workflow: checked, and changed only where that makes sense."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from django.db import transaction

from annotation.models import Campaign, CampaignDocument
from portal.accounts.models import User
from portal.audit.models import record_event

from .assigning import lock_calibration
from .errors import Refused
from .qualifying import qualify_who_passed
from .teams import MAX_OVERLAP

MAX_REVIEW_PAGES = 100_000


@dataclass(frozen=True)
class CampaignSettings:
    """What a new campaign begins with, unless told otherwise."""

    screening: bool = False
    agreement_threshold: float = 1.0
    review_pages: int = 100
    review_share: float = 0.05
    qualification_f1: float = 0.9

    def check(self) -> None:
        """Raises Refused, its code the field, for a value out of range."""
        for name, (is_right, rule) in _RANGES.items():
            if not is_right(getattr(self, name)):
                raise Refused(rule, code=name)


# NaN is in none of these ranges, for it compares with nothing.
_RANGES: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "agreement_threshold": (
        lambda value: 0 <= value <= 1,
        "The agreement threshold is a number from 0 to 1.",
    ),
    "review_pages": (
        lambda value: 0 <= value <= MAX_REVIEW_PAGES,
        f"A review follows every 0 (never) to {MAX_REVIEW_PAGES} pages.",
    ),
    "review_share": (
        lambda value: 0 < value <= 1,
        "The share of facts reviewed is above 0 and at most 1.",
    ),
    "qualification_f1": (
        lambda value: 0 <= value <= 1,
        "The span F1 of the qualification is a number from 0 to 1.",
    ),
}
NAMES = tuple(each.name for each in fields(CampaignSettings))


def settings_of(campaign: Campaign) -> CampaignSettings:
    return CampaignSettings(**{name: getattr(campaign, name) for name in NAMES})


@transaction.atomic
def change_settings(
    *, campaign: Campaign, actor: User, overlap: int | None = None, **changes: Any
) -> Campaign:
    """Changes what is given of `CampaignSettings`, and the overlap of a draft.

    Raises Refused, its code the field, for a value out of range and for what makes no sense any
    more: see `fixed_settings`. Nothing is changed then.
    """
    if "qualification_f1" in changes:
        # Who passes by the new number gets work, for which pages are locked before their campaign.
        lock_calibration(campaign)
    locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
    wanted = replace(settings_of(locked), **changes)
    wanted.check()
    if overlap is not None and not 1 <= overlap <= MAX_OVERLAP:
        raise Refused(f"A document has 1 to {MAX_OVERLAP} annotators.", code="overlap")
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
        qualify_who_passed(campaign=locked)
    return locked


def fixed_settings(campaign: Campaign) -> dict[str, str]:
    """The settings that can no longer be changed, each with the reason, for people."""
    fixed: dict[str, str] = {}
    documents = CampaignDocument.objects.filter(campaign=campaign)
    if campaign.state != Campaign.State.DRAFT:
        fixed["overlap"] = (
            "The documents are shared out: from now on the number of annotators is set for single "
            "documents, on the page Documents."
        )
    waiting = documents.filter(stage=CampaignDocument.Stage.SCREENING).count()
    if campaign.screening and waiting:
        fixed["screening"] = (
            f"{waiting} document{'s wait' if waiting > 1 else ' waits'} for screening: screen "
            "them before you turn it off."
        )
    if documents.filter(settled_at__isnull=False).exists():
        fixed["agreement_threshold"] = (
            "Documents were settled by this threshold already. Another one now would make two "
            "kinds of gold in one campaign."
        )
    if campaign.state == Campaign.State.CLOSED:
        closed = "The campaign is closed: nobody is screened, qualified or given work any more."
        fixed |= {"screening": closed, "qualification_f1": closed}
    return fixed
