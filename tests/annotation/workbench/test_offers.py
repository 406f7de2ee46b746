"""Suggestions are the same for all annotators of a page, and what becomes of them is counted."""

import csv
import io
from collections.abc import Callable
from typing import Any

import pytest

from annotation.assignments.handing_over import take_back
from annotation.models import (
    Assignment,
    Campaign,
    OfferedSuggestions,
    SuggestionOutcome,
    SuggestionUpload,
)
from annotation.workbench.offers import Mark, outcomes, suggestion_acceptance
from annotation.workbench.suggestions import Suggestion, choose_suggestions, keep_suggestions
from portal.accounts.models import User
from portal.facts import Span
from tests.annotation.factories import document_of, save, submit, text_of, work_of
from tests.fixture_types import ApiOf, ClientOf

pytestmark = pytest.mark.django_db

CAMPAIGN = "/api/v1/campaigns/spring-round/suggestions/"


@pytest.fixture
def modelled(campaign: Campaign, lead: User) -> Callable[..., SuggestionUpload]:
    """Keeps a model's suggestions of the first page, and shows them."""
    choose_suggestions(campaign=campaign, sources=["model"], actor=lead)

    def keep(*marks: tuple[str, str], model: str = "acme-7b") -> SuggestionUpload:
        text = text_of(Assignment.objects.filter(campaign_document=document_of(campaign))[0])
        spans = [Span(text.index(q), text.index(q) + len(q), label) for label, q in marks]
        upload = SuggestionUpload.objects.create(
            campaign=campaign, source_name="m.jsonl", model=model, prompt="labels-1"
        )
        keep_suggestions(upload=upload, placed={document_of(campaign).pk: spans}, faults=[])
        return upload

    return keep


@pytest.fixture
def seen(campaign: Campaign, api_of: ApiOf) -> Callable[[User], list[list[Any]]]:
    """Opens the user's first page and returns its suggestions."""

    def get(user: User) -> list[list[Any]]:
        path = f"/api/v1/assignments/{work_of(user, campaign).pk}/facts/"
        found: list[list[Any]] = api_of(user).get(path).json()["suggestions"]
        return found

    return get


Seen = Callable[[User], list[list[Any]]]
Modelled = Callable[..., SuggestionUpload]


def test_second_annotator_sees_what_the_first_saw(
    campaign: Campaign, lead: User, ann: User, ben: User, modelled: Modelled, seen: Seen
) -> None:
    modelled(("Number", "1,200"))
    first = seen(ann)
    assert [row[2:] for row in first] == [["Number", "model"]]
    modelled(("Date", "March 31, 2025"), model="other")
    assert seen(ben) == first
    choose_suggestions(campaign=campaign, sources=[], actor=lead)
    assert (seen(ann), seen(ben)) == (first, first)


def test_page_begun_without_suggestions_stays_without_them(
    campaign: Campaign, ann: User, ben: User, modelled: Modelled, seen: Seen
) -> None:
    save(work_of(ann, campaign), ("Number", "1,200"))
    modelled(("Number", "1,200"))
    assert seen(ben) == []
    assert seen(ann) == []


def test_annotator_alone_on_a_page_gets_suggestions_that_come_later(
    campaign: Campaign, ann: User, ben: User, modelled: Modelled, seen: Seen
) -> None:
    Assignment.objects.filter(annotator=ben).delete()
    save(work_of(ann, campaign), ("Number", "1,200"))
    modelled(("Number", "1,200"))
    assert len(seen(ann)) == 1


def test_looking_at_submitted_work_fixes_nothing(
    campaign: Campaign, ann: User, modelled: Modelled, seen: Seen
) -> None:
    submit(work_of(ann, campaign), ("Number", "1,200"))
    modelled(("Number", "1,200"))
    assert seen(ann) == []
    assert not OfferedSuggestions.objects.exists()


def test_suggestions_are_not_spans(
    campaign: Campaign, ann: User, ben: User, modelled: Modelled, seen: Seen
) -> None:
    modelled(("Number", "1,200"), ("Date", "March 31, 2025"))
    for user in (ann, ben):
        seen(user)
        submit(work_of(user, campaign), ("Number", "(310)"))
    gold = document_of(campaign).gold_spans.values_list("quote", flat=True)
    assert list(gold) == ["(310)"]


def test_outcomes_by_hand() -> None:
    suggestions = [
        Suggestion(0, 5, "Number", "rules"),
        Suggestion(6, 9, "Number", "rules"),
        Suggestion(10, 12, "Number", "rules"),
        Suggestion(13, 15, "Date", "rules"),
        Suggestion(20, 25, "Date", "rules"),
        Suggestion(30, 31, "Date", "rules"),
    ]
    spans = [Mark(0, 5, "Number"), Mark(6, 9, "Date"), Mark(11, 14, "Number")]
    dismissed = {Mark(20, 25, "Date"), Mark(0, 5, "Number")}
    assert outcomes(suggestions, spans, dismissed) == [
        "unchanged",
        "changed",
        "changed",
        "changed",
        "dismissed",
        "left",
    ]


def test_span_that_only_touches_a_suggestion_accepts_nothing() -> None:
    suggestions = [Suggestion(5, 8, "Number", "rules")]
    assert outcomes(suggestions, [Mark(0, 5, "Number"), Mark(8, 9, "Number")], ()) == ["left"]


def test_acceptance_counts_once_everyone_has_submitted(
    campaign: Campaign,
    lead: User,
    ann: User,
    ben: User,
    modelled: Modelled,
    seen: Seen,
    api_of: ApiOf,
    client_of: ClientOf,
) -> None:
    choose_suggestions(campaign=campaign, sources=["model", "rules"], actor=lead)
    modelled(("Number", "1,200"), ("Number", "(310)"))
    places = seen(ann)
    seen(ben)
    work = work_of(ann, campaign)
    save(work, ("Number", "1,200"), ("Number", "310"))
    date = next(row for row in places if row[2] == "Date")
    body = {
        "base_revision": 1,
        "dismissed": [{"start": date[0], "end": date[1], "label": "Date"}],
    }
    done = api_of(ann).post(f"/api/v1/assignments/{work.pk}/submit/", body, format="json")
    assert done.status_code == 200, done.content
    assert SuggestionOutcome.objects.count() == 2
    # Ben has not submitted: the lead must not learn what Ann did.
    assert api_of(lead).get(f"{CAMPAIGN}acceptance/").json() == []
    assert "No submitted documents with suggestions yet" in (
        client_of(lead).get("/campaigns/spring-round/suggestions/").content.decode()
    )
    submit(work_of(ben, campaign), ("Number", "1,200"), ("Number", "(310)"))
    model, rules = api_of(lead).get(f"{CAMPAIGN}acceptance/").json()
    assert model == {
        "source": "model",
        "model": "acme-7b",
        "prompt": "labels-1",
        "submissions": 2,
        "offered": 4,
        "unchanged": 3,
        "changed": 1,
        "dismissed": 0,
        "left": 0,
        "accepted_share": 1.0,
    }
    # The date and the second 1,200; Ann dismissed the date.
    assert [rules[k] for k in ("source", "offered", "unchanged", "dismissed", "left")] == [
        *("rules", 4, 0, 1, 3)
    ]
    page = client_of(lead).get("/campaigns/spring-round/suggestions/").content.decode()
    assert "model: acme-7b" in page
    for response in (
        client_of(lead).get("/campaigns/spring-round/suggestions/acceptance/"),
        api_of(lead).get(f"{CAMPAIGN}acceptance/csv/"),
    ):
        lines = list(csv.reader(io.StringIO(response.content.decode())))
        assert lines[1][:5] == ["model", "acme-7b", "labels-1", "2", "4"]
        assert lines[2][-1] == "0"


def test_submission_taken_back_is_not_counted_twice(
    campaign: Campaign, ann: User, ben: User, modelled: Modelled, seen: Seen
) -> None:
    modelled(("Number", "1,200"))
    seen(ann)
    submit(work_of(ann, campaign), ("Number", "(310)"))
    take_back(assignment=work_of(ann, campaign), actor=ann)
    submit(work_of(ann, campaign), ("Number", "1,200"))
    submit(work_of(ben, campaign), ("Number", "1,200"))
    (row,) = suggestion_acceptance(campaign)
    assert (row.submissions, row.unchanged, row.left) == (2, 2, 0)


@pytest.mark.parametrize(
    "dismissed", [[5], [{"start": True, "end": 2, "label": "Date"}], [{"start": 1, "end": 2}]]
)
def test_dismissed_suggestions_that_are_none_are_refused(
    campaign: Campaign, ann: User, api_of: ApiOf, dismissed: list[Any]
) -> None:
    work = work_of(ann, campaign)
    body = {"base_revision": 0, "no_facts": True, "dismissed": dismissed}
    answer = api_of(ann).post(f"/api/v1/assignments/{work.pk}/submit/", body, format="json")
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "dismissed[0]"
