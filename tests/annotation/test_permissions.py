"""Permissions: every URL and method, for every role."""

import hashlib
import io
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.test import Client
from PIL import Image

from annotation.campaigns.people import invite_people
from annotation.models import Assignment, Campaign, Case, Membership, Screening
from portal.accounts.models import User
from portal.datasets.models import PageImage
from tests.annotation.review.review_factories import drawn_by_hand
from tests.asking import by_role, check_answers
from tests.fixture_types import ApiOf, ClientOf

from .every_url import api_names, endpoints, page_names, pages
from .factories import comment, document_of, make_campaign, work_of

pytestmark = pytest.mark.django_db

Cast = dict[str, User | None]

ROLES = ("nobody", "Sam", "Ann", "Ben", "Rita", "Lea", "Olga")
# Statuses in the order of ROLES. Pages redirect visitors to the log-in (302).
MEMBERS = (302, 404, 200, 200, 200, 200, 200)
# Olga has no role to give up.
LEAVERS = (302, 404, 200, 200, 200, 200, 403)
MANAGERS = (302, 404, 403, 403, 403, 200, 200)
LEADS = (302, 404, 403, 403, 403, 200, 403)
# The participants and the managers of the qualification round.
ROUND = (302, 404, 200, 200, 403, 200, 200)
ORGANISERS = (302, 403, 403, 403, 403, 403, 200)
ANYBODY = (302, 200, 200, 200, 200, 200, 200)
OWNER_ANN = (302, 404, 200, 404, 404, 404, 404)
# The page without labels; Lea leads and the document is settled.
OWNER_OR_LEAD = (302, 404, 200, 404, 404, 200, 404)
# No page image is stored: users with access get 404.
NO_IMAGE = (302, 404, 404, 404, 404, 404, 404)
NO_IMAGE_LEADS = (302, 404, 403, 403, 403, 404, 403)
REVIEWERS = (302, 404, 403, 403, 200, 200, 403)
NO_IMAGE_REVIEWERS = (302, 404, 403, 403, 404, 404, 403)
# An allowed change redirects.
MANAGERS_POST = (302, 404, 403, 403, 403, 302, 302)
ONLY_POST = (302, 405, 405, 405, 405, 405, 405)
ONLY_GET = (302, 405, 405, 405, 405, 405, 405)

GET_PAGES = {
    "tasks": ANYBODY,
    "workbench": OWNER_ANN,
    "assignment-html": OWNER_OR_LEAD,
    "assignment-image": NO_IMAGE,
    "assignment-take-back": ONLY_POST,
    "campaigns": ANYBODY,
    "campaign-new": ORGANISERS,
    "campaign": MEMBERS,
    "campaign-open": ONLY_POST,
    "campaign-close": ONLY_POST,
    "campaign-reopen": ONLY_POST,
    "campaign-assign": ONLY_POST,
    "guidelines": MEMBERS,
    "suggestions": MANAGERS,
    "suggestions-csv": MANAGERS,
    "campaign-settings": MANAGERS,
    "documents": MANAGERS,
    "calibration-draw": ONLY_POST,
    "assignments": MANAGERS,
    "hand-over": ONLY_POST,
    "assignment-return": ONLY_POST,
    "hand-over-all": ONLY_POST,
    "screening": MEMBERS,
    "screening-page": MEMBERS,
    "screening-undo": ONLY_POST,
    "screening-html": MEMBERS,
    "screening-image": NO_IMAGE,
    "validation": LEADS,
    "people": MANAGERS,
    "person-remove": ONLY_POST,
    "invitation-resend": ONLY_POST,
    "invitation-link": ONLY_POST,
    "invitation-revoke": ONLY_POST,
    "leave": LEAVERS,
    "waiting": MANAGERS,
    "remind": ONLY_POST,
    "remind-all": ONLY_POST,
    "agreement": MANAGERS,
    "agreement-export": MANAGERS,
    "adjudication": LEADS,
    "case": LEADS,
    "case-reopen": ONLY_POST,
    "open-doubtful": ONLY_POST,
    "adjudication-page": LEADS,
    "adjudication-html": LEADS,
    "adjudication-image": NO_IMAGE_LEADS,
    "qualification": ROUND,
    "qualification-try": ONLY_POST,
    "qualification-qualify": ONLY_POST,
    "annotator-quality": LEADS,
    "annotator-quality-csv": LEADS,
    "export": MANAGERS,
    "release": MANAGERS,
    "review": REVIEWERS,
    "review-open": ONLY_POST,
    "review-round": REVIEWERS,
    "review-item": REVIEWERS,
    "review-html": REVIEWERS,
    "review-image": NO_IMAGE_REVIEWERS,
    # It is not gold, and the page says so.
    "own-gold": OWNER_ANN,
}
POST_PAGES = GET_PAGES | {
    "tasks": ONLY_GET,
    "workbench": ONLY_GET,
    "assignment-html": ONLY_GET,
    "assignment-image": ONLY_GET,
    # The page is already settled, and the workbench says so.
    "assignment-take-back": (302, 404, 302, 404, 404, 404, 404),
    "campaigns": ONLY_GET,
    "campaign": ONLY_GET,
    "campaign-open": MANAGERS_POST,
    "campaign-close": MANAGERS_POST,
    "campaign-reopen": MANAGERS_POST,
    "campaign-assign": MANAGERS_POST,
    # An empty form is shown again to users who may send it.
    "guidelines": MANAGERS,
    # An empty form selects no sources.
    "suggestions": MANAGERS_POST,
    "suggestions-csv": ONLY_GET,
    "calibration-draw": MANAGERS_POST,
    "assignments": ONLY_GET,
    "hand-over": MANAGERS_POST,
    # Without a reason, the table shows an error.
    "assignment-return": MANAGERS_POST,
    "hand-over-all": MANAGERS_POST,
    "screening": ONLY_GET,
    "screening-undo": (302, 404, 302, 302, 302, 302, 302),
    "screening-html": ONLY_GET,
    "screening-image": ONLY_GET,
    "person-remove": MANAGERS_POST,
    "invitation-resend": MANAGERS_POST,
    # The email is queued: no link is needed.
    "invitation-link": MANAGERS_POST,
    "invitation-revoke": MANAGERS_POST,
    "leave": (302, 404, 302, 302, 302, 302, 403),
    "waiting": ONLY_GET,
    "remind": MANAGERS_POST,
    "remind-all": MANAGERS,
    "agreement": ONLY_GET,
    "agreement-export": ONLY_GET,
    "adjudication": ONLY_GET,
    # Without a reason the case is shown again.
    "case-reopen": LEADS,
    "open-doubtful": (302, 404, 403, 403, 403, 302, 403),
    "adjudication-page": ONLY_GET,
    "adjudication-html": ONLY_GET,
    "adjudication-image": ONLY_GET,
    "review": ONLY_GET,
    # Lea may; the campaign has no review.
    "review-open": (302, 404, 403, 403, 403, 302, 403),
    "review-round": ONLY_GET,
    # Leads cannot give verdicts. An empty form is shown again.
    "review-item": (302, 404, 403, 403, 200, 403, 403),
    "review-html": ONLY_GET,
    "review-image": ONLY_GET,
    "own-gold": ONLY_GET,
    "qualification": MANAGERS,
    "qualification-try": MANAGERS_POST,
    "qualification-qualify": MANAGERS_POST,
    "annotator-quality": ONLY_GET,
    "annotator-quality-csv": ONLY_GET,
}

API_MEMBERS = (401, 404, 200, 200, 200, 200, 200)
API_MANAGERS = (401, 404, 403, 403, 403, 200, 200)
API_LEADS = (401, 404, 403, 403, 403, 200, 403)
API_REVIEWERS = (401, 404, 403, 403, 200, 200, 403)
API_ROUND = (401, 404, 200, 200, 403, 200, 200)
API_ANYBODY = (401, 200, 200, 200, 200, 200, 200)
API_OWNER = (401, 404, 200, 404, 404, 404, 404)
# Lea leads, and the document is settled.
API_OWNER_OR_LEAD = (401, 404, 200, 404, 404, 200, 404)


def answered(allowed: tuple[int, ...], status: int | dict[str, int]) -> tuple[int, ...]:
    """`allowed`, with the status of an invalid or refused request instead of 200."""
    return tuple(status if code == 200 else code for code in allowed)  # type: ignore[misc]


API = {
    ("GET", "assignments"): API_ANYBODY,
    ("GET", "former-submissions"): API_ANYBODY,
    ("GET", "assignment"): API_OWNER,
    ("GET", "assignment-content"): API_OWNER,
    ("PUT", "assignment-spans"): answered(API_OWNER, 422),
    ("POST", "assignment-submit"): answered(API_OWNER, 422),
    ("POST", "assignment-take-back"): answered(API_OWNER, 409),
    ("GET", "assignment-facts"): API_OWNER,
    ("GET", "assignment-boxes"): API_OWNER,
    ("GET", "assignment-warnings"): API_OWNER,
    ("GET", "assignment-revisions"): API_OWNER_OR_LEAD,
    ("GET", "assignment-revision"): API_OWNER_OR_LEAD,
    ("POST", "assignment-restore"): answered(API_OWNER, 422),
    ("GET", "assignment-comments"): API_OWNER_OR_LEAD,
    ("POST", "assignment-comments"): answered(API_OWNER, 422),
    ("PATCH", "assignment-comment"): answered(API_OWNER, 422),
    ("DELETE", "assignment-comment"): answered(API_OWNER, 409),
    ("PUT", "assignment-flag"): answered(API_OWNER, 422),
    ("GET", "assignment-export"): answered(API_OWNER_OR_LEAD, 400),
    # No file was sent, and JSON is not accepted.
    ("POST", "assignment-import"): answered(API_OWNER, 415),
    ("GET", "campaigns"): API_ANYBODY,
    ("POST", "campaigns"): (401, 403, 403, 403, 403, 403, 400),
    ("GET", "campaign"): API_MEMBERS,
    ("GET", "campaign-guidelines"): API_MEMBERS,
    ("PUT", "campaign-guidelines"): answered(API_MANAGERS, 400),
    ("POST", "campaign-guidelines-seen"): answered(API_MEMBERS, 400),
    ("GET", "campaign-suggestions"): API_MANAGERS,
    ("PUT", "campaign-suggestions"): answered(API_MANAGERS, 400),
    ("GET", "suggestion-uploads"): API_MANAGERS,
    ("GET", "suggestion-acceptance"): API_MANAGERS,
    ("GET", "suggestion-acceptance-csv"): API_MANAGERS,
    ("POST", "suggestion-uploads"): answered(API_MANAGERS, 415),
    ("POST", "campaign-open"): answered(API_MANAGERS, 409),
    ("POST", "campaign-close"): API_MANAGERS,
    ("POST", "campaign-reopen"): answered(API_MANAGERS, 409),
    ("POST", "campaign-assign"): answered(API_MANAGERS, 409),
    ("GET", "campaign-settings"): API_MANAGERS,
    # An empty change is valid.
    ("PATCH", "campaign-settings"): API_MANAGERS,
    ("GET", "campaign-documents"): API_MANAGERS,
    ("POST", "campaign-calibration"): answered(API_MANAGERS, 400),
    ("PATCH", "campaign-calibration"): answered(API_MANAGERS, 400),
    ("PUT", "campaign-overlap"): answered(API_MANAGERS, 400),
    ("GET", "campaign-assignments"): API_MANAGERS,
    # Ann's work is submitted, and no one can take over her other page.
    ("POST", "assignment-hand-over"): answered(API_MANAGERS, 409),
    ("POST", "assignment-return"): answered(API_MANAGERS, 400),
    ("POST", "annotator-hand-over"): answered(API_MANAGERS, 409),
    ("GET", "campaign-screening"): API_MEMBERS,
    ("GET", "screening-page"): API_MEMBERS,
    ("POST", "screening-page"): answered(API_MEMBERS, 400),
    # The page is past screening.
    ("POST", "screening-undo"): answered(API_MEMBERS, 409),
    ("POST", "screening-back"): answered(API_MANAGERS, 400),
    ("GET", "campaign-validation"): API_LEADS,
    ("POST", "validation-back"): answered(API_LEADS, 400),
    ("POST", "validation-pass"): answered(API_LEADS, 400),
    ("GET", "campaign-people"): API_MANAGERS,
    ("POST", "campaign-people"): answered(API_MANAGERS, 400),
    ("DELETE", "campaign-person"): answered(API_MANAGERS, 409),
    ("GET", "campaign-invitations"): API_MANAGERS,
    ("POST", "campaign-invitations"): answered(API_MANAGERS, 400),
    ("DELETE", "campaign-invitation"): answered(API_MANAGERS, 204),
    # The email is queued.
    ("POST", "campaign-invitation-link"): answered(API_MANAGERS, 409),
    # An email was just sent.
    ("POST", "campaign-invitation-resend"): answered(API_MANAGERS, 409),
    # No one can take over from Ann and Ben, and Lea is the only lead.
    ("POST", "campaign-leave"): (401, 404, 409, 409, 200, 409, 403),
    ("GET", "campaign-waiting"): API_MANAGERS,
    ("POST", "campaign-remind-all"): answered(API_MANAGERS, 400),
    ("POST", "campaign-remind"): answered(API_MANAGERS, 201),
    ("GET", "campaign-agreement"): API_MANAGERS,
    ("GET", "campaign-agreement-export"): API_MANAGERS,
    ("GET", "cases"): API_LEADS,
    ("GET", "case"): API_LEADS,
    ("POST", "case-decide"): answered(API_LEADS, 400),
    ("POST", "case-reopen"): answered(API_LEADS, 400),
    ("POST", "cases-of-warnings"): answered(API_LEADS, 200),
    ("GET", "adjudication-page"): API_LEADS,
    ("POST", "adjudication-reopen"): answered(API_LEADS, 400),
    ("POST", "adjudication-readings"): answered(API_LEADS, 422),
    ("GET", "campaign-qualification"): API_ROUND,
    ("POST", "campaign-qualification"): answered(API_MANAGERS, 400),
    # There is no round, so there was no attempt.
    ("POST", "qualification-try"): answered(API_MANAGERS, 409),
    ("POST", "qualification-decision"): answered(API_MANAGERS, 400),
    ("GET", "campaign-annotator-quality"): API_LEADS,
    # The format of the file was not sent.
    ("GET", "campaign-export"): answered(API_MANAGERS, 400),
    ("GET", "campaign-import"): API_MANAGERS,
    ("POST", "campaign-import"): answered(API_MANAGERS, 415),
    ("GET", "campaign-release"): API_MANAGERS,
    ("POST", "campaign-release"): answered(API_MANAGERS, 400),
    ("GET", "review"): API_REVIEWERS,
    ("POST", "review"): answered(API_LEADS, 409),
    ("GET", "review-round"): API_REVIEWERS,
    ("GET", "review-items"): API_REVIEWERS,
    ("GET", "review-item"): API_REVIEWERS,
    ("POST", "review-decide"): (401, 404, 403, 403, 400, 403, 403),
    # The page is not gold.
    ("GET", "assignment-gold"): answered(API_OWNER, 409),
}


@pytest.fixture(autouse=True)
def _commented(disputed: Campaign, ann: User) -> None:
    """Adds a comment and a review item, for the URLs that need one."""
    comment(work_of(ann, disputed))
    drawn_by_hand(disputed)


@pytest.fixture(autouse=True)
def _invited(disputed: Campaign, organiser: User) -> None:
    invite_people(
        campaign=disputed, emails=["nora@example.org"], role="annotator", actor=organiser,
        origin="https://facts.example.org",
    )  # fmt: skip


@pytest.fixture(autouse=True)
def _screened(disputed: Campaign, lead: User) -> None:
    """Adds a verdict, for the URLs of screening."""
    Screening.objects.create(
        campaign_document=document_of(disputed), verdict="intact", screened_by=lead
    )


@pytest.fixture
def cast(ann: User, ben: User, reviewer: User, lead: User, organiser: User, stranger: User) -> Cast:
    people = [stranger, ann, ben, reviewer, lead, organiser]
    return {"nobody": None} | {user.name: user for user in people}


def row_of_ann(addresses: dict[str, list[str]], name: str, campaign: Campaign, ann: User) -> str:
    """The URL of the row in the tables: Ann's settled assignment or her membership."""
    work, member = work_of(ann, campaign), Membership.objects.get(user=ann, campaign=campaign)
    case = Case.objects.filter(campaign_document__campaign=campaign).first()
    assert case is not None
    for row in (work, member, case):
        kind = {
            Assignment: ("annotate", "assignments"),
            Membership: ("people", "qualification"),
        }.get(type(row), ("adjudication", "cases"))
        for address in addresses[name]:
            if any(f"/{part}/{row.pk}/" in address for part in kind):
                return address
    for address in addresses[name]:
        if f"/waiting/{ann.pk}/" in address or f"/annotators/{ann.pk}/" in address:
            return address
    (address,) = addresses[name]
    return address


def grouped(pairs: list[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, address in pairs:
        found.setdefault(name, []).append(address)
    return found


def test_tables_name_every_url() -> None:
    assert set(GET_PAGES) == set(POST_PAGES) == set(page_names())
    assert {name for _, name in API} == set(api_names())


def urls_of(pairs: Iterator[tuple[str, str]], campaign: Campaign, ann: User) -> dict[str, str]:
    """The URL of each name in the tables."""
    listed = grouped(list(pairs))
    return {name: row_of_ann(listed, name, campaign, ann) for name in listed}


def test_reading_pages(disputed: Campaign, ann: User, cast: Cast, client_of: ClientOf) -> None:
    addresses = urls_of(pages(disputed), disputed, ann)
    clients = {role: client_of(cast[role]) for role in ROLES}

    def ask(key: tuple[str, str]) -> Any:
        role, name = key
        response = clients[role].get(addresses[name])
        if role == "nobody":
            assert response["Location"] == f"/accounts/login/?next={addresses[name]}"
        return response

    check_answers(by_role(ROLES, GET_PAGES), ask)


def test_posting_to_pages(disputed: Campaign, ann: User, cast: Cast, client_of: ClientOf) -> None:
    addresses = urls_of(pages(disputed), disputed, ann)
    clients = {role: client_of(cast[role]) for role in ROLES}
    wanted = by_role(ROLES, POST_PAGES)
    check_answers(wanted, lambda key: clients[key[0]].post(addresses[key[1]]))


def test_calling_endpoints(disputed: Campaign, ann: User, cast: Cast, api_of: ApiOf) -> None:
    addresses = urls_of(endpoints(disputed), disputed, ann)
    clients = {role: api_of(cast[role]) for role in ROLES}

    def ask(key: tuple[str, tuple[str, str]]) -> Any:
        role, (method, name) = key
        return clients[role].generic(method, addresses[name], "{}", content_type="application/json")

    check_answers(by_role(ROLES, API), ask)


def test_other_methods_are_not_allowed(disputed: Campaign, lead: User, api_of: ApiOf) -> None:
    api = api_of(lead)
    for name, address in dict(endpoints(disputed)).items():
        for method in ("GET", "POST", "PUT", "PATCH", "DELETE"):
            if (method, name) not in API:
                assert api.generic(method, address, "{}").status_code == 405, (method, name)


def test_changes_by_a_browser_need_the_csrf_token(
    disputed: Campaign, lead: User, ann: User
) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(lead)
    for name, address in pages(disputed):
        if POST_PAGES[name] not in (ONLY_GET,) and name != "campaign-new":
            assert client.post(address).status_code == 403
    work = work_of(ann, disputed, 2)
    annotator = Client(enforce_csrf_checks=True)
    annotator.force_login(ann)
    body = {"base_revision": 0, "save_key": "a", "spans": []}
    address = f"/api/v1/assignments/{work.pk}/spans/"
    assert annotator.put(address, body, content_type="application/json").status_code == 403


def test_role_in_another_campaign_counts_for_nothing(
    disputed: Campaign, lead: User, stranger: User, client_of: ClientOf
) -> None:
    make_campaign([stranger], lead=stranger, overlap=1, title="Autumn round")
    client = client_of(stranger)
    assert client.get("/campaigns/autumn-round/adjudication/").status_code == 200
    for name, address in pages(disputed):
        if "spring-round" in address and GET_PAGES[name] is not ONLY_POST:
            assert client.get(address).status_code == 404


def test_case_of_another_campaign_is_not_found(
    disputed: Campaign, lead: User, ann: User, client_of: ClientOf
) -> None:
    make_campaign([ann], lead=lead, overlap=1, title="Autumn round")
    case = Case.objects.first()
    assert case is not None
    client = client_of(lead)
    assert client.get(f"/campaigns/autumn-round/adjudication/{case.pk}/").status_code == 404
    assert client.get(f"/api/v1/campaigns/autumn-round/cases/{case.pk}/").status_code == 404


def test_annotator_who_left_has_no_access_to_their_pages(
    disputed: Campaign, ann: User, client_of: ClientOf
) -> None:
    work = work_of(ann, disputed)
    Membership.objects.filter(user=ann).delete()
    client = client_of(ann)
    assert client.get(f"/annotate/{work.pk}/").status_code == 404
    assert client.get(f"/annotate/{work.pk}/html/").status_code == 404
    assert client.get(f"/api/v1/assignments/{work.pk}/").status_code == 404
    assert client.get("/campaigns/spring-round/").status_code == 404


def test_lead_reads_the_page_only_once_it_is_settled(
    disputed: Campaign, ann: User, lead: User, client_of: ClientOf
) -> None:
    client = client_of(lead)
    assert client.get(f"/annotate/{work_of(ann, disputed, 1).pk}/html/").status_code == 200
    assert client.get(f"/annotate/{work_of(ann, disputed, 2).pk}/html/").status_code == 404


def test_page_is_served_sandboxed(disputed: Campaign, ann: User, client_of: ClientOf) -> None:
    response = client_of(ann).get(f"/annotate/{work_of(ann, disputed).pk}/html/")
    assert response["Content-Security-Policy"].startswith("default-src 'none'")


def test_images_follow_the_page(
    disputed: Campaign, ann: User, cast: Cast, client_of: ClientOf
) -> None:
    picture = io.BytesIO()
    Image.new("L", (4, 3), 255).save(picture, "PNG")
    for number in (1, 2):
        document = work_of(ann, disputed, number).campaign_document.document
        digest = hashlib.sha256(picture.getvalue()).hexdigest()
        image = PageImage(document=document, number=1, width=4, height=3, sha256=digest)
        image.file.save("page.png", ContentFile(picture.getvalue()))
    settled, blind = (work_of(ann, disputed, number).pk for number in (1, 2))
    addresses = {
        f"/annotate/{settled}/images/1/": OWNER_OR_LEAD,
        f"/annotate/{blind}/images/1/": OWNER_ANN,
        "/campaigns/spring-round/adjudication/pages/page-001/images/1/": LEADS,
    }
    for address, expected in addresses.items():
        responses = [client_of(cast[role]).get(address) for role in ROLES]
        assert tuple(response.status_code for response in responses) == expected
        for response in responses:
            if response.status_code == 200:
                assert response["Content-Type"] == "image/png"
                assert response.getvalue() == picture.getvalue()
    context = client_of(ann).get(f"/annotate/{settled}/").context
    assert context["images"] == [
        {
            "number": 1,
            "url": f"/annotate/{settled}/images/1/",
            "width": 4,
            "height": 3,
            "has_boxes": False,
        }
    ]
