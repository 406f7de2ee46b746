"""Stress variants: copies of a dataset whose page images are simulated captures.

A copy is as secret as its original from the moment it is there: `Document.objects.hidden` looks at
the original's releases, too, and a variant of a private dataset is seen by nobody else.
"""

import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db import IntegrityError, transaction

from portal.accounts.models import User
from portal.audit.models import record_event
from portal.datasets.models import Dataset, DatasetTask, Document, Release

from .dataset_tasks import start_task

if TYPE_CHECKING:
    from portal.datasets.stress import Capture

# JSON and JavaScript know every whole number up to here.
LARGEST_SEED = 2**53 - 1
_LONGEST_SLUG, _LONGEST_TITLE = 80, 160


class VariantError(Exception):
    """Why a variant cannot be made: the field it concerns, and the reason for people."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field
        self.message = message


@dataclass(frozen=True)
class VariantSpec:
    """What to derive: `names` are the documents to take, None for all that have an image.

    `release` is that of the base whose gold is carried over, None for none.
    """

    kind: str
    strength: float
    seed: int
    names: Sequence[str] | None = None
    release: Release | None = None


def any_seed() -> int:
    """A seed for those who name none; short enough to be written down."""
    return secrets.randbelow(1_000_000)


def suggest_slug(base: Dataset, spec: VariantSpec) -> str:
    """BASE-KIND-PERCENT-SEED, the base cut short where that is too long.

    The strength is in per cent, for an address holds no point.
    """
    parts = [spec.kind.replace("_", "-")]
    if capture_of(spec.kind).has_strength:
        parts.append(f"{100 * spec.strength:g}".replace(".", "-"))
    ending = "-".join([*parts, str(spec.seed)])
    return f"{base.slug[: _LONGEST_SLUG - len(ending) - 1]}-{ending}"


def create_variant(
    *, base: Dataset, spec: VariantSpec, slug: str = "", actor: User | None
) -> Dataset:
    """An empty, private variant, to be filled by `start_deriving` or a command.

    Asked for the same again it gives the one there is. Raises VariantError.
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
        raise VariantError("slug", f"“{slug}” is no address: letters, digits and hyphens.")
    try:
        with transaction.atomic():
            variant.save()
            record_event(
                verb="create_variant", subject=variant, actor=actor, base=base.slug, **derivation
            )
    except IntegrityError as error:
        if same := _existing(base, slug, derivation):
            return same
        raise VariantError("slug", f"There is another dataset “{slug}”.") from error
    return variant


def start_deriving(*, variant: Dataset, spec: VariantSpec, actor: User | None) -> DatasetTask:
    """Queues the work; of a variant that is being made, the task under way."""
    options = task_options(variant, spec)
    return start_task(dataset=variant, kind=DatasetTask.Kind.DERIVE, options=options, actor=actor)


def task_options(variant: Dataset, spec: VariantSpec) -> dict[str, Any]:
    """What a runner has to know besides the variant, fixed when the work is ordered."""
    assert variant.derived_from is not None
    newest = variant.derived_from.documents.order_by("pk").values_list("pk", flat=True).last()
    return {
        "names": sorted(spec.names) if spec.names is not None else None,
        "newest": newest or 0,
        "release": spec.release.pk if spec.release else None,
    }


def source_documents(base: Dataset) -> Any:
    """The documents that have an image to be captured, by name; those held back stay behind."""
    active = base.documents.filter(state=Document.State.ACTIVE, images__isnull=False)
    return active.order_by("name").distinct()


def capture_of(kind: str) -> "Capture":
    """Raises VariantError for a kind that there is not."""
    from portal.datasets.stress import CAPTURES

    if kind not in CAPTURES:
        raise VariantError("kind", f"There is no kind {kind!r}; there are {', '.join(CAPTURES)}.")
    return CAPTURES[kind]


def _checked(base: Dataset, spec: VariantSpec) -> "Capture":
    capture = capture_of(spec.kind)
    if base.derived_from_id is not None:
        raise VariantError("kind", "This is a variant already; derive from the original.")
    if not 0 < spec.strength <= 1:
        raise VariantError("strength", "The strength is above 0 and at most 1.")
    if not 0 <= spec.seed <= LARGEST_SEED:
        raise VariantError("seed", f"The seed is from 0 to {LARGEST_SEED}.")
    if spec.release is not None and spec.release.dataset_id != base.pk:
        raise VariantError("release", "That is a release of another dataset.")
    _check_names(base, capture, spec.names)
    return capture


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
    from portal.datasets.stress import VERSION

    return {
        "kind": capture.key,
        "title": capture.title,
        "strength": spec.strength if capture.has_strength else None,
        "seed": spec.seed,
        "version": VERSION,
    }


def _existing(base: Dataset, slug: str, derivation: dict[str, Any]) -> Dataset | None:
    """The variant that was made with the same words, what its making added to them aside."""
    there = Dataset.objects.filter(slug=slug, derived_from=base).first()
    if there is None or not there.derivation:
        return None
    return there if derivation.items() <= there.derivation.items() else None


def _words(capture: "Capture", spec: VariantSpec) -> str:
    title = capture.title[:1].lower() + capture.title[1:]
    return f"{title} {spec.strength:g}" if capture.has_strength else title


def _description(base: Dataset, capture: "Capture", spec: VariantSpec) -> str:
    return (
        f"The page images of {base.title} as simulated captures: {_words(capture, spec)}, made with"
        f" the seed {spec.seed}. {capture.help} No camera took these images. Text and facts are"
        " those of the original."
    )
