"""The history of an assignment: its saves, and restoring one."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase
from rest_framework.test import APIClient

from annotation.campaigns.services import close_campaign
from annotation.models import Assignment, Campaign, Revision
from annotation.workbench.selectors import current_spans, spans_at
from portal.accounts.models import User
from tests.annotation.factories import comment, make_campaign, save, submit, work_of
from tests.conftest import make_user
from tests.fixture_types import ApiOf

pytestmark = pytest.mark.django_db

MARKS = [("Number", "1,200"), ("Number", "(310)"), ("Date", "March 31, 2025"), ("Date", "1,200")]


@pytest.fixture
def work(campaign: Campaign, ann: User) -> Assignment:
    """Three saves with one mark, two marks, and one mark."""
    work = work_of(ann, campaign)
    save(work, ("Number", "1,200"))
    save(work, ("Number", "1,200"), ("Date", "March 31, 2025"))
    save(work, ("Number", "(310)"))
    return work


@pytest.fixture
def api(ann: User, api_of: ApiOf) -> APIClient:
    return api_of(ann)


def quotes(spans: list[dict[str, Any]]) -> list[str]:
    return [span["quote"] for span in spans]


def restore(api: APIClient, work: Assignment, number: int, base: int = 3, key: str = "back") -> Any:
    body = {"base_revision": base, "save_key": key}
    address = f"/api/v1/assignments/{work.pk}/revisions/{number}/restore/"
    return api.post(address, body, format="json")


def test_list_tells_who_saved_how_much_newest_first(work: Assignment, api: APIClient) -> None:
    body = api.get(f"/api/v1/assignments/{work.pk}/revisions/").json()
    assert body["count"] == 3
    rows = body["results"]
    assert [(row["number"], row["added"], row["removed"]) for row in rows] == [
        (3, 1, 2),
        (2, 1, 0),
        (1, 1, 0),
    ]
    assert {row["author"] for row in rows} == {"Ann"}
    assert set(rows[0]) == {
        *("number", "author", "saved_at", "added", "removed", "active_seconds", "note"),
    }


def test_revision_tells_what_changed_and_what_was_there(work: Assignment, api: APIClient) -> None:
    body = api.get(f"/api/v1/assignments/{work.pk}/revisions/2/").json()
    assert quotes(body["added_spans"]) == ["March 31, 2025"]
    assert body["removed_spans"] == []
    assert quotes(body["spans"]) == ["1,200", "March 31, 2025"]
    assert body["spans"][1]["value"] == "2025-03-31"


def test_spans_of_the_first_version_have_their_value(work: Assignment, api: APIClient) -> None:
    first = Revision.objects.get(assignment=work, number=1)
    for name in ("value", "sign", "edited"):
        del first.added[0][name]
    first.save()
    body = api.get(f"/api/v1/assignments/{work.pk}/revisions/1/").json()
    assert body["spans"][0]["value"] == "1200"


def test_restore_is_a_new_revision_with_the_old_spans(work: Assignment, api: APIClient) -> None:
    comment(work, span_key="date-46")
    response = restore(api, work, 2)
    assert response.status_code == 200
    assert response.json()["revision"] == 4
    assert quotes(response.json()["spans"]) == ["1,200", "March 31, 2025"]
    assert response.json()["spans"][0]["warnings"] == []
    assert quotes(current_spans(work)) == ["1,200", "March 31, 2025"]
    newest = Revision.objects.get(assignment=work, number=4)
    assert newest.note == "restored revision 2"
    assert (len(newest.added), len(newest.removed)) == (2, 1)
    assert work.comments.count() == 1


def test_restored_again_under_the_same_key_is_answered_as_the_first_time(
    work: Assignment, api: APIClient
) -> None:
    first = restore(api, work, 1)
    save(work, ("Number", "(310)"))
    again = restore(api, work, 1)
    assert (again.status_code, again.json() | {"state": ""}) == (200, first.json() | {"state": ""})
    assert Revision.objects.filter(assignment=work).count() == 5
    assert quotes(current_spans(work)) == ["(310)"]


def test_restore_from_another_revision_is_a_conflict(work: Assignment, api: APIClient) -> None:
    response = restore(api, work, 1, base=2)
    assert (response.status_code, response.json()["code"]) == (409, "conflict")
    assert quotes(current_spans(work)) == ["(310)"]


@pytest.mark.parametrize("number", [0, 4])
def test_revision_that_is_not_there_is_not_found(
    work: Assignment, api: APIClient, number: int
) -> None:
    assert restore(api, work, number).status_code == 404
    assert api.get(f"/api/v1/assignments/{work.pk}/revisions/{number}/").status_code == 404


def test_submitted_and_closed_work_cannot_be_restored(
    work: Assignment, api: APIClient, campaign: Campaign, lead: User
) -> None:
    submit(work)
    assert restore(api, work, 1).json()["code"] == "submitted"
    other = work_of(work.annotator, campaign, 2)
    save(other, ("Number", "1,200"))
    close_campaign(campaign=campaign, actor=lead)
    assert restore(api, other, 1, base=1).json()["code"] == "closed"


def test_own_values_come_back(work: Assignment, api: APIClient) -> None:
    (span,) = current_spans(work)
    own = span | {"value": "310000", "sign": "plain", "edited": True}
    body = {"base_revision": 3, "save_key": "own", "spans": [own]}
    api.put(f"/api/v1/assignments/{work.pk}/spans/", body, format="json")
    save(work)
    assert restore(api, work, 4, base=5).json()["spans"][0]["value"] == "310000"


def test_lead_reads_the_history_once_everybody_has_submitted(
    campaign: Campaign, work: Assignment, ben: User, lead: User, api_of: ApiOf
) -> None:
    address = f"/api/v1/assignments/{work.pk}/revisions/"
    submit(work)
    assert api_of(lead).get(address).status_code == 404
    submit(work_of(ben, campaign))
    assert api_of(lead).get(address).json()["count"] == 3
    assert api_of(lead).get(f"{address}2/").status_code == 200
    assert api_of(lead).post(f"{address}2/restore/").status_code == 404


def test_list_needs_the_same_few_queries_for_many_revisions(
    campaign: Campaign, ann: User, api: APIClient
) -> None:
    work = work_of(ann, campaign)
    counts = []
    for saves in (1, 12):
        for _ in range(saves):
            save(work, *MARKS[: 1 + work.revision % 3])
        with CaptureQueriesContext(connection) as captured:
            api.get(f"/api/v1/assignments/{work.pk}/revisions/")
        counts.append(len(captured))
    assert counts[0] == counts[1] <= 5


class EveryState(TestCase):
    """Any sequence of saves can be restored state by state."""

    @settings(deadline=None, max_examples=25)
    @given(st.lists(st.sets(st.sampled_from(range(4))), min_size=1, max_size=5))
    def test_every_state_is_kept(self, states: list[set[int]]) -> None:
        ann = make_user("Ann")
        work = work_of(ann, make_campaign([ann], overlap=1))
        seen = []
        for chosen in states:
            save(work, *(MARKS[place] for place in sorted(chosen)))
            seen.append(current_spans(work))
        for number, spans in enumerate(seen, start=1):
            assert [draft._asdict() for draft in spans_at(work, number)] == spans
