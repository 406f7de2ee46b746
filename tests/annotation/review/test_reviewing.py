"""Rounds of the domain review: when they open, their draws, and blocked releases."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from annotation.campaigns.selectors import gold_documents
from annotation.campaigns.services import change_settings, release_gold
from annotation.errors import Refused, Unfinished
from annotation.models import Campaign, CampaignDocument, GoldSpan, ReviewItem, ReviewRound
from annotation.review.selectors import redraw, review_blocks_release, review_of
from annotation.review.services import MAX_SEED, decide_item, open_due_round, open_round_now
from portal.accounts.models import User
from portal.audit.models import Event
from portal.facts.sampling import Key, draw
from tests.annotation.factories import document_of, submit, work_of
from tests.worlds import shared

from .review_factories import accept_all, item_of, make_gold, reviewed_campaign, round_of

pytestmark = pytest.mark.django_db


@pytest.fixture
@shared
def campaign(ann: User, ben: User, lead: User, reviewer: User) -> Campaign:
    """Five pages of four facts, and a review of half their facts after every two pages."""
    return reviewed_campaign([ann, ben], lead=lead, reviewer=reviewer, documents=5)


def covered(campaign: Campaign) -> dict[str, int | None]:
    rows = CampaignDocument.objects.filter(campaign=campaign).order_by("id")
    return dict(rows.values_list("document__name", "review_round__number"))


def test_round_opens_after_so_many_gold_pages(campaign: Campaign) -> None:
    make_gold(campaign, 1)
    assert not ReviewRound.objects.exists()
    make_gold(campaign, 2)
    found = round_of(campaign)
    assert (found.state, found.pages, found.facts, found.share) == ("open", 2, 8, 0.5)
    assert (found.opened_by, found.guidelines_version) == (None, 1)
    assert found.items.count() == 4
    assert covered(campaign) == dict.fromkeys(["page-001", "page-002"], 1) | dict.fromkeys(
        ["page-003", "page-004", "page-005"]
    )


def test_due_round_is_not_held_up_by_an_open_one(campaign: Campaign) -> None:
    for number in (1, 2, 3, 4):
        make_gold(campaign, number)
    assert list(campaign.review_rounds.values_list("number", "state")) == [(1, "open"), (2, "open")]
    assert set(round_of(campaign, 2).population) == {"page-003", "page-004"}


def test_last_page_opens_the_last_round(campaign: Campaign) -> None:
    for number in (1, 2, 3, 4, 5):
        make_gold(campaign, number)
    assert [found.pages for found in campaign.review_rounds.all()] == [2, 2, 1]


@pytest.mark.parametrize("aside", [{"stage": "excluded"}, {"purpose": "qualification"}])
def test_last_page_is_the_last_that_becomes_gold(campaign: Campaign, aside: dict[str, str]) -> None:
    campaign.documents.exclude(document__name="page-001").update(**aside)
    make_gold(campaign, 1)
    assert round_of(campaign).pages == 1


def test_without_a_review_no_round_opens(ann: User, ben: User, lead: User, reviewer: User) -> None:
    campaign = reviewed_campaign([ann, ben], lead=lead, reviewer=reviewer, review_pages=0)
    for number in (1, 2, 3):
        make_gold(campaign, number)
    assert not ReviewRound.objects.exists()
    assert review_blocks_release(campaign) is None
    with pytest.raises(Refused, match="Reviews are turned off"):
        open_round_now(campaign=campaign, actor=lead)


def test_items_are_the_draw_in_the_order_of_pages_and_text(campaign: Campaign, lead: User) -> None:
    Campaign.objects.filter(pk=campaign.pk).update(review_pages=4)
    make_gold(campaign, 1)
    make_gold(campaign, 2)
    found = open_round_now(campaign=campaign, actor=lead, seed=1)
    # Eight facts get 0.13 0.85 0.76 0.26 | 0.50 0.45 0.65 0.79. The four smallest are drawn.
    drawn = [
        (item.position, item.campaign_document.document.name, item.quote)
        for item in found.items.order_by("position")
    ]
    assert drawn == [
        (1, "page-001", "1,200"),
        (2, "page-001", "1,200"),
        (3, "page-002", "1,200"),
        (4, "page-002", "(310)"),
    ]
    first = found.items.get(position=1)
    gold = document_of(campaign, 1).gold_spans.first()
    assert gold is not None
    fields = ("label", "start", "end", "quote", "value", "sign")
    assert [getattr(first, f) for f in fields] == [getattr(gold, f) for f in fields]
    assert (found.opened_by, found.seed, found.number) == (lead, 1, 1)


def test_seed_is_random_unless_given(campaign: Campaign) -> None:
    for number in (1, 2, 3, 4):
        make_gold(campaign, number)
    first, second = campaign.review_rounds.all()
    assert first.seed != second.seed


def test_lead_opens_a_round_early(campaign: Campaign, lead: User) -> None:
    make_gold(campaign, 1)
    found = open_round_now(campaign=campaign, actor=lead)
    assert (found.pages, found.items.count()) == (1, 2)
    with pytest.raises(Refused, match="already in a review") as refused:
        open_round_now(campaign=campaign, actor=lead)
    assert refused.value.code == "nothing"
    assert Event.objects.get(verb="open_review_round").actor == lead


@pytest.mark.parametrize("seed", [-1, MAX_SEED + 1])
def test_seed_out_of_range_is_refused(campaign: Campaign, lead: User, seed: int) -> None:
    make_gold(campaign, 1)
    with pytest.raises(Refused, match="seed must be"):
        open_round_now(campaign=campaign, actor=lead, seed=seed)
    assert not ReviewRound.objects.exists()


def test_round_over_pages_without_facts_is_done_at_once(campaign: Campaign) -> None:
    make_gold(campaign, 1, [])
    make_gold(campaign, 2, [])
    found = round_of(campaign)
    assert (found.state, found.facts, found.items.count()) == ("done", 0, 0)
    assert found.closed_at is not None


def test_calling_again_opens_nothing(campaign: Campaign) -> None:
    make_gold(campaign, 1)
    make_gold(campaign, 2)
    assert open_due_round(campaign=campaign) is None
    assert ReviewRound.objects.count() == 1


def test_review_counts_what_waits(campaign: Campaign, reviewer: User) -> None:
    for number in (1, 2, 3):
        make_gold(campaign, number)
    decide_item(item=item_of(campaign, 1), verdict="accepted", actor=reviewer)
    decide_item(item=item_of(campaign, 2), verdict="corrected", reason="No fact.", actor=reviewer)
    review = review_of(campaign)
    (row,) = review.rounds
    assert (review.waiting, review.missing) == (1, 1)
    assert (row.verdicts.decided, row.verdicts.pending, row.verdicts.total) == (2, 2, 4)
    assert row.verdicts.acceptance == 0.5


# --- release -----------------------------------------------------------------------------------


def freeze(campaign: Campaign, actor: User, *, leave_out: bool = False) -> list[str]:
    release = release_gold(
        campaign=campaign,
        version="1.0.0",
        notes="",
        visibility="private",
        leave_out_unfinished=leave_out,
        actor=actor,
    )
    return [item.name for item in release.items.all()]


def test_release_waits_for_the_reviews(ann: User, ben: User, lead: User, reviewer: User) -> None:
    campaign = reviewed_campaign([ann, ben], lead=lead, reviewer=reviewer, documents=3)
    for number in (1, 2, 3):
        make_gold(campaign, number)
    assert review_blocks_release(campaign) == (
        "Reviews 1 and 2 are open. Every sampled fact must be reviewed."
    )
    with pytest.raises(Unfinished, match="Reviews 1 and 2 are open") as refused:
        freeze(campaign, lead)
    assert refused.value.names == ["page-001", "page-002", "page-003"]
    accept_all(campaign, reviewer, 1)
    assert review_blocks_release(campaign) == (
        "Review 2 is open. Every sampled fact must be reviewed."
    )
    accept_all(campaign, reviewer, 2)
    assert review_blocks_release(campaign) is None
    assert freeze(campaign, lead) == ["page-001", "page-002", "page-003"]


def test_open_review_blocks_the_release_after_reviews_are_turned_off(
    campaign: Campaign, lead: User, reviewer: User
) -> None:
    for number in (1, 2, 3, 4, 5):
        make_gold(campaign, number)
    campaign = change_settings(campaign=campaign, actor=lead, review_pages=0)
    for number in (1, 2, 3):
        assert not gold_documents(campaign).filter(review_round__number=number).exists()
        with pytest.raises(Unfinished, match="open"):
            freeze(campaign, lead)
        accept_all(campaign, reviewer, number)
    assert review_blocks_release(campaign) is None
    assert len(freeze(campaign, lead)) == 5


def test_pages_in_no_review_are_released_after_reviews_are_turned_off(
    campaign: Campaign, lead: User, organiser: User
) -> None:
    make_gold(campaign, 1)
    campaign = change_settings(campaign=campaign, actor=lead, review_pages=0)
    assert freeze(campaign, organiser, leave_out=True) == ["page-001"]


def test_pages_in_no_review_block_the_release(campaign: Campaign) -> None:
    make_gold(campaign, 1)
    assert review_blocks_release(campaign) == (
        "1 gold document is not yet in a review. A lead can open a review."
    )


def test_unreviewed_pages_are_left_out_as_unfinished(
    campaign: Campaign, organiser: User, reviewer: User
) -> None:
    for number in (1, 2, 3):
        make_gold(campaign, number)
    with pytest.raises(Refused, match="Review 1 is open"):
        freeze(campaign, organiser, leave_out=True)
    accept_all(campaign, reviewer)
    assert freeze(campaign, organiser, leave_out=True) == ["page-001", "page-002"]


def test_sent_back_page_is_not_drawn_again(campaign: Campaign, reviewer: User, lead: User) -> None:
    make_gold(campaign, 1)
    make_gold(campaign, 2)
    item = item_of(campaign)
    decide_item(item=item, verdict="sent_back", reason="Which of them?", actor=reviewer)
    page = item.campaign_document
    page.refresh_from_db()
    assert (page.stage, page.gold_at, page.review_round) == ("adjudication", None, item.round)
    page.cases.update(state="decided", decided_at=page.settled_at)
    CampaignDocument.objects.filter(pk=page.pk).update(stage="gold")
    assert open_due_round(campaign=campaign) is None
    with pytest.raises(Refused, match="already in a review"):
        open_round_now(campaign=campaign, actor=lead)


# --- drawing again -------------------------------------------------------------------------------


def test_draw_is_made_again_from_the_stored_population(campaign: Campaign) -> None:
    make_gold(campaign, 1)
    make_gold(campaign, 2)
    found = round_of(campaign)
    keys = [Key(name, start) for name, starts in found.population.items() for start in starts]
    stored = found.items.order_by("position")
    assert [(item.campaign_document.document.name, item.start) for item in stored] == draw(
        keys, found.share, found.seed
    )


def test_command_prints_the_draw_also_after_the_gold_changed(
    campaign: Campaign, reviewer: User
) -> None:
    make_gold(campaign, 1)
    make_gold(campaign, 2)
    decide_item(item=item_of(campaign), verdict="corrected", reason="No.", actor=reviewer)
    GoldSpan.objects.filter(label="Date").delete()
    out = StringIO()
    call_command("draw_review", campaign.slug, "1", stdout=out)
    lines = out.getvalue().splitlines()
    found = round_of(campaign)
    assert lines[0] == f"# seed {found.seed}, share 0.5 of 8 facts in 2 documents: 4 drawn"
    assert lines[1:-1] == [
        f"{item.campaign_document.document.name}\t{item.start}"
        for item in found.items.order_by("position")
    ]
    assert lines[-1] == "# identical to the stored draw"


def test_command_fails_when_another_fact_is_stored(campaign: Campaign) -> None:
    make_gold(campaign, 1)
    make_gold(campaign, 2)
    ReviewItem.objects.filter(position=1).update(start=0)
    out = StringIO()
    with pytest.raises(CommandError, match=r"only stored: page-00[12]\t0"):
        call_command("draw_review", campaign.slug, "1", stdout=out)
    assert not redraw(round_of(campaign)).is_same


def test_command_says_when_it_cannot_draw(campaign: Campaign) -> None:
    with pytest.raises(CommandError, match="campaign spring-round has no review 1"):
        call_command("draw_review", campaign.slug, "1")
    make_gold(campaign, 1)
    make_gold(campaign, 2)
    ReviewRound.objects.update(population={})
    with pytest.raises(CommandError, match="no recorded population"):
        call_command("draw_review", campaign.slug, "1")


def test_work_that_was_submitted_by_one_is_in_no_review(campaign: Campaign, ann: User) -> None:
    submit(work_of(ann, campaign, 1), ("Number", "1,200"))
    assert open_due_round(campaign=campaign) is None
