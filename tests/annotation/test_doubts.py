"""Facts with a warning: shown at every step, and released only if someone decided on them."""

from typing import Any

import pytest
from django.core.cache import cache
from django.utils import timezone

from annotation import doubts
from annotation.adjudication.services import decide_case, open_doubtful_cases
from annotation.campaigns.services import release_gold
from annotation.doubts import doubtful_facts
from annotation.errors import DoubtfulGold
from annotation.models import Campaign, CampaignDocument, GoldSpan, Membership, Span
from portal.accounts.models import User
from portal.audit.models import Event
from portal.datasets.models import Release
from tests.fixture_types import ApiOf, ClientOf
from tests.worlds import shared

from .factories import document_of, make_campaign, save, submit, work_of

pytestmark = pytest.mark.django_db

ADDRESS = "/campaigns/spring-round/release/"
OPENING = "/campaigns/spring-round/adjudication/warnings/"
API = "/api/v1/campaigns/spring-round/release/"
FORM = {"version": "1.0.0", "visibility": "gold_hidden", "notes": "First."}
JOINED = ("Date", "(310) as of March 31, 2025")
DATE_AS_NUMBER = ("Number", "March 31, 2025")


@pytest.fixture
@shared
def cut(ann: User, ben: User, lead: User) -> Campaign:
    """Both annotators cut 1,200 after three characters and entered a value."""
    campaign = make_campaign([ann, ben], lead=lead)
    for user in (ann, ben):
        work = work_of(user, campaign)
        save(work, ("Number", "1,2"))
        Span.objects.filter(assignment=work).update(value="1200", sign="plain", edited=True)
        submit(work)
    return campaign


@pytest.fixture
@shared
def doubtful(cut: Campaign) -> Campaign:
    """The cut figure is gold without a decision, as before such facts became cases."""
    page = document_of(cut)
    case = page.cases.get()
    fact = dict(case.proposals[0]["spans"][0])
    case.delete()
    GoldSpan.objects.create(campaign_document=page, origin=GoldSpan.Origin.AGREED, **fact)
    CampaignDocument.objects.filter(pk=page.pk).update(stage="gold", gold_at=timezone.now())
    return cut


def freeze(campaign: Campaign, actor: User, visibility: str = "private") -> Release:
    return release_gold(
        campaign=campaign,
        version="1.0.0",
        notes="First.",
        visibility=visibility,
        leave_out_unfinished=False,
        actor=actor,
    )


def test_a_fact_that_all_cut_alike_is_a_case(cut: Campaign, lead: User) -> None:
    page = document_of(cut)
    assert (page.stage, page.gold_spans.count()) == ("adjudication", 0)
    case = page.cases.get()
    assert (case.kind, case.score) == ("doubtful", 1)
    decide_case(case=case, choice="proposal", proposal=0, reason="It says 1,2.", actor=lead)
    (fact,) = doubtful_facts(CampaignDocument.objects.filter(campaign=cut))
    assert (fact.quote, fact.is_signed) == ("1,2", True)


def test_a_majority_does_not_pass_a_fact_with_a_warning(
    ann: User, ben: User, cleo: User, lead: User
) -> None:
    people = [ann, ben, cleo]
    campaign = make_campaign(people, lead=lead, overlap=3, agreement_threshold=0.5)
    for user in people[:2]:
        work = work_of(user, campaign)
        save(work, ("Number", "1,2"))
        Span.objects.filter(assignment=work).update(value="1200", sign="plain", edited=True)
        submit(work)
    submit(work_of(people[2], campaign), ("Number", "1,200"))
    case = document_of(campaign).cases.get()
    assert (case.state, case.kind) == ("open", "boundary")


def test_a_date_labelled_as_number_gets_the_fitting_label(
    campaign: Campaign, ann: User, api_of: ApiOf
) -> None:
    work = work_of(ann, campaign)
    save(work, DATE_AS_NUMBER)
    answer = api_of(ann).get(f"/api/v1/assignments/{work.pk}/warnings/").json()
    (warning,) = answer["spans"][0]["warnings"]
    assert (warning["code"], warning["label"]) == ("wrong_type", "Date")
    assert "labelled as a number" in warning["message"]


def test_release_needs_a_decision_on_every_fact_with_a_warning(
    doubtful: Campaign, lead: User
) -> None:
    with pytest.raises(DoubtfulGold, match="1 fact has a warning and no decision") as refused:
        freeze(doubtful, lead)
    assert [fact.quote for fact in refused.value.facts] == ["1,2"]
    opened = open_doubtful_cases(campaign=doubtful, actor=lead)
    assert (len(opened.cases), opened.own) == (1, 0)
    case = document_of(doubtful).cases.get()
    assert (case.kind, case.decisions.get().reason) == (
        "review",
        "The span contains only part of 1,200.",
    )
    assert open_doubtful_cases(campaign=doubtful, actor=lead).cases == []
    decide_case(case=case, choice="proposal", proposal=0, reason="It says 1,2.", actor=lead)
    release = freeze(doubtful, lead)
    assert release.notes == "First.\n\nAccepted: 1 fact that has a warning."
    event = Event.objects.get(verb="release_gold")
    assert (event.data["accepted_warnings"], event.data["warnings"]) == (1, {"cut_fact": 1})


def test_notes_of_public_gold_list_the_accepted_facts(cut: Campaign, lead: User) -> None:
    case = document_of(cut).cases.get()
    decide_case(case=case, choice="proposal", proposal=0, reason="It says 1,2.", actor=lead)
    assert freeze(cut, lead, "public").notes.endswith(
        "- page-001: “1,2” (Number). The span contains only part of 1,200."
    )


def test_a_lead_opens_no_case_of_their_own_document(
    doubtful: Campaign, ann: User, lead: User, client_of: ClientOf
) -> None:
    Membership.objects.create(campaign=doubtful, user=ann, role="lead")
    opened = open_doubtful_cases(campaign=doubtful, actor=ann)
    assert (opened.cases, opened.own) == ([], 1)
    answer = client_of(ann).post(OPENING, follow=True).content.decode()
    assert "0 cases opened." in answer
    assert "1 document with your own labels left out" in answer


def test_facts_without_a_warning_need_no_acceptance(
    campaign: Campaign, ann: User, ben: User, lead: User
) -> None:
    for number in (1, 2):
        for user in (ann, ben):
            submit(work_of(user, campaign, number), ("Number", "(310)"))
    release = freeze(campaign, lead)
    assert (release.fact_count, release.notes) == (2, "First.")


def test_form_lists_them_and_opens_their_cases(
    doubtful: Campaign, lead: User, client_of: ClientOf
) -> None:
    client = client_of(lead)
    page = client.get(ADDRESS).content.decode()
    assert "1 fact with warnings" in page
    assert "Open 1 case" in page
    assert "The span contains only part of 1,200." in page
    refused = client.post(ADDRESS, FORM)
    assert refused.context["form"].non_field_errors() == [
        "1 fact has a warning and no decision. Open cases for them and decide each one."
    ]
    assert client.post(ADDRESS, FORM | {"accept_warnings": "1"}).status_code == 200
    assert not Release.objects.exists()
    answer = client.post(OPENING, follow=True)
    assert "1 case opened." in answer.content.decode()
    assert document_of(doubtful).stage == CampaignDocument.Stage.ADJUDICATION


def test_api_lists_them_and_opens_their_cases(
    doubtful: Campaign, lead: User, ann: User, api_of: ApiOf
) -> None:
    (fact,) = api_of(lead).get(API).json()["doubtful"]
    assert (fact["document"], fact["quote"], fact["codes"]) == ("page-001", "1,2", ["cut_fact"])
    assert fact["is_signed"] is False
    refused = api_of(lead).post(API, FORM, format="json")
    assert (refused.status_code, refused.json()["code"]) == (409, "doubtful")
    assert (refused.json()["total"], refused.json()["facts"]) == (1, [fact])
    address = "/api/v1/campaigns/spring-round/cases/warnings/"
    assert api_of(ann).post(address).status_code == 403
    opened = api_of(lead).post(address).json()
    assert (opened["cases"], opened["own"]) == ([document_of(doubtful).cases.get().pk], 0)


def test_adjudication_names_proposals_and_agreed_facts_with_a_warning(
    campaign: Campaign, ann: User, ben: User, lead: User, client_of: ClientOf, api_of: ApiOf
) -> None:
    submit(work_of(ann, campaign), JOINED)
    submit(work_of(ben, campaign), ("Number", "(310)"))
    page = client_of(lead).get("/campaigns/spring-round/adjudication/pages/page-001/")
    assert "1 span with warnings" in page.content.decode()
    case = document_of(campaign).cases.get()
    single = client_of(lead).get(f"/campaigns/spring-round/adjudication/{case.pk}/")
    assert "is not a valid date" in single.content.decode()
    address = "/api/v1/campaigns/spring-round/adjudication/page-001/"
    (doubt,) = api_of(lead).get(address).json()["doubtful"]
    assert (doubt["label"], doubt["codes"]) == ("Date", ["not_a_date"])


def test_validation_shows_warnings_with_faults(
    campaign: Campaign, ann: User, ben: User, lead: User, client_of: ClientOf
) -> None:
    save(work_of(ann, campaign), ("Number", "(310)"), DATE_AS_NUMBER)
    Span.objects.filter(label="Number", quote="(310)").update(quote="drifted")
    submit(work_of(ann, campaign))
    submit(work_of(ben, campaign), ("Number", "(310)"))
    page = client_of(lead).get("/campaigns/spring-round/validation/").content.decode()
    assert "labelled as a number" in page


def test_warnings_of_a_page_are_kept_until_its_gold_changes(
    doubtful: Campaign, django_assert_max_num_queries: Any
) -> None:
    pages = CampaignDocument.objects.filter(campaign=doubtful)
    assert len(doubtful_facts(pages)) == 1
    # The gold of each page, the cache (read and expired), and the names.
    with django_assert_max_num_queries(4):
        assert len(doubtful_facts(pages)) == 1
    document_of(doubtful).gold_spans.all().delete()
    assert doubtful_facts(pages) == ()


class Former:
    """A class of cached warnings before an upgrade that moved or renamed it."""


def test_warnings_cached_before_an_upgrade_are_not_read(
    doubtful: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = CampaignDocument.objects.filter(campaign=doubtful)
    with monkeypatch.context() as before:
        before.setattr(doubts, "_VERSION", "1")
        cache.set_many({key: [Former()] for key in doubts._keys(pages).values()})
    monkeypatch.delattr(f"{__name__}.Former")
    assert len(doubtful_facts(pages)) == 1
