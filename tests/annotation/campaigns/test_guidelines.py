"""Guidelines: versions, their changes, and the version each member has opened."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.campaigns.selectors import Piece, compared, seen_guidelines, shortened
from annotation.campaigns.services import edit_guidelines, mark_guidelines_seen
from annotation.models import Campaign, GuidelinesVersion, Membership
from portal.accounts.models import User
from portal.audit.models import Event
from tests.annotation.factories import work_of
from tests.fixture_types import ApiOf, ClientOf
from tests.worlds import shared

pytestmark = pytest.mark.django_db

PAGE = "/campaigns/spring-round/guidelines/"
API = "/api/v1/campaigns/spring-round/guidelines/"


@pytest.fixture
@shared
def edited(campaign: Campaign, lead: User) -> Campaign:
    """A campaign with a second version of its guidelines."""
    return edit_guidelines(
        campaign=campaign, text="Mark every *date*.", note="Dates too.", actor=lead
    )


def test_campaign_begins_with_its_first_version(campaign: Campaign) -> None:
    first = GuidelinesVersion.objects.get(campaign=campaign)
    assert (first.number, first.text, campaign.guidelines_version) == (1, "Mark **every** fact.", 1)


def test_every_text_is_kept_with_author_and_note(edited: Campaign, lead: User) -> None:
    rows = GuidelinesVersion.objects.filter(campaign=edited)
    assert [(row.number, row.text, row.note, row.author) for row in rows] == [
        (2, "Mark every *date*.", "Dates too.", lead),
        (1, "Mark **every** fact.", "", None),
    ]
    edited.refresh_from_db()
    assert (edited.guidelines, edited.guidelines_version) == ("Mark every *date*.", 2)
    assert Event.objects.get(verb="edit_guidelines").data == {"version": 2}


def test_same_text_again_is_no_version(edited: Campaign, lead: User) -> None:
    edit_guidelines(campaign=edited, text="Mark every *date*.", note="again", actor=lead)
    assert GuidelinesVersion.objects.filter(campaign=edited).count() == 2


def test_lead_writes_a_version_on_the_page(
    campaign: Campaign, lead: User, client_of: ClientOf
) -> None:
    client = client_of(lead)
    response = client.post(PAGE, {"guidelines": "Less.", "note": "Shorter."}, follow=True)
    page = response.content.decode()
    assert "Shorter." in page
    assert "<ins>Less.</ins>" in page
    assert "<del>Mark **every** fact.</del>" in page


def test_earlier_version_can_be_read(edited: Campaign, ann: User, client_of: ClientOf) -> None:
    page = client_of(ann).get(f"{PAGE}?version=1").content.decode()
    assert "Mark <strong>every</strong> fact." in page
    assert "version is outdated" in page
    assert "Version 2" in page


@pytest.mark.parametrize("version", ["3", "0", "-1", "x", "9" * 30, "\u0662"])
def test_version_that_is_not_there_is_not_found(
    edited: Campaign, ann: User, client_of: ClientOf, version: str
) -> None:
    assert client_of(ann).get(PAGE, {"version": version}).status_code == 404


def test_markup_in_guidelines_is_text(campaign: Campaign, lead: User, client_of: ClientOf) -> None:
    edit_guidelines(campaign=campaign, text="<script>x</script>", actor=lead)
    assert "<script>x" not in client_of(lead).get(PAGE).content.decode()


def test_opening_the_page_marks_it_seen(
    edited: Campaign, ann: User, ben: User, client_of: ClientOf, api_of: ApiOf
) -> None:
    work = f"/api/v1/assignments/{work_of(ann, edited).pk}/"
    assert api_of(ann).get(work).json()["guidelines"] == {"version": 2, "seen_version": 0}
    client_of(ann).get(f"{PAGE}?version=1")
    assert api_of(ann).get(work).json()["guidelines"] == {"version": 2, "seen_version": 1}
    client_of(ann).get(PAGE)
    assert api_of(ann).get(work).json()["guidelines"] == {"version": 2, "seen_version": 2}
    assert seen_guidelines(edited, ben.pk) == 0


def test_seen_never_goes_back_nor_ahead(edited: Campaign, ann: User) -> None:
    assert mark_guidelines_seen(campaign=edited, version=9, user=ann) == 2
    assert mark_guidelines_seen(campaign=edited, version=1, user=ann) == 2


def test_every_role_of_a_person_has_seen_it(edited: Campaign, ann: User) -> None:
    Membership.objects.create(campaign=edited, user=ann, role=Membership.Role.LEAD)
    mark_guidelines_seen(campaign=edited, version=2, user=ann)
    seen = Membership.objects.filter(user=ann).values_list("seen_guidelines", flat=True)
    assert list(seen) == [2, 2]


def test_api_reads_versions_and_marks_them_seen(edited: Campaign, ann: User, api_of: ApiOf) -> None:
    api = api_of(ann)
    body = api.get(API).json()
    assert (body["guidelines"], body["version"]) == ("Mark every *date*.", 2)
    assert body["seen_version"] == 0
    assert [(row["number"], row["note"], row["author"]) for row in body["versions"]] == [
        (2, "Dates too.", "Lea"),
        (1, "", ""),
    ]
    assert api.get(f"{API}?version=1").json()["guidelines"] == "Mark **every** fact."
    assert api.get(f"{API}?version=7").status_code == 404
    assert api.get(f"{API}?version=x").status_code == 400
    assert api.post(f"{API}seen/", {"version": 2}, format="json").json() == {"seen_version": 2}
    assert api.post(f"{API}seen/", {"version": 0}, format="json").status_code == 400


def test_organiser_without_a_role_has_nothing_to_remember(
    edited: Campaign, organiser: User, api_of: ApiOf
) -> None:
    seen = api_of(organiser).post(f"{API}seen/", {"version": 2}, format="json")
    assert seen.json() == {"seen_version": 0}


def test_changed_words_are_shown_within_their_line() -> None:
    assert compared("Mark it.\nNot this.\n", "Mark all.\nNot this.\nDone.\n") == [
        Piece("same", "Mark "),
        Piece("removed", "it.\n"),
        Piece("added", "all.\n"),
        Piece("same", "Not this.\n"),
        Piece("added", "Done.\n"),
    ]


def test_far_lines_are_left_out() -> None:
    former = "".join(f"line {n}\n" for n in range(20))
    pieces = shortened(compared(former, former.replace("line 9\n", "row 9\n")))
    assert [(piece.kind, piece.text) for piece in pieces] == [
        ("gap", ""),
        ("same", "line 6\nline 7\nline 8\n"),
        ("removed", "line "),
        ("added", "row "),
        ("same", "9\nline 10\nline 11\n"),
        ("gap", ""),
    ]
    assert shortened(compared(former, former)) == []


def test_long_texts_are_compared_as_a_whole() -> None:
    former, text = "a\n" * 3_000, "b\n" * 3_000
    assert compared(former, text) == [Piece("removed", former), Piece("added", text)]


@given(st.text("ab \n", max_size=60), st.text("ab \n", max_size=60))
def test_comparison_holds_both_texts(former: str, text: str) -> None:
    pieces = compared(former, text)
    assert "".join(piece.text for piece in pieces if piece.kind != "added") == former
    assert "".join(piece.text for piece in pieces if piece.kind != "removed") == text
