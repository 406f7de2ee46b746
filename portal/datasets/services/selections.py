"""Selections: documents drawn by a stratified sample that anybody with its spec can draw again."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models.fields.json import KT

from portal.accounts.models import User
from portal.audit.models import record_event
from portal.datasets.curation.stratified import StratifiedSample, draw_stratified, units
from portal.datasets.models import Dataset, Selection
from portal.datasets.selectors.document_filters import DocumentFilter, every_document

# What strata are made by; the industry stands in the metadata where a source tells it.
STRATA = {
    "doc_type": "type",
    "fiscal_year": "fiscal year",
    "company": "company",
    "industry": "industry",
    "form_type": "form",
    "source": "source",
    "language": "language",
}
MAX_SEED = 2**53 - 1
MAX_TITLE = 160
_AT_ONCE = 1_000


@dataclass(frozen=True)
class DrawSpec:
    """How a selection is drawn: by which strata, how many, of which documents.

    Either `size` documents in all, shared out in proportion, or `per_stratum` of each. Raises
    ValidationError for fields that are none of STRATA and for numbers out of range.
    """

    strata: tuple[str, ...]
    size: int | None = None
    per_stratum: int | None = None
    wanted: DocumentFilter = field(default_factory=lambda: DocumentFilter(state="active"))

    def __post_init__(self) -> None:
        if not self.strata or len(set(self.strata)) < len(self.strata):
            raise ValidationError({"strata": ["Choose what the strata are made by, each once."]})
        if unknown := [name for name in self.strata if name not in STRATA]:
            known = ", ".join(STRATA)
            raise ValidationError({"strata": [f"{unknown[0]} is none of {known}."]})
        if (self.size is None) == (self.per_stratum is None):
            raise ValidationError({"size": ["Give either a size or a number per stratum."]})
        if (self.size or self.per_stratum or 0) < 1:
            raise ValidationError({"size": ["The number must be at least 1."]})

    def as_json(self) -> dict[str, Any]:
        number = {"size": self.size} if self.size else {"per_stratum": self.per_stratum}
        return {"strata": list(self.strata), **number, "filters": self.wanted.as_json()}

    @classmethod
    def from_json(cls, spec: Mapping[str, Any]) -> "DrawSpec":
        return cls(
            strata=tuple(spec["strata"]),
            size=spec.get("size"),
            per_stratum=spec.get("per_stratum"),
            wanted=DocumentFilter.from_json(spec.get("filters", {})),
        )


@dataclass(frozen=True)
class Check:
    """What drawing again gives: names that only the selection has, and only the new draw."""

    only_stored: list[str]
    only_drawn: list[str]

    @property
    def is_same(self) -> bool:
        return not self.only_stored and not self.only_drawn


def new_seed() -> int:
    """A seed by chance, short enough to be typed."""
    return secrets.randbelow(10**6)


def draw(*, dataset: Dataset, spec: DrawSpec, seed: int) -> StratifiedSample:
    """The sample, of the documents as they are now. Writes nothing. Raises ValidationError."""
    if not 0 <= seed <= MAX_SEED:
        raise ValidationError({"seed": [f"A seed is a whole number from 0 to {MAX_SEED}."]})
    rows = every_document(dataset, spec.wanted).annotate(industry=KT("metadata__industry"))
    population = rows.values("name", *spec.strata).iterator(chunk_size=_AT_ONCE)
    return draw_stratified(
        units(population, "name", spec.strata),
        seed=seed,
        size=spec.size,
        per_stratum=spec.per_stratum,
    )


@transaction.atomic
def create_selection(
    *, dataset: Dataset, title: str, spec: DrawSpec, seed: int, actor: User | None
) -> Selection:
    """Draws and keeps the documents with spec and seed. Raises ValidationError by field."""
    title = title.strip()
    if not title or len(title) > MAX_TITLE:
        raise ValidationError({"title": [f"A title has 1 to {MAX_TITLE} characters."]})
    names = draw(dataset=dataset, spec=spec, seed=seed).keys
    if not names:
        raise ValidationError({"size": ["No document is left to draw from."]})
    try:
        with transaction.atomic():
            selection = Selection.objects.create(
                dataset=dataset, title=title, seed=seed, spec=spec.as_json(), created_by=actor
            )
    except IntegrityError as error:
        raise ValidationError({"title": ["Another selection has this title."]}) from error
    for start in range(0, len(names), _AT_ONCE):
        part = dataset.documents.filter(name__in=names[start : start + _AT_ONCE])
        selection.documents.add(*part.values_list("pk", flat=True))
    record_event(
        verb="create_selection",
        subject=selection,
        actor=actor,
        seed=seed,
        spec=selection.spec,
        documents=len(names),
    )
    return selection


def check_selection(selection: Selection) -> Check:
    """Draws again by the recorded spec and seed, and compares."""
    spec = DrawSpec.from_json(selection.spec)
    drawn = set(draw(dataset=selection.dataset, spec=spec, seed=selection.seed).keys)
    stored = set(selection.documents.values_list("name", flat=True))
    return Check(sorted(stored - drawn), sorted(drawn - stored))
