"""Looking for near duplicates in a dataset, and deciding which of two stays."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.utils import timezone

from portal.accounts.models import User
from portal.audit.models import record_event
from portal.datasets.models import Dataset, DatasetTask, Document, DocumentContent, NearDuplicate

from .dataset_tasks import Steps, TaskReport
from .task_options import OptionsError, refuse_others

# As in `curation.duplicates`, which loads numpy and is imported where it is needed.
LEAST_THRESHOLD = 0.9
THRESHOLD = 0.95
_ASK_EVERY = 20
AT_ONCE = 500
Decision = NearDuplicate.Decision
State = Document.State


class _Stopped(Exception):
    pass


def check_search(options: Mapping[str, Any]) -> dict[str, Any]:
    """`threshold`, from which on texts are near duplicates. Raises OptionsError."""
    refuse_others(options, {"threshold"})
    threshold = options.get("threshold", THRESHOLD)
    if type(threshold) not in {int, float} or not LEAST_THRESHOLD <= threshold <= 1:
        raise OptionsError(f"threshold: must be a number from {LEAST_THRESHOLD} to 1")
    return {"threshold": float(threshold)}


def find_duplicates(task: DatasetTask, steps: Steps) -> TaskReport | None:
    """Compares the texts of all active pages; signatures alone are kept in memory.

    Decided pairs stay as they are; open ones that are found no more go.
    """
    from portal.datasets.curation.duplicates import near_duplicates

    pages = task.dataset.documents.filter(kind=Document.Kind.PAGE, state=State.ACTIVE)
    keys = [str(pk) for pk in pages.order_by("pk").values_list("pk", flat=True)]

    def each(done: int) -> None:
        if done % _ASK_EVERY == 0 or done == len(keys):
            if steps.stop():
                raise _Stopped
            steps.progress(done, len(keys))

    threshold = task.options.get("threshold", THRESHOLD)
    try:
        search = near_duplicates(keys, _text, threshold=threshold, each=each)
    except _Stopped:
        return None
    report = TaskReport()
    pairs = {(int(pair.first), int(pair.second)): pair.similarity for pair in search.pairs}
    report.count("pages compared", len(keys))
    report.count("pairs found", len(pairs))
    report.count("new pairs", store_pairs(dataset=task.dataset, pairs=pairs))
    if search.passed_over:
        report.count("candidates passed over", search.passed_over)
    if search.without_words:
        report.count("pages without words", len(search.without_words))
    return report


def _text(key: str) -> str:
    """A page's text; of one that has gone meanwhile none."""
    texts = DocumentContent.objects.filter(pk=int(key)).values_list("text", flat=True)
    return texts.first() or ""


@transaction.atomic
def store_pairs(*, dataset: Dataset, pairs: Mapping[tuple[int, int], float]) -> int:
    """Brings the rows of a dataset in line with what was found; returns how many are new."""
    stored = {
        (pair.first_id, pair.second_id): pair
        for pair in NearDuplicate.objects.filter(second__dataset=dataset)
    }
    gone = [
        pair.pk
        for key, pair in stored.items()
        if key not in pairs and pair.decision == Decision.OPEN
    ]
    for start in range(0, len(gone), AT_ONCE):
        NearDuplicate.objects.filter(pk__in=gone[start : start + AT_ONCE]).delete()
    changed = []
    for key, similarity in pairs.items():
        if key in stored and stored[key].similarity != similarity:
            stored[key].similarity = similarity
            changed.append(stored[key])
    NearDuplicate.objects.bulk_update(changed, ["similarity"], batch_size=AT_ONCE)
    new = [
        NearDuplicate(first_id=first, second_id=second, similarity=similarity)
        for (first, second), similarity in pairs.items()
        if (first, second) not in stored
    ]
    NearDuplicate.objects.bulk_create(new, batch_size=AT_ONCE)
    return len(new)


@transaction.atomic
def decide_duplicate(*, pair: NearDuplicate, decision: str, actor: User) -> NearDuplicate:
    """Keeps both or holds one back. Another decision than before takes up what that held back."""
    stored = (
        NearDuplicate.objects.select_for_update(of=("self",))
        .select_related("first__dataset", "second__dataset")
        .get(pk=pair.pk)
    )
    if stored.decision == decision:
        return stored
    for document, other in ((stored.first, stored.second), (stored.second, stored.first)):
        held = document.state == State.HELD and document.held_reason == _reason(other)
        if held:
            document.state, document.held_reason = State.ACTIVE, ""
            document.save(update_fields=["state", "held_reason"])
    _hold(stored, decision)
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


def _hold(pair: NearDuplicate, decision: str) -> None:
    """One that is held back for another reason stays so."""
    chosen = {
        Decision.HELD: (pair.second, pair.first),
        Decision.HELD_FIRST: (pair.first, pair.second),
    }
    if decision not in chosen:
        return
    document, other = chosen[Decision(decision)]
    if document.state == State.ACTIVE:
        document.state, document.held_reason = State.HELD, _reason(other)
        document.save(update_fields=["state", "held_reason"])


def _reason(other: Document) -> str:
    return f"near duplicate of {other.name}"
