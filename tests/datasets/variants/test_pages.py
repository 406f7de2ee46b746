"""Pages, endpoints and badges of stress variants."""

from dataclasses import replace

import pytest

from portal.accounts.models import User
from portal.datasets.models import Dataset, DatasetTask
from tests.datasets.factories import make_release
from tests.fixture_types import ApiOf, ClientOf, RunJobs

from .factories import OFF_AXIS, base_dataset, derived, image_bytes

pytestmark = pytest.mark.django_db


FORM = {"kind": "off_axis", "strength": "0.5", "seed": "7"}
MARK = "simulated: off-axis viewpoint 0.5"


def test_form_makes_a_private_variant_that_a_worker_fills(
    organiser: User, client_of: ClientOf, run_jobs: RunJobs
) -> None:
    base = base_dataset()
    release = make_release(base)
    client = client_of(organiser)
    shown = client.get("/datasets/base/variants/new/").context["form"]
    assert shown.fields["release"].initial == release
    for _ in range(2):
        response = client.post("/datasets/base/variants/new/", {**FORM, "release": release.pk})
        assert response.status_code == 302
    task = DatasetTask.objects.get()
    assert response["Location"] == f"/datasets/base-off-axis-50-7/tasks/{task.pk}/"
    run_jobs()
    variant = Dataset.objects.get(derived_from=base)
    assert (variant.visibility, variant.created_by) == ("private", organiser)
    assert variant.releases.get().gold_sha256 == release.gold_sha256
    assert client_of(None).get("/datasets/base/variants/").context["view"].rows == []
    assert len(client.get("/datasets/base/variants/").context["view"].rows) == 1


def test_only_the_named_documents_and_selections_are_taken(
    organiser: User, client_of: ClientOf, run_jobs: RunJobs
) -> None:
    base = base_dataset()
    selection = base.selections.create(title="Some", seed=1, spec={})
    selection.documents.add(base.documents.get(name="p2"))
    client = client_of(organiser)
    client.post("/datasets/base/variants/new/", {**FORM, "names": "p1\n\n p0 "})
    client.post("/datasets/base/variants/new/", {**FORM, "seed": "8", "selection": selection.pk})
    run_jobs()
    taken = [set(image_bytes(variant)) for variant in base.variants.order_by("pk")]
    assert taken == [{"p0", "p1"}, {"p2"}]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"kind": "blur"}, "kind"),
        ({"strength": "2"}, "strength"),
        ({"strength": "nan"}, "strength"),
        ({"seed": "-1"}, "seed"),
        ({"seed": ""}, "seed"),
        ({"names": "nobody"}, "names"),
        ({"slug": "base"}, "slug"),
        ({"release": "999"}, "release"),
    ],
)
def test_invalid_input_is_reported_by_field(
    organiser: User, client_of: ClientOf, change: dict[str, str], field: str
) -> None:
    base_dataset()
    response = client_of(organiser).post("/datasets/base/variants/new/", {**FORM, **change})
    assert response.status_code == 400
    assert set(response.context["form"].errors) == {field}
    assert Dataset.objects.count() == 1


def test_api_makes_a_variant(organiser: User, api_of: ApiOf, run_jobs: RunJobs) -> None:
    base = base_dataset()
    make_release(base)
    url, api = "/api/v1/datasets/base/variants/", api_of(organiser)
    wanted = {"kind": "crop", "strength": 0.25, "seed": 3, "documents": ["p0"], "release": "1.0.0"}
    answer = api.post(url, wanted)
    assert answer.status_code == 202
    assert answer.json()["variant"]["slug"] == "base-crop-25-3"
    run_jobs()
    (row,) = api.get(url).json()["results"]
    assert row["simulated_as"] == "cropped capture 0.25"
    assert (row["derivation"]["seed"], row["visibility"]) == (3, "private")
    dataset = api.get("/api/v1/datasets/base-crop-25-3/").json()
    assert (dataset["derived_from"], dataset["releases"]) == ("base", ["1.0.0"])
    for change, field in (
        ({"kind": "blur"}, "kind"),
        ({"strength": 0}, "strength"),
        ({"documents": ["x"]}, "documents"),
        ({"release": "9.9.9"}, "release"),
    ):
        refused = api.post(url, {**wanted, **change})
        assert (refused.status_code, list(refused.json())) == (400, [field])


def test_derivation_cannot_be_changed(organiser: User, api_of: ApiOf) -> None:
    variant = derived(base_dataset())
    url = f"/api/v1/datasets/{variant.slug}/"
    for field in ("derivation", "derived_from"):
        refused = api_of(organiser).patch(url, {field: None, "title": "New"}, format="json")
        assert (refused.status_code, list(refused.json())) == (400, [field])
    variant.refresh_from_db()
    assert variant.title != "New"
    assert variant.simulation == "off-axis viewpoint 0.5"


def test_it_is_marked_wherever_it_is_shown(organiser: User, client_of: ClientOf) -> None:
    base = base_dataset()
    variant = derived(base, replace(OFF_AXIS, release=make_release(base)))
    Dataset.objects.filter(pk=variant.pk).update(visibility="public")
    client, place = client_of(None), f"/datasets/{variant.slug}/"
    for path in (
        "/datasets/",
        place,
        f"{place}documents/p0/",
        f"{place}releases/1.0.0/",
        f"{place}releases/1.0.0/items/p0/",
        "/datasets/base/variants/",
    ):
        assert MARK in client.get(path).content.decode(), path
    assert MARK not in client.get("/datasets/base/").content.decode()
    document = client.get(f"{place}documents/p0/").content.decode()
    assert "corners" in document
    assert "/datasets/base/documents/p0/" in document


def test_contact_sheet_is_as_open_as_the_images(organiser: User, client_of: ClientOf) -> None:
    base = base_dataset()
    variant = derived(base)
    path = f"/datasets/{variant.slug}/contact-sheet/"
    assert client_of(None).get(path).status_code == 404
    response = client_of(organiser).get(path)
    assert response.getvalue()[:2] == b"\xff\xd8"
    assert (response["Content-Type"], response["Cache-Control"]) == ("image/jpeg", "private")
    assert client_of(organiser).get("/datasets/base/contact-sheet/").status_code == 404


def test_gold_is_carried_over_by_a_button(organiser: User, lead: User, client_of: ClientOf) -> None:
    base = base_dataset()
    variant = derived(base)
    release, path = make_release(base), f"/datasets/{variant.slug}/carry/"
    other = make_release(base_dataset(slug="other"))
    assert client_of(lead).post(path, {"release": release.pk}).status_code == 403
    client = client_of(organiser)
    assert client.get(path).status_code == 405
    assert client.post("/datasets/base/carry/", {"release": release.pk}).status_code == 404
    client.post(path, {"release": other.pk})
    assert not variant.releases.exists()
    assert "Copy release" in client.get("/datasets/base/variants/").content.decode()
    for _ in range(2):
        assert client.post(path, {"release": release.pk}).status_code == 302
    assert variant.releases.get().gold_sha256 == release.gold_sha256
    assert "Copy release" not in client.get("/datasets/base/variants/").content.decode()
