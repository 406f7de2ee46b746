"""Creating variants: copies, captures, killed workers and hidden gold."""

import io
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.test import Client
from PIL import Image

from portal.accounts.models import User
from portal.datasets.documents.services import edit_dataset
from portal.datasets.models import (
    Dataset,
    DatasetTask,
    Document,
    DocumentRecord,
    PageImage,
    Release,
    TextBoxes,
)
from portal.datasets.releases.gold import ReleaseError
from portal.datasets.releases.services import freeze_lines
from portal.datasets.variants import deriving
from portal.datasets.variants.captures import CAPTURES, simulate
from portal.datasets.variants.services import (
    VariantError,
    VariantSpec,
    carry_release,
    create_variant,
    start_deriving,
    suggest_slug,
    variant_list,
)
from portal.jobs.models import Job
from tests.datasets.factories import make_release, stored_bytes
from tests.datasets.variants.factories import OFF_AXIS, base_dataset, derived, image_bytes, page_png
from tests.factories import empty_dataset, make_document
from tests.fixture_types import ClientOf, RunJobs

pytestmark = pytest.mark.django_db


class Killed(BaseException):
    """Simulates the death of a worker."""


def test_variant_has_the_same_documents_and_other_images() -> None:
    base = base_dataset()
    record = base.documents.get(name="p1")
    DocumentRecord.objects.create(document=record, benchmark="findoc", gold={"a": 1}, prompt="Q")
    variant = derived(base)
    assert [document.name for document in variant.documents.all()] == ["p0", "p1", "p2"]
    for document in variant.documents.select_related("content"):
        original = base.documents.select_related("content").get(name=document.name)
        assert document.content.html == original.content.html
        assert document.content.text == original.content.text
        assert document.text_sha256 == original.text_sha256
        assert document.images.get().sha256 != original.images.get().sha256
    assert variant.documents.get(name="p1").record.gold == {"a": 1}
    assert not TextBoxes.objects.filter(image__document__dataset=variant).exists()
    assert variant.visibility == Dataset.Visibility.PRIVATE
    assert variant.simulation == "off-axis viewpoint 0.5"
    task = variant.tasks.get()
    assert task.report["counts"] == {"documents": 3, "images": 3}


def test_every_image_is_recorded_and_can_be_made_again_from_its_record() -> None:
    variant = derived(base_dataset())
    for image in PageImage.objects.filter(document__dataset=variant):
        transform = image.transform
        assert transform is not None
        number = int(image.document.name[1:])
        with Image.open(io.BytesIO(page_png(number))) as page:
            again, _ = simulate(page, "off_axis", strength=0.5, seed=transform["seed"])
        stream = io.BytesIO()
        again.save(stream, "JPEG", quality=deriving.JPEG_QUALITY, subsampling=0)
        assert stream.getvalue() == stored_bytes(image)
        assert (transform["variant_seed"], transform["simulated"]) == (7, True)
    transforms = PageImage.objects.exclude(transform=None).values_list("transform", flat=True)
    assert len({transform["seed"] for transform in transforms if transform}) == 3


def test_same_seed_gives_the_same_bytes_and_another_seed_others() -> None:
    base = base_dataset()
    first, again = derived(base), derived(base, slug="again")
    other = derived(base, replace(OFF_AXIS, seed=8))
    assert image_bytes(first) == image_bytes(again)
    assert set(image_bytes(first).values()).isdisjoint(image_bytes(other).values())


def test_a_page_is_captured_alike_whatever_else_is_derived() -> None:
    base = base_dataset()
    alone = derived(base, replace(OFF_AXIS, names=["p2"]), slug="alone")
    assert image_bytes(alone) == {"p2": image_bytes(derived(base))["p2"]}


@pytest.mark.parametrize("kind", [key for key, each in CAPTURES.items() if not each.keeps_normal])
def test_every_kind_can_be_derived(kind: str) -> None:
    variant = derived(base_dataset(), VariantSpec(kind=kind, strength=0.5, seed=1))
    assert len(image_bytes(variant)) == 3
    assert not variant.tasks.get().report["faults"]


def test_rotations_lose_nothing() -> None:
    variant = derived(base_dataset(pages=1), VariantSpec(kind="rotate_90", strength=1, seed=1))
    with (
        Image.open(io.BytesIO(image_bytes(variant)["p0"])) as turned,
        Image.open(io.BytesIO(page_png(0))) as page,
    ):
        assert turned.transpose(Image.Transpose.ROTATE_90).tobytes() == page.tobytes()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("place", ["store_picture", "check_picture", "store_sheet"])
def test_killed_worker_is_taken_up_with_identical_bytes(
    place: str, run_jobs: RunJobs, organiser: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = base_dataset(pages=4)
    whole = image_bytes(derived(base, slug="whole"))
    variant = create_variant(base=base, spec=OFF_AXIS, slug="broken", actor=organiser)
    start_deriving(variant=variant, spec=OFF_AXIS, actor=organiser)
    real: Callable[..., Any] = getattr(deriving, place)
    calls = 0

    def breaking(*args: Any, **kwargs: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == (1 if place == "store_sheet" else 3):
            raise Killed
        return real(*args, **kwargs)

    monkeypatch.setattr(deriving, place, breaking)
    with pytest.raises(Killed):
        run_jobs()
    there = variant.documents.count()
    assert there == (4 if place == "store_sheet" else 2)
    # Every stored document is complete and has its image.
    assert PageImage.objects.filter(document__dataset=variant).count() == there
    Job.objects.filter(state="running").update(lease_until="2000-01-01T00:00Z")
    Job.objects.update(not_before="2000-01-01T00:00Z")
    run_jobs()
    assert variant.tasks.get().state == DatasetTask.State.DONE
    assert image_bytes(variant) == whole


def test_asked_for_twice_it_is_the_same_variant_and_task(organiser: User) -> None:
    base = base_dataset()
    variants = [create_variant(base=base, spec=OFF_AXIS, actor=organiser) for _ in range(2)]
    tasks = [start_deriving(variant=variants[0], spec=OFF_AXIS, actor=organiser) for _ in range(2)]
    assert variants[0] == variants[1]
    assert tasks[0] == tasks[1]
    assert Dataset.objects.count() == 2


def test_made_again_after_its_contact_sheet_it_is_still_the_same() -> None:
    base = base_dataset()
    assert derived(base) == derived(base)


def test_documents_held_back_and_without_image_stay_behind() -> None:
    base = base_dataset()
    Document.objects.filter(name="p1").update(state="held", held_reason="personal data")
    make_document(base, "bare", "<p>No image</p>")
    assert [document.name for document in derived(base).documents.all()] == ["p0", "p2"]


def test_image_that_cannot_be_read_is_a_fault_of_its_own() -> None:
    base = base_dataset()
    broken = PageImage.objects.get(document__name="p1")
    broken.file.storage.delete(str(broken.file))
    variant = derived(base)
    assert [document.name for document in variant.documents.all()] == ["p0", "p2"]
    (fault,) = variant.tasks.get().report["faults"]
    assert (fault["name"], fault["code"]) == ("p1", "image")


@pytest.mark.parametrize(
    ("change", "field", "message"),
    [
        ({"kind": "blur"}, "kind", "Unknown kind 'blur'"),
        ({"strength": 0.0}, "strength", "above 0"),
        ({"strength": 1.5}, "strength", "at most 1"),
        ({"strength": float("nan")}, "strength", "above 0"),
        ({"seed": -1}, "seed", "from 0"),
        ({"seed": 2**53}, "seed", "from 0"),
        ({"names": ["p0", "nobody", "zero"]}, "names", "name nobody and 1 more"),
        ({"names": []}, "names", "at least one"),
    ],
)
def test_invalid_parameters_are_refused(change: dict[str, Any], field: str, message: str) -> None:
    base = base_dataset()
    with pytest.raises(VariantError, match=message) as refusal:
        create_variant(base=base, spec=replace(OFF_AXIS, **change), actor=None)
    assert refusal.value.field == field
    assert Dataset.objects.count() == 1


def test_further_refusals() -> None:
    base = base_dataset(pages=1)
    with pytest.raises(VariantError, match="at least two documents"):
        create_variant(
            base=base, spec=VariantSpec(kind="multi_document", strength=1, seed=1), actor=None
        )
    with pytest.raises(VariantError, match="has an image"):
        create_variant(base=empty_dataset(), spec=OFF_AXIS, actor=None)
    variant = derived(base)
    with pytest.raises(VariantError, match="is a variant"):
        create_variant(base=variant, spec=OFF_AXIS, actor=None)
    empty_dataset(slug="taken")
    for slug in ("taken", "new", "no way"):
        with pytest.raises(VariantError) as refusal:
            create_variant(base=base, spec=OFF_AXIS, slug=slug, actor=None)
        assert refusal.value.field == "slug"
    other = make_release(base_dataset(slug="other"))
    with pytest.raises(VariantError, match="another dataset"):
        create_variant(base=base, spec=replace(OFF_AXIS, release=other), actor=None)


@pytest.mark.parametrize(
    ("kind", "strength", "slug"),
    [
        ("off_axis", 0.5, "base-off-axis-50-7"),
        ("off_axis", 0.125, "base-off-axis-12-5-7"),
        ("rotate_90", 0.5, "base-rotate-90-7"),
    ],
)
def test_suggested_slug(kind: str, strength: float, slug: str) -> None:
    spec = VariantSpec(kind=kind, strength=strength, seed=7)
    assert suggest_slug(Dataset(slug="base"), spec) == slug
    assert len(suggest_slug(Dataset(slug="x" * 80), spec)) <= 80


def test_gold_carried_over_is_that_of_the_original() -> None:
    base = base_dataset()
    release = make_release(base)
    variant = derived(base, replace(OFF_AXIS, release=release))
    carried = variant.releases.get()
    assert (carried.version, carried.gold_sha256, carried.visibility) == (
        "1.0.0",
        release.gold_sha256,
        "public",
    )
    assert list(carried.items.values_list("document__dataset", flat=True)) == [variant.pk] * 3
    assert carry_release(release=release, variant=variant, actor=None) == carried


def test_gold_of_a_part_is_carried_over_for_that_part() -> None:
    base = base_dataset()
    release = make_release(base)
    variant = derived(base, replace(OFF_AXIS, names=["p1"], release=release))
    carried = variant.releases.get()
    assert [item.name for item in carried.items.all()] == ["p1"]
    assert carried.gold_sha256 != release.gold_sha256
    assert "1 of the items" in carried.notes


def test_splits_and_lines_of_other_benchmarks_are_carried_over() -> None:
    base = base_dataset()
    lines = {f"p{number}": {"id": f"p{number}", "answer": number} for number in range(3)}
    splits = {"p0": "dev", "p1": "test", "p2": "test"}
    release = freeze_lines(
        dataset=base, version="2.0.0", benchmark="findoc", lines=lines, splits=splits
    )
    variant = derived(base, replace(OFF_AXIS, release=release))
    carried = variant.releases.get()
    assert {item.name: item.split for item in carried.items.all()} == splits
    assert (carried.benchmark, carried.gold_sha256) == ("findoc", release.gold_sha256)


def reading_dataset() -> tuple[Dataset, Release]:
    """Pages with the gold of CC-OCR, whose ids are not the names of the documents."""
    base = base_dataset()
    lines = {}
    for document in base.documents.all():
        gold = {"id": document.name, "subset": "IC15", "track": "multi_scene", "op": "ocr"}
        gold["answer"] = "Sales 1,200"
        DocumentRecord.objects.create(document=document, benchmark="ccocr", gold=gold)
        lines[f"IC15:{document.name}"] = gold
    documents = {f"IC15:{document.name}": document for document in base.documents.all()}
    release = freeze_lines(
        dataset=base, version="1.0.0", benchmark="ccocr", lines=lines, documents=documents
    )
    return base, release


@pytest.mark.parametrize(("kind", "degrees"), [("rotate_90", 90), ("rotate_270", 270)])
def test_gold_of_rotated_images_states_their_orientation(kind: str, degrees: int) -> None:
    base, release = reading_dataset()
    variant = derived(base, VariantSpec(kind=kind, strength=1, seed=1, release=release))
    gold = variant.documents.get(name="p1").record.gold
    assert (gold["id"], gold["orientation"]) == (f"p1@{degrees}", degrees)
    items = list(variant.releases.get().items.order_by("position"))
    assert [item.name for item in items] == [f"IC15:p{number}@{degrees}" for number in range(3)]
    assert [item.gold for item in items] == [
        {**item.gold, "id": f"p{number}@{degrees}", "orientation": degrees}
        for number, item in enumerate(items)
    ]
    assert variant.releases.get().gold_sha256 != release.gold_sha256


def test_gold_of_mixed_orientations_states_that_of_each_image() -> None:
    base, release = reading_dataset()
    degrees = set()
    for seed in range(4):
        spec = VariantSpec(kind="rotate_any", strength=1, seed=seed, release=release)
        variant = derived(base, spec)
        for item in variant.releases.get().items.select_related("document"):
            assert item.document is not None
            transform = item.document.images.get().transform
            assert transform is not None
            assert item.gold["orientation"] == transform["degrees"]
            degrees.add(transform["degrees"])
    assert degrees == {0, 90, 180, 270}


def test_gold_of_other_captures_states_no_orientation() -> None:
    base, release = reading_dataset()
    variant = derived(base, replace(OFF_AXIS, release=release))
    assert variant.releases.get().gold_sha256 == release.gold_sha256
    assert "orientation" not in variant.documents.get(name="p1").record.gold


def test_invalid_releases_are_refused() -> None:
    base, other = base_dataset(), base_dataset(slug="other")
    old, new = make_release(base), make_release(base, version="2.0.0")
    variant = derived(base, replace(OFF_AXIS, release=new))
    with pytest.raises(ReleaseError, match="must be higher"):
        carry_release(release=old, variant=variant, actor=None)
    with pytest.raises(ReleaseError, match="not a variant"):
        carry_release(release=make_release(other), variant=variant, actor=None)


def hidden_names(dataset: Dataset) -> set[str]:
    """Check single documents and the whole dataset."""
    documents = dataset.documents.all()
    hidden = set(documents.hidden().values_list("name", flat=True))
    opened = documents.filter(documents.open_condition_in(dataset)).values_list("name", flat=True)
    assert hidden.isdisjoint(opened)
    assert len(hidden) + len(opened) == len(documents)
    return hidden


def test_copy_of_a_hidden_page_is_hidden_before_any_release(client_of: ClientOf) -> None:
    base = base_dataset()
    make_release(base, visibility="gold_hidden", documents=[base.documents.get(name="p1")])
    variant = derived(base)
    Dataset.objects.filter(pk=variant.pk).update(visibility="public")
    assert hidden_names(variant) == {"p1"}
    client = client_of(None)
    for name, expected in (("p0", 200), ("p1", 404)):
        url = f"/datasets/{variant.slug}/documents/{name}/html/"
        assert client.get(url).status_code == expected
    assert status(client, f"/datasets/{variant.slug}/documents/p1/images/1/") == 200


def test_copy_is_hidden_when_its_original_becomes_so_later() -> None:
    base = base_dataset()
    variant = derived(base)
    assert hidden_names(variant) == set()
    make_release(base, visibility="gold_hidden")
    assert hidden_names(variant) == {"p0", "p1", "p2"}
    make_release(base, version="2.0.0", visibility="public")
    assert hidden_names(variant) == set()


def test_hidden_release_of_a_variant_hides_its_own_pages() -> None:
    base = base_dataset()
    release = make_release(base, visibility="gold_hidden")
    make_release(base, version="2.0.0", visibility="public")
    variant = derived(base, replace(OFF_AXIS, release=release))
    assert hidden_names(base) == set()
    assert hidden_names(variant) == {"p0", "p1", "p2"}


def status(client: Client, path: str) -> int:
    """Read the whole response, so that files are closed."""
    response = client.get(path)
    if response.streaming:
        response.getvalue()
    return response.status_code


def test_variant_of_a_private_dataset_is_private(organiser: User, client_of: ClientOf) -> None:
    base = base_dataset(visibility="private")
    variant = derived(base)
    with pytest.raises(ValidationError, match="private"):
        edit_dataset(dataset=variant, changes={"visibility": "public"}, actor=organiser)
    # Also a variant that was public before its base became private.
    Dataset.objects.filter(pk=variant.pk).update(visibility="public")
    paths = [
        f"/datasets/{variant.slug}/",
        f"/datasets/{variant.slug}/contact-sheet/",
        f"/datasets/{variant.slug}/documents/p0/images/1/",
        f"/api/v1/datasets/{variant.slug}/",
    ]
    assert [status(client_of(None), path) for path in paths] == [404] * 4
    assert variant.slug not in client_of(None).get("/datasets/").content.decode()
    Dataset.objects.filter(pk=base.pk).update(visibility="public")
    assert [status(client_of(None), path) for path in paths] == [200] * 4


def test_list_asks_as_much_for_many_variants_as_for_one(
    organiser: User, django_assert_num_queries: Any
) -> None:
    base = base_dataset()
    release = make_release(base)
    for seed in range(3):
        derived(base, replace(OFF_AXIS, seed=seed, names=["p0"], release=release))
    with django_assert_num_queries(5):
        found = variant_list(organiser, base)
        variants: list[Any] = [row.dataset for row in found.rows]
        counts = [(variant.document_count, len(variant.releases.all())) for variant in variants]
        assert counts == [(1, 1)] * 3
        assert all(variant.derivation["sheet"] for variant in variants)
        assert all(row.task and not row.carriable for row in found.rows)
    assert variant_list(organiser, found.rows[0].dataset).base == base


def test_command_derives_and_refuses(capsys: pytest.CaptureFixture[str]) -> None:
    make_release(base_dataset())
    options = {"kind": "crop", "strength": 0.25, "seed": 3, "release": "1.0.0"}
    for _ in range(2):
        call_command("derive_variant", "base", **options)
    variant = Dataset.objects.get(slug="base-crop-25-3")
    assert "3 documents, 3 images" in capsys.readouterr().out
    assert Release.objects.filter(dataset=variant).count() == 1
    for slug, change in (
        ("base", {"kind": "blur"}),
        ("nobody", {}),
        ("base", {"release": "9.0.0"}),
    ):
        with pytest.raises(CommandError):
            call_command("derive_variant", slug, **{**options, **change})
