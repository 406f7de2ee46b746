"""The qualification round: choosing pages, the gate, grading, another try, decisions."""

import pytest

from annotation.access import own_assignments
from annotation.campaigns.people import add_member, remove_member
from annotation.campaigns.selectors import campaign_overview, release_state
from annotation.campaigns.services import change_settings, close_campaign, open_campaign
from annotation.errors import Refused
from annotation.models import (
    Assignment,
    Campaign,
    CampaignDocument,
    KnownGold,
    Membership,
    QualificationResult,
)
from annotation.qualification.quality import page_findings
from annotation.qualification.selectors import annotator_round, find_source, source_rows
from annotation.qualification.services import (
    add_qualification,
    grant_qualification_try,
    qualify_by_decision,
)
from portal.accounts.models import User
from portal.audit.models import Event
from portal.datasets.models import Release
from tests.annotation.factories import document_of, make_campaign, save, submit, work_of
from tests.factories import make_document

from .qualification_factories import RIGHT, hold_round, known_release, member_of, trial_of

pytestmark = pytest.mark.django_db

Stage = CampaignDocument.Stage
Purpose = CampaignDocument.Purpose


def results(user: User) -> list[tuple[str, int, int, int, int]]:
    rows = QualificationResult.objects.filter(assignment__annotator=user).order_by("id")
    return list(
        rows.values_list(
            "assignment__campaign_document__document__name",
            "attempt",
            "matched",
            "marked",
            "expected",
        )
    )


def test_pages_get_known_gold_and_an_assignment_for_everybody(
    campaign: Campaign, ann: User, ben: User
) -> None:
    assert hold_round(campaign) == ["known-1", "known-2"]
    pages = CampaignDocument.objects.filter(campaign=campaign, purpose=Purpose.QUALIFICATION)
    assert [page.stage for page in pages] == [Stage.ANNOTATION, Stage.ANNOTATION]
    gold = KnownGold.objects.get(campaign_document=pages[0])
    assert [label for _, _, label in gold.spans] == ["Number", "Number", "Date"]
    assert gold.source.startswith("Dataset")
    given = Assignment.objects.filter(campaign_document__in=pages)
    assert {row.annotator.name for row in given} == {"Ann", "Ben"}
    assert given.count() == 4


def test_pages_can_be_drawn(campaign: Campaign) -> None:
    release = known_release(8)
    drawn = add_qualification(campaign=campaign, source=release, count=3, seed=5, actor=None)
    other = make_campaign([], opened=False, title="Autumn round")
    again = add_qualification(campaign=other, source=release, count=3, seed=5, actor=None)
    assert drawn == again == sorted(drawn)
    assert len(set(drawn)) == 3
    (event,) = Event.objects.filter(verb="add_qualification", subject_id=str(campaign.pk))
    assert (event.data["pages"], event.data["seed"]) == (drawn, 5)


def test_gold_of_another_campaign_is_a_source(
    campaign: Campaign, ann: User, ben: User, lead: User
) -> None:
    other = make_campaign([ann, ben], lead=lead, title="Autumn round", documents=2)
    for user in (ann, ben):
        submit(work_of(user, other), ("Number", "(310)"))
    make_document(campaign.dataset, "other", "<p>12</p>")
    # Its page has the same text as a document in the campaign, whose answers would be known.
    with pytest.raises(Refused, match="has the same text as a document in the campaign"):
        add_qualification(campaign=campaign, source=other, names=["page-001"], actor=lead)
    fresh = make_campaign([ann], lead=lead, title="Winter round", opened=False)
    fresh.dataset.documents.all().update(text_sha256="0" * 64)
    with pytest.raises(Refused, match="has the same name as another document in the campaign"):
        add_qualification(campaign=fresh, source=other, names=["page-001"], actor=lead)
    fresh.dataset.documents.all().update(name="fresh")
    add_qualification(campaign=fresh, source=other, names=["page-001"], actor=lead)
    (gold,) = KnownGold.objects.filter(campaign_document__campaign=fresh)
    assert [span[2] for span in gold.spans] == ["Number"]
    assert gold.source == "Autumn round (campaign)"


@pytest.mark.parametrize(
    ("wanted", "code"),
    [
        ({"names": ["known-1", "nowhere"]}, "pages"),
        ({"count": 3}, "too_few_pages"),
        ({"count": 0}, "too_few_pages"),
    ],
)
def test_pages_that_cannot_be_had_are_refused(
    campaign: Campaign, wanted: dict[str, object], code: str
) -> None:
    with pytest.raises(Refused) as caught:
        add_qualification(campaign=campaign, source=known_release(2), actor=None, **wanted)  # type: ignore[arg-type]
    assert caught.value.code == code
    assert not KnownGold.objects.exists()


def test_same_page_twice_is_refused(campaign: Campaign) -> None:
    release = known_release(1)
    hold_round(campaign, 1, release)
    with pytest.raises(Refused, match="known-1 is already in the campaign"):
        hold_round(campaign, 1, release)
    with pytest.raises(Refused, match="None of these documents"):
        add_qualification(campaign=campaign, source=release, count=1, actor=None)


def test_other_labels_do_not_fit(campaign: Campaign) -> None:
    release = known_release(1, labels=["Number", "Date", "Temporal"])
    with pytest.raises(Refused, match="must be the same"):
        hold_round(campaign, 1, release)


def test_closed_campaign_holds_no_round(campaign: Campaign, lead: User) -> None:
    close_campaign(campaign=campaign, actor=lead)
    with pytest.raises(Refused, match="closed"):
        hold_round(campaign)


def test_sources_are_gold_that_the_person_may_see(
    campaign: Campaign, lead: User, organiser: User, ann: User, ben: User, cleo: User
) -> None:
    public = known_release(1)
    hidden = known_release(1, visibility=Release.Visibility.GOLD_HIDDEN, first=7)
    private = known_release(1, dataset_visibility="private")
    known_release(1, labels=["Number", "Date", "Temporal"])
    other = make_campaign([ann, ben], lead=cleo, title="Autumn round")
    for user in (ann, ben):
        submit(work_of(user, other), ("Number", "(310)"))
    assert [row.key for row in source_rows(lead, campaign)] == [f"release:{public.pk}"]
    assert {row.key for row in source_rows(organiser, campaign)} == {
        "campaign:autumn-round",
        *(f"release:{release.pk}" for release in (public, hidden, private)),
    }
    assert find_source(lead, campaign, f"release:{hidden.pk}") is None
    assert find_source(lead, campaign, "campaign:autumn-round") is None
    for odd in ("release:x", "release:", "nothing", "campaign:", "release:99999999999"):
        assert find_source(organiser, campaign, odd) is None


def test_unqualified_annotator_has_the_round_and_nothing_else(
    campaign: Campaign, ann: User
) -> None:
    before = list(own_assignments(ann))
    hold_round(campaign)
    assert {row.campaign_document.purpose for row in own_assignments(ann)} == {
        Purpose.QUALIFICATION
    }
    assert own_assignments(ann).count() == 2
    Membership.objects.filter(user=ann).update(qualified_at="2026-01-01T00:00Z")
    assert list(own_assignments(ann)) == before


def test_right_marks_qualify_with_the_last_page(campaign: Campaign, ann: User) -> None:
    hold_round(campaign)
    submit(trial_of(ann, campaign, 1), *RIGHT)
    assert member_of(ann, campaign).qualified_at is None
    submit(trial_of(ann, campaign, 2), *RIGHT)
    assert member_of(ann, campaign).qualified_at is not None
    assert results(ann) == [("known-1", 1, 3, 3, 3), ("known-2", 1, 3, 3, 3)]
    assert Event.objects.filter(verb="pass_qualification", actor=ann).count() == 1


def test_threshold_is_met_by_the_pooled_f1(campaign: Campaign, ann: User, ben: User) -> None:
    hold_round(campaign)
    # Ann: 3 of 3, then 2 of 2 marks for 3 facts: F1 = 2 * 5 / (5 + 6) = 10/11.
    Campaign.objects.filter(pk=campaign.pk).update(qualification_f1=10 / 11)
    submit(trial_of(ann, campaign, 1), *RIGHT)
    submit(trial_of(ann, campaign, 2), *RIGHT[:2])
    assert member_of(ann, campaign).qualified_at is not None
    # Ben has one extra mark: 2 * 5 / (6 + 6), which is less.
    submit(trial_of(ben, campaign, 1), *RIGHT)
    submit(trial_of(ben, campaign, 2), *RIGHT[:2], ("Number", "Page"))
    assert member_of(ben, campaign).qualified_at is None
    done = annotator_round(campaign, member_of(ben, campaign))
    assert (done.f1, done.facts, done.has_passed) == (10 / 12, 6, False)


def test_lower_threshold_qualifies_who_reached_it(
    campaign: Campaign, ann: User, ben: User, lead: User
) -> None:
    hold_round(campaign, 1)
    submit(trial_of(ann, campaign), *RIGHT[:2])
    submit(trial_of(ben, campaign), *RIGHT[:1])
    # 2 * 2 / (2 + 3) is 0.8, and 2 * 1 / (1 + 3) is 0.5.
    change_settings(campaign=campaign, actor=lead, qualification_f1=0.8)
    assert member_of(ann, campaign).qualified_at is not None
    assert member_of(ben, campaign).qualified_at is None


def test_another_try_opens_pages_with_mistakes_and_keeps_results(
    campaign: Campaign, ann: User, lead: User
) -> None:
    hold_round(campaign)
    with pytest.raises(Refused, match="has not submitted every qualification document"):
        grant_qualification_try(campaign=campaign, user=ann, actor=lead)
    submit(trial_of(ann, campaign, 1), *RIGHT)
    submit(trial_of(ann, campaign, 2), RIGHT[0])
    assert grant_qualification_try(campaign=campaign, user=ann, actor=lead) == 1
    states = [trial_of(ann, campaign, number).state for number in (1, 2)]
    assert states == ["submitted", "in_progress"]
    # While it is open again, the right facts are hidden.
    done = annotator_round(campaign, member_of(ann, campaign))
    assert [found.page.name for found in page_findings(campaign, done)] == ["known-1"]
    assert done.f1 is None
    submit(trial_of(ann, campaign, 2), *RIGHT)
    assert results(ann)[1:] == [("known-2", 1, 1, 1, 3), ("known-2", 2, 3, 3, 3)]
    assert member_of(ann, campaign).qualified_at is not None
    with pytest.raises(Refused, match="already qualified"):
        grant_qualification_try(campaign=campaign, user=ann, actor=lead)


def test_lead_qualifies_by_decision_with_a_reason(
    campaign: Campaign, ann: User, lead: User, organiser: User
) -> None:
    with pytest.raises(Refused, match="no qualification round"):
        qualify_by_decision(campaign=campaign, user=ann, reason="Known.", actor=lead)
    hold_round(campaign)
    with pytest.raises(Refused, match="Enter a reason"):
        qualify_by_decision(campaign=campaign, user=ann, reason=" ", actor=lead)
    qualify_by_decision(campaign=campaign, user=ann, reason="Wrote them.", actor=lead)
    assert member_of(ann, campaign).qualified_at is not None
    (event,) = Event.objects.filter(verb="qualify_by_decision", actor=lead)
    assert event.data == {"user": ann.pk, "reason": "Wrote them."}
    with pytest.raises(Refused, match="already qualified"):
        qualify_by_decision(campaign=campaign, user=ann, reason="Again.", actor=lead)
    with pytest.raises(Refused, match="not an annotator"):
        qualify_by_decision(campaign=campaign, user=lead, reason="Her.", actor=organiser)


def test_who_joins_later_gets_the_round(campaign: Campaign, cleo: User) -> None:
    hold_round(campaign)
    add_member(campaign=campaign, user=cleo, role="reviewer", actor=None)
    assert not Assignment.objects.filter(annotator=cleo).exists()
    add_member(campaign=campaign, user=cleo, role="annotator", actor=None)
    assert own_assignments(cleo).count() == 2


def test_who_comes_back_is_qualified_by_their_former_results(
    campaign: Campaign, ann: User, ben: User, cleo: User, lead: User
) -> None:
    add_member(campaign=campaign, user=cleo, role="annotator", actor=None)
    hold_round(campaign)
    for user in (ann, ben, cleo):
        for number in (1, 2):
            submit(trial_of(user, campaign, number), *RIGHT)
    remove_member(membership=member_of(cleo, campaign), actor=lead)
    add_member(campaign=campaign, user=cleo, role="annotator", actor=None)
    assert member_of(cleo, campaign).qualified_at is not None


def test_who_left_in_the_middle_goes_on(
    campaign: Campaign, ann: User, ben: User, cleo: User, lead: User
) -> None:
    add_member(campaign=campaign, user=cleo, role="annotator", actor=None)
    hold_round(campaign)
    save(trial_of(cleo, campaign), RIGHT[0])
    remove_member(membership=member_of(cleo, campaign), actor=lead)
    assert not own_assignments(cleo).exists()
    add_member(campaign=campaign, user=cleo, role="annotator", actor=None)
    assert own_assignments(cleo).count() == 2
    assert trial_of(cleo, campaign).spans.count() == 1


def test_draft_gives_its_pages_out_once_everybody_has_qualified(
    ann: User, ben: User, lead: User
) -> None:
    campaign = make_campaign([ann, ben], lead=lead, documents=3, opened=False)
    hold_round(campaign, 1)
    open_campaign(campaign=campaign, actor=lead)
    work = Assignment.objects.filter(campaign_document__purpose=Purpose.WORK)
    assert not work.exists()
    submit(trial_of(ann, campaign), *RIGHT)
    assert not work.exists()
    submit(trial_of(ben, campaign), *RIGHT)
    assert work.count() == 6
    assert own_assignments(ann).count() == 3


def test_round_counts_nowhere(campaign: Campaign, ann: User, ben: User) -> None:
    before = (campaign_overview(campaign).stages, release_state(campaign).unfinished)
    hold_round(campaign)
    for user in (ann, ben):
        submit(trial_of(user, campaign), RIGHT[0])
    assert (campaign_overview(campaign).stages, release_state(campaign).unfinished) == before
    page = trial_of(ann, campaign).campaign_document
    assert page.stage == Stage.ANNOTATION
    assert not page.cases.exists()
    assert not page.gold_spans.exists()
    assert document_of(campaign).stage == Stage.ANNOTATION


def test_gold_that_is_not_the_stored_page_is_refused(campaign: Campaign) -> None:
    release = known_release(1)
    item = release.items.get()
    document = item.document
    assert document is not None
    type(document).objects.filter(pk=document.pk).update(text_sha256="1" * 64)
    with pytest.raises(
        Refused, match="known-1: the text of its gold differs from the stored document"
    ):
        hold_round(campaign, 1, release)
