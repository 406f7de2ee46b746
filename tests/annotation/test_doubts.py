"""Facts with a warning: shown at every step, and released only if their number is accepted."""

from typing import Any

import pytest
from django.core.cache import cache

from annotation import doubts
from annotation.campaigns.services import release_gold
from annotation.doubts import doubtful_facts
from annotation.errors import DoubtfulGold
from annotation.models import Campaign, CampaignDocument, Span
from portal.accounts.models import User
from portal.audit.models import Event
from portal.datasets.models import Release
from tests.fixture_types import ApiOf, ClientOf
from tests.worlds import shared

from .factories import document_of, make_campaign, save, submit, work_of

pytestmark = pytest.mark.django_db

ADDRESS = "/campaigns/spring-round/release/"
API = "/api/v1/campaigns/spring-round/release/"
FORM = {"version": "1.0.0", "visibility": "gold_hidden", "notes": "First."}
JOINED = ("Date", "(310) as of March 31, 2025")
DATE_AS_NUMBER = ("Number", "March 31, 2025")


@pytest.fixture
@shared
def doubtful(ann: User, ben: User, lead: User) -> Campaign:
    """Both annotators cut 1,200 after three characters and entered a value: it becomes gold."""
    campaign = make_campaign([ann, ben], lead=lead)
    for user in (ann, ben):
        work = work_of(user, campaign)
        save(work, ("Number", "1,2"))
        Span.objects.filter(assignment=work).update(value="1200", sign="plain", edited=True)
        submit(work)
    assert document_of(campaign).stage == CampaignDocument.Stage.GOLD
    return campaign


def freeze(campaign: Campaign, actor: User, accepted: int) -> Release:
    return release_gold(
        campaign=campaign,
        version="1.0.0",
        notes="First.",
        visibility="private",
        leave_out_unfinished=False,
        accept_warnings=accepted,
        actor=actor,
    )


def test_a_date_labelled_as_number_gets_the_fitting_label(
    campaign: Campaign, ann: User, api_of: ApiOf
) -> None:
    work = work_of(ann, campaign)
    save(work, DATE_AS_NUMBER)
    answer = api_of(ann).get(f"/api/v1/assignments/{work.pk}/warnings/").json()
    (warning,) = answer["spans"][0]["warnings"]
    assert (warning["code"], warning["label"]) == ("wrong_type", "Date")
    assert "labelled as a number" in warning["message"]


def test_release_needs_the_number_of_facts_with_a_warning(doubtful: Campaign, lead: User) -> None:
    for accepted in (0, 2):
        with pytest.raises(DoubtfulGold, match="1 fact has a warning") as refused:
            freeze(doubtful, lead, accepted)
        assert [fact.quote for fact in refused.value.facts] == ["1,2"]
    release = freeze(doubtful, lead, 1)
    assert release.notes == "First.\n\nAccepted: 1 fact that has a warning."
    event = Event.objects.get(verb="release_gold")
    assert (event.data["accepted_warnings"], event.data["warnings"]) == (1, {"cut_fact": 1})


def test_facts_without_a_warning_need_no_acceptance(
    campaign: Campaign, ann: User, ben: User, lead: User
) -> None:
    for number in (1, 2):
        for user in (ann, ben):
            submit(work_of(user, campaign, number), ("Number", "(310)"))
    release = freeze(campaign, lead, 0)
    assert (release.fact_count, release.notes) == (2, "First.")


def test_form_lists_them_and_sends_the_number_that_was_seen(
    doubtful: Campaign, lead: User, client_of: ClientOf
) -> None:
    client = client_of(lead)
    page = client.get(ADDRESS).content.decode()
    assert "1 fact with a warning" in page
    assert "The span contains only part of 1,200." in page
    assert 'value="1"' in page
    refused = client.post(ADDRESS, FORM)
    assert refused.context["form"].errors == {
        "accept_warnings": ["1 fact has a warning. Correct the facts, or confirm their number."]
    }
    assert "sending" not in refused.content.decode()
    stale = client.post(ADDRESS, FORM | {"accept_warnings": "7"})
    assert stale.status_code == 200
    assert not Release.objects.exists()
    assert client.post(ADDRESS, FORM | {"accept_warnings": "1"}).status_code == 302
    assert Release.objects.get().version == "1.0.0"


def test_api_lists_them_and_takes_the_number(doubtful: Campaign, lead: User, api_of: ApiOf) -> None:
    (fact,) = api_of(lead).get(API).json()["doubtful"]
    assert (fact["document"], fact["quote"], fact["codes"]) == ("page-001", "1,2", ["cut_fact"])
    refused = api_of(lead).post(API, FORM, format="json")
    assert (refused.status_code, refused.json()["code"]) == (409, "doubtful")
    assert (refused.json()["total"], refused.json()["facts"]) == (1, [fact])
    assert refused.json()["message"].endswith("To confirm it, send accept_warnings: 1.")
    body: dict[str, Any] = FORM | {"accept_warnings": 1}
    assert api_of(lead).post(API, body, format="json").status_code == 201


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
