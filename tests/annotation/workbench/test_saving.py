"""Saving spans by the API: validated, idempotent, never over another save."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from annotation.campaigns.services import close_campaign, reopen_campaign
from annotation.models import Assignment, Campaign, Revision, Span
from portal.accounts.models import User
from tests.annotation.factories import save, spans_in, submit, text_of, work_of
from tests.fixture_types import ApiOf

pytestmark = pytest.mark.django_db


@pytest.fixture
def put(work: Assignment, ann: User, api_of: ApiOf) -> Callable[..., Any]:
    """Sends a save as Ann, with replaced fields of the body."""

    def send(*marks: tuple[str, str], **fields: Any) -> Any:
        body = {
            "base_revision": 0,
            "save_key": "first",
            "spans": spans_in(text_of(work), *marks),
        } | fields
        return api_of(ann).put(f"/api/v1/assignments/{work.pk}/spans/", body, format="json")

    return send


def stored(work: Assignment) -> list[tuple[str, str]]:
    return list(work.spans.order_by("start").values_list("label", "quote"))


def assert_nothing_saved(work: Assignment) -> None:
    work.refresh_from_db()
    assert (work.revision, work.state) == (0, Assignment.State.ASSIGNED)
    assert not Span.objects.filter(assignment=work).exists()
    assert not Revision.objects.filter(assignment=work).exists()


def test_save_answers_with_the_new_revision(work: Assignment, put: Callable[..., Any]) -> None:
    response = put(("Number", "1,200"), ("Date", "March 31, 2025"))
    assert response.status_code == 200
    body = response.json()
    assert set(body) == {"revision", "saved_at", "state", "spans"}
    assert (body["revision"], body["state"]) == (1, "in_progress")
    assert stored(work) == [("Number", "1,200"), ("Date", "March 31, 2025")]


def test_saving_nothing_is_a_save(work: Assignment, put: Callable[..., Any]) -> None:
    put(("Number", "1,200"))
    assert put(base_revision=1, save_key="second").status_code == 200
    assert stored(work) == []


def test_revision_records_what_changed(
    work: Assignment, put: Callable[..., Any], ann: User
) -> None:
    put(("Number", "1,200"), ("Number", "(310)"))
    put(("Number", "1,200"), ("Date", "March 31, 2025"), base_revision=1, save_key="second")
    last = Revision.objects.get(assignment=work, number=2)
    assert [span["quote"] for span in last.added] == ["March 31, 2025"]
    assert [span["quote"] for span in last.removed] == ["(310)"]
    assert last.author == ann


def test_unchanged_spans_keep_their_rows(work: Assignment, put: Callable[..., Any]) -> None:
    put(("Number", "1,200"))
    before = Span.objects.get(assignment=work).pk
    put(("Number", "1,200"), ("Number", "(310)"), base_revision=1, save_key="second")
    assert Span.objects.get(assignment=work, quote="1,200").pk == before


def test_two_spans_can_trade_places(work: Assignment, put: Callable[..., Any]) -> None:
    first, second = spans_in(text_of(work), ("Number", "1,200"), ("Number", "(310)"))
    put(spans=[first, second])
    traded = [first | {"key": second["key"]}, second | {"key": first["key"]}]
    assert put(spans=traded, base_revision=1, save_key="second").status_code == 200
    assert dict(work.spans.values_list("key", "quote")) == {
        second["key"]: "1,200",
        first["key"]: "(310)",
    }


def test_stale_save_is_a_conflict_that_tells_the_newer_spans(
    work: Assignment, put: Callable[..., Any]
) -> None:
    put(("Number", "1,200"))
    response = put(("Number", "(310)"), save_key="other-tab")
    assert response.status_code == 409
    body = response.json()
    assert (body["code"], body["revision"]) == ("conflict", 1)
    assert body["saved_at"]
    assert [span["quote"] for span in body["spans"]] == ["1,200"]
    assert body["spans"][0] == {
        "key": "number-16",
        "label": "Number",
        "start": 16,
        "end": 21,
        "quote": "1,200",
        "value": "1200",
        "sign": "plain",
        "edited": False,
    }
    assert stored(work) == [("Number", "1,200")]


def test_save_from_the_future_is_a_conflict(work: Assignment, put: Callable[..., Any]) -> None:
    response = put(("Number", "1,200"), base_revision=7)
    assert response.status_code == 409
    assert (response.json()["revision"], response.json()["saved_at"]) == (0, None)
    assert_nothing_saved(work)


def test_same_save_twice_is_answered_as_the_first_time(
    work: Assignment, put: Callable[..., Any]
) -> None:
    first = put(("Number", "1,200"))
    again = put(("Number", "1,200"))
    assert again.status_code == 200
    assert again.json() == first.json()
    assert Revision.objects.filter(assignment=work).count() == 1


def test_late_repetition_is_answered_even_after_later_saves(
    work: Assignment, put: Callable[..., Any]
) -> None:
    put(("Number", "1,200"))
    put(("Number", "(310)"), base_revision=1, save_key="second")
    assert put(("Number", "1,200")).json()["revision"] == 1
    assert stored(work) == [("Number", "(310)")]


def test_save_key_used_for_other_spans_is_refused_not_swallowed(
    work: Assignment, put: Callable[..., Any]
) -> None:
    put(("Number", "1,200"))
    response = put(("Number", "(310)"))
    assert response.status_code == 422
    assert response.json()["errors"][0]["field"] == "save_key"
    assert stored(work) == [("Number", "1,200")]


def test_save_key_is_used_up_even_for_the_newest_revision(
    work: Assignment, put: Callable[..., Any]
) -> None:
    first = put(("Number", "1,200"))
    again = put(("Number", "1,200"), base_revision=1)
    assert (again.status_code, again.json()) == (200, first.json())
    other = put(("Number", "(310)"), base_revision=1)
    assert (other.status_code, other.json()["errors"][0]["field"]) == (422, "save_key")
    work.refresh_from_db()
    assert work.revision == 1
    assert stored(work) == [("Number", "1,200")]


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"spans": "none"}, "type"),
        ({"spans": [5]}, "type"),
        ({"base_revision": "0"}, "type"),
        ({"base_revision": True}, "type"),
        ({"base_revision": -1}, "type"),
        ({"base_revision": None}, "type"),
        ({"save_key": 3}, "type"),
        ({"save_key": ""}, "save_key"),
        ({"save_key": "x" * 37}, "save_key"),
        ({"text_sha256": "0" * 64}, "text_sha256"),
        ({"text_sha256": 1}, "type"),
        ({"active_seconds": -1}, "type"),
        ({"active_seconds": 1.5}, "type"),
        ({"active_seconds": True}, "type"),
        ({"active_seconds": 86_401}, "active_seconds"),
    ],
)
def test_wrong_fields_save_nothing(
    work: Assignment, put: Callable[..., Any], fields: dict[str, Any], code: str
) -> None:
    response = put(**fields)
    assert response.status_code == 422
    assert response.json()["code"] == "invalid"
    assert response.json()["errors"][0]["code"] == code
    assert response.json()["errors"][0]["message"]
    assert_nothing_saved(work)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"start": 0}, "quote"),
        ({"end": 10_000}, "range"),
        ({"label": "Money"}, "label"),
        ({"quote": "1,201"}, "quote"),
        ({"value": 1200}, "type"),
        ({"sign": []}, "type"),
        ({"value": "twelve"}, "value"),
        ({"value": "1" * 201}, "value"),
        ({"sign": "upside_down"}, "value"),
    ],
)
def test_wrong_span_saves_none_of_them(
    work: Assignment, put: Callable[..., Any], change: dict[str, Any], code: str
) -> None:
    good, bad = spans_in(text_of(work), ("Date", "March 31, 2025"), ("Number", "1,200"))
    response = put(spans=[good, bad | change])
    assert response.status_code == 422
    (error,) = response.json()["errors"]
    assert (error["index"], error["code"]) == (1, code)
    assert_nothing_saved(work)


@pytest.mark.parametrize("field", ["key", "label", "quote", "value"])
def test_half_a_character_is_refused_by_its_place(
    work: Assignment, ann: User, api_of: ApiOf, field: str
) -> None:
    (span,) = spans_in(text_of(work), ("Number", "1,200"))
    body = json.dumps({"base_revision": 0, "save_key": "a", "spans": [span | {field: "\ud800"}]})
    response = api_of(ann).put(
        f"/api/v1/assignments/{work.pk}/spans/", body, content_type="application/json"
    )
    assert response.status_code == 400
    assert f"spans[0].{field}: unpaired surrogate" in response.json()["detail"]
    assert_nothing_saved(work)


def test_overlapping_spans_save_nothing(work: Assignment, put: Callable[..., Any]) -> None:
    assert put(("Number", "(310)"), ("Number", "310")).json()["errors"][0]["code"] == "overlap"
    assert_nothing_saved(work)


def test_matching_text_hash_is_accepted(work: Assignment, put: Callable[..., Any]) -> None:
    digest = work.campaign_document.document.text_sha256
    assert put(("Number", "1,200"), text_sha256=digest).status_code == 200


def test_many_faults_are_counted_but_not_all_listed(put: Callable[..., Any]) -> None:
    body = put(spans=[None] * 500).json()
    assert (len(body["errors"]), body["total"]) == (100, 500)


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"[" * 100_000,
        b"\xff\xfe{}",
        b'{"spans": NaN}',
        b'{"base_revision": ' + b"9" * 5000 + b"}",
    ],
)
def test_body_that_is_no_json_is_a_plain_error(
    work: Assignment, ann: User, api_of: ApiOf, body: bytes
) -> None:
    response = api_of(ann).put(
        f"/api/v1/assignments/{work.pk}/spans/", body, content_type="application/json"
    )
    assert response.status_code == 400
    assert response.json()["detail"]
    assert_nothing_saved(work)


def test_body_that_is_no_object_is_refused(work: Assignment, ann: User, api_of: ApiOf) -> None:
    response = api_of(ann).put(f"/api/v1/assignments/{work.pk}/spans/", [1], format="json")
    assert response.status_code == 422
    assert_nothing_saved(work)


def test_body_beyond_the_limit_is_refused(
    work: Assignment, put: Callable[..., Any], settings: Any
) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100
    assert put(("Number", "1,200"), ("Number", "(310)")).status_code == 413
    assert_nothing_saved(work)


def test_submitted_work_cannot_be_saved(work: Assignment, put: Callable[..., Any]) -> None:
    submit(work, ("Number", "1,200"))
    response = put(base_revision=1, save_key="later")
    assert (response.status_code, response.json()["code"]) == (409, "submitted")
    assert stored(work) == [("Number", "1,200")]


def test_closed_campaign_takes_no_saves(
    work: Assignment, campaign: Campaign, put: Callable[..., Any], lead: User
) -> None:
    close_campaign(campaign=campaign, actor=lead)
    response = put(("Number", "1,200"))
    assert (response.status_code, response.json()["code"]) == (409, "closed")
    assert_nothing_saved(work)
    reopen_campaign(campaign=campaign, actor=lead)
    assert put(("Number", "1,200")).status_code == 200


def test_many_spans_are_saved_in_one_go(
    ann: User, campaign: Campaign, work: Assignment, put: Callable[..., Any]
) -> None:
    text = text_of(work)
    letters = [place for place, letter in enumerate(text) if letter.strip()]
    spans = [
        {
            "key": f"k{start}",
            "label": "Number",
            "start": start,
            "end": start + 1,
            "quote": text[start],
        }
        for start in letters
    ]
    assert put(spans=spans).status_code == 200
    assert work.spans.count() == len(letters)


def test_detail_shows_what_was_saved(work: Assignment, ann: User, api_of: ApiOf) -> None:
    save(work, ("Number", "1,200"))
    body = api_of(ann).get(f"/api/v1/assignments/{work.pk}/").json()
    document = work.campaign_document.document
    assert body | {"spans": None} == {
        "id": work.pk,
        "campaign": "spring-round",
        "document": "page-001",
        "state": "in_progress",
        "revision": 1,
        "labels": ["Number", "Date"],
        "text_sha256": document.text_sha256,
        "text_chars": document.text_chars,
        "can_edit": True,
        "guidelines": {"version": 1, "seen_version": 0},
        "suggestions": False,
        "flag": {"kind": "", "reason": ""},
        "return_reason": "",
        "active_seconds": 0,
        "spans": None,
    }
    (span,) = spans_in(text_of(work), ("Number", "1,200"))
    assert body["spans"] == [span | {"value": "1200", "sign": "plain", "edited": False}]


def test_content_is_the_text_that_offsets_count_in(
    work: Assignment, ann: User, api_of: ApiOf
) -> None:
    body = api_of(ann).get(f"/api/v1/assignments/{work.pk}/content/").json()
    assert body["text"] == text_of(work)
    assert body["text_sha256"] == work.campaign_document.document.text_sha256
    assert "<b>1,200</b>" in body["html"]


def test_list_holds_own_assignments_only(campaign: Campaign, ann: User, api_of: ApiOf) -> None:
    submit(work_of(ann, campaign, 2), ("Number", "1,200"))
    body = api_of(ann).get("/api/v1/assignments/").json()
    assert [row["document"] for row in body["results"]] == ["page-001", "page-002"]
    assert {row["id"] for row in body["results"]} == set(
        Assignment.objects.of(ann).values_list("pk", flat=True)
    )
    submitted = api_of(ann).get("/api/v1/assignments/?state=submitted").json()
    assert [row["document"] for row in submitted["results"]] == ["page-002"]


def test_save_tells_what_new_spans_mean(put: Callable[..., Any]) -> None:
    answer = put(("Number", "1,200"), ("Number", "(310)"), ("Date", "March 31, 2025")).json()
    assert [(span["value"], span["sign"], span["edited"]) for span in answer["spans"]] == [
        ("1200", "plain", False),
        ("-310", "parentheses", False),
        ("2025-03-31", "", False),
    ]
    later = put(
        *[("Number", "1,200"), ("Number", "(310)"), ("Number", "March 31, 2025")],
        base_revision=1,
        save_key="second",
    ).json()
    assert [span["key"] for span in later["spans"]] == ["number-47"]


def test_save_warns_of_odd_spans(put: Callable[..., Any]) -> None:
    (cut,) = put(("Number", "310")).json()["spans"]
    assert [warning["code"] for warning in cut["warnings"]] == ["cut_fact"]
    assert cut["warnings"][0]["message"]


def test_annotators_own_value_is_kept(work: Assignment, put: Callable[..., Any]) -> None:
    (span,) = spans_in(text_of(work), ("Number", "1,200"))
    own = span | {"value": "1200000", "sign": "plain"}
    assert put(spans=[own]).json()["spans"][0]["edited"] is True
    stored_span = Span.objects.get(assignment=work)
    assert (stored_span.value, stored_span.sign, stored_span.edited) == ("1200000", "plain", True)


@pytest.mark.parametrize(
    ("given", "meaning"),
    [
        ({"value": None, "sign": None}, ("1200", "plain", False)),
        ({"value": "1200", "sign": "plain"}, ("1200", "plain", False)),
        ({"value": "-1200", "sign": "minus", "edited": False}, ("1200", "plain", False)),
        ({"value": "-1200", "sign": "minus", "edited": True}, ("-1200", "minus", True)),
        ({"value": "", "sign": ""}, ("", "", True)),
        ({"value": "1300"}, ("1300", "plain", True)),
    ],
)
def test_meaning_is_derived_unless_it_is_given(
    work: Assignment, put: Callable[..., Any], given: dict[str, Any], meaning: tuple[str, str, bool]
) -> None:
    (span,) = spans_in(text_of(work), ("Number", "1,200"))
    assert put(spans=[span | given]).status_code == 200
    saved = Span.objects.get(assignment=work)
    assert (saved.value, saved.sign, saved.edited) == meaning


def test_what_was_read_can_be_sent_back_with_other_borders(
    work: Assignment, put: Callable[..., Any], ann: User, api_of: ApiOf
) -> None:
    put(("Number", "310"))
    (span,) = api_of(ann).get(f"/api/v1/assignments/{work.pk}/").json()["spans"]
    wider = span | {"start": span["start"] - 1, "end": span["end"] + 1, "quote": "(310)"}
    put(spans=[wider], base_revision=1, save_key="second")
    assert Span.objects.get(assignment=work).value == "-310"


def test_only_the_value_changed_is_a_change(work: Assignment, put: Callable[..., Any]) -> None:
    (span,) = spans_in(text_of(work), ("Number", "1,200"))
    put(spans=[span])
    put(spans=[span | {"value": "12"}], base_revision=1, save_key="second")
    last = Revision.objects.get(assignment=work, number=2)
    assert ([one["value"] for one in last.added], [one["value"] for one in last.removed]) == (
        ["12"],
        ["1200"],
    )


def test_key_is_used_up_for_the_same_span_with_another_value(
    work: Assignment, put: Callable[..., Any]
) -> None:
    (span,) = spans_in(text_of(work), ("Number", "1,200"))
    put(spans=[span])
    assert put(spans=[span | {"value": "12"}]).status_code == 422


def test_time_at_work_is_added_once(work: Assignment, put: Callable[..., Any]) -> None:
    put(("Number", "1,200"), active_seconds=40)
    put(("Number", "1,200"), active_seconds=55)
    put(("Number", "(310)"), base_revision=1, save_key="second", active_seconds=2)
    put(("Number", "1,200"), base_revision=0, save_key="stale", active_seconds=900)
    work.refresh_from_db()
    assert work.active_seconds == 42
    assert list(work.revisions.values_list("active_seconds", flat=True)) == [40, 2]


def test_time_before_submitting_is_added_once(
    work: Assignment, ann: User, api_of: ApiOf, put: Callable[..., Any]
) -> None:
    put(("Number", "1,200"), active_seconds=40)
    body = {"base_revision": 1, "active_seconds": 5}
    for _ in range(2):
        response = api_of(ann).post(f"/api/v1/assignments/{work.pk}/submit/", body, format="json")
        assert response.status_code == 200
    work.refresh_from_db()
    assert work.active_seconds == 45
