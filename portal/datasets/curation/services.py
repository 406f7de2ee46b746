"""Check pages for required content, find and list near duplicates, draw and list selections.

A selection is a stratified sample of documents. Its spec and seed draw the same sample again.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import Count, QuerySet
from django.db.models.fields.json import KT
from django.utils import timezone

from portal.accounts.models import User
from portal.audit.models import record_event
from portal.datasets.dataset_tasks import OptionsError, Steps, TaskReport, refuse_others
from portal.datasets.documents.content_rules import CONTENTS, Content, missing_content
from portal.datasets.documents.selectors import CONTENT_LABELS
from portal.datasets.documents.services import hold_documents
from portal.datasets.documents.table import PARAMETERS, UNKNOWN, DocumentFilter, every_document
from portal.datasets.models import (
    Dataset,
    DatasetTask,
    Document,
    DocumentContent,
    DocumentType,
    NearDuplicate,
    Selection,
)

from .draws import StratifiedSample, StratumSample, draw_stratified, units

# Documents with the same reason that one transaction holds back.
_HELD_AT_ONCE = 200


def check_content_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Check the options `required` (of CONTENTS), `hold` and `filter`. Raises OptionsError."""
    refuse_others(options, {"required", "hold", "filter"})
    required = options.get("required", list(CONTENTS))
    if not isinstance(required, list) or not required or not set(required) <= set(CONTENTS):
        raise OptionsError(f"required: must be a list of {', '.join(CONTENTS)}")
    hold = options.get("hold", False)
    if not isinstance(hold, bool):
        raise OptionsError("hold: must be true or false")
    return {
        "required": [content for content in CONTENTS if content in required],
        "hold": hold,
        "filter": _checked_filter(options.get("filter", {})),
    }


def _checked_filter(values: Any) -> dict[str, Any]:
    if not isinstance(values, dict):
        raise OptionsError("filter: must be an object")
    known = dict.fromkeys(DocumentFilter().__dict__, str) | {"min_facts": int}
    fields = {PARAMETERS.get(str(name), str(name)): value for name, value in values.items()}
    for name, value in fields.items():
        if name not in known or type(value) is not known[name]:
            raise OptionsError(f"filter: {name} is unknown or has the wrong type")
    year = fields.get("year", "")
    if year not in {"", UNKNOWN} and not (year.isdecimal() and len(year) == 4):
        raise OptionsError(f"filter: fiscal_year must be four digits or {UNKNOWN}")
    return fields


def check_content(task: DatasetTask, steps: Steps) -> TaskReport:
    """Report the pages that lack content, and hold them back if the option `hold` is set.

    Held pages are skipped, so a second run continues where the first one stopped.
    """
    required: Sequence[Content] = task.options["required"]
    wanted = DocumentFilter.from_json(task.options.get("filter", {}))
    found = every_document(task.dataset, wanted).filter(
        kind=Document.Kind.PAGE, state=Document.State.ACTIVE
    )
    rows = list(found.values_list("pk", "name"))
    report = TaskReport()
    lacking: dict[str, list[int]] = defaultdict(list)
    for key, name in steps.over(rows):
        html = DocumentContent.objects.filter(pk=key).values_list("html", flat=True).first()
        if html is None:
            continue
        missing = missing_content(html, required)
        _content_report(report, name, missing)
        if missing and task.options["hold"]:
            reason = lacks(missing)
            lacking[reason].append(key)
            if len(lacking[reason]) == _HELD_AT_ONCE:
                _hold_lacking(task, report, reason, lacking.pop(reason))
    for reason, keys in lacking.items():
        _hold_lacking(task, report, reason, keys)
    return report


def lacks(missing: Sequence[Content]) -> str:
    """Describe missing content, for example "lacks a footnote and a dated reference"."""
    names = [f"a {CONTENT_LABELS[content]}" for content in missing]
    head = ", ".join(names[:-1])
    return f"lacks {head} and {names[-1]}" if head else f"lacks {names[-1]}"


def _content_report(report: TaskReport, name: str, missing: Sequence[Content]) -> None:
    report.count("documents checked")
    if not missing:
        report.count("with all required content")
        return
    for content in missing:
        report.count(f"without a {CONTENT_LABELS[content]}")
    report.fault(name, "lacks_content", lacks(missing))


def _hold_lacking(task: DatasetTask, report: TaskReport, reason: str, keys: list[int]) -> None:
    held = hold_documents(dataset=task.dataset, keys=keys, reason=reason, actor=task.created_by)
    report.count("held back", held)


# The same values as in `near_duplicates`, which loads numpy and is imported only when needed.
LEAST_THRESHOLD = 0.9
DUPLICATE_THRESHOLD = 0.95
PAIRS_AT_ONCE = 500
Decision = NearDuplicate.Decision
State = Document.State


def check_search(options: Mapping[str, Any]) -> dict[str, Any]:
    """Check the option `threshold`, the least similarity. Raises OptionsError."""
    refuse_others(options, {"threshold"})
    threshold = options.get("threshold", DUPLICATE_THRESHOLD)
    if type(threshold) not in {int, float} or not LEAST_THRESHOLD <= threshold <= 1:
        raise OptionsError(f"threshold: must be a number from {LEAST_THRESHOLD} to 1")
    return {"threshold": float(threshold)}


def find_duplicates(task: DatasetTask, steps: Steps) -> TaskReport:
    """Compare the texts of all active pages. Only their signatures are kept in memory.

    Decided pairs are kept. Open pairs that are no longer found are deleted.
    """
    from .near_duplicates import near_duplicates

    pages = task.dataset.documents.filter(kind=Document.Kind.PAGE, state=State.ACTIVE)
    keys = [str(pk) for pk in pages.order_by("pk").values_list("pk", flat=True)]
    threshold = task.options.get("threshold", DUPLICATE_THRESHOLD)
    search = near_duplicates(
        keys, _text, threshold=threshold, each=lambda done: steps.at(done, len(keys))
    )
    report = TaskReport()
    pairs = {(int(pair.first), int(pair.second)): pair.similarity for pair in search.pairs}
    report.count("documents compared", len(keys))
    report.count("pairs found", len(pairs))
    report.count("new pairs", store_pairs(dataset=task.dataset, pairs=pairs))
    if search.passed_over:
        report.count("candidates not compared", search.passed_over)
    if search.without_words:
        report.count("documents without words", len(search.without_words))
    return report


def _text(key: str) -> str:
    """Return the text of a page, or "" if it was deleted."""
    texts = DocumentContent.objects.filter(pk=int(key)).values_list("text", flat=True)
    return texts.first() or ""


@transaction.atomic
def store_pairs(*, dataset: Dataset, pairs: Mapping[tuple[int, int], float]) -> int:
    """Update the stored pairs of a dataset and return the number of new ones."""
    stored = {
        (pair.first_id, pair.second_id): pair
        for pair in NearDuplicate.objects.filter(second__dataset=dataset)
    }
    gone = [
        pair.pk
        for key, pair in stored.items()
        if key not in pairs and pair.decision == Decision.OPEN
    ]
    for start in range(0, len(gone), PAIRS_AT_ONCE):
        NearDuplicate.objects.filter(pk__in=gone[start : start + PAIRS_AT_ONCE]).delete()
    changed = []
    for key, similarity in pairs.items():
        if key in stored and stored[key].similarity != similarity:
            stored[key].similarity = similarity
            changed.append(stored[key])
    NearDuplicate.objects.bulk_update(changed, ["similarity"], batch_size=PAIRS_AT_ONCE)
    new = [
        NearDuplicate(first_id=first, second_id=second, similarity=similarity)
        for (first, second), similarity in pairs.items()
        if (first, second) not in stored
    ]
    NearDuplicate.objects.bulk_create(new, batch_size=PAIRS_AT_ONCE)
    return len(new)


@transaction.atomic
def decide_duplicate(*, pair: NearDuplicate, decision: str, actor: User) -> NearDuplicate:
    """Keep both documents or hold one back. A new decision undoes the previous one."""
    stored = (
        NearDuplicate.objects.select_for_update(of=("self",))
        .select_related("first__dataset", "second__dataset")
        .get(pk=pair.pk)
    )
    if stored.decision == decision:
        return stored
    for document, other in ((stored.first, stored.second), (stored.second, stored.first)):
        held = document.state == State.HELD and document.held_reason == _duplicate_reason(other)
        if held:
            document.state, document.held_reason = State.ACTIVE, ""
            document.save(update_fields=["state", "held_reason"])
    _hold_one(stored, decision)
    before, stored.decision = stored.decision, Decision(decision)
    stored.decided_by, stored.decided_at = actor, timezone.now()
    stored.save()
    record_event(
        verb="decide_near_duplicate",
        subject=stored,
        actor=actor,
        first=stored.first.name,
        second=stored.second.name,
        decision=decision,
        before=before,
    )
    return stored


def _hold_one(pair: NearDuplicate, decision: str) -> None:
    """Hold one document back, unless it is already held back for another reason."""
    chosen = {
        Decision.HELD: (pair.second, pair.first),
        Decision.HELD_FIRST: (pair.first, pair.second),
    }
    if decision not in chosen:
        return
    document, other = chosen[Decision(decision)]
    if document.state == State.ACTIVE:
        document.state, document.held_reason = State.HELD, _duplicate_reason(other)
        document.save(update_fields=["state", "held_reason"])


def _duplicate_reason(other: Document) -> str:
    return f"near-duplicate of {other.name}"


def find_pairs(dataset: Dataset, *, decision: str = "") -> QuerySet[NearDuplicate]:
    """Return the pairs of a dataset, the most similar ones first."""
    pairs = NearDuplicate.objects.filter(second__dataset=dataset)
    if decision:
        pairs = pairs.filter(decision=decision)
    return (
        pairs.select_related("first__dataset", "second__dataset", "decided_by")
        .defer("first__metadata", "second__metadata")
        .order_by("-similarity", "id")
    )


def following_pair(pair: NearDuplicate) -> NearDuplicate | None:
    """Return the next open pair."""
    waiting = find_pairs(pair.second.dataset, decision=NearDuplicate.Decision.OPEN)
    return waiting.exclude(pk=pair.pk).first()


# Fields for strata. Some sources give the industry in the metadata.
STRATA = {
    "doc_type": "type",
    "fiscal_year": "fiscal year",
    "company": "company",
    "industry": "industry",
    "form_type": "form",
    "source": "source",
    "language": "language",
    "category": "category (task or track)",
    "subset": "subset (receipt type or subtask)",
    "condition": "capture condition",
}
MAX_SEED = 2**53 - 1
MAX_TITLE = 160
_DRAWN_AT_ONCE = 1_000


@dataclass(frozen=True)
class DrawSpec:
    """The strata, number and documents of a selection.

    It has `size` documents in proportion to the strata, or `evenly` from all of them, or
    `per_stratum` of each. Raises ValidationError for fields not in STRATA and for numbers out of
    range.
    """

    strata: tuple[str, ...]
    size: int | None = None
    per_stratum: int | None = None
    evenly: bool = False
    wanted: DocumentFilter = field(default_factory=lambda: DocumentFilter(state="active"))

    def __post_init__(self) -> None:
        if not self.strata or len(set(self.strata)) < len(self.strata):
            raise ValidationError({"strata": ["Choose at least one field, each only once."]})
        if unknown := [name for name in self.strata if name not in STRATA]:
            known = ", ".join(STRATA)
            raise ValidationError({"strata": [f"Unknown field {unknown[0]}. Use {known}."]})
        if (self.size is None) == (self.per_stratum is None):
            raise ValidationError(
                {"size": ["Enter either a total sample size or a number per stratum."]}
            )
        if (self.size or self.per_stratum or 0) < 1:
            raise ValidationError({"size": ["The number must be at least 1."]})
        if self.evenly and self.size is None:
            raise ValidationError({"evenly": ["Enter a total sample size to divide it evenly."]})

    def as_json(self) -> dict[str, Any]:
        number: dict[str, Any] = {"per_stratum": self.per_stratum}
        if self.size:
            number = {"size": self.size, **({"evenly": True} if self.evenly else {})}
        return {"strata": list(self.strata), **number, "filters": self.wanted.as_json()}

    @classmethod
    def from_json(cls, spec: Mapping[str, Any]) -> "DrawSpec":
        return cls(
            strata=tuple(spec["strata"]),
            size=spec.get("size"),
            per_stratum=spec.get("per_stratum"),
            evenly=spec.get("evenly", False),
            wanted=DocumentFilter.from_json(spec.get("filters", {})),
        )


@dataclass(frozen=True)
class Check:
    """The names that only the selection or only a new draw has."""

    only_stored: list[str]
    only_drawn: list[str]

    @property
    def is_same(self) -> bool:
        return not self.only_stored and not self.only_drawn


def drawable(wanted: DocumentFilter) -> DocumentFilter:
    """Exclude documents that are held back, unless the filter asks for them."""
    return replace(wanted, state=wanted.state or Document.State.ACTIVE.value)


def draw(*, dataset: Dataset, spec: DrawSpec, seed: int) -> StratifiedSample:
    """Draw a sample from the current documents without saving it. Raises ValidationError."""
    if not 0 <= seed <= MAX_SEED:
        raise ValidationError({"seed": [f"Enter a whole number from 0 to {MAX_SEED}."]})
    rows = every_document(dataset, spec.wanted).annotate(industry=KT("metadata__industry"))
    population = rows.values("name", *spec.strata).iterator(chunk_size=_DRAWN_AT_ONCE)
    return draw_stratified(
        units(population, "name", spec.strata),
        seed=seed,
        size=spec.size,
        per_stratum=spec.per_stratum,
        evenly=spec.evenly,
    )


@transaction.atomic
def create_selection(
    *, dataset: Dataset, title: str, spec: DrawSpec, seed: int, actor: User | None
) -> Selection:
    """Draw documents and save them with their spec and seed. Raises ValidationError by field."""
    title = title.strip()
    if not title or len(title) > MAX_TITLE:
        raise ValidationError({"title": [f"Enter a title of 1 to {MAX_TITLE} characters."]})
    names = draw(dataset=dataset, spec=spec, seed=seed).keys
    if not names:
        raise ValidationError({"size": ["No document matches the filter."]})
    try:
        with transaction.atomic():
            selection = Selection.objects.create(
                dataset=dataset, title=title, seed=seed, spec=spec.as_json(), created_by=actor
            )
    except IntegrityError as error:
        raise ValidationError({"title": ["Another selection already has this title."]}) from error
    for start in range(0, len(names), _DRAWN_AT_ONCE):
        part = dataset.documents.filter(name__in=names[start : start + _DRAWN_AT_ONCE])
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
    """Draw again with the stored spec and seed, and compare the result with the selection."""
    spec = DrawSpec.from_json(selection.spec)
    drawn = set(draw(dataset=selection.dataset, spec=spec, seed=selection.seed).keys)
    stored = set(selection.documents.values_list("name", flat=True))
    return Check(sorted(stored - drawn), sorted(drawn - stored))


# A longer table is cut and shows the number of strata that are left out.
STRATA_SHOWN = 200


def strata_rows(
    sample: StratifiedSample, fields: tuple[str, ...]
) -> list[tuple[list[str], StratumSample]]:
    """Return the first STRATA_SHOWN strata with their values for display."""
    types: dict[str, str] = {value: str(label) for value, label in DocumentType.choices}
    rows = []
    for stratum in sample.strata[:STRATA_SHOWN]:
        values = [
            types.get(value, value) if name == "doc_type" else value or "unknown"
            for name, value in zip(fields, stratum.stratum, strict=True)
        ]
        rows.append((values, stratum))
    return rows


def selection_rows(dataset: Dataset) -> QuerySet[Selection]:
    """Return selections, newest first, with their number of documents as `drawn`."""
    rows = dataset.selections.select_related("created_by").annotate(drawn=Count("documents"))
    return rows.order_by("-id")


def selection_lines(selection: Selection) -> Iterator[list[Any]]:
    """Yield the rows of the CSV file: the header, then the documents by name."""
    columns = ["name", "doc_type", "fiscal_year", "company", "source", "language"]
    yield columns
    rows = selection.documents.order_by("name").values_list(*columns)
    for row in rows.iterator(chunk_size=1_000):
        yield list(row)
