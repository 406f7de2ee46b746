"""Qualification rounds: add pages, grade submissions, and qualify annotators.

Qualification pages never settle and never become gold. They count in no figure of the campaign.
"""

from collections.abc import Sequence

from django.db import transaction
from django.utils import timezone

from annotation.assignments.sharing import lock_calibration, share_out_to_qualified
from annotation.errors import Refused
from annotation.models import (
    Assignment,
    Campaign,
    CampaignDocument,
    KnownGold,
    Membership,
    QualificationResult,
)
from annotation.spans import compare_with_gold, spans_of, tally
from portal.accounts.models import User
from portal.audit.models import record_event
from portal.facts import Span

from . import selectors

MAX_PAGES = 100
MAX_SEED = 2**31 - 1
MAX_REASON = 2000


State = Assignment.State


@transaction.atomic
def add_qualification(
    *,
    campaign: Campaign,
    source: selectors.Source,
    actor: User | None,
    names: Sequence[str] = (),
    count: int = 0,
    seed: int = 0,
) -> list[str]:
    """Adds pages of `source` to the round and assigns them to every unqualified annotator.

    The pages are `names`, or `count` pages drawn with `seed`. Their gold is copied. Returns their
    names. Annotators see no other pages until they pass. Raises Refused, without any change, if the
    campaign is closed, the labels differ, a page cannot be used or there are too few.
    """
    locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
    if locked.state == Campaign.State.CLOSED:
        raise Refused("The campaign is closed. Reopen it to add documents.", code="closed")
    if not selectors.labels_fit(source, locked):
        raise Refused(
            f"The gold has the labels {', '.join(source.labels)}, but the campaign has "
            f"{', '.join(locked.labels)}. They must be the same.",
            code="labels",
        )
    chosen = _chosen(selectors.candidates(locked, source), names, count, seed)
    try:
        gold = selectors.known_spans(source, chosen)
    except selectors.UnusableGold as error:
        raise Refused(f"{error}. Choose other documents.", code="gold") from error
    if not any(gold.values()):
        raise Refused("These documents have no facts. Choose other documents.", code="gold")
    _keep(locked, gold, selectors.describe_source(source))
    for member in _unqualified(locked):
        _assign(locked, member)
    pages = [each.name for each in chosen]
    record_event(
        verb="add_qualification", subject=campaign, actor=actor, pages=pages, seed=seed,
        source=selectors.describe_source(source),
    )  # fmt: skip
    return pages


def _chosen(
    pages: Sequence[selectors.Candidate], names: Sequence[str], count: int, seed: int
) -> list[selectors.Candidate]:
    """The named pages, or pages drawn from those that can be used."""
    by_name = {page.name: page for page in pages}
    if not names:
        free = [page.name for page in pages if not page.obstacle]
        if not 0 < count <= len(free):
            raise Refused(
                f"Enter a number from 1 to {len(free)}. That many documents can be used."
                if free
                else "None of these documents can be used. The campaign already has documents with "
                "the same text or name.",
                code="too_few_pages",
            )
        return [by_name[name] for name in selectors.draw_names(free, count, seed)]
    wanted = list(dict.fromkeys(names))
    faults = [f"{name} does not exist" for name in wanted if name not in by_name]
    chosen = [by_name[name] for name in wanted if name in by_name]
    faults += [f"{page.name} {page.obstacle}" for page in chosen if page.obstacle]
    if faults:
        raise Refused(f"{'; '.join(faults)}.", code="pages")
    return chosen


def _keep(campaign: Campaign, gold: dict[int, list[Span]], source: str) -> None:
    rows = CampaignDocument.objects.bulk_create(
        CampaignDocument(
            campaign=campaign, document_id=document, purpose=CampaignDocument.Purpose.QUALIFICATION
        )
        for document in gold
    )
    KnownGold.objects.bulk_create(
        KnownGold(
            campaign_document=row,
            spans=[[span.start, span.end, span.label] for span in gold[row.document_id]],
            source=source[: KnownGold._meta.get_field("source").max_length],
        )
        for row in rows
    )


def _unqualified(campaign: Campaign) -> list[Membership]:
    """The unqualified annotators, locked so that results and decisions are applied in turn."""
    members = Membership.objects.filter(
        campaign=campaign, role=Membership.Role.ANNOTATOR, qualified_at__isnull=True
    )
    return list(members.select_for_update().order_by("id"))


@transaction.atomic
def assign_qualification(*, campaign: Campaign, user: User) -> int:
    """Assigns the qualification pages to a new annotator; returns the number of new assignments.

    Annotators who rejoin keep their tries, and qualify at once if those reach the threshold.
    """
    locked = _lock(campaign)
    member = _locked(locked, user)
    if member is None or member.qualified_at:
        return 0
    given = _assign(locked, member)
    _qualify_if_passed(locked, member)
    return given


@transaction.atomic
def qualify_who_passed(*, campaign: Campaign, actor: User) -> None:
    """Qualifies all annotators who reach a changed threshold; raises Refused for the actor."""
    locked = _lock(campaign)
    for member in _unqualified(locked):
        _qualify_if_passed(locked, member)
        if member.qualified_at:
            _check_other(member.user, actor)


def _lock(campaign: Campaign) -> Campaign:
    """Locks pages, then the campaign. Its memberships may be locked afterwards."""
    lock_calibration(campaign)
    return Campaign.objects.select_for_update().get(pk=campaign.pk)


def _assign(campaign: Campaign, member: Membership) -> int:
    pages = selectors.qualification_pages(campaign)
    # Annotators who left in the middle of a page and rejoined continue with it.
    back = Assignment.objects.filter(
        campaign_document__in=pages, annotator=member.user_id, state=State.WITHDRAWN
    ).update(state=State.IN_PROGRESS)
    rows = Assignment.objects.bulk_create(
        Assignment(campaign_document=page, annotator_id=member.user_id)
        for page in pages.exclude(assignments__annotator=member.user_id).order_by("id")
    )
    return len(rows) + back


def _locked(campaign: Campaign, user: User) -> Membership | None:
    members = Membership.objects.select_for_update().filter(
        campaign=campaign, user=user, role=Membership.Role.ANNOTATOR
    )
    return members.first()


def grade_qualification(*, assignment: Assignment) -> QualificationResult:
    """Compares a submitted page with its known gold, and qualifies an annotator who has passed.

    Each submission creates a result. The caller's transaction must hold the assignment's lock.
    """
    page = assignment.campaign_document
    gold = spans_of(page.known_gold.spans)
    marked = spans_of(assignment.spans.values_list("start", "end", "label"))
    figures = tally(compare_with_gold(page.document.content.text, gold, marked))
    result = QualificationResult.objects.create(
        assignment=assignment,
        attempt=assignment.qualification_results.count() + 1,
        matched=figures.matched,
        marked=figures.marked,
        expected=figures.expected,
    )
    # Serializes submissions of an annotator's last two pages.
    campaign = _lock(page.campaign)
    # Annotators who were removed from the campaign have no membership.
    if member := _locked(campaign, assignment.annotator):
        _qualify_if_passed(campaign, member)
    return result


def _qualify_if_passed(campaign: Campaign, member: Membership) -> None:
    done = selectors.annotator_round(campaign, member)
    if member.qualified_at is None and done.has_passed:
        _qualify(campaign, member)
        record_event(
            verb="pass_qualification", subject=campaign, actor=member.user, user=member.user_id,
            threshold=campaign.qualification_f1,
        )  # fmt: skip


def _qualify(campaign: Campaign, member: Membership) -> None:
    member.qualified_at = timezone.now()
    member.save(update_fields=["qualified_at"])
    share_out_to_qualified(campaign=campaign)


@transaction.atomic
def grant_qualification_try(*, campaign: Campaign, user: User, actor: User) -> int:
    """Reopens every page with an error; returns their number. Results are kept.

    Raises Refused if the actor is the annotator, and if the annotator is qualified, has not
    submitted all pages, or has no errors.
    """
    _check_other(user, actor)
    done = selectors.annotator_round(campaign, _member(campaign, user))
    if done.is_qualified:
        raise Refused(f"{user} is already qualified.", code="qualified")
    if not done.is_submitted:
        raise Refused(f"{user} has not submitted every qualification document.", code="state")
    again = [page.assignment.pk for page in done.pages if page.assignment and page.has_errors]
    opened = Assignment.objects.filter(pk__in=again, state=State.SUBMITTED).update(
        state=State.IN_PROGRESS, submitted_at=None
    )
    if not opened:
        raise Refused(f"{user} has no errors to correct.", code="state")
    record_event(
        verb="grant_qualification_try", subject=campaign, actor=actor, user=user.pk, pages=opened
    )
    return opened


@transaction.atomic
def qualify_by_decision(*, campaign: Campaign, user: User, reason: str, actor: User) -> Membership:
    """Qualifies an annotator who has not passed the round; the reason is logged.

    Raises Refused without a reason or a round, if the actor is the annotator, and if the annotator
    is already qualified.
    """
    _check_other(user, actor)
    if not reason.strip():
        raise Refused("Enter a reason. It is saved with the decision.", code="reason")
    if not selectors.qualification_pages(campaign).exists():
        raise Refused("The campaign has no qualification round.", code="no_round")
    member = _member(campaign, user)
    if member.qualified_at:
        raise Refused(f"{user} is already qualified.", code="qualified")
    _qualify(campaign, member)
    record_event(
        verb="qualify_by_decision", subject=campaign, actor=actor, user=user.pk,
        reason=reason.strip(),
    )  # fmt: skip
    return member


def _check_other(user: User, actor: User) -> None:
    if user == actor:
        message = (
            "You cannot decide about your own qualification. Ask another lead or an organiser."
        )
        raise Refused(message, code="own_work")


def _member(campaign: Campaign, user: User) -> Membership:
    member = _locked(_lock(campaign), user)
    if member is None:
        raise Refused(f"{user} is not an annotator of this campaign.", code="annotator")
    return member
