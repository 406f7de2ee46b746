"""Facts to snap to, suggestions, text boxes, and warnings of a page."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from annotation import page_facts
from annotation.models import Assignment, Campaign, ModelSuggestions, SuggestionUpload
from annotation.workbench.suggestions import choose_suggestions, page_suggestions
from portal.accounts.models import User
from portal.datasets.models import PageImage, TextBoxes, XbrlFacts
from portal.facts import FoundFact, find_facts
from tests.annotation.factories import make_campaign, save, task_over, text_of, work_of
from tests.fixture_types import ApiOf

pytestmark = pytest.mark.django_db


@pytest.fixture
def get(work: Assignment, ann: User, api_of: ApiOf) -> Callable[..., Any]:
    return lambda **headers: api_of(ann).get(f"/api/v1/assignments/{work.pk}/facts/", **headers)


def show(campaign: Campaign, lead: User, *sources: str) -> None:
    choose_suggestions(campaign=campaign, sources=sources, actor=lead)


def suggested(work: Assignment) -> list[tuple[str, str, str]]:
    work = Assignment.objects.get(pk=work.pk)
    text = text_of(work)
    return [
        (text[start:end], label, source)
        for start, end, label, source, _ in page_suggestions(work.campaign_document)
    ]


def tagged(work: Assignment, *facts: tuple[str, str]) -> None:
    """The document with these (quote, kind) tagged by its filer."""
    text = text_of(work)
    XbrlFacts.objects.create(
        document=work.campaign_document.document,
        facts=[
            [text.index(quote), text.index(quote) + len(quote), kind, "us-gaap:Revenues"]
            for quote, kind in facts
        ],
    )


def modelled(work: Assignment, *marks: tuple[str, str]) -> None:
    campaign = work.campaign_document.campaign
    upload = SuggestionUpload.objects.create(campaign=campaign, source_name="m.jsonl")
    text = text_of(work)
    ModelSuggestions.objects.create(
        campaign_document=work.campaign_document,
        upload=upload,
        spans=[[text.index(q), text.index(q) + len(q), label] for label, q in marks],
    )


def test_facts_are_what_the_rules_find(work: Assignment, get: Callable[..., Any]) -> None:
    body = get().json()
    text = text_of(work)
    assert [(text[start:end], kind) for start, end, kind in body["facts"]] == [
        ("1,200", "number"),
        ("(310)", "number"),
        ("March 31, 2025", "date"),
        ("1,200", "number"),
    ]
    assert body["suggestions"] == []


def test_facts_say_which_of_them_are_not_annotated(ann: User, api_of: ApiOf) -> None:
    work = task_over("<p>12 Main Street, see Note 3: sales of 1,200 in 2024. 7 shops</p>", ann)
    body = api_of(ann).get(f"/api/v1/assignments/{work.pk}/facts/").json()
    text = text_of(work)
    quotes = [text[start:end] for start, end, _ in body["facts"]]
    assert [quotes[place] for place in body["not_annotated"]] == ["12"]
    assert {"1,200", "7"} <= set(quotes)


def test_known_answer_is_not_sent_again(
    campaign: Campaign, lead: User, get: Callable[..., Any]
) -> None:
    first = get()
    assert "private" in first["Cache-Control"]
    again = get(headers={"If-None-Match": first["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    show(campaign, lead, "rules")
    changed = get(headers={"If-None-Match": first["ETag"]})
    assert changed.status_code == 200
    assert changed["ETag"] != first["ETag"]


def test_page_is_looked_through_once(
    get: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_facts, "_pages", page_facts._Pages(page_facts.NUMBERS_KEPT))
    texts: list[str] = []

    def counted(text: str, borders: Sequence[int]) -> list[FoundFact]:
        texts.append(text)
        return find_facts(text, borders)

    monkeypatch.setattr(page_facts, "find_facts", counted)
    get()
    get()
    assert len(texts) == 1


def test_pages_kept_are_bounded_by_their_size_and_the_oldest_go() -> None:
    page = page_facts.PageFacts([0] * 10, [])
    pages = page_facts._Pages(35)
    for key in "abc":
        pages.keep(key, page)
    assert pages.get("a") is page  # used last, so that b is the oldest
    pages.keep("d", page)
    assert [key for key in "abcd" if pages.get(key)] == ["a", "c", "d"]
    pages.keep("huge", page_facts.PageFacts([0] * 36, []))
    assert [key for key in ["a", "c", "d", "huge"] if pages.get(key)] == ["a", "c", "d"]


def test_rules_suggest_every_fact_with_the_campaigns_label(
    campaign: Campaign, work: Assignment, lead: User
) -> None:
    show(campaign, lead, "rules")
    assert suggested(work) == [
        ("1,200", "Number", "rules"),
        ("(310)", "Number", "rules"),
        ("March 31, 2025", "Date", "rules"),
        ("1,200", "Number", "rules"),
    ]


def test_kind_without_a_label_is_not_suggested(ann: User, lead: User) -> None:
    campaign = make_campaign([ann], overlap=1, labels=["Temporal", "ReportingEntity"])
    show(campaign, lead, "rules")
    assert suggested(work_of(ann, campaign)) == [("March 31, 2025", "Temporal", "rules")]


def test_tagged_facts_grow_to_the_whole_fact(
    campaign: Campaign, work: Assignment, lead: User
) -> None:
    tagged(work, ("310", "number"), ("March 31, 2025", "date"))
    show(campaign, lead, "xbrl")
    assert suggested(work) == [
        ("(310)", "Number", "xbrl"),
        ("March 31, 2025", "Date", "xbrl"),
    ]


def test_of_two_suggestions_that_share_a_character_the_better_source_stays(
    campaign: Campaign, work: Assignment, lead: User
) -> None:
    tagged(work, ("310", "number"))
    modelled(work, ("Number", "1,2"), ("Date", "(310) as of"))
    show(campaign, lead, "rules", "model", "xbrl")
    assert suggested(work) == [
        ("1,2", "Number", "model"),
        ("(310)", "Number", "xbrl"),
        ("March 31, 2025", "Date", "rules"),
        ("1,200", "Number", "rules"),
    ]


def test_only_chosen_sources_are_shown(campaign: Campaign, work: Assignment, lead: User) -> None:
    tagged(work, ("310", "number"))
    modelled(work, ("Number", "1,200"))
    assert suggested(work) == []
    show(campaign, lead, "model")
    assert suggested(work) == [("1,200", "Number", "model")]


def test_detail_says_whether_there_are_suggestions(
    campaign: Campaign, work: Assignment, lead: User, ann: User, api_of: ApiOf
) -> None:
    address = f"/api/v1/assignments/{work.pk}/"
    assert api_of(ann).get(address).json()["suggestions"] is False
    show(campaign, lead, "rules")
    assert api_of(ann).get(address).json()["suggestions"] is True


def test_warnings_of_saved_spans(work: Assignment, ann: User, api_of: ApiOf) -> None:
    save(work, ("Number", "310"), ("Number", "1,200"))
    body = api_of(ann).get(f"/api/v1/assignments/{work.pk}/warnings/").json()
    assert body["revision"] == 1
    (odd,) = body["spans"]
    assert (odd["key"], odd["value"]) == (f"number-{text_of(work).index('310')}", "310")
    assert [warning["code"] for warning in odd["warnings"]] == ["cut_fact"]


def test_boxes_are_for_those_who_may_read_the_text(
    work: Assignment, ann: User, ben: User, stranger: User, organiser: User, api_of: ApiOf
) -> None:
    document = work.campaign_document.document
    image = PageImage.objects.create(
        document=document, width=10, height=20, sha256="ab" * 32, file="x.png", is_rendered=True
    )
    TextBoxes.objects.create(image=image, boxes=[[0, 3, 1, 2, 3, 4]])
    path = f"/api/v1/assignments/{work.pk}/boxes/"
    answer = api_of(ann).get(path)
    assert answer.json() == {
        "images": [{"number": 1, "width": 10, "height": 20, "boxes": [[0, 3, 1, 2, 3, 4]]}]
    }
    assert api_of(ann).get(path, headers={"If-None-Match": answer["ETag"]}).status_code == 304
    for other in (ben, stranger, organiser):
        assert api_of(other).get(path).status_code == 404
    assert api_of(None).get(path).status_code == 401
