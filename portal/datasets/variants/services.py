"""Create stress variants of a dataset, and copy releases to them.

A copy is as secret as its original: `Document.objects.hidden` also checks the releases of the
original, and only organisers see the variant of a private dataset.

The gold of CC-OCR states the orientation of rotated images, because the benchmark compares them
with normal ones. Their ids end with it, so that the gold of both can be in one release. A variant
that keeps the normal images has both in its releases.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.core.paginator import Page, Paginator
from django.db import IntegrityError, transaction

from portal.accounts.access import is_organiser
from portal.accounts.models import User
from portal.audit.models import record_event
from portal.datasets.access import visible_releases
from portal.datasets.dataset_tasks import start_task
from portal.datasets.documents.selectors import listed_datasets
from portal.datasets.imports.layouts import CCOCR, oriented
from portal.datasets.models import (
    Dataset,
    DatasetTask,
    Document,
    PageImage,
    Release,
    ReleaseItem,
)
from portal.datasets.releases.gold import ReleaseError
from portal.datasets.releases.publishing.manifest import gold_sha256
from portal.datasets.releases.services import freeze_rows
from portal.web.refusals import Refused

if TYPE_CHECKING:
    from .captures import Capture

# The largest safe integer of JSON and JavaScript.
LARGEST_SEED = 2**53 - 1
_LONGEST_SLUG, _LONGEST_TITLE = 80, 160


class VariantError(Refused):
    """A variant cannot be created."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message, field=field)


@dataclass(frozen=True)
class VariantSpec:
    """The parameters of a variant. `names` of documents is None for all with an image.

    `release` is the release of the base to copy, or None.
    """

    kind: str
    strength: float
    seed: int
    names: Sequence[str] | None = None
    release: Release | None = None


def suggest_slug(base: Dataset, spec: VariantSpec) -> str:
    """Return BASE-KIND-PERCENT-SEED; a long base is cut.

    The strength is in per cent, because a slug cannot contain a point.
    """
    parts = [spec.kind.replace("_", "-")]
    if capture_of(spec.kind).has_strength:
        parts.append(f"{100 * spec.strength:g}".replace(".", "-"))
    ending = "-".join([*parts, str(spec.seed)])
    return f"{base.slug[: _LONGEST_SLUG - len(ending) - 1]}-{ending}"


def create_variant(
    *, base: Dataset, spec: VariantSpec, slug: str = "", actor: User | None
) -> Dataset:
    """Create an empty private variant for `start_deriving` or a command.

    Returns the existing variant if it has the same parameters. Raises VariantError.
    """
    capture = _checked(base, spec)
    slug = slug or suggest_slug(base, spec)
    derivation = _derivation(capture, spec)
    if same := _existing(base, slug, derivation):
        return same
    title = f", simulated: {_words(capture, spec)}, seed {spec.seed}"
    variant = Dataset(
        slug=slug,
        title=base.title[: _LONGEST_TITLE - len(title)] + title,
        description=_description(base, capture, spec),
        licence=base.licence,
        visibility=Dataset.Visibility.PRIVATE,
        is_sample=base.is_sample,
        derived_from=base,
        derivation=derivation,
        created_by=actor,
    )
    if not re.fullmatch(r"[-a-zA-Z0-9_]{1,80}", slug) or slug == "new":
        raise VariantError(
            "slug", f"“{slug}” is not a slug. Use letters and digits, joined by hyphens."
        )
    try:
        with transaction.atomic():
            variant.save()
            record_event(
                verb="create_variant", subject=variant, actor=actor, base=base.slug, **derivation
            )
    except IntegrityError as error:
        if same := _existing(base, slug, derivation):
            return same
        raise VariantError("slug", f"Another dataset is already named “{slug}”.") from error
    return variant


def start_deriving(*, variant: Dataset, spec: VariantSpec, actor: User | None) -> DatasetTask:
    """Queue the task, or return the running one."""
    options = task_options(variant, spec)
    return start_task(dataset=variant, kind=DatasetTask.Kind.DERIVE, options=options, actor=actor)


def task_options(variant: Dataset, spec: VariantSpec) -> dict[str, Any]:
    """Return the options of the task, which do not change once it is queued."""
    assert variant.derived_from is not None
    newest = variant.derived_from.documents.order_by("pk").values_list("pk", flat=True).last()
    return {
        "names": sorted(spec.names) if spec.names is not None else None,
        "newest": newest or 0,
        "release": spec.release.pk if spec.release else None,
    }


def source_documents(base: Dataset) -> Any:
    """Return the active documents with an image, by name."""
    active = base.documents.filter(state=Document.State.ACTIVE, images__isnull=False)
    return active.order_by("name").distinct()


def capture_of(kind: str) -> "Capture":
    """Return a kind of capture. Raises VariantError if it does not exist."""
    from .captures import CAPTURES

    if kind not in CAPTURES:
        raise VariantError("kind", f"Unknown kind {kind!r}. Use {', '.join(CAPTURES)}.")
    return CAPTURES[kind]


def _checked(base: Dataset, spec: VariantSpec) -> "Capture":
    capture = capture_of(spec.kind)
    if base.derived_from_id is not None:
        raise VariantError("kind", "This dataset is a variant. Use the original dataset.")
    if not 0 < spec.strength <= 1:
        raise VariantError("strength", "The strength must be above 0 and at most 1.")
    if not 0 <= spec.seed <= LARGEST_SEED:
        raise VariantError("seed", f"The seed must be from 0 to {LARGEST_SEED}.")
    if spec.release is not None and spec.release.dataset_id != base.pk:
        raise VariantError("release", "The release belongs to another dataset.")
    _check_names(base, capture, spec.names)
    if capture.keeps_normal and _other_gold(base).exists():
        raise VariantError(
            "kind", f"“{capture.title}” is for CC-OCR, whose gold states the orientation of images."
        )
    return capture


def _other_gold(base: Dataset) -> Any:
    """Return the documents with an image whose record is not of CC-OCR."""
    return source_documents(base).exclude(record__benchmark=CCOCR)


def _check_names(base: Dataset, capture: "Capture", names: Sequence[str] | None) -> None:
    there = set(source_documents(base).values_list("name", flat=True))
    if not there:
        raise VariantError("names", "No document of this dataset has an image.")
    if capture.needs_others and len(there) < 2:
        raise VariantError("kind", f"“{capture.title}” needs at least two documents with images.")
    if names is None:
        return
    if not names:
        raise VariantError("names", "Choose at least one document.")
    if unknown := sorted(set(names) - there):
        more = f" and {len(unknown) - 1:,} more" if len(unknown) > 1 else ""
        raise VariantError("names", f"No document with an image has the name {unknown[0]}{more}.")


def _derivation(capture: "Capture", spec: VariantSpec) -> dict[str, Any]:
    from .captures import VERSION

    return {
        "kind": capture.key,
        "title": capture.title,
        "strength": spec.strength if capture.has_strength else None,
        "seed": spec.seed,
        "version": VERSION,
    }


def _existing(base: Dataset, slug: str, derivation: dict[str, Any]) -> Dataset | None:
    """Return the variant with this slug and derivation; its derivation may have more keys."""
    there = Dataset.objects.filter(slug=slug, derived_from=base).first()
    if there is None or not there.derivation:
        return None
    return there if derivation.items() <= there.derivation.items() else None


def _words(capture: "Capture", spec: VariantSpec) -> str:
    title = capture.title[:1].lower() + capture.title[1:]
    return f"{title} {spec.strength:g}" if capture.has_strength else title


def _description(base: Dataset, capture: "Capture", spec: VariantSpec) -> str:
    return (
        f"The page images of {base.title} as simulated captures: {_words(capture, spec)}, seed"
        f" {spec.seed}. {capture.help} Text and facts are those of the original."
    )


@transaction.atomic
def carry_release(*, release: Release, variant: Dataset, actor: User | None) -> Release:
    """Copy a release to a variant, with the items whose documents the variant has.

    Version, gold lines, splits, visibility, licence and citation are the same, and `gold_sha256`
    too if all items are copied and no gold states an orientation. The published hash differs,
    because it includes the images. Returns an existing copy. Raises ReleaseError.
    """
    base = release.dataset
    if variant.derived_from_id != base.pk:
        raise ReleaseError([f"{variant.slug} is not a variant of {base.slug}"])
    Dataset.objects.select_for_update().get(pk=variant.pk)
    if there := variant.releases.filter(version=release.version).first():
        return there
    captures = _captures(variant)
    copies: dict[str, list[Document]] = defaultdict(list)
    for copy in variant.documents.only("name", "dataset").order_by("name"):
        copies[captures.get(copy.pk, {}).get("original", copy.name)].append(copy)
    items = [
        (item, document)
        for item in release.items.select_related("document").order_by("position")
        for document in copies.get(_document_name(item), ())
    ]
    if not items:
        raise ReleaseError([f"{variant.slug} has none of the documents of {release}"])
    carried = Release(
        dataset=variant,
        version=release.version,
        notes=_notes(release, len({item.pk for item, _ in items}), variant),
        visibility=release.visibility,
        benchmark=release.benchmark,
        labels=release.labels,
        licence=release.licence,
        citation=release.citation,
        frozen_by=actor,
    )
    rows: list[ReleaseItem] = []
    for item, document in items:
        gold = gold_of_capture(item.gold, release.benchmark, captures.get(document.pk))
        is_same = gold == item.gold
        rows.append(
            ReleaseItem(
                position=len(rows),
                name=item.name if is_same else f"{item.name}@{gold['orientation']}",
                document=document,
                gold=gold,
                facts=item.facts,
                sha256=item.sha256 if is_same else gold_sha256(gold),
            )
        )
    pairs = zip(rows, items, strict=True)
    splits = {row.name: item.split for row, (item, _) in pairs if item.split}
    return freeze_rows(carried, rows, splits or None)


def gold_of_capture(
    gold: dict[str, Any], benchmark: str, capture: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Return the gold of an image that was captured with these parameters."""
    degrees = (capture or {}).get("degrees")
    return gold if benchmark != CCOCR or degrees is None else oriented(gold, degrees)


def _document_name(item: ReleaseItem) -> str:
    """Return the name of the item's document, which may differ from the id of its gold."""
    return item.document.name if item.document else item.name


def _captures(variant: Dataset) -> dict[int, dict[str, Any]]:
    """Return the parameters of the first image of each document."""
    images = PageImage.objects.filter(document__dataset=variant, transform__isnull=False)
    transforms = images.order_by("document", "-number").values_list("document", "transform")
    return {document: transform for document, transform in transforms if transform}


def _notes(release: Release, items: int, variant: Dataset) -> str:
    """Return public notes: the number of items, and the kind of simulation."""
    count = f"all {items:,}" if items == release.item_count else f"{items:,} of the"
    return (
        f"Gold of {release.dataset.title} {release.version} ({count} items). The images are"
        f" simulated captures: {variant.simulation}."
    )


PER_PAGE = 20


@dataclass(frozen=True)
class VariantRow:
    """A variant in the list.

    `task` is its newest task and `carriable` are the releases that can be copied to it, newest
    first; both are for organisers.
    """

    dataset: Dataset
    task: DatasetTask | None
    carriable: list[Release]


@dataclass(frozen=True)
class VariantList:
    """A page of the variants of `base`. For a variant, `base` is its original dataset."""

    base: Dataset
    page: Page[Dataset]
    rows: list[VariantRow]
    may_manage: bool


def variant_list(user: Any, dataset: Dataset, *, page: str = "1") -> VariantList:
    """Return the visible variants by title, with at most four queries."""
    base = dataset.derived_from or dataset
    may_manage = is_organiser(user)
    variants = listed_datasets(user).filter(derived_from=base).order_by("title", "pk")
    shown: Page[Dataset] = Paginator(variants, PER_PAGE).get_page(page)
    released = list(visible_releases(user, base).order_by("-frozen_at", "-id"))
    tasks = _newest_tasks(shown) if may_manage else {}
    rows = [
        VariantRow(
            dataset=variant,
            task=tasks.get(variant.pk),
            carriable=_carriable(variant, released) if may_manage else [],
        )
        for variant in shown
    ]
    return VariantList(base, shown, rows, may_manage)


def _newest_tasks(variants: Page[Dataset]) -> dict[int, DatasetTask]:
    tasks = DatasetTask.objects.filter(dataset__in=list(variants), kind=DatasetTask.Kind.DERIVE)
    newest = {task.dataset_id: task for task in tasks.defer("report").order_by("pk")}
    for variant in variants:
        if variant.pk in newest:
            newest[variant.pk].dataset = variant
    return newest


def _carriable(variant: Dataset, released: list[Release]) -> list[Release]:
    there = {release.version for release in variant.releases.all()}
    return [release for release in released if release.version not in there]
