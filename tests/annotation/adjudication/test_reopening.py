"""Reopening a case, or a range of a page that is gold."""

from typing import Any

import pytest

from annotation.adjudication.services import decide_case, reopen_case, reopen_document
from annotation.campaigns.services import release_gold
from annotation.errors import InvalidSpans, Refused
from annotation.models import Campaign, CampaignDocument, Case, Decision, GoldSpan, ReviewRound
from portal.accounts.models import User
from portal.audit.models import Event
from portal.datasets.models import ReleaseItem
from tests.annotation.factories import document_of, submit, work_of
from tests.worlds import shared

from .contested import case_of

pytestmark = pytest.mark.django_db

Stage = CampaignDocument.Stage


@pytest.fixture
@shared
def settled(disputed: Campaign, lead: User, ann: User, ben: User) -> Campaign:
    """Both pages are gold, the first by decisions, the second by agreement."""
    for case in document_of(disputed).cases.all():
        decide_case(case=case, choice="proposal", proposal=0, reason="By the rules.", actor=lead)
    for user in (ann, ben):
        submit(work_of(user, disputed, 2), ("Number", "1,200"))
    return disputed


def place(campaign: Campaign, quote: str, number: int = 1) -> dict[str, Any]:
    page = document_of(campaign, number)
    start = page.document.content.text.index(quote)
    return {"campaign_document": page, "start": start, "end": start + len(quote)}


def quotes(campaign: Campaign, number: int = 1) -> list[str]:
    return [span.quote for span in document_of(campaign, number).gold_spans.all()]


def test_reopened_case_gives_its_gold_back(settled: Campaign, lead: User) -> None:
    case = case_of(settled, "boundary")
    opened = reopen_case(case=case, reason=" The note says otherwise. ", actor=lead)
    page = document_of(settled)
    assert (opened.state, opened.decision, opened.reason) == (Case.State.OPEN, [], "")
    assert (opened.decided_by, opened.decided_at) == (None, None)
    assert (page.stage, page.gold_at) == (Stage.ADJUDICATION, None)
    assert quotes(settled) == ["1,200", "March 31, 2025"]
    last = case.decisions.last()
    assert last is not None
    assert (last.choice, last.reason, last.decided_by) == (
        "reopened",
        "The note says otherwise.",
        lead,
    )
    assert Event.objects.filter(verb="reopen_case").count() == 1
    decided = decide_case(case=opened, choice="neither", reason="No fact.", actor=lead)
    assert decided.campaign_document.stage == Stage.GOLD
    choices = [decision.choice for decision in case.decisions.all()]
    assert choices == ["proposal", "reopened", "neither"]


@pytest.mark.parametrize("reason", ["", " "])
def test_opening_again_needs_a_reason(settled: Campaign, lead: User, reason: str) -> None:
    with pytest.raises(InvalidSpans, match="reason"):
        reopen_case(case=case_of(settled, "boundary"), reason=reason, actor=lead)
    with pytest.raises(InvalidSpans, match="reason"):
        reopen_document(**place(settled, "Total"), reason=reason, actor=lead)
    assert document_of(settled).stage == Stage.GOLD


def test_open_case_is_not_opened_again(settled: Campaign, lead: User) -> None:
    case = case_of(settled, "boundary")
    reopen_case(case=case, reason="Once.", actor=lead)
    with pytest.raises(Refused, match="already open"):
        reopen_case(case=case, reason="Twice.", actor=lead)
    assert Decision.objects.filter(choice="reopened").count() == 1


def test_gold_that_a_review_corrected_is_taken_back_too(settled: Campaign, lead: User) -> None:
    case = case_of(settled, "boundary")
    GoldSpan.objects.filter(case=case).update(case=None, origin="reviewed")
    opened = reopen_case(case=case, reason="The review was wrong.", actor=lead)
    assert quotes(settled) == ["1,200", "March 31, 2025"]
    decide_case(case=opened, choice="proposal", proposal=1, reason="By the rules.", actor=lead)
    assert quotes(settled) == ["1,200", "310", "March 31, 2025"]


def test_place_without_a_case_begins_one_with_the_gold_as_it_was(
    settled: Campaign, lead: User
) -> None:
    page = document_of(settled, 2)
    assert page.stage == Stage.GOLD
    # A part of the fact opens the whole fact.
    case = reopen_document(**place(settled, "200", 2), reason="Not a fact?", actor=lead)
    assert (case.kind, case.state) == (Case.Kind.REVIEW, Case.State.OPEN)
    (proposal,) = case.proposals
    assert proposal["assignment"] is None
    assert [span["quote"] for span in proposal["spans"]] == ["1,200"]
    assert (quotes(settled, 2), document_of(settled, 2).stage) == ([], Stage.ADJUDICATION)
    kept = decide_case(case=case, choice="proposal", proposal=0, reason="It is.", actor=lead)
    assert (quotes(settled, 2), kept.campaign_document.stage) == (["1,200"], Stage.GOLD)


def test_overlooked_place_is_opened_with_nothing_for_its_gold(
    settled: Campaign, lead: User
) -> None:
    case = reopen_document(**place(settled, "Total", 2), reason="A heading.", actor=lead)
    assert case.proposals == [{"assignment": None, "spans": []}]
    assert quotes(settled, 2) == ["1,200"]


def test_place_with_a_case_opens_that_case(settled: Campaign, lead: User) -> None:
    before = Case.objects.count()
    case = reopen_document(**place(settled, "31"), reason="The sign.", actor=lead)
    assert case == case_of(settled, "boundary")
    assert (Case.objects.count(), case.state) == (before, Case.State.OPEN)
    with pytest.raises(Refused, match="already has an open case"):
        reopen_document(**place(settled, "(310)"), reason="Again.", actor=lead)


def test_page_in_adjudication_takes_corrections_too(disputed: Campaign, lead: User) -> None:
    case = reopen_document(**place(disputed, "1,200"), reason="In millions.", actor=lead)
    assert [span["quote"] for span in case.proposals[0]["spans"]] == ["1,200"]


def test_place_over_several_cases_is_refused(settled: Campaign, lead: User) -> None:
    with pytest.raises(Refused, match="2 decided cases"):
        reopen_document(**place(settled, "(310) as of March"), reason="Both.", actor=lead)


@pytest.mark.parametrize(("start", "end"), [(5, 5), (0, 99_999), (-1, 4), (9, 3)])
def test_place_that_is_no_text_is_refused(
    settled: Campaign, lead: User, start: int, end: int
) -> None:
    page = document_of(settled)
    with pytest.raises(InvalidSpans, match="not a range"):
        reopen_document(campaign_document=page, start=start, end=end, reason="Why.", actor=lead)
    assert document_of(settled).stage == Stage.GOLD


def test_page_in_annotation_has_nothing_to_open(campaign: Campaign, lead: User) -> None:
    with pytest.raises(Refused, match="in annotation"):
        reopen_document(**place(campaign, "Total"), reason="Why.", actor=lead)


def test_review_round_of_the_page_is_kept(settled: Campaign, lead: User) -> None:
    page = document_of(settled)
    page.review_round = ReviewRound.objects.create(
        campaign=settled, number=1, seed=1, share=0.05, pages=1, facts=3, guidelines_version=1
    )
    page.save()
    reopen_case(case=case_of(settled, "label"), reason="The label.", actor=lead)
    assert document_of(settled).review_round == page.review_round


def test_release_stays_as_it_was(settled: Campaign, lead: User) -> None:
    release = release_gold(
        campaign=settled, version="1.0.0", notes="", visibility="private", actor=lead,
        leave_out_unfinished=False,
    )  # fmt: skip
    items = list(ReleaseItem.objects.filter(release=release).values("sha256", "gold"))
    reopen_case(case=case_of(settled, "boundary"), reason="The sign.", actor=lead)
    release.refresh_from_db()
    assert list(ReleaseItem.objects.filter(release=release).values("sha256", "gold")) == items
