"""Query budgets: the number of queries does not grow with the rows on a page."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.adjudication.services import decide_case
from annotation.models import Assignment, Campaign, CampaignDocument
from annotation.workbench.suggestions import choose_suggestions
from portal.accounts.models import User
from tests.fixture_types import ApiOf, ClientOf
from tests.worlds import shared

from .factories import comment, make_campaign, save, submit

pytestmark = pytest.mark.django_db


# URL → maximum number of queries, including log-in and navigation.
BUDGETS = {
    "/annotate/": 5,
    "/annotate/?campaign=spring-round": 5,
    "/campaigns/": 6,
    "/campaigns/spring-round/": 14,
    "/campaigns/spring-round/people/": 8,
    "/campaigns/spring-round/waiting/": 17,
    "/campaigns/spring-round/leave/": 6,
    "/campaigns/spring-round/settings/": 6,
    "/campaigns/spring-round/documents/": 8,
    "/campaigns/spring-round/assignments/": 13,
    "/campaigns/spring-round/screening/": 9,
    "/campaigns/spring-round/screening/page-001/": 13,
    "/campaigns/spring-round/validation/": 5,
    "/campaigns/spring-round/guidelines/": 11,
    "/campaigns/spring-round/suggestions/": 8,
    "/campaigns/spring-round/suggestions/acceptance/": 6,
    "/campaigns/spring-round/agreement/": 10,
    "/campaigns/spring-round/agreement/export/": 9,
    "/campaigns/spring-round/adjudication/": 10,
    "/campaigns/spring-round/adjudication/pages/page-001/": 12,
    "/campaigns/spring-round/qualification/": 16,
    "/campaigns/spring-round/quality/": 12,
    "/campaigns/spring-round/quality/csv/": 12,
    "/campaigns/spring-round/release/": 23,
}
API_BUDGETS = {
    "/api/v1/assignments/": 2,
    "/api/v1/campaigns/": 3,
    "/api/v1/campaigns/spring-round/": 9,
    "/api/v1/campaigns/spring-round/settings/": 5,
    "/api/v1/campaigns/spring-round/documents/": 3,
    "/api/v1/campaigns/spring-round/assignments/": 8,
    "/api/v1/campaigns/spring-round/screening/": 6,
    "/api/v1/campaigns/spring-round/screening/page-001/": 6,
    "/api/v1/campaigns/spring-round/validation/": 3,
    "/api/v1/campaigns/spring-round/guidelines/": 5,
    "/api/v1/campaigns/spring-round/suggestions/": 4,
    "/api/v1/campaigns/spring-round/suggestions/uploads/": 5,
    "/api/v1/campaigns/spring-round/suggestions/acceptance/": 4,
    "/api/v1/campaigns/spring-round/suggestions/acceptance/csv/": 4,
    "/api/v1/campaigns/spring-round/people/": 3,
    "/api/v1/campaigns/spring-round/invitations/": 4,
    "/api/v1/campaigns/spring-round/waiting/": 15,
    "/api/v1/campaigns/spring-round/agreement/": 7,
    "/api/v1/campaigns/spring-round/cases/": 6,
    "/api/v1/campaigns/spring-round/adjudication/page-001/": 17,
    "/api/v1/campaigns/spring-round/qualification/": 14,
    "/api/v1/campaigns/spring-round/quality/": 10,
    "/api/v1/campaigns/spring-round/release/": 16,
}


@pytest.fixture
@shared
def boss(lead: User) -> User:
    """Lead, annotator and organiser in one, so that one account sees every page."""
    lead.is_organiser = True
    lead.save()
    return lead


@pytest.fixture(params=[3, 15])
def worked_on(
    request: Any, ann: User, ben: User, cleo: User, boss: User, organiser: User
) -> Campaign:
    """A campaign in which two thirds of the documents are submitted, half of those gold."""
    campaign = make_campaign([ann, ben, cleo, boss], lead=boss, documents=request.param)
    rows = CampaignDocument.objects.filter(campaign=campaign).order_by("id")
    for number, document in enumerate(rows):
        if number % 3 == 2:
            continue
        for place, assignment in enumerate(document.assignments.all()):
            marks = [("Number", "1,200"), ("Date" if place else "Number", "(310)")]
            submit(assignment, *marks)
        if number % 3 == 1:
            for case in document.cases.all():
                decide_case(case=case, choice="neither", reason="No fact.", actor=organiser)
    return campaign


def queries(get: Callable[[str], Any], address: str) -> int:
    with CaptureQueriesContext(connection) as captured:
        response = get(address)
    assert response.status_code == 200
    return len(captured)


@pytest.mark.usefixtures("worked_on")
def test_pages_keep_their_budget(boss: User, client_of: ClientOf) -> None:
    client = client_of(boss)
    needed = {address: queries(client.get, address) for address in BUDGETS}
    assert {a: n for a, n in needed.items() if n > BUDGETS[a]} == {}


@pytest.mark.usefixtures("worked_on")
def test_endpoints_keep_their_budget(boss: User, api_of: ApiOf) -> None:
    api = api_of(boss)
    needed = {address: queries(api.get, address) for address in API_BUDGETS}
    assert {a: n for a, n in needed.items() if n > API_BUDGETS[a]} == {}


def test_more_campaigns_need_no_more_queries(
    ann: User, ben: User, lead: User, client_of: ClientOf
) -> None:
    client = client_of(ann)
    counts = []
    for _ in range(3):
        make_campaign([ann, ben], lead=lead, documents=2)
        counts.append((queries(client.get, "/campaigns/"), queries(client.get, "/annotate/")))
    assert counts[0] == counts[2]


def test_one_page_of_work_keeps_its_budget(
    campaign: Campaign, ann: User, lead: User, disputed: Campaign, client_of: ClientOf
) -> None:
    work = Assignment.objects.filter(annotator=ann).last()
    assert work is not None
    assert queries(client_of(ann).get, f"/annotate/{work.pk}/") <= 13
    case = disputed.documents.first()
    assert case is not None
    address = f"/campaigns/spring-round/adjudication/{case.cases.all()[0].pk}/"
    assert queries(client_of(lead).get, address) <= 14


@pytest.mark.parametrize("template", ["/annotate/{}/", "/api/v1/assignments/{}/"])
def test_opening_work_needs_the_same_few_queries_for_many_spans(
    campaign: Campaign, ann: User, client_of: ClientOf, template: str
) -> None:
    work = Assignment.objects.of(ann).first()
    assert work is not None
    counts = []
    for marks in (2, 8):
        text = work.campaign_document.document.content.text
        save(work, *(("Number", letter) for letter in text[:marks] if letter.strip()))
        counts.append(queries(client_of(ann).get, template.format(work.pk)))
    assert counts[0] == counts[1] <= 9


@pytest.mark.parametrize("part", ["facts/", "warnings/", "comments/", "export/?form=json"])
def test_parts_of_the_workbench_need_few_queries(
    campaign: Campaign, ann: User, lead: User, api_of: ApiOf, part: str
) -> None:
    choose_suggestions(campaign=campaign, sources=["rules", "xbrl", "model"], actor=lead)
    work = Assignment.objects.of(ann).first()
    assert work is not None
    counts = []
    for marks in ([("Number", "1,200")], [("Number", "1,200"), ("Number", "(310)")]):
        save(work, *marks)
        comment(work)
        queries(api_of(ann).get, f"/api/v1/assignments/{work.pk}/{part}")
        counts.append(queries(api_of(ann).get, f"/api/v1/assignments/{work.pk}/{part}"))
    assert counts[0] == counts[1] <= 4


def test_saving_needs_the_same_few_queries_for_many_spans(
    campaign: Campaign, ann: User, api_of: ApiOf
) -> None:
    work = Assignment.objects.of(ann).first()
    assert work is not None
    text = work.campaign_document.document.content.text
    places = [place for place, letter in enumerate(text) if letter.strip()]
    counts = []
    for revision, size in enumerate([2, 60]):
        spans = [
            {"key": f"k{p}", "label": "Number", "start": p, "end": p + 1, "quote": text[p]}
            for p in places[:size]
        ]
        body = {"base_revision": revision, "save_key": f"s{revision}", "spans": spans}
        with CaptureQueriesContext(connection) as captured:
            api_of(ann).put(f"/api/v1/assignments/{work.pk}/spans/", body, format="json")
        counts.append(len(captured))
    assert counts[0] == counts[1] <= 9


def test_submitting_needs_few_queries(campaign: Campaign, ann: User, ben: User) -> None:
    for user in (ann, ben):
        work = Assignment.objects.of(user).first()
        assert work is not None
        save(work, ("Number", "1,200"), ("Number", "(310)"))
        work.refresh_from_db()
        with CaptureQueriesContext(connection) as captured:
            submit(work)
        assert len(captured) <= 19
