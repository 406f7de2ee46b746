"""From gold to a frozen release."""

import json

import pytest

from annotation.adjudication.services import decide_case
from annotation.campaigns.services import release_gold
from annotation.errors import Refused, Unfinished
from annotation.models import Campaign, GoldSpan
from portal.accounts.models import User
from portal.datasets.access import ALL_GOLD
from portal.datasets.models import Dataset, Release
from portal.datasets.releases.files import FILES
from tests.annotation.factories import PAGE, document_of, submit, work_of
from tests.datasets.factories import make_release
from tests.factories import empty_dataset, make_document
from tests.fixture_types import ApiOf, ClientOf
from tests.worlds import shared

pytestmark = pytest.mark.django_db

ADDRESS = "/campaigns/spring-round/release/"
FORM = {"version": "1.0.0", "visibility": "gold_hidden", "notes": "First."}


@pytest.fixture
@shared
def half_done(disputed: Campaign, lead: User) -> Campaign:
    """The first document is gold, the second is not started."""
    for case in document_of(disputed).cases.all():
        decide_case(case=case, choice="proposal", proposal=0, reason="By the rules.", actor=lead)
    return disputed


@pytest.fixture
@shared
def finished(half_done: Campaign, ann: User, ben: User) -> Campaign:
    for user in (ann, ben):
        submit(work_of(user, half_done, 2), ("Number", "(310)"))
    return half_done


def test_freezing_says_first_what_cannot_be_undone(
    finished: Campaign, lead: User, client_of: ClientOf
) -> None:
    html = " ".join(client_of(lead).get(ADDRESS).content.decode().split())
    assert "You are about to freeze 2 documents as version <strong" in html
    assert '<strong data-shows="version">1.0.0</strong>.' in html
    assert (
        '<strong data-shows="visibility">Gold hidden: only images, IDs and prompts</strong>.'
        in html
    )
    assert "This cannot be undone." in html
    chosen = client_of(lead).post(ADDRESS, FORM | {"version": "x", "visibility": "private"})
    label = '<strong data-shows="visibility">Private: organisers only</strong>'
    assert label in chosen.content.decode()


def test_closing_is_a_quiet_button_that_says_what_it_does(
    campaign: Campaign, lead: User, ann: User, client_of: ClientOf
) -> None:
    html = client_of(lead).get("/campaigns/spring-round/").content.decode()
    assert '<button class="button small quiet" type="submit">Close campaign</button>' in html
    assert "Makes all documents read-only. You can reopen the campaign." in html
    assert "Close campaign" not in client_of(ann).get("/campaigns/spring-round/").content.decode()


def freeze(campaign: Campaign, actor: User, *, leave_out: bool = False) -> Release:
    return release_gold(
        campaign=campaign,
        version="1.0.0",
        notes="First.",
        visibility="private",
        leave_out_unfinished=leave_out,
        actor=actor,
    )


def test_release_holds_the_gold(finished: Campaign, lead: User) -> None:
    release = freeze(finished, lead)
    assert (release.item_count, release.labels, release.notes) == (2, ["Number", "Date"], "First.")
    first, second = release.items.all()
    assert [(fact["type"], fact["value"]) for fact in first.facts] == [
        ("Number", "1,200"),
        ("Number", "(310)"),
        ("Date", "March 31, 2025"),
    ]
    assert "<Number>(310)</Number>" in second.gold["html"]


def test_unfinished_documents_stand_in_the_way(half_done: Campaign, organiser: User) -> None:
    make_document(half_done.dataset, "page-900", PAGE.format(number=900))
    with pytest.raises(Unfinished) as refused:
        freeze(half_done, organiser)
    assert refused.value.names == ["page-002", "page-900"]
    assert not Release.objects.exists()


def test_left_out_documents_are_counted_in_the_notes(half_done: Campaign, organiser: User) -> None:
    release = freeze(half_done, organiser, leave_out=True)
    assert [item.name for item in release.items.all()] == ["page-001"]
    assert release.notes == "First.\n\nExcluded: 1 document that was not finished."


def test_nothing_gold_is_nothing_to_release(campaign: Campaign, organiser: User) -> None:
    with pytest.raises(Refused, match="No documents are gold"):
        freeze(campaign, organiser, leave_out=True)


def test_lead_freezes_what_is_finished(finished: Campaign, lead: User, client_of: ClientOf) -> None:
    response = client_of(lead).post(ADDRESS, FORM, follow=True)
    assert "Release 1.0.0 is frozen" in response.content.decode()
    assert Release.objects.get().frozen_by == lead


def test_label_studio_file_has_the_values_that_people_settled(
    finished: Campaign, lead: User
) -> None:
    GoldSpan.objects.filter(quote="(310)").update(value="-310000", sign="minus")
    release = freeze(finished, lead)
    tasks = json.loads(b"".join(FILES["labelstudio.json"].pieces(release, ALL_GOLD)))
    results = [result for task in tasks for result in task["annotations"][0]["result"]]
    said = {result["from_name"]: result["value"]["text"] for result in results
            if result["value"]["text"] in (["-310000"], ["minus"])}  # fmt: skip
    assert said == {"value": ["-310000"], "sign": ["minus"]}


def test_releases_of_a_private_dataset_are_announced_as_hidden(
    finished: Campaign, lead: User, client_of: ClientOf, api_of: ApiOf
) -> None:
    hidden = "The dataset is private, so only organisers can open its releases"
    client, api, form = client_of(lead), api_of(lead), FORM | {"visibility": "public"}
    assert hidden in client.get(ADDRESS).content.decode()
    assert api.get(f"/api/v1{ADDRESS}").json()["hidden"].startswith(hidden)
    after = client.post(ADDRESS, form, follow=True)
    assert any(hidden in str(message) for message in after.context["messages"])
    url = Release.objects.get().get_absolute_url()
    assert (client.get(url).status_code, url in after.content.decode()) == (404, False)
    Dataset.objects.filter(pk=finished.dataset_id).update(visibility="public")
    page = client.get(ADDRESS).content.decode()
    assert (client.get(url).status_code, url in page, hidden in page) == (200, True, False)
    assert api.get(f"/api/v1{ADDRESS}").json()["hidden"] == ""


def test_only_organisers_leave_documents_out(
    half_done: Campaign, lead: User, organiser: User, client_of: ClientOf
) -> None:
    ticked = FORM | {"leave_out_unfinished": "on"}
    refused = client_of(lead).post(ADDRESS, ticked)
    assert refused.status_code == 200
    assert not Release.objects.exists()
    assert client_of(organiser).post(ADDRESS, ticked).status_code == 302
    assert Release.objects.get().item_count == 1


def test_refusal_lists_the_documents(
    half_done: Campaign, organiser: User, client_of: ClientOf
) -> None:
    html = client_of(organiser).post(ADDRESS, FORM).content.decode()
    assert "1 of the dataset" in html
    assert "page-002" in html
    assert not Release.objects.exists()


@pytest.mark.parametrize("version", ["", "one", "1.0", "1.0.0+build"])
def test_version_must_be_semantic(
    finished: Campaign, lead: User, client_of: ClientOf, version: str
) -> None:
    response = client_of(lead).post(ADDRESS, FORM | {"version": version})
    assert response.context["form"].errors["version"]
    assert not Release.objects.exists()


def test_same_version_twice_is_refused(finished: Campaign, lead: User, client_of: ClientOf) -> None:
    client = client_of(lead)
    client.post(ADDRESS, FORM)
    again = client.post(ADDRESS, FORM)
    assert "must be higher than that of the latest release" in again.content.decode()
    assert Release.objects.count() == 1
    assert client.get(ADDRESS).context["form"].initial["version"] == "1.0.1"


def test_page_counts_gold_and_facts(half_done: Campaign, lead: User, client_of: ClientOf) -> None:
    state = client_of(lead).get(ADDRESS).context["state"]
    assert (state.gold, state.facts) == (1, 3)
    assert [(document.name, document.stage) for document in state.unfinished] == [
        ("page-002", "annotation")
    ]


def test_api_freezes(finished: Campaign, lead: User, api_of: ApiOf) -> None:
    address = "/api/v1/campaigns/spring-round/release/"
    state = api_of(lead).get(address).json()
    assert (state["gold"], state["unfinished"], state["next_version"]) == (2, [], "1.0.0")
    response = api_of(lead).post(address, {"version": "1.0.0"}, format="json")
    assert response.status_code == 201
    assert (response.json()["item_count"], response.json()["fact_count"]) == (2, 4)
    again = api_of(lead).post(address, {"version": "1.0.0"}, format="json")
    assert again.status_code == 422
    assert "must be higher" in again.json()["errors"][0]["message"]


def test_api_refuses_with_the_list(
    half_done: Campaign, lead: User, organiser: User, api_of: ApiOf
) -> None:
    address = "/api/v1/campaigns/spring-round/release/"
    refused = api_of(lead).post(address, {"version": "1.0.0"}, format="json")
    assert (refused.status_code, refused.json()["documents"]) == (409, ["page-002"])
    body = {"version": "1.0.0", "leave_out_unfinished": True}
    assert api_of(lead).post(address, body, format="json").status_code == 403
    assert api_of(organiser).post(address, body, format="json").status_code == 201


def test_the_form_takes_licence_citation_and_a_drawn_split(
    finished: Campaign, lead: User, client_of: ClientOf
) -> None:
    sent = {
        **FORM,
        "split": "draw",
        "test_share": "50",
        "seed": "4",
        "licence": "CC-BY-4.0",
        "authors": "Doe, Jane",
    }
    assert client_of(lead).post(ADDRESS, sent).status_code == 302
    release = Release.objects.get()
    assert (release.licence, release.citation) == ("CC-BY-4.0", {"authors": ["Doe, Jane"]})
    assert sorted(release.items.values_list("split", flat=True)) == ["dev", "test"]


def test_the_form_drafts_the_notes(finished: Campaign, lead: User, client_of: ClientOf) -> None:
    client = client_of(lead)
    client.post(ADDRESS, {**FORM, "visibility": "public"})
    sent = {**FORM, "version": "1.1.0", "visibility": "public", "draft": "1"}
    page = client.post(ADDRESS, sent).content.decode()
    assert "Since 1.0.0: items 0 added, 0 removed, 0 changed, 2 unchanged." in page
    assert Release.objects.count() == 1


def test_the_api_draws_a_split(finished: Campaign, lead: User, api_of: ApiOf) -> None:
    body = {
        "version": "1.0.0",
        "test_share": 0.5,
        "licence": "CC0-1.0",
        "citation": {"year": 2024},
    }
    answer = api_of(lead).post("/api/v1/campaigns/spring-round/release/", body, format="json")
    assert answer.status_code == 201
    release = Release.objects.get()
    assert (release.licence, release.citation) == ("CC0-1.0", {"year": 2024})
    assert sorted(release.items.values_list("split", flat=True)) == ["dev", "test"]


class TestHiddenElsewhere:
    """The gold of a campaign that a release of another dataset hides."""

    @pytest.fixture
    def hidden(self, finished: Campaign) -> Release:
        other = empty_dataset(slug="elsewhere", title="Elsewhere")
        text = finished.dataset.documents.get(name="page-001").content.html
        make_document(other, "secret-page", text)
        return make_release(other, visibility="gold_hidden")

    def test_the_lead_learns_no_name_on_page_and_api(
        self, finished: Campaign, hidden: Release, lead: User, client_of: ClientOf, api_of: ApiOf
    ) -> None:
        form = FORM | {"visibility": "public", "accept_overlaps": "1"}
        page = client_of(lead).post(ADDRESS, form).content.decode()
        body = {"version": "1.0.0", "visibility": "public", "accept_overlaps": 1}
        answer = api_of(lead).post(f"/api/v1{ADDRESS}", body, format="json")
        assert answer.status_code == 422
        for text in (page, answer.content.decode()):
            assert "hidden test set that you may not see" in text
            assert "secret-page" not in text
            assert "Elsewhere" not in text
        assert Release.objects.get() == hidden

    def test_an_organiser_confirms_it(
        self, finished: Campaign, hidden: Release, organiser: User, client_of: ClientOf
    ) -> None:
        client, form = client_of(organiser), FORM | {"visibility": "public"}
        page = client.post(ADDRESS, form).content.decode()
        assert "page-001: its gold is hidden in Elsewhere 1.0.0, as secret-page" in page
        assert 'name="accept_overlaps" value="2"' in page
        client.post(ADDRESS, form | {"accept_overlaps": "2"})
        assert finished.dataset.releases.get().visibility == "public"
