"""The qualification round by browser and API: access, and the gate before the real pages."""

import re
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.campaigns.people import add_member
from annotation.models import Assignment, Campaign, CampaignDocument
from annotation.qualification.services import add_qualification, grant_qualification_try
from portal.accounts.models import User
from tests.annotation.factories import save, submit, work_of
from tests.fixture_types import ApiOf, ClientOf
from tests.worlds import shared

from .qualification_factories import RIGHT, hold_round, known_release, member_of, trial_of

pytestmark = pytest.mark.django_db

ROUND = "/campaigns/spring-round/qualification/"
API_ROUND = f"/api/v1{ROUND}"


# Parts that differ between any two requests.
_VOLATILE = re.compile(r'csrfmiddlewaretoken" value="\w+"|"X-CSRFToken": "\w+"|nonce="[^"]*"')


def text(response: Any) -> str:
    return " ".join(_VOLATILE.sub("", response.content.decode()).split())


@pytest.fixture
@shared
def held(campaign: Campaign) -> Campaign:
    hold_round(campaign)
    return campaign


def test_real_page_says_what_comes_first(held: Campaign, ann: User, client_of: ClientOf) -> None:
    response = client_of(ann).get(f"/annotate/{work_of(ann, held).pk}/")
    assert response.status_code == 403
    assert "Qualification needed" in text(response)
    assert f'href="{ROUND}"' in text(response)
    for part in ("html/", "images/1/"):
        assert client_of(ann).get(f"/annotate/{work_of(ann, held).pk}/{part}").status_code == 403


@pytest.mark.parametrize(
    ("method", "part"),
    [
        ("GET", ""),
        ("GET", "content/"),
        ("GET", "facts/"),
        ("GET", "warnings/"),
        ("GET", "revisions/"),
        ("GET", "comments/"),
        ("GET", "export/?form=tags"),
        ("PUT", "spans/"),
        ("PUT", "flag/"),
        ("POST", "comments/"),
        ("POST", "submit/"),
        ("POST", "revisions/1/restore/"),
    ],
)
def test_endpoints_of_a_real_page_tell_the_code(
    held: Campaign, ann: User, api_of: ApiOf, method: str, part: str
) -> None:
    address = f"/api/v1/assignments/{work_of(ann, held).pk}/{part}"
    response = api_of(ann).generic(method, address, "{}", content_type="application/json")
    assert response.status_code == 403
    assert response.json()["code"] == "qualification_first"
    assert response.json()["qualification"] == ROUND


def test_other_peoples_pages_are_still_not_found(
    held: Campaign, ann: User, ben: User, client_of: ClientOf, api_of: ApiOf
) -> None:
    for pk in (work_of(ben, held).pk, trial_of(ben, held).pk):
        assert client_of(ann).get(f"/annotate/{pk}/").status_code == 404
        assert api_of(ann).get(f"/api/v1/assignments/{pk}/").status_code == 404


def test_lists_hold_the_round_alone(
    held: Campaign, ann: User, client_of: ClientOf, api_of: ApiOf
) -> None:
    tasks = text(client_of(ann).get("/annotate/"))
    assert "known-1" in tasks
    assert "page-001" not in tasks
    assert ROUND in tasks
    everything = text(client_of(ann).get("/annotate/?campaign=spring-round"))
    assert "known-1" in everything
    assert "page-001" not in everything
    listed = api_of(ann).get("/api/v1/assignments/").json()["results"]
    assert {row["document"] for row in listed} == {"known-1", "known-2"}
    start = text(client_of(ann).get("/start/"))
    first_real = work_of(ann, held, 1)
    assert f"/annotate/{first_real.pk}/" not in start


def test_work_submitted_before_stays_readable(
    campaign: Campaign, ann: User, client_of: ClientOf
) -> None:
    done = work_of(ann, campaign, 1)
    submit(done, ("Number", "1,200"))
    hold_round(campaign)
    assert client_of(ann).get(f"/annotate/{done.pk}/").status_code == 200
    assert client_of(ann).get(f"/annotate/{work_of(ann, campaign, 2).pk}/").status_code == 403


def test_qualified_annotator_goes_on_with_real_pages(
    held: Campaign, ann: User, client_of: ClientOf
) -> None:
    for number in (1, 2):
        submit(trial_of(ann, held, number), *RIGHT)
    tasks = text(client_of(ann).get("/annotate/"))
    assert "page-001" in tasks
    assert "known-1" not in tasks
    assert client_of(ann).get(f"/annotate/{work_of(ann, held).pk}/").status_code == 200
    # The pages of the round remain readable.
    assert client_of(ann).get(f"/annotate/{trial_of(ann, held).pk}/").status_code == 200
    assert "You qualified on" in text(client_of(ann).get(ROUND))


def test_submitting_leads_through_the_round_to_its_result(
    held: Campaign, ann: User, api_of: ApiOf
) -> None:
    first, second = trial_of(ann, held, 1), trial_of(ann, held, 2)
    api = api_of(ann)
    body = {"base_revision": 0, "no_facts": True}
    answer = api.post(f"/api/v1/assignments/{first.pk}/submit/", body, format="json")
    assert answer.json()["next"] == f"/annotate/{second.pk}/"
    answer = api.post(f"/api/v1/assignments/{second.pk}/submit/", body, format="json")
    assert answer.json()["next"] == ROUND


def test_workbench_counts_the_round_by_itself(
    held: Campaign, ann: User, client_of: ClientOf
) -> None:
    page = text(client_of(ann).get(f"/annotate/{trial_of(ann, held, 2).pk}/"))
    assert "Qualification document 2 of 2" in page


def test_annotator_sees_right_and_wrong_only_after_submitting(
    held: Campaign, ann: User, client_of: ClientOf, api_of: ApiOf
) -> None:
    save(trial_of(ann, held, 1), RIGHT[0])
    before = text(client_of(ann).get(ROUND))
    assert "0 of 2 documents submitted" in before
    assert "June 30, 2024" not in before
    own = api_of(ann).get(API_ROUND).json()["own"]
    assert [page["findings"] for page in own["pages"]] == [[], []]
    submit(trial_of(ann, held, 1), RIGHT[0], ("Number", "June 30, 2024"))
    after = text(client_of(ann).get(ROUND))
    assert "known-1: 1 of 3 correct, 1 missed, 1 with a wrong label" in after
    assert "known-2:" not in after
    own = api_of(ann).get(API_ROUND).json()["own"]
    assert [(each["outcome"], len(each["gold"])) for each in own["pages"][0]["findings"]] == [
        ("missed", 1), ("label", 1), ("right", 1),
    ]  # fmt: skip
    assert own["pages"][0]["tries"] == [{"attempt": 1, "matched": 1, "marked": 2, "expected": 3}]
    assert own["pages"][1]["findings"] == []


def test_annotators_learn_nothing_of_each_other_or_of_the_pages(
    held: Campaign, ann: User, ben: User, client_of: ClientOf, api_of: ApiOf
) -> None:
    def seen() -> tuple[str, Any]:
        return text(client_of(ben).get(ROUND)), api_of(ben).get(API_ROUND).json()

    before = seen()
    for number in (1, 2):
        submit(trial_of(ann, held, number), RIGHT[0])
    assert seen() == before
    assert before[1]["annotators"] == before[1]["pages"] == before[1]["sources"] == []
    assert "Ann" not in before[0].replace("Annotat", "")


def test_known_gold_is_told_by_no_address_before_submission(
    held: Campaign, ann: User, client_of: ClientOf
) -> None:
    """A change of the gold must not be visible before the submission."""
    page = trial_of(ann, held).campaign_document
    trial = trial_of(ann, held).pk
    parts = ["", "content/", "facts/", "warnings/"]
    parts += [f"export/?form={form}" for form in ("tags", "json", "spans")]
    addresses = [API_ROUND, *(f"/api/v1/assignments/{trial}/{part}" for part in parts)]
    addresses += ["/annotate/", ROUND, f"/annotate/{trial}/", f"/annotate/{trial}/html/"]

    def seen() -> list[tuple[int, str]]:
        responses = [client_of(ann).get(address) for address in addresses]
        return [(response.status_code, text(response)) for response in responses]

    before = seen()
    known = page.known_gold
    type(known).objects.filter(pk=known.pk).update(spans=[[0, 4, "Date"]])
    assert seen() == before
    assert {status for status, _ in before} == {200}


def test_lead_sees_everybody_and_grants_another_try(
    held: Campaign, ann: User, lead: User, client_of: ClientOf
) -> None:
    client = client_of(lead)
    assert "0 of 2 submitted" in text(client.get(ROUND))
    submit(trial_of(ann, held, 1), *RIGHT)
    submit(trial_of(ann, held, 2), *RIGHT[:1])
    page = text(client.get(ROUND))
    # 2 * 4 / (4 + 6), and of the second page 2 * 1 / (1 + 3).
    assert "not passed" in page
    assert "0.800" in page
    assert "0.500" in page
    # Leads do not see Ann's right facts.
    assert "June 30, 2024" not in page
    address = f"{ROUND}{member_of(ann, held).pk}/try/"
    assert "can retry 1 document." in text(client.post(address, follow=True))
    assert "has not submitted every qualification document" in text(
        client.post(address, follow=True)
    )


def test_lead_qualifies_by_decision(
    held: Campaign, ann: User, lead: User, client_of: ClientOf
) -> None:
    client = client_of(lead)
    address = f"{ROUND}{member_of(ann, held).pk}/qualify/"
    assert "Enter a reason" in text(client.post(address, {"reason": " "}, follow=True))
    page = text(client.post(address, {"reason": "Wrote <b>the</b> rules."}, follow=True))
    assert "Ann is qualified." in page
    assert "manually" in page
    assert "Wrote &lt;b&gt;the&lt;/b&gt; rules." in page


def test_role_that_does_not_label_cannot_be_qualified(
    held: Campaign, lead: User, client_of: ClientOf
) -> None:
    member = held.memberships.get(user=lead)
    for act in ("try", "qualify"):
        address = f"{ROUND}{member.pk}/{act}/"
        assert client_of(lead).post(address, {"reason": "I."}).status_code == 404


def test_lead_adds_pages_by_form(campaign: Campaign, lead: User, client_of: ClientOf) -> None:
    release = known_release(4)
    client = client_of(lead)
    wanted = {"source": f"release:{release.pk}", "names": "", "count": 2, "seed": 3}
    page = text(client.post(ROUND, wanted, follow=True))
    assert "Added to the qualification: known-" in page
    rows = CampaignDocument.objects.filter(campaign=campaign, purpose="qualification")
    assert rows.count() == 2
    again = client.post(ROUND, wanted | {"names": "known-9\nknown-8"})
    assert "known-9 does not exist; known-8 does not exist." in text(again)
    nothing = client.post(ROUND, wanted | {"count": ""})
    assert "Enter document names, or the number of documents to draw." in text(nothing)
    foreign = client.post(ROUND, wanted | {"source": "release:0"})
    assert "Select a valid choice" in text(foreign)
    assert rows.count() == 2


def test_programs_can_do_it_all(campaign: Campaign, ann: User, lead: User, api_of: ApiOf) -> None:
    known_release(2)
    lead_api = api_of(lead)
    (source,) = lead_api.get(API_ROUND).json()["sources"]
    wrong = {"source": source["source"], "names": ["known-1"], "count": 2}
    assert lead_api.post(API_ROUND, wrong, format="json").status_code == 400
    assert lead_api.post(API_ROUND, {"source": "x", "count": 1}, format="json").status_code == 400
    refused = lead_api.post(API_ROUND, {"source": source["source"], "count": 9}, format="json")
    assert (refused.status_code, refused.json()["code"]) == (409, "too_few_pages")
    added = lead_api.post(
        API_ROUND, {"source": source["source"], "names": ["known-1"]}, format="json"
    )
    assert (added.status_code, added.json()) == (201, {"documents": ["known-1"]})
    submit(trial_of(ann, campaign), RIGHT[0])
    assert api_of(ann).get(API_ROUND).json()["own"]["failed"] is True
    row = next(
        each for each in lead_api.get(API_ROUND).json()["annotators"] if each["annotator"] == "Ann"
    )
    assert (row["f1"], row["facts"], row["qualified"]) == (0.5, 3, False)
    root = f"{API_ROUND}{row['id']}/"
    assert lead_api.post(f"{root}try/").json() == {"pages": 1}
    assert lead_api.post(f"{root}try/").status_code == 409
    assert lead_api.post(f"{root}qualify/", {"reason": ""}, format="json").status_code == 400
    decided = lead_api.post(f"{root}qualify/", {"reason": "Enough."}, format="json")
    assert decided.json()["qualified_at"]
    assert api_of(ann).get(API_ROUND).json()["own"]["qualified"] is True


def test_page_says_what_to_do_without_a_round(
    campaign: Campaign, ann: User, lead: User, client_of: ClientOf
) -> None:
    assert "no qualification round" in text(client_of(ann).get(ROUND))
    page = text(client_of(lead).get(ROUND))
    assert "test annotators first" in page
    assert "No known gold" in page


def test_reopened_page_is_worked_on_from_where_it_was(
    held: Campaign, ann: User, lead: User, api_of: ApiOf
) -> None:
    for number in (1, 2):
        submit(trial_of(ann, held, number), RIGHT[0])
    grant_qualification_try(campaign=held, user=ann, actor=lead)
    detail = api_of(ann).get(f"/api/v1/assignments/{trial_of(ann, held).pk}/").json()
    assert (detail["can_edit"], [span["quote"] for span in detail["spans"]]) == (True, ["5.00"])
    assert Assignment.objects.filter(annotator=ann, state="in_progress").count() == 2


def test_more_pages_and_people_need_no_more_queries(
    campaign: Campaign, ann: User, ben: User, cleo: User, lead: User, client_of: ClientOf
) -> None:
    def needed(user: User) -> int:
        with CaptureQueriesContext(connection) as captured:
            assert client_of(user).get(ROUND).status_code == 200
        return len(captured)

    hold_round(campaign, 1)
    submit(trial_of(ann, campaign), RIGHT[0])
    before = needed(ann), needed(lead)
    release = known_release(4)
    # A second release would have the same names.
    names = {row.name: f"more-{row.name}" for row in release.dataset.documents.all()}
    for old, new in names.items():
        release.dataset.documents.filter(name=old).update(name=new)
    add_qualification(campaign=campaign, source=release, names=list(names.values()), actor=None)
    add_member(campaign=campaign, user=cleo, role="annotator", actor=None)
    for trial in Assignment.objects.filter(annotator__in=[ann, ben, cleo], state="assigned"):
        if trial.campaign_document.purpose == "qualification":
            submit(trial, RIGHT[0])
    assert (needed(ann), needed(lead)) == before


def test_marks_that_are_not_submitted_are_seen_by_nobody_else(
    held: Campaign,
    ann: User,
    ben: User,
    lead: User,
    organiser: User,
    client_of: ClientOf,
) -> None:
    addresses = (ROUND, API_ROUND, "/campaigns/spring-round/")

    def seen() -> list[str]:
        people = (ben, lead, organiser)
        return [text(client_of(user).get(address)) for user in people for address in addresses]

    save(trial_of(ann, held), RIGHT[0])
    before = seen()
    save(trial_of(ann, held), *RIGHT)
    assert seen() == before
    # After the submission, only the number of right facts is available.
    submit(trial_of(ann, held))
    page = f"/annotate/{trial_of(ann, held).pk}/"
    for user in (ben, lead, organiser):
        for address in (page, f"{page}html/", f"/api/v1/assignments/{trial_of(ann, held).pk}/"):
            assert client_of(user).get(address).status_code == 404
