"""Comments, and flags on a page."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from annotation.campaigns.services import close_campaign
from annotation.models import Assignment, Campaign, Comment
from annotation.workbench.selectors import next_task, task_groups
from portal.accounts.models import User
from portal.audit.models import Event
from tests.annotation.factories import comment, make_campaign, submit, work_of
from tests.fixture_types import ApiOf, ClientOf

pytestmark = pytest.mark.django_db


@pytest.fixture
def comments(work: Assignment) -> str:
    return f"/api/v1/assignments/{work.pk}/comments/"


@pytest.fixture
def api(ann: User, api_of: ApiOf) -> APIClient:
    return api_of(ann)


def flag(api: APIClient, work: Assignment, kind: str, reason: str = "") -> Any:
    body = {"kind": kind, "reason": reason}
    return api.put(f"/api/v1/assignments/{work.pk}/flag/", body, format="json")


def test_comment_on_span_and_page(comments: str, api: APIClient) -> None:
    made = api.post(comments, {"span_key": "k-1", "text": " A date? \n"}, format="json")
    assert made.status_code == 201
    assert made.json() | {"id": 0, "created_at": ""} == {
        "id": 0,
        "span_key": "k-1",
        "text": "A date?",
        "author": "Ann",
        "created_at": "",
        "edited_at": None,
    }
    api.post(comments, {"text": "The page is cut off."}, format="json")
    assert [(one["span_key"], one["text"]) for one in api.get(comments).json()] == [
        ("k-1", "A date?"),
        ("", "The page is cut off."),
    ]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "text"),
        ({"text": "  "}, "text"),
        ({"text": "x" * 5_001}, "text"),
        ({"text": 5}, "text"),
        ({"text": "a\x00b"}, "text"),
        ({"text": "x", "span_key": "no spaces"}, "span_key"),
        ({"text": "x", "span_key": 5}, "span_key"),
    ],
)
def test_unfit_comment_is_refused(
    comments: str, api: APIClient, body: dict[str, Any], field: str
) -> None:
    response = api.post(comments, body, format="json")
    assert response.status_code == 422
    assert response.json()["errors"][0]["field"] == field
    assert not Comment.objects.exists()


def test_own_comment_is_edited_and_removed(work: Assignment, comments: str, api: APIClient) -> None:
    row = comment(work)
    edited = api.patch(f"{comments}{row.pk}/", {"text": "No, a number."}, format="json").json()
    assert edited["text"] == "No, a number."
    assert edited["edited_at"]
    assert api.delete(f"{comments}{row.pk}/").status_code == 204
    assert api.get(comments).json() == []
    assert Event.objects.get(verb="delete_comment").data == {}


def test_comment_is_found_only_at_its_own_assignment(
    campaign: Campaign, work: Assignment, ann: User, api: APIClient
) -> None:
    row = comment(work)
    other = work_of(ann, campaign, 2)
    address = f"/api/v1/assignments/{other.pk}/comments/{row.pk}/"
    assert api.delete(address).status_code == 404
    assert Comment.objects.count() == 1


def test_comments_end_with_the_work(
    campaign: Campaign, work: Assignment, comments: str, api: APIClient, ann: User, lead: User
) -> None:
    row = comment(work)
    submit(work)
    for response in (
        api.post(comments, {"text": "late"}, format="json"),
        api.patch(f"{comments}{row.pk}/", {"text": "late"}, format="json"),
        api.delete(f"{comments}{row.pk}/"),
        flag(api, work, "flagged", "late"),
    ):
        assert (response.status_code, response.json()["code"]) == (409, "submitted")
    close_campaign(campaign=campaign, actor=lead)
    other = work_of(ann, campaign, 2)
    assert flag(api, other, "flagged", "late").json()["code"] == "closed"


def test_lead_reads_comments_once_everybody_has_submitted(
    campaign: Campaign, work: Assignment, comments: str, ben: User, lead: User, api_of: ApiOf
) -> None:
    row = comment(work)
    submit(work)
    assert api_of(lead).get(comments).status_code == 404
    submit(work_of(ben, campaign))
    assert [one["text"] for one in api_of(lead).get(comments).json()] == ["Is this a date?"]
    assert api_of(ben).get(comments).status_code == 404
    assert api_of(lead).delete(f"{comments}{row.pk}/").status_code == 404


def test_flag_is_set_and_taken_back(work: Assignment, api: APIClient) -> None:
    assert flag(api, work, "flagged", " Upside down. ").json() == {
        "kind": "flagged",
        "reason": "Upside down.",
    }
    detail = api.get(f"/api/v1/assignments/{work.pk}/").json()
    assert detail["flag"] == {"kind": "flagged", "reason": "Upside down."}
    assert flag(api, work, "", "forgotten").json() == {"kind": "", "reason": ""}
    assert [event.data for event in Event.objects.filter(verb="flag_assignment")] == [
        {"kind": ""},
        {"kind": "flagged"},
    ]


@pytest.mark.parametrize(
    ("kind", "reason", "field"),
    [
        ("flagged", "", "reason"),
        ("skipped", "  ", "reason"),
        ("skipped", "x" * 501, "reason"),
        ("lost", "why", "kind"),
    ],
)
def test_unfit_flag_is_refused(
    work: Assignment, api: APIClient, kind: str, reason: str, field: str
) -> None:
    response = flag(api, work, kind, reason)
    assert (response.status_code, response.json()["errors"][0]["field"]) == (422, field)
    work.refresh_from_db()
    assert work.flag == ""


def test_lead_and_organiser_see_flags_and_nobody_else(
    campaign: Campaign,
    work: Assignment,
    api: APIClient,
    ben: User,
    reviewer: User,
    lead: User,
    organiser: User,
    client_of: ClientOf,
    api_of: ApiOf,
) -> None:
    flag(api, work, "skipped", "Half of <it> is missing.")
    for user in (lead, organiser):
        page = client_of(user).get("/campaigns/spring-round/").content.decode()
        assert "Half of &lt;it&gt; is missing." in page
        (row,) = api_of(user).get("/api/v1/campaigns/spring-round/").json()["flagged"]
        assert row == {
            "document": "page-001",
            "annotator": "Ann",
            "flag": "skipped",
            "reason": "Half of <it> is missing.",
            "state": "assigned",
        }
    for user in (ben, reviewer, work.annotator):
        assert "is missing" not in client_of(user).get("/campaigns/spring-round/").content.decode()
        assert api_of(user).get("/api/v1/campaigns/spring-round/").json()["flagged"] == []


def test_skipped_tasks_come_last_and_stay_workable(ann: User, api_of: ApiOf) -> None:
    campaign = make_campaign([ann], overlap=1, documents=3)
    first, second, third = (work_of(ann, campaign, number) for number in (1, 2, 3))
    flag(api_of(ann), second, "skipped", "Cannot read it.")
    assert next_task(ann, first) == third
    assert next_task(ann, third) == first
    submit(third, ("Number", "1,200"))
    submit(first, ("Number", "1,200"))
    assert next_task(ann, first) == second
    (group,) = task_groups(ann)
    assert group.next == second
    assert submit(second, ("Number", "1,200")).state == "submitted"
    assert next_task(ann, first) is None


def test_skipped_task_is_not_offered_first(ann: User, api_of: ApiOf, client_of: ClientOf) -> None:
    campaign = make_campaign([ann], overlap=1, documents=2)
    flag(api_of(ann), work_of(ann, campaign, 1), "skipped", "Later.")
    (group,) = task_groups(ann)
    assert group.next == work_of(ann, campaign, 2)
    assert "skipped" in client_of(ann).get("/annotate/").content.decode()
