"""The quality of annotators: hand-computed figures, periods, counted pages, and access."""

import csv
import io
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.campaigns.people import remove_member
from annotation.models import (
    Assignment,
    Campaign,
    CampaignDocument,
    FirstSubmission,
    GoldSpan,
)
from annotation.qualification.quality import AnnotatorQuality, campaign_quality, sparklines
from annotation.spans import Tally
from portal.accounts.models import User
from tests.annotation.factories import document_of, make_campaign, save, submit, work_of
from tests.fixture_types import ApiOf, ClientOf
from tests.worlds import shared

from .qualification_factories import RIGHT, hold_round, member_of, trial_of

pytestmark = pytest.mark.django_db

QUALITY = "/campaigns/spring-round/quality/"

NET, LOSS = ("Number", "1,200"), ("Number", "(310)")
DATE = ("Date", "March 31, 2025")


def make_gold(campaign: Campaign, number: int, *places: tuple[str, int, int]) -> None:
    """Sets the page's gold, regardless of decisions."""
    page = document_of(campaign, number)
    page.gold_spans.all().delete()
    GoldSpan.objects.bulk_create(
        GoldSpan(
            campaign_document=page, label=label, start=start, end=end, quote="…", origin="agreed"
        )
        for label, start, end in places
    )
    CampaignDocument.objects.filter(pk=page.pk).update(
        stage=CampaignDocument.Stage.GOLD, settled_at="2026-03-01T00:00Z"
    )


@pytest.fixture
@shared
def judged(campaign: Campaign, ann: User, ben: User) -> Campaign:
    """Page 1 is gold with four facts. Ann has all kinds of errors, Ben has one fact right.

    The text: 1,200 at 16 to 21, (310) at 35 to 40, the date at 47 to 61, and 1,200 at 67 to 72.
    """
    submit(work_of(ann, campaign), NET, ("Number", "310"), ("Number", DATE[1]), ("Number", "Page"))
    submit(work_of(ben, campaign), NET)
    text = document_of(campaign).document.content.text
    assert [text[16:21], text[35:40], text[47:61], text[67:72]] == [
        "1,200", "(310)", "March 31, 2025", "1,200",
    ]  # fmt: skip
    make_gold(
        campaign, 1,
        ("Number", 16, 21), ("Number", 35, 40), ("Date", 47, 61), ("Number", 67, 72),
    )  # fmt: skip
    return campaign


def of(user: User, campaign: Campaign, every: str = "week") -> AnnotatorQuality:
    rows = campaign_quality(campaign, every).annotators
    return next(row for row in rows if row.user == user.pk)


def test_figures_by_hand(judged: Campaign, ann: User, ben: User) -> None:
    mine = of(ann, judged)
    assert mine.tally == Tally(
        matched=1, boundary=1, label=1, missed=1, extra=1, marked=4, expected=4
    )
    assert (mine.tally.precision, mine.tally.recall, mine.tally.f1) == (1 / 4, 1 / 4, 1 / 4)
    assert (mine.submitted, mine.gold_pages) == (1, 1)
    theirs = of(ben, judged)
    assert theirs.tally == Tally(matched=1, missed=3, marked=1, expected=4)
    assert (theirs.tally.precision, theirs.tally.recall, theirs.tally.f1) == (1.0, 1 / 4, 2 / 5)


def test_labels_are_told_apart(judged: Campaign, ann: User) -> None:
    number, date = of(ann, judged).labels
    assert (number.name, number.pages, number.tally.expected, number.tally.marked) == (
        "Number", 1, 3, 4,
    )  # fmt: skip
    assert (date.name, date.tally) == ("Date", Tally(label=1, expected=1))


def test_white_space_at_the_ends_is_no_error(judged: Campaign, ben: User) -> None:
    first = FirstSubmission.objects.get(assignment=work_of(ben, judged))
    FirstSubmission.objects.filter(pk=first.pk).update(spans=[[15, 22, "Number", "", ""]])
    assert of(ben, judged).tally.matched == 1


def test_what_was_changed_after_the_first_submission_does_not_count(
    judged: Campaign, ben: User
) -> None:
    before = of(ben, judged).tally
    work_of(ben, judged).spans.all().delete()
    assert of(ben, judged).tally == before


def test_only_gold_pages_count(judged: Campaign, ann: User, ben: User) -> None:
    submit(work_of(ann, judged, 2), DATE)
    mine = of(ann, judged)
    assert (mine.submitted, mine.gold_pages, mine.tally.expected) == (2, 1, 4)
    submit(work_of(ben, judged, 2), LOSS)
    assert of(ann, judged).gold_pages == 1


def test_page_of_one_person_tells_nothing(ann: User, lead: User) -> None:
    campaign = make_campaign([ann], lead=lead, overlap=1)
    submit(work_of(ann, campaign), NET)
    quality = campaign_quality(campaign)
    assert (quality.pages, quality.single) == (0, 1)
    assert (quality.annotators[0].submitted, quality.annotators[0].gold_pages) == (1, 0)


def test_qualification_counts_nowhere(judged: Campaign, ann: User) -> None:
    before = campaign_quality(judged)
    hold_round(judged, 1)
    submit(trial_of(ann, judged), *RIGHT)
    assert campaign_quality(judged) == before


def test_who_left_keeps_their_figures(
    judged: Campaign, ann: User, ben: User, cleo: User, lead: User
) -> None:
    Assignment.objects.filter(annotator=ben, state="assigned").delete()
    remove_member(membership=member_of(ben, judged), actor=lead)
    assert of(ben, judged).tally.matched == 1
    assert [row.name for row in campaign_quality(judged).annotators] == ["Ann", "Ben"]


def test_minutes_are_the_median_of_measured_pages(judged: Campaign, ann: User, ben: User) -> None:
    assert (of(ann, judged).minutes, of(ann, judged).timed) == (None, 0)
    submit(work_of(ann, judged, 2), DATE)
    for number, seconds in ((1, 90), (2, 240)):
        work = Assignment.objects.filter(pk=work_of(ann, judged, number).pk)
        work.update(active_seconds=seconds)
    # The time on a page is as blind as its labels while a submission is missing.
    assert (of(ann, judged).minutes, of(ann, judged).timed) == (1.5, 1)
    submit(work_of(ben, judged, 2), DATE)
    assert (of(ann, judged).minutes, of(ann, judged).timed) == (2.75, 2)


def test_flags_are_counted(judged: Campaign, ann: User) -> None:
    for number, flag in ((1, "flagged"), (2, "skipped")):
        Assignment.objects.filter(pk=work_of(ann, judged, number).pk).update(
            flag=flag, flag_reason="Odd."
        )
    assert (of(ann, judged).flagged, of(ann, judged).skipped) == (1, 1)


@pytest.fixture
@shared
def long(ann: User, ben: User, lead: User) -> Campaign:
    """Seven gold pages of one fact each. Ann is right from the third on, with two pages a week."""
    campaign = make_campaign([ann, ben], lead=lead, documents=7)
    for number in range(1, 8):
        submit(work_of(ann, campaign, number), LOSS if number > 2 else NET)
        submit(work_of(ben, campaign, number), LOSS)
        make_gold(campaign, number, ("Number", 35, 40))
        # Weeks start on Mondays: 2 March 2026 is one, 8 March is the Sunday after it.
        at = datetime(2026, 3, (2, 8, 9, 15, 16, 22, 23)[number - 1], 23, 30, tzinfo=UTC)
        FirstSubmission.objects.filter(assignment=work_of(ann, campaign, number)).update(
            submitted_at=at
        )
    return campaign


def test_weeks_are_named_by_their_monday(long: Campaign, ann: User) -> None:
    assert [(part.name, part.pages, part.tally.f1) for part in of(ann, long).periods] == [
        ("2026-03-02", 2, 0.0),
        ("2026-03-09", 2, 1.0),
        ("2026-03-16", 2, 1.0),
        ("2026-03-23", 1, 1.0),
    ]


def test_runs_of_pages_end_with_what_is_left(long: Campaign, ann: User) -> None:
    periods = of(ann, long, "5").periods
    assert [(part.name, part.pages, part.tally.f1) for part in periods] == [
        ("1–5", 5, 3 / 5),
        ("6–7", 2, 1.0),
    ]
    assert [point.value for point in of(ann, long, "5").line.points] == [3 / 5, 1.0]


def test_lines_share_one_scale() -> None:
    drawn = sparklines({1: [("a", 0.5), ("b", 1.0)], 2: [("a", 0.75)], 3: []})
    assert drawn.lowest == 0.5
    # 112 pixels wide and 20 high between margins of 4; 0.75 is half way up.
    assert drawn.lines[1].path == "4,24 116,4"
    assert drawn.lines[2].path == "4,14"
    assert drawn.lines[3].points == ()
    assert drawn.lines[3].last is None


@pytest.mark.parametrize(("value", "lowest"), [(0.7, 0.7), (0.69, 0.6), (1.0, 0.9), (0.0, 0.0)])
def test_scale_begins_at_a_tenth_below_every_value(value: float, lowest: float) -> None:
    drawn = sparklines({1: [("a", value)]})
    assert drawn.lowest == lowest
    assert 4 <= drawn.lines[1].points[0].y <= 24


def test_page_shows_the_figures_to_leads_alone(
    judged: Campaign, ann: User, lead: User, organiser: User, client_of: ClientOf
) -> None:
    page = " ".join(client_of(lead).get(QUALITY).content.decode().split())
    assert "0.400" in page
    assert "Based on 1 gold document with two or more annotators." in page
    assert "n/a" in page  # Ben's precision of dates, because he marked none
    for other in (ann, organiser):
        assert client_of(other).get(QUALITY).status_code == 403
        assert QUALITY not in client_of(other).get("/campaigns/spring-round/").content.decode()


def test_odd_period_shows_weeks(judged: Campaign, lead: User, client_of: ClientOf) -> None:
    page = client_of(lead).get(f"{QUALITY}?every=99")
    assert page.context["every"] == "week"
    assert client_of(lead).get(f"{QUALITY}?every=10").context["every"] == "10"


def test_csv_has_every_figure(judged: Campaign, ben: User, lead: User, client_of: ClientOf) -> None:
    User.objects.filter(pk=ben.pk).update(name="=Ben")
    response = client_of(lead).get(f"{QUALITY}csv/?every=5")
    assert "annotators-spring-round.csv" in response["Content-Disposition"]
    rows: list[dict[str, Any]] = list(csv.DictReader(io.StringIO(response.content.decode())))
    assert [(row["annotator"], row["scope"], row["subject"]) for row in rows] == [
        ("Ann", "all", ""), ("Ann", "label", "Number"), ("Ann", "label", "Date"),
        ("Ann", "5 pages", "1–1"),
        ("'=Ben", "all", ""), ("'=Ben", "label", "Number"), ("'=Ben", "label", "Date"),
        ("'=Ben", "5 pages", "1–1"),
    ]  # fmt: skip
    assert (rows[4]["facts"], rows[4]["precision"], rows[4]["f1"]) == ("4", "1", "0.4")
    assert (rows[6]["facts"], rows[6]["precision"], rows[6]["f1"]) == ("1", "", "0")
    assert (rows[0]["pages_submitted"], rows[1]["pages_submitted"]) == ("1", "")


def test_programs_get_the_same(judged: Campaign, lead: User, api_of: ApiOf) -> None:
    answer = api_of(lead).get(f"/api/v1{QUALITY}?every=5").json()
    assert (answer["every"], answer["pages"], answer["single"]) == ("5", 1, 0)
    ben = answer["annotators"][1]
    assert (ben["annotator"], ben["tally"]["f1"], ben["minutes"]) == ("Ben", 0.4, None)
    assert [part["name"] for part in ben["labels"]] == ["Number", "Date"]
    assert ben["periods"][0]["tally"]["missed"] == 3
    assert api_of(lead).get(f"/api/v1{QUALITY}?every=3").status_code == 400


def test_more_pages_and_people_need_no_more_queries(
    ann: User, ben: User, cleo: User, lead: User
) -> None:
    counts = []
    for people, documents in (([ann, ben], 2), ([ann, ben, cleo], 9)):
        campaign = make_campaign(people, lead=lead, documents=documents, title=f"{documents}")
        for assignment in Assignment.objects.filter(campaign_document__campaign=campaign):
            submit(assignment, LOSS)
        with CaptureQueriesContext(connection) as captured:
            quality = campaign_quality(campaign)
        assert quality.pages == documents
        counts.append(len(captured))
    assert counts[0] == counts[1] <= 8


def test_unsubmitted_work_moves_no_figure(judged: Campaign, ann: User) -> None:
    save(work_of(ann, judged, 2), NET)
    before = campaign_quality(judged)
    save(work_of(ann, judged, 2), NET, LOSS, DATE)
    assert campaign_quality(judged) == before
