"""Pre-screening: is a page fit for annotation? Verdicts are append-only; the last one holds."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction

from annotation.models import Assignment, Campaign, CampaignDocument, Comment, Screening
from portal.accounts.models import User, display_name
from portal.audit.models import record_event

from .assigning import share_out
from .errors import CampaignNotOpen, Refused, check_reason_length
from .reviewing import open_due_round

Stage = CampaignDocument.Stage
Verdict = Screening.Verdict


class ScreenedMeanwhile(Refused):
    """Somebody gave a verdict after the page was opened; theirs holds."""

    code = "screened"

    def __init__(self, last: Screening | None) -> None:
        if last is None:
            super().__init__("This page was put back into screening meanwhile.")
        else:
            super().__init__(
                f"{display_name(last.screened_by)} screened this page meanwhile: {last.verdict}. "
                "Nothing was changed now."
            )


@dataclass(frozen=True)
class Screened:
    """The verdict, and the stage the page has reached by it."""

    screening: Screening
    stage: str


@transaction.atomic
def screen_document(
    *,
    campaign_document: CampaignDocument,
    verdict: str,
    faults: Sequence[str] = (),
    reason: str = "",
    actor: User,
) -> Screened:
    """Passes a page on to annotation, or excludes it as faulty with what is wrong and why.

    A page that passes gets its annotators at once, if there are enough of them. The same verdict by
    the same person again is answered as the first time. Raises ScreenedMeanwhile when somebody else
    was faster, Refused for a page that is beyond screening and for faults without a reason.
    """
    _check(verdict, faults, reason)
    document, campaign = _locked(campaign_document)
    last = last_screening(document)
    if document.stage != Stage.SCREENING:
        if _is_repeated(document, last, verdict, actor):
            assert last is not None
            return Screened(last, document.stage)
        raise ScreenedMeanwhile(last) if last else _beyond(document)
    stage = Stage.ANNOTATION if verdict == Verdict.INTACT else Stage.EXCLUDED
    return _record(document, campaign, verdict, faults, reason, stage, actor)


@transaction.atomic
def exclude_document(
    *, campaign_document: CampaignDocument, faults: Sequence[str], reason: str, actor: User
) -> Screened:
    """Excludes a page that is being labelled and turns out to be faulty; for those who manage.

    The work on it stays as it is and can be gone on with when the page is brought back. Raises
    Refused for a page that everybody has submitted.
    """
    _check(Verdict.FAULTY, faults, reason)
    document, campaign = _locked(campaign_document)
    if document.stage == Stage.EXCLUDED:
        raise ScreenedMeanwhile(last_screening(document))
    if document.stage not in {Stage.SCREENING, Stage.ANNOTATION}:
        raise _beyond(document)
    return _record(document, campaign, Verdict.FAULTY, faults, reason, Stage.EXCLUDED, actor)


@transaction.atomic
def bring_back_document(
    *, campaign_document: CampaignDocument, reason: str, actor: User
) -> Screened:
    """Overrules a verdict: an excluded page goes to annotation after all; for those who manage."""
    if not reason.strip():
        raise Refused("Say why the page is fit for annotation after all.", code="reason")
    _check(Verdict.INTACT, (), reason)
    document, campaign = _locked(campaign_document)
    if document.stage != Stage.EXCLUDED:
        raise Refused("Only an excluded page can be brought back.", code="stage")
    return _record(document, campaign, Verdict.INTACT, (), reason, Stage.ANNOTATION, actor)


@transaction.atomic
def undo_screening(*, campaign_document: CampaignDocument, actor: User) -> CampaignDocument:
    """Takes one's own last verdict back: the page is to be screened again.

    Raises Refused when the last verdict is somebody else's, or the page is being labelled already.
    """
    document, _ = _locked(campaign_document)
    last = last_screening(document)
    if document.stage == Stage.SCREENING:
        return document
    if last is None or last.screened_by_id != actor.pk:
        raise Refused("The last verdict on this page is not yours.", code="not_yours")
    if document.stage not in {Stage.ANNOTATION, Stage.EXCLUDED}:
        raise _beyond(document)
    work = list(document.assignments.select_for_update())
    if any(each.state != Assignment.State.ASSIGNED or each.revision for each in work) or (
        Comment.objects.filter(assignment__in=work).exists()
    ):
        raise Refused(
            "This page is being labelled already: its verdict stands. A lead may exclude it.",
            code="begun",
        )
    document.assignments.all().delete()
    document.stage = Stage.SCREENING
    document.save(update_fields=["stage"])
    record_event(verb="undo_screening", subject=document, actor=actor, screening=last.pk)
    return document


def last_screening(document: CampaignDocument) -> Screening | None:
    return document.screenings.select_related("screened_by").order_by("-id").first()


def _check(verdict: str, faults: Sequence[str], reason: str) -> None:
    if verdict not in Verdict.values:
        raise Refused("The verdict is intact or faulty.", code="verdict")
    if unknown := sorted(set(faults) - set(Screening.Fault.values)):
        known = ", ".join(Screening.Fault.values)
        raise Refused(f"{unknown[0]!r} is none of {known}.", code="faults")
    check_reason_length(reason)
    if verdict == Verdict.INTACT and faults:
        raise Refused("An intact page has no faults.", code="faults")
    if verdict == Verdict.FAULTY and not faults:
        raise Refused("Say which faults the page has.", code="faults")
    if verdict == Verdict.FAULTY and not reason.strip():
        raise Refused("Say in a few words what is wrong with the page.", code="reason")


def _locked(campaign_document: CampaignDocument) -> tuple[CampaignDocument, Campaign]:
    """The page, then its campaign, whose lock makes pages that pass at once share out evenly."""
    document = CampaignDocument.objects.select_for_update().get(pk=campaign_document.pk)
    campaign = Campaign.objects.select_for_update().get(pk=document.campaign_id)
    if campaign.state != Campaign.State.OPEN:
        raise CampaignNotOpen
    if document.purpose == CampaignDocument.Purpose.QUALIFICATION:
        raise Refused("A page of the qualification round is not screened.", code="qualification")
    return document, campaign


def _is_repeated(
    document: CampaignDocument, last: Screening | None, verdict: str, actor: User
) -> bool:
    stage = Stage.ANNOTATION if verdict == Verdict.INTACT else Stage.EXCLUDED
    return (
        last is not None
        and (last.verdict, last.screened_by_id) == (verdict, actor.pk)
        and document.stage == stage
    )


def _beyond(document: CampaignDocument) -> Refused:
    if document.stage == Stage.ANNOTATION:
        return Refused("This page has passed screening already.", code="stage")
    return Refused(
        f"This page is beyond screening: it is in the stage “{document.stage}”.", code="stage"
    )


def _record(
    document: CampaignDocument,
    campaign: Campaign,
    verdict: str,
    faults: Sequence[str],
    reason: str,
    stage: str,
    actor: User,
) -> Screened:
    screening = Screening.objects.create(
        campaign_document=document,
        verdict=verdict,
        faults=[code for code in Screening.Fault.values if code in faults],
        reason=reason.strip(),
        screened_by=actor,
    )
    document.stage = stage
    document.save(update_fields=["stage"])
    if stage == Stage.ANNOTATION:
        share_out(campaign=campaign, only=[document.pk], strict=False)
    else:
        # It may have been the last page that was not gold, for which the last review waited.
        open_due_round(campaign=campaign)
    record_event(
        verb="screen_document", subject=document, actor=actor, verdict=str(verdict),
        stage=str(stage),
    )  # fmt: skip
    return Screened(screening, str(stage))
