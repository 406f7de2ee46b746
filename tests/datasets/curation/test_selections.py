"""Drawing selections on the page, in the API and with the command, and using them."""

import io
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command

from annotation.campaigns.services import create_campaign
from annotation.errors import Refused
from annotation.models import Campaign, CampaignDocument
from portal.accounts.models import User
from portal.audit.models import Event
from portal.datasets.curation.services import DrawSpec, check_selection, create_selection, draw
from portal.datasets.documents.table import DocumentFilter
from portal.datasets.models import Dataset, Document, Selection
from tests.datasets.documents.test_document_table import bulk
from tests.factories import empty_dataset

pytestmark = pytest.mark.django_db

BY_LANGUAGE = DrawSpec(strata=("language",), size=10)


@pytest.fixture
def dataset() -> Dataset:
    """60 documents with alternating languages, 5 sources and 20 years."""
    found = empty_dataset(slug="set")
    bulk(found, 60)
    return found


def test_size_is_shared_out_in_proportion(dataset: Dataset) -> None:
    sample = draw(dataset=dataset, spec=BY_LANGUAGE, seed=7)
    assert [(row.stratum, row.available, len(row.drawn)) for row in sample.strata] == [
        (("en",), 30, 5),
        (("zh",), 30, 5),
    ]


def test_strata_by_several_fields_and_industry(dataset: Dataset) -> None:
    Document.objects.filter(name="page-000000").update(metadata={"industry": "steel"})
    spec = DrawSpec(strata=("industry", "source"), per_stratum=1)
    sample = draw(dataset=dataset, spec=spec, seed=1)
    # Five sources without an industry, and one page from the first with steel.
    assert [row.stratum[0] for row in sample.strata] == ["", "", "", "", "", "steel"]
    assert len(sample.keys) == 6


def test_same_seed_draws_the_same(dataset: Dataset, organiser: User) -> None:
    first = create_selection(
        dataset=dataset, title="One", spec=BY_LANGUAGE, seed=7, actor=organiser
    )
    second = create_selection(
        dataset=dataset, title="Two", spec=BY_LANGUAGE, seed=7, actor=organiser
    )
    third = create_selection(dataset=dataset, title="3", spec=BY_LANGUAGE, seed=8, actor=organiser)
    names = [set(row.documents.values_list("name", flat=True)) for row in (first, second, third)]
    assert names[0] == names[1]
    assert names[0] != names[2]
    assert check_selection(first).is_same
    assert first.spec == {"strata": ["language"], "size": 10, "filters": {"state": "active"}}
    assert Event.objects.filter(verb="create_selection").count() == 3


def test_drawing_again_shows_changes(dataset: Dataset, organiser: User) -> None:
    selection = create_selection(
        dataset=dataset, title="One", spec=BY_LANGUAGE, seed=7, actor=organiser
    )
    gone = selection.documents.order_by("name").first()
    assert gone is not None
    Document.objects.filter(pk=gone.pk).update(state="held", held_reason="x")
    check = check_selection(selection)
    assert not check.is_same
    assert gone.name in check.only_stored
    assert gone.name not in check.only_drawn


def test_held_back_documents_are_not_drawn(dataset: Dataset) -> None:
    Document.objects.filter(language="zh").update(state="held", held_reason="x")
    sample = draw(dataset=dataset, spec=DrawSpec(strata=("language",), size=60), seed=1)
    assert [row.stratum for row in sample.strata] == [("en",)]


@pytest.mark.parametrize(
    "spec",
    [
        {"strata": (), "size": 1},
        {"strata": ("colour",), "size": 1},
        {"strata": ("source", "source"), "size": 1},
        {"strata": ("source",)},
        {"strata": ("source",), "size": 1, "per_stratum": 1},
        {"strata": ("source",), "size": 0},
    ],
)
def test_spec_is_checked(spec: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        DrawSpec(**spec)


def test_refusals_by_field(dataset: Dataset, organiser: User) -> None:
    def make(**changes: Any) -> Selection:
        fields: dict[str, Any] = {"title": "One", "spec": BY_LANGUAGE, "seed": 1} | changes
        return create_selection(dataset=dataset, actor=organiser, **fields)

    make()
    nothing = DrawSpec(strata=("source",), size=1, wanted=DocumentFilter(query="zzz"))
    for changes, field in (
        ({}, "title"),
        ({"title": " "}, "title"),
        ({"title": "2", "seed": -1}, "seed"),
        ({"title": "2", "spec": nothing}, "size"),
    ):
        with pytest.raises(ValidationError) as caught:
            make(**changes)
        assert list(caught.value.error_dict) == [field]
    assert Selection.objects.count() == 1


class TestPages:
    answers = {
        "filter": "language=en",
        "strata": ["source"],
        "how": "per_stratum",
        "number": "2",
        "seed": "7",
    }

    def test_strata_are_shown_before_anything_is_kept(
        self, dataset: Dataset, organiser: User, client_of: Any
    ) -> None:
        client = client_of(organiser)
        assert "No selections yet" in client.get("/datasets/set/selections/").content.decode()
        page = client.get("/datasets/set/selections/new/?language=en").content.decode()
        assert "language en" in page
        shown = client.post("/datasets/set/selections/new/", self.answers)
        assert shown.status_code == 200
        assert "10 of 30 documents" in shown.content.decode()
        assert not Selection.objects.exists()
        kept = client.post(
            "/datasets/set/selections/new/", self.answers | {"keep": "1", "title": "English"}
        )
        selection = Selection.objects.get()
        assert kept["Location"] == f"/datasets/set/selections/{selection.pk}/"
        assert selection.documents.count() == 10
        assert selection.spec["filters"] == {"language": "en", "state": "active"}
        assert "English" in client.get("/datasets/set/selections/").content.decode()
        assert "the same documents" in client.get(f"{kept['Location']}?check=1").content.decode()

    @pytest.mark.parametrize(
        "change",
        [{"strata": []}, {"number": "0"}, {"seed": "x"}, {"how": "any"}, {"keep": "1"}],
    )
    def test_refuses(
        self, change: dict[str, Any], dataset: Dataset, organiser: User, client_of: Any
    ) -> None:
        response = client_of(organiser).post("/datasets/set/selections/new/", self.answers | change)
        assert response.status_code == 400
        assert not Selection.objects.exists()

    def test_file_has_the_names(self, dataset: Dataset, organiser: User, client_of: Any) -> None:
        Document.objects.filter(language="en").update(company="=1+1")
        selection = create_selection(
            dataset=dataset, title="One", spec=BY_LANGUAGE, seed=7, actor=organiser
        )
        response = client_of(organiser).get(f"/datasets/set/selections/{selection.pk}/download/")
        lines = b"".join(response).decode().splitlines()
        assert lines[0].startswith("name,doc_type")
        drawn = selection.documents.order_by("name").values_list("name", flat=True)
        assert [line.split(",")[0] for line in lines[1:]] == list(drawn)
        assert any(",'=1+1," in line for line in lines)

    @pytest.mark.parametrize("size", [2, 60])
    def test_makes_few_queries(
        self,
        size: int,
        dataset: Dataset,
        organiser: User,
        client_of: Any,
        django_assert_max_num_queries: Any,
    ) -> None:
        spec = DrawSpec(strata=("language",), size=size)
        made = create_selection(dataset=dataset, title="1", spec=spec, seed=7, actor=organiser)
        client = client_of(organiser)
        for path in ("", f"{made.pk}/"):
            with django_assert_max_num_queries(7):
                client.get(f"/datasets/set/selections/{path}")


class TestApi:
    def test_draws_and_checks(self, dataset: Dataset, organiser: User, api_of: Any) -> None:
        api, path = api_of(organiser), "/api/v1/datasets/set/selections/"
        body = {"title": "One", "strata": ["language"], "size": 4, "seed": 3}
        made = api.post(path, body, format="json")
        assert made.status_code == 201
        assert len(made.json()["names"]) == made.json()["documents"] == 4
        assert api.get(path).json()["results"][0]["title"] == "One"
        check = api.get(f"{path}{made.json()['id']}/check/").json()
        assert check == {"is_same": True, "only_stored": [], "only_drawn": []}
        assert api.post(path, body, format="json").json().keys() == {"title"}
        assert api.post(path, body | {"per_stratum": 1}, format="json").status_code == 400


class TestCommand:
    def test_prints_the_names(self, dataset: Dataset) -> None:
        out, err = io.StringIO(), io.StringIO()
        call_command(
            "draw_selection", "set", strata="language,source", size=10, seed=5, title="One",
            stdout=out, stderr=err,
        )  # fmt: skip
        selection = Selection.objects.get()
        drawn = selection.documents.order_by("name").values_list("name", flat=True)
        assert out.getvalue().split() == list(drawn)
        assert "10 documents, seed 5" in err.getvalue()

    @pytest.mark.parametrize(
        ("slug", "strata", "message"),
        [("none", "source", "no dataset none"), ("set", "colour", "Unknown field colour")],
    )
    def test_refuses(self, slug: str, strata: str, message: str, dataset: Dataset) -> None:
        with pytest.raises(CommandError, match=message):
            call_command("draw_selection", slug, strata=strata, size=1, title="One")


class TestCampaign:
    def test_takes_in_the_selection_alone(
        self, dataset: Dataset, organiser: User, client_of: Any
    ) -> None:
        selection = create_selection(
            dataset=dataset, title="One", spec=BY_LANGUAGE, seed=7, actor=organiser
        )
        client = client_of(organiser)
        page = client.get(f"/campaigns/new/?dataset=set&selection={selection.pk}").content.decode()
        assert f'<option value="{selection.pk}" selected>One</option>' in page
        campaign = create_campaign(
            dataset=dataset, selection=selection, title="C", labels=["Number"], overlap=1,
            guidelines="", actor=organiser,
        )  # fmt: skip
        assert campaign.candidates().count() == 10
        every = create_campaign(
            dataset=dataset, title="D", labels=["Number"], overlap=1, guidelines="",
            actor=organiser,
        )  # fmt: skip
        assert every.candidates().count() == 60

    def test_opening_shares_out_the_selection(
        self, dataset: Dataset, organiser: User, ann: User
    ) -> None:
        from annotation.campaigns.services import open_campaign
        from annotation.models import Membership

        selection = create_selection(
            dataset=dataset, title="One", spec=BY_LANGUAGE, seed=7, actor=organiser
        )
        campaign = create_campaign(
            dataset=dataset, selection=selection, title="C", labels=["Number"], overlap=1,
            guidelines="", actor=organiser,
        )  # fmt: skip
        Membership.objects.create(campaign=campaign, user=ann, role="annotator")
        open_campaign(campaign=campaign, actor=organiser)
        taken = CampaignDocument.objects.filter(campaign=campaign).values_list(
            "document", flat=True
        )
        assert set(taken) == set(selection.documents.values_list("pk", flat=True))

    def test_selection_of_another_dataset_is_refused(
        self, dataset: Dataset, organiser: User, client_of: Any
    ) -> None:
        selection = create_selection(
            dataset=dataset, title="One", spec=BY_LANGUAGE, seed=7, actor=organiser
        )
        other = empty_dataset(slug="other")
        with pytest.raises(Refused):
            create_campaign(
                dataset=other, selection=selection, title="C", labels=["Number"], overlap=1,
                guidelines="", actor=organiser,
            )  # fmt: skip
        answers = {
            "dataset": "other", "selection": selection.pk, "title": "C", "labels": "Number",
            "overlap": "1", "guidelines": "x",
        }  # fmt: skip
        page = client_of(organiser).post("/campaigns/new/", answers).content.decode()
        assert "belongs to another dataset" in page
        assert not Campaign.objects.exists()
