"""The contents of a campaign's files."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command

from annotation.exchange.formats import KINDS, SETTINGS
from annotation.exchange.selectors import AT_ONCE, pseudonym
from annotation.models import Assignment, Campaign, CampaignDocument, GoldSpan, Span
from portal.accounts.models import User
from tests.annotation.factories import comment, make_campaign, save, submit, work_of
from tests.fixture_types import ApiOf, ClientOf
from tests.worlds import shared

from .campaign_files import exported, finished_campaign, lines, unzipped

pytestmark = pytest.mark.django_db
API = "/api/v1/campaigns/spring-round/export/"
PAGE = "/campaigns/spring-round/export/"
FORMS = ["labelstudio", "tags", "jsonl", "full"]
LAYERS = ["gold", "annotations"]


@pytest.fixture
@shared
def finished(ann: User, ben: User, lead: User, reviewer: User) -> Campaign:
    return finished_campaign(ann, ben, lead, reviewer)


def test_lines_have_a_document_and_annotator_each(disputed: Campaign, ann: User, ben: User) -> None:
    found = lines(exported(disputed, "jsonl", "annotations"))
    people = [pseudonym(user.pk) for user in (ann, ben)]
    assert [(line["name"], line["annotator"]) for line in found] == [
        ("page-001", person) for person in people
    ]
    assert [span["quote"] for span in found[0]["spans"]] == ["1,200", "(310)", "March 31, 2025"]
    assert found[0]["spans"][1]["value"] == "-310"
    assert lines(exported(disputed, "jsonl", "gold")) == []


def test_gold_is_of_finished_documents(finished: Campaign, ann: User, ben: User) -> None:
    found = lines(exported(finished, "jsonl", "gold"))
    assert [line["name"] for line in found] == ["page-001", "page-002"]
    assert "annotator" not in found[0]
    assert sum(len(line["spans"]) for line in found) == GoldSpan.objects.count()


def test_tasks_are_what_label_studio_imports(disputed: Campaign, ann: User, ben: User) -> None:
    (task,) = json.loads(exported(disputed, "labelstudio", "annotations"))
    assert task["data"]["name"] == "page-001"
    assert task["data"]["annotators"] == {"1": pseudonym(ann.pk), "2": pseudonym(ben.pk)}
    assert [annotation["completed_by"] for annotation in task["annotations"]] == [1, 2]
    first = task["annotations"][0]["result"][0]
    assert (first["type"], first["value"]["text"]) == ("hypertextlabels", "1,200")
    assert first["value"]["start"] == "/p[1]/b[1]/text()[1]"
    assert json.loads(exported(disputed, "labelstudio", "gold")) == []


def test_gold_tasks_are_ground_truth_without_annotator(finished: Campaign) -> None:
    tasks = json.loads(exported(finished, "labelstudio", "gold"))
    assert [task["id"] for task in tasks] == [1, 2]
    for task in tasks:
        (annotation,) = task["annotations"]
        assert annotation["ground_truth"]
        assert "completed_by" not in annotation


def test_tagged_pages_are_in_a_folder_for_each_annotator(
    disputed: Campaign, ann: User, ben: User
) -> None:
    pages = unzipped(exported(disputed, "tags", "annotations"))
    assert set(pages) == {f"{pseudonym(user.pk)}/page-001.html" for user in (ann, ben)}
    page = pages[f"{pseudonym(ann.pk)}/page-001.html"].decode()
    assert "<b><Number>1,200</Number></b>" in page
    assert unzipped(exported(disputed, "tags", "gold")) == {}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("layer", LAYERS)
def test_a_file_does_not_depend_on_work_that_is_not_submitted_by_all(
    disputed: Campaign, ann: User, ben: User, form: str, layer: str
) -> None:
    """Ann has submitted the second page, Ben has not: the file reveals nothing of their labels."""
    submit(work_of(ann, disputed, 2), ("Number", "1,200"))
    save(work_of(ben, disputed, 2), ("Number", "1,200"))
    before = exported(disputed, form, layer)
    work = work_of(ann, disputed, 2)
    Span.objects.filter(assignment=work).update(label="Date", value="2025")
    comment(work, "What I marked: 1,200")
    save(work_of(ben, disputed, 2), ("Date", "March 31, 2025"))
    Assignment.objects.filter(campaign_document__document__name="page-002").update(
        active_seconds=77, flag="flagged", flag_reason="Both columns are dates."
    )
    assert exported(disputed, form, layer) == before


def test_reopened_pages_are_withheld_with_all_that_was_made_of_them(
    finished: Campaign, ann: User
) -> None:
    rows = unzipped(exported(finished, "full"))
    assert json.loads(rows["campaign.json"])["withheld"] == 0
    work = work_of(ann, finished, 2)
    Assignment.objects.filter(pk=work.pk).update(state="in_progress", submitted_at=None)
    CampaignDocument.objects.filter(pk=work.campaign_document_id).update(stage="annotation")
    fewer = unzipped(exported(finished, "full"))
    assert json.loads(fewer["campaign.json"])["withheld"] == 1
    for name in ("spans", "revisions", "cases", "decisions", "gold_spans", "comments"):
        assert 0 < len(lines(fewer[f"{name}.jsonl"])) < len(lines(rows[f"{name}.jsonl"]))
    assert {row["state"] for row in lines(fewer["assignments.jsonl"])} == {"submitted", "assigned"}


def test_withdrawn_work_reveals_only_that_it_exists(finished: Campaign, ann: User) -> None:
    work = work_of(ann, finished, 2)
    Assignment.objects.filter(pk=work.pk).update(state="withdrawn", submitted_at=None)
    rows = unzipped(exported(finished, "full"))
    withdrawn = next(r for r in lines(rows["assignments.jsonl"]) if r["state"] == "withdrawn")
    assert withdrawn["revision"] == 0
    for name in ("spans", "revisions", "first_submissions"):
        owners = {row["assignment"] for row in lines(rows[f"{name}.jsonl"])}
        assert withdrawn["id"] not in owners
    assert len(lines(exported(finished, "jsonl", "annotations"))) == 3


def test_people_are_pseudonyms_unless_emails_are_included(
    finished: Campaign, ann: User, ben: User
) -> None:
    plain = unzipped(exported(finished, "full"))
    assert b"example.org" not in b"".join(plain.values())
    person = next(row for row in lines(plain["people.jsonl"]) if row["name"] == "Ann")
    assert person == {"person": pseudonym(ann.pk), "name": "Ann"}
    named = unzipped(exported(finished, "full", emails=True))
    assert b"ann@example.org" in named["people.jsonl"]
    assert pseudonym(ann.pk) != pseudonym(ben.pk)
    for form in ("labelstudio", "tags", "jsonl"):
        file = exported(finished, form, "annotations", emails=True)
        assert b"example.org" not in file
        assert b"Ann" not in file


def test_every_field_of_every_row_is_in_the_archive_or_left_out_by_name() -> None:
    """Fails for a new field of a model that the archive neither contains nor leaves out."""
    for kind in KINDS:
        model = apps.get_model("annotation", kind.model)
        fields = {field.name for field in model._meta.concrete_fields}
        owner = {"campaign"} if kind.owner == "campaign" else set()
        known = {"id", *kind.keys, *kind.left_out, *owner}
        assert fields <= known, f"{kind.model}: {sorted(fields - known)}"
    settings = {field.name for field in Campaign._meta.concrete_fields}
    of_its_own = {"id", "slug", "title", "dataset", "is_sample", "created_by", "created_at"}
    # The archive has the documents, but not the selection of the dataset.
    assert settings == of_its_own | {"selection"} | set(SETTINGS)
    kinds = {kind.model for kind in KINDS}
    models = {model.__name__ for model in apps.get_app_config("annotation").get_models()}
    # Models without labels: settings, imports, emails, suggestions.
    others = {"Campaign", "CampaignImport", "CampaignInvitation", "Reminder"}
    others |= {"ModelSuggestions", "OfferedSuggestions", "SuggestionOutcome", "SuggestionUpload"}
    assert models - kinds == others


def test_queries_do_not_grow_with_the_documents(
    ann: User, django_assert_num_queries: Callable[[int], Any]
) -> None:
    campaign = make_campaign([ann], documents=AT_ONCE + 1, overlap=1)
    for number in range(1, 4):
        submit(work_of(ann, campaign, number), ("Number", "1,200"))
    with django_assert_num_queries(4):
        few = exported(campaign, "jsonl", "annotations")
    for number in range(4, AT_ONCE + 1):
        submit(work_of(ann, campaign, number), ("Number", "1,200"))
    with django_assert_num_queries(4):
        many = exported(campaign, "jsonl", "annotations")
    assert (len(lines(few)), len(lines(many))) == (3, AT_ONCE)


@pytest.mark.parametrize(
    ("form", "layer", "name", "kind"),
    [
        ("labelstudio", "gold", "spring-round.gold.labelstudio.json", "application/json"),
        ("tags", "annotations", "spring-round.annotations.tags.zip", "application/zip"),
        ("jsonl", "gold", "spring-round.gold.jsonl", "application/x-ndjson"),
        ("full", "gold", "spring-round.campaign.zip", "application/zip"),
    ],
)
def test_the_endpoint_sends_a_file(
    disputed: Campaign, lead: User, api_of: ApiOf, form: str, layer: str, name: str, kind: str
) -> None:
    response = api_of(lead).get(API, {"form": form, "layer": layer})
    assert response.status_code == 200
    assert response["Content-Type"] == kind
    assert response["Content-Disposition"] == f'attachment; filename="{name}"'
    assert b"".join(response) == exported(disputed, form, layer)


def test_the_endpoint_refuses_what_it_does_not_know(
    disputed: Campaign, lead: User, api_of: ApiOf
) -> None:
    api = api_of(lead)
    assert api.get(API).json() == {"form": ["This field is required."]}
    assert api.get(API, {"form": "csv"}).status_code == 400
    assert api.get(API, {"form": "jsonl", "layer": "drafts"}).status_code == 400


def test_the_page_shows_the_figures(disputed: Campaign, lead: User, client_of: ClientOf) -> None:
    response = client_of(lead).get(PAGE)
    state = response.context["state"]
    assert state == {"documents": 2, "settled": 1, "gold": 0, "facts": 0}
    html = response.content.decode()
    assert "No imports yet." in html
    assert "&lt;Label value=&quot;Number&quot;" in html
    # Only organisers can import whole campaigns.
    offered = [value for value, _ in response.context["form"].fields["form"].choices]
    assert offered == ["labelstudio", "jsonl", "tags"]


def test_the_command_writes_the_same_file(disputed: Campaign, tmp_path: Any, capsys: Any) -> None:
    path = tmp_path / "out.jsonl"
    arguments = ["spring-round", "--form", "jsonl", "--layer", "annotations", "--output", str(path)]
    call_command("export_campaign", *arguments)
    assert path.read_bytes() == exported(disputed, "jsonl", "annotations")
    assert "out.jsonl" in capsys.readouterr().out
    with pytest.raises(CommandError, match="use --force to replace it"):
        call_command("export_campaign", *arguments)
    call_command("export_campaign", *arguments, "--force")
    with pytest.raises(CommandError, match="there is no campaign autumn"):
        call_command("export_campaign", "autumn", "--form", "jsonl")
    assert [file.name for file in tmp_path.iterdir()] == ["out.jsonl"]
