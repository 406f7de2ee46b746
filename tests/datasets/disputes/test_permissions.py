"""Permissions to see, raise and decide disputes by role, on pages and in the API."""

from typing import Any

import pytest

from annotation.models import Membership
from portal.accounts.models import User
from portal.datasets.models import Dispute
from tests.asking import in_turn
from tests.datasets.factories import make_release
from tests.datasets.variants.factories import base_dataset, derived
from tests.fixture_types import ApiOf, ClientOf

from .factories import SECRET_CLAIM, decide, lead_of, make_dispute, released

pytestmark = pytest.mark.django_db

Cast = dict[str, User | None]

ROLES = [
    "organiser",
    "lead",
    "other_lead",
    "reviewer",
    "ann",
    "researcher",
    "stranger",
    "anonymous",
]
# Raised by the researcher.
DECIDERS = {"organiser", "lead"}
READERS = {"organiser", "lead", "researcher"}
SAID = {"claim": "1,300", "reason": "So the page."}


@pytest.fixture
def cast(
    organiser: User,
    lead: User,
    cleo: User,
    reviewer: User,
    ann: User,
    researcher: User,
    stranger: User,
) -> Cast:
    return {
        "organiser": organiser,
        "lead": lead,
        "other_lead": cleo,
        "reviewer": reviewer,
        "ann": ann,
        "researcher": researcher,
        "stranger": stranger,
        "anonymous": None,
    }


def enrol(cast: Cast) -> None:
    """Lead, reviewer and annotator of a campaign over `world`; a lead of one over another."""
    dispute = Dispute.objects.select_related("item__release__dataset").first()
    from portal.datasets.models import Dataset

    world = dispute.item.release.dataset if dispute else Dataset.objects.get(slug="world")
    assert cast["lead"]
    assert cast["other_lead"]
    campaign = lead_of(cast["lead"], world)
    for role, held in (("reviewer", "reviewer"), ("ann", "annotator")):
        user = cast[role]
        assert user
        Membership.objects.create(campaign=campaign, user=user, role=held)
    lead_of(cast["other_lead"], base_dataset(slug="elsewhere", pages=0), "autumn")


@pytest.mark.parametrize("visibility", ["public", "gold_hidden", "private"])
def test_reading(
    visibility: str, cast: Cast, researcher: User, client_of: ClientOf, api_of: ApiOf
) -> None:
    release = released(visibility=visibility)
    dispute = make_dispute(release, researcher, fact=None, claim=SECRET_CLAIM)
    enrol(cast)

    def check(role: str) -> None:
        organises = role == "organiser"
        seen = 200 if organises or visibility != "private" else 404
        reads = visibility == "public" or role in READERS
        found = seen if reads else 404
        expected = {
            "/datasets/world/disputes/": 200,
            f"/datasets/world/disputes/{dispute.pk}/": found,
            "/datasets/world/releases/1.0.0/items/a/": seen,
            "/api/v1/datasets/world/disputes/": 200,
            f"/api/v1/datasets/world/disputes/{dispute.pk}/": found,
        }
        page, endpoint = client_of(cast[role]), api_of(cast[role])
        for path, status in expected.items():
            response = (endpoint if path.startswith("/api") else page).get(path)
            assert response.status_code == status, path
            text = response.content.decode()
            if status == 404 or not reads or (visibility == "private" and not organises):
                assert SECRET_CLAIM not in text, path
            else:
                assert SECRET_CLAIM in text, path

    in_turn(ROLES, check)


def test_facts_are_shown_where_the_gold_is_open(cast: Cast, client_of: ClientOf) -> None:
    released(visibility="gold_hidden", splits={"a": "dev", "b": "test"})
    enrol(cast)

    def check(role: str) -> None:
        client = client_of(cast[role])
        for name, opened in (("a", True), ("b", role == "organiser")):
            page = client.get(f"/datasets/world/releases/1.0.0/items/{name}/").content.decode()
            assert ("1,200" in page) is opened, name
            assert ("?fact=0" in page) is opened, name
            assert f"/documents/{name}/images/1/" in page, name

    in_turn(ROLES, check)


@pytest.mark.parametrize("visibility", ["public", "gold_hidden"])
def test_raising(visibility: str, cast: Cast, client_of: ClientOf, api_of: ApiOf) -> None:
    released(visibility=visibility)
    enrol(cast)
    path = "/datasets/world/releases/1.0.0/items/a/dispute/?fact=1"
    data = {"release": "1.0.0", "item": "a", "fact": 1, **SAID, "claim": "2"}

    def check(role: str) -> None:
        page, endpoint = client_of(cast[role]), api_of(cast[role])
        shown, posted = page.get(path), page.post(path, SAID)
        answer = endpoint.post("/api/v1/datasets/world/disputes/", data)
        sees = visibility == "public" or role == "organiser"
        if role == "anonymous":
            assert (shown.status_code, posted.status_code, answer.status_code) == (302, 302, 401)
            assert not Dispute.objects.exists()
            return
        assert (shown.status_code, posted.status_code) == (200, 302)
        assert ("March 31, 2025" in shown.content.decode()) is sees
        # Hidden facts must not be revealed, so the dispute is about the whole item.
        assert Dispute.objects.get(claim="1,300").fact == (1 if sees else None)
        assert answer.status_code == (201 if sees else 400)
        assert Dispute.objects.count() == (2 if sees else 1)
        if not sees:
            beyond = endpoint.post("/api/v1/datasets/world/disputes/", {**data, "fact": 99})
            assert beyond.json() == answer.json()

    in_turn(ROLES, check)


def two_disputes(by: User) -> list[str]:
    """The URLs of their pages."""
    release = released()
    disputes = [make_dispute(release, by, claim=str(number)) for number in range(2)]
    return [f"/datasets/world/disputes/{dispute.pk}/" for dispute in disputes]


def test_deciding(cast: Cast, researcher: User, client_of: ClientOf, api_of: ApiOf) -> None:
    page, other = two_disputes(researcher)
    enrol(cast)
    endpoint = f"/api/v1{other}decide/"

    def check(role: str) -> None:
        client = client_of(cast[role])
        posted = client.post(f"{page}decide/", {"decision": "accept", "answer": "Yes."})
        answer = api_of(cast[role]).post(endpoint, {"accept": False, "answer": "No."})
        states = list(Dispute.objects.order_by("pk").values_list("state", flat=True))
        if role in DECIDERS:
            assert (posted.status_code, answer.status_code) == (302, 200)
            assert states == ["accepted", "declined"]
            return
        assert states == ["open", "open"]
        refused = (302, 401) if role == "anonymous" else (403, 403)
        assert (posted.status_code, answer.status_code) == refused
        assert "Decide</h2>" not in client.get(page).content.decode()

    in_turn(ROLES, check)


def test_nobody_decides_their_own(
    lead: User, organiser: User, client_of: ClientOf, api_of: ApiOf
) -> None:
    release = released()
    lead_of(lead, release.dataset)
    for user in (lead, organiser):
        dispute = make_dispute(release, user)
        page = f"/datasets/world/disputes/{dispute.pk}/"
        shown = client_of(user).get(page).content.decode()
        assert "Decide</h2>" not in shown
        assert "cannot decide your own" in shown
        posted = client_of(user).post(f"{page}decide/", {"decision": "accept", "answer": "Yes."})
        answer = api_of(user).post(f"/api/v1{page}decide/", {"accept": True, "answer": "Yes."})
        assert (posted.status_code, answer.status_code) == (403, 403)
    assert set(Dispute.objects.values_list("state", flat=True)) == {"open"}


def test_withdrawing(cast: Cast, researcher: User, client_of: ClientOf, api_of: ApiOf) -> None:
    page, other = two_disputes(researcher)
    enrol(cast)
    endpoint = f"/api/v1{other}withdraw/"

    def check(role: str) -> None:
        client = client_of(cast[role])
        offered = "/withdraw/" in client.get(page).content.decode()
        posted = client.post(f"{page}withdraw/")
        answer = api_of(cast[role]).post(endpoint)
        states = set(Dispute.objects.values_list("state", flat=True))
        if role == "researcher":
            assert (offered, posted.status_code, answer.status_code) == (True, 302, 200)
            assert states == {"withdrawn"}
            assert answer.json()["state"] == "withdrawn"
            return
        assert (offered, states) == (False, {"open"})
        refused = (302, 401) if role == "anonymous" else (403, 403)
        assert (posted.status_code, answer.status_code) == refused

    in_turn(ROLES, check)


def test_lead_is_led_to_the_campaign_of_the_page(
    lead: User, researcher: User, client_of: ClientOf
) -> None:
    from annotation.models import CampaignDocument

    release = released()
    campaign = lead_of(lead, release.dataset)
    document = release.dataset.documents.get(name="a")
    CampaignDocument.objects.create(campaign=campaign, document=document)
    dispute = make_dispute(release, researcher)
    page = f"/datasets/world/disputes/{dispute.pk}/"
    assert "/campaigns/spring/" in client_of(lead).get(page).content.decode()
    assert "/campaigns/spring/" not in client_of(researcher).get(page).content.decode()


def test_second_click_on_deciding_changes_nothing(
    lead: User, organiser: User, researcher: User, client_of: ClientOf
) -> None:
    release = released()
    lead_of(lead, release.dataset)
    dispute = make_dispute(release, researcher)
    path = f"/datasets/world/disputes/{dispute.pk}/decide/"
    client_of(lead).post(path, {"decision": "accept", "answer": "Yes."})
    response = client_of(organiser).post(
        path, {"decision": "decline", "answer": "No."}, follow=True
    )
    assert "was already accepted" in response.content.decode()
    dispute.refresh_from_db()
    assert (dispute.state, dispute.answer) == ("accepted", "Yes.")


def test_bad_forms_name_their_fields(lead: User, researcher: User, client_of: ClientOf) -> None:
    release = released()
    lead_of(lead, release.dataset)
    dispute = make_dispute(release, researcher)
    new = "/datasets/world/releases/1.0.0/items/a/dispute/?fact=0"
    response = client_of(researcher).post(new, {"claim": "x" * 501, "reason": ""})
    assert response.status_code == 400
    assert set(response.context["form"].errors) == {"claim", "reason"}
    path = f"/datasets/world/disputes/{dispute.pk}/decide/"
    for posted in ({"answer": "", "decision": "accept"}, {"answer": "x"}, {}):
        assert client_of(lead).post(path, posted).status_code == 400
    assert client_of(lead).get(path).status_code == 405
    assert Dispute.objects.get().state == "open"


@pytest.mark.parametrize("number", ["x", "-1", "9" * 30, "²", "7"])
def test_odd_fact_numbers_are_no_error(number: str, researcher: User, client_of: ClientOf) -> None:
    released()
    path = f"/datasets/world/releases/1.0.0/items/a/dispute/?fact={number}"
    assert client_of(researcher).get(path).status_code == 200


def test_dispute_of_another_dataset_is_not_found(
    organiser: User, researcher: User, client_of: ClientOf
) -> None:
    dispute = make_dispute(released(), researcher)
    base_dataset(slug="elsewhere")
    path = f"/datasets/elsewhere/disputes/{dispute.pk}/"
    assert client_of(organiser).get(path).status_code == 404
    assert client_of(organiser).get("/datasets/world/releases/1.0.0/items/z/").status_code == 404


def test_gold_of_a_variant_is_disputed_at_its_original(
    researcher: User, organiser: User, client_of: ClientOf
) -> None:
    from dataclasses import replace

    from tests.datasets.variants.factories import OFF_AXIS

    base = base_dataset()
    variant = derived(base, replace(OFF_AXIS, release=make_release(base)))
    path = f"/datasets/{variant.slug}/releases/1.0.0/items/p0/"
    page = client_of(organiser).get(path).content.decode()
    assert "?fact=" not in page
    assert "/datasets/base/disputes/" in page
    response = client_of(organiser).post(f"{path}dispute/", SAID)
    assert response.status_code == 400
    assert not Dispute.objects.exists()


def test_filters_and_constant_queries(
    researcher: User, stranger: User, lead: User, client_of: ClientOf, api_of: ApiOf
) -> None:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    release = released()
    make_dispute(release, stranger)
    client = client_of(researcher)

    def queries(path: str) -> int:
        with CaptureQueriesContext(connection) as asked:
            assert client.get(path).status_code == 200
        return len(asked)

    paths = ["/datasets/world/disputes/", "/datasets/world/releases/1.0.0/items/a/"]
    few = [queries(path) for path in paths]
    for number in range(20):
        dispute = make_dispute(release, researcher, claim=str(number))
        if number < 5:
            decide(dispute, lead)
    assert [queries(path) for path in paths] == few
    released(version="1.1.0")

    def found(query: str) -> int:
        page = client.get(f"/datasets/world/disputes/?{query}").context["page"]
        answer = api_of(researcher).get(f"/api/v1/datasets/world/disputes/?{query}").json()
        assert page.paginator.count == answer["count"]
        return int(answer["count"])

    assert found("") == 21
    assert found("state=accepted") == 5
    assert found("mine=on") == 20
    assert found("mine=on&state=open&release=1.0.0") == 15
    assert found("release=1.1.0") == 0


def test_anonymous_has_none_of_their_own(researcher: User, api_of: ApiOf) -> None:
    make_dispute(released(), researcher)
    Dispute.objects.update(raised_by=None)
    answer: Any = api_of(None).get("/api/v1/datasets/world/disputes/?mine=true").json()
    assert answer["count"] == 0


def test_disputes_of_hidden_gold_are_not_listed(
    researcher: User, stranger: User, organiser: User, api_of: ApiOf
) -> None:
    """Whether they were accepted would show which hidden gold changes."""
    release = released(visibility="gold_hidden", splits={"a": "test", "b": "dev"})
    hidden = make_dispute(release, organiser, fact=1, claim=SECRET_CLAIM)
    public = make_dispute(release, organiser, name="b", fact=0)
    own = make_dispute(release, researcher, fact=None, claim=SECRET_CLAIM)
    gone = make_dispute(release, organiser, fact=0)
    Dispute.objects.filter(pk=gone.pk).update(raised_by=None)
    seen = {}
    for role, user in {"nobody": None, "stranger": stranger, "raiser": researcher,
                       "organiser": organiser}.items():  # fmt: skip
        answer: Any = api_of(user).get("/api/v1/datasets/world/disputes/").json()
        seen[role] = {row["id"] for row in answer["results"]}
    assert seen == {
        "nobody": {public.pk},
        "stranger": {public.pk},
        "raiser": {public.pk, own.pk},
        "organiser": {public.pk, own.pk, hidden.pk, gone.pk},
    }
