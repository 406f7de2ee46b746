"""No one learns anything about another annotator's labels before all have submitted.

The tests request every URL as every role, change Ann's marks on a page that Ben has not submitted,
and repeat the requests: the responses must be identical. Ben has marks as well, so that figures
over both annotators would change.
"""

import re
from collections.abc import Iterable
from typing import Any

import pytest
from django.contrib import admin
from django.db.models import Model
from django.test import Client
from django.urls import reverse

from annotation.models import Assignment, Campaign, Comment, Span
from annotation.models.assignments import Revision
from portal.accounts.models import User
from tests.asking import in_turn
from tests.conftest import make_user
from tests.fixture_types import ClientOf

from .every_url import endpoints, pages
from .factories import comment, document_of, make_campaign, save, spans_in, submit, text_of, work_of
from .test_permissions import API, GET_PAGES, ONLY_POST

pytestmark = pytest.mark.django_db

Answers = dict[tuple[str, str], tuple[int, bytes]]

# Parts that differ between any two requests.
_VOLATILE = re.compile(rb'csrfmiddlewaretoken" value="\w+"|"X-CSRFToken": "\w+"|nonce="[^"]*"')
MODELS = [model for model in admin.site._registry if model._meta.app_label == "annotation"]
AGREEMENT_FILES = ["?form=latex", "?form=matrix", "?form=matrix&level=token", "?form=trend"]
QUERIES = {
    "agreement-export": AGREEMENT_FILES,
    "campaign-agreement-export": AGREEMENT_FILES,
    "assignment-export": ["?form=tags", "?form=json", "?form=spans"],
    "campaign-export": [
        f"?form={form}&layer={layer}"
        for form in ("labelstudio", "tags", "jsonl", "full")
        for layer in ("gold", "annotations")
    ],
    "tasks": ["?campaign=spring-round"],
    "adjudication": ["?state=open", "?state=decided", "?kind=missing"],
    "assignments": ["?state=submitted", "?state=in_progress"],
    "cases": ["?state=open", "?kind=missing"],
}
OTHERS = ["Ben", "Lea", "Rita", "Olga", "Sam", "nobody"]


@pytest.fixture
def campaign(ann: User, ben: User, lead: User, reviewer: User) -> Campaign:
    """Three documents, each for Ann and Ben."""
    return make_campaign([ann, ben], lead=lead, reviewer=reviewer, documents=3)


@pytest.fixture
def world(disputed: Campaign, ann: User, ben: User) -> Campaign:
    """The first page is settled. Ann and Ben saved marks on the second and third page.

    Ann has submitted the third.
    """
    for number in (2, 3):
        save(work_of(ann, disputed, number), ("Number", "1,200"), ("Date", "March 31, 2025"))
        save(work_of(ben, disputed, number), ("Number", "1,200"), ("Number", "(310)"))
        comment(work_of(ann, disputed, number), "The first 1,200 is odd.")
    submit(work_of(ann, disputed, 3))
    return disputed


@pytest.fixture
def cast(
    ben: User, lead: User, reviewer: User, organiser: User, stranger: User
) -> dict[str, User | None]:
    """All users but Ann."""
    people: list[User] = [ben, lead, reviewer, organiser, stranger]
    return {user.name: user for user in people} | {"nobody": None}


def answers(client: Client, campaign: Campaign) -> Answers:
    """The responses for every URL: to GET requests, and to attempts to change Ann's work."""
    # Reading the guidelines is recorded, and must not count as a difference.
    client.get(reverse("annotation:guidelines", args=[campaign.slug]))
    found = read(client, _readable(campaign))
    for method, address in _attempts(campaign):
        response = client.generic(method, address, b"{}", content_type="application/json")
        found[method, address] = (response.status_code, _body(response))
    return found


def read(client: Client, addresses: Iterable[str]) -> Answers:
    found: Answers = {}
    for address in addresses:
        response = client.get(address)
        found["GET", address] = (response.status_code, _body(response))
    return found


def _readable(campaign: Campaign) -> Iterable[str]:
    """URLs without GET are in the tables of test_permissions; they show nothing to anyone."""
    read = [pair for pair in pages(campaign) if GET_PAGES[pair[0]] is not ONLY_POST]
    read += [pair for pair in endpoints(campaign) if ("GET", pair[0]) in API]
    for name, address in read:
        yield address
        yield from (address + query for query in QUERIES.get(name, []))
    yield from ("/", "/start/", campaign.dataset.get_absolute_url(), "/api/v1/datasets/")
    yield from (reverse(f"{_admin(model)}_changelist") for model in MODELS)


def _of_the_admin() -> Iterable[str]:
    for model in MODELS:
        yield reverse(f"{_admin(model)}_changelist")
        for pk in model._base_manager.values_list("pk", flat=True):
            for page in ("change", "history", "delete"):
                yield reverse(f"{_admin(model)}_{page}", args=[pk])


def _admin(model: type[Model]) -> str:
    return f"admin:{model._meta.app_label}_{model._meta.model_name}"


def _attempts(campaign: Campaign) -> Iterable[tuple[str, str]]:
    for assignment in Assignment.objects.filter(annotator__name="Ann"):
        yield "PUT", reverse("api:assignment-spans", args=[assignment.pk])
        yield "POST", reverse("api:assignment-submit", args=[assignment.pk])
        yield "POST", reverse("api:assignment-restore", args=[assignment.pk, 1])
        yield "POST", reverse("api:assignment-comments", args=[assignment.pk])
        yield "PUT", reverse("api:assignment-flag", args=[assignment.pk])
        yield "POST", reverse("api:assignment-import", args=[assignment.pk])
        yield "POST", reverse("annotation:workbench", args=[assignment.pk])
    yield "POST", reverse("api:campaign-release", args=[campaign.slug])


def _body(response: Any) -> bytes:
    return _VOLATILE.sub(b"", response.getvalue())


def differences(before: Answers, after: Answers) -> list[tuple[str, str]]:
    """The differences between both states that a user could notice.

    New or deleted rows of the admin have their own URL, which must not answer.
    """
    changed = [key for key in before if key in after and before[key] != after[key]]
    come_or_gone = [(key, (before.get(key) or after[key])[0]) for key in set(before) ^ set(after)]
    # A comment's URL cannot be read (401, 405), whether the comment exists or not.
    silent = {302, 401, 403, 404, 405}
    return changed + [key for key, status in come_or_gone if status not in silent]


def remark(work: Assignment, *marks: tuple[str, str]) -> None:
    """Replaces marks without the services, even in submitted work."""
    work.spans.all().delete()
    Span.objects.bulk_create(
        Span(assignment=work, **span) for span in spans_in(text_of(work), *marks)
    )
    Revision.objects.filter(assignment=work).update(
        added=list(work.spans.values("key", "label", "start", "end", "quote")), active_seconds=90
    )
    Assignment.objects.filter(pk=work.pk).update(active_seconds=90)
    Comment.objects.filter(assignment=work).update(text="No, the other one.")
    comment(work, "And this one.", span_key="date-3")


OTHER_MARKS = [("Date", "1,200"), ("Number", "(310)"), ("Number", "revenue"), ("Date", "Page")]


def change(world: Campaign, ann: User) -> None:
    """Replaces Ann's marks on the page that she has not submitted and on the one that she has.

    She saves once more, because the number of saves may reveal how much there is to label.
    """
    save(work_of(ann, world, 2), ("Number", "(310)"))
    for number in (2, 3):
        remark(work_of(ann, world, number), *OTHER_MARKS)


@pytest.mark.parametrize("name", OTHERS)
def test_answers_do_not_depend_on_anothers_labels(
    world: Campaign, ann: User, cast: dict[str, User | None], client_of: ClientOf, name: str
) -> None:
    client = client_of(cast[name])
    before = answers(client, world)
    assert len(before) > 150
    change(world, ann)
    assert differences(before, answers(client, world)) == []


def test_admin_does_not_depend_on_anothers_labels(
    world: Campaign, ann: User, client_of: ClientOf
) -> None:
    """Only staff may use the admin, and no other page depends on being staff."""
    staff = make_user("Staff", is_staff=True, is_superuser=True, is_organiser=True)
    client = client_of(staff)
    before = read(client, _of_the_admin())
    assert {200, 302, 403} == {status for status, _ in before.values()}
    change(world, ann)
    assert differences(before, read(client, _of_the_admin())) == []


def test_owner_sees_their_own_labels(world: Campaign, ann: User, client_of: ClientOf) -> None:
    """Shows that the comparison can fail: Ann's own responses change."""
    client, pk = client_of(ann), work_of(ann, world, 2).pk
    addresses = {f"/annotate/{pk}/", f"/api/v1/assignments/{pk}/"}
    assert addresses <= set(_readable(world))
    before = read(client, addresses)
    change(world, ann)
    changed = {address for _, address in differences(before, read(client, addresses))}
    assert changed == addresses


def test_lead_sees_differences_once_both_have_submitted(
    world: Campaign, ann: User, ben: User, lead: User, client_of: ClientOf
) -> None:
    client = client_of(lead)
    agreement = "/campaigns/spring-round/agreement/"
    before = client.get(agreement).content
    submit(work_of(ann, world, 2))
    assert _VOLATILE.sub(b"", client.get(agreement).content) != b""
    assert client.get("/campaigns/spring-round/adjudication/").context["open"] == 3
    submit(work_of(ben, world, 2))
    assert client.get(agreement).content != before
    assert client.get("/campaigns/spring-round/adjudication/").context["open"] == 5
    assert document_of(world, 2).stage == "adjudication"


def test_anothers_assignment_does_not_exist(
    world: Campaign, ann: User, cast: dict[str, User | None], client_of: ClientOf
) -> None:
    work = work_of(ann, world, 2)
    unknown = work.pk + 1000

    def check(name: str) -> None:
        client = client_of(cast[name])
        for template in (
            "/annotate/{}/",
            "/annotate/{}/html/",
            "/annotate/{}/images/1/",
            "/api/v1/assignments/{}/",
            "/api/v1/assignments/{}/content/",
            "/api/v1/assignments/{}/facts/",
            "/api/v1/assignments/{}/warnings/",
            "/api/v1/assignments/{}/revisions/",
            "/api/v1/assignments/{}/revisions/1/",
            "/api/v1/assignments/{}/comments/",
            "/api/v1/assignments/{}/export/?form=json",
        ):
            real, invented = (client.get(template.format(pk)) for pk in (work.pk, unknown))
            assert real.status_code == invented.status_code == 404, template
            assert _body(real) == _body(invented), template

    in_turn([name for name in OTHERS if name != "nobody"], check)


def test_conflicts_show_only_ones_own_work(
    world: Campaign, ann: User, ben: User, client_of: ClientOf
) -> None:
    work = work_of(ben, world, 2)
    body = {"base_revision": 0, "save_key": "stale", "spans": []}
    response = client_of(ben).put(
        f"/api/v1/assignments/{work.pk}/spans/", body, content_type="application/json"
    )
    assert [span["quote"] for span in response.json()["spans"]] == ["1,200", "(310)"]
