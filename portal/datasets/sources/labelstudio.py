"""Label Studio's JSON export: a list of tasks, each a page with the annotations of people.

The page is the HTML that the task holds; one that tells it by address alone is refused. Of its
annotations the ground truth is kept as gold, or the only one; among several without a ground truth
nobody has decided yet, so that none is.
"""

from typing import IO

from portal.facts import (
    KNOWN_LABELS,
    Page,
    ReadingError,
    RefusedHtml,
    SourcePage,
    Span,
    TagError,
    Task,
    TaskAnnotation,
    canonicalise,
    place_regions,
    read_tasks,
    write_tags,
)
from portal.files.archives import ArchiveFault, ArchiveLimits

from .fincriticaled import BENCHMARK
from .items import ItemError, SourceItem, SourceItems, item_name
from .json_arrays import json_items
from .json_values import JsonError, check_plain
from .layout import Refusal, printable
from .meta import described
from .opening import Source, open_source
from .table_rows import refused

_DESCRIBED = ("doc_type", "company", "form_type", "fiscal_year", "source_url", "licence")
_FAULTS_SHOWN = 3


def read_labelstudio(source: Source, name: str, limits: ArchiveLimits) -> SourceItems:
    """One item per task of all `.json` files, in the order of their names. Raises ArchiveFault when
    the source as a whole is unusable.

    One task is in memory at a time.
    """
    with open_source(source, name, limits) as files:
        exports = files.named(".json")
        if not exports:
            raise ArchiveFault("no_json", "there is no .json in it")
        for export in exports:
            with files.open(export) as file:
                yield from _read_export(file, printable(export), limits)


def _read_export(file: IO[bytes], shown: str, limits: ArchiveLimits) -> SourceItems:
    number = 0
    try:
        for number, item in enumerate(json_items(file, shown, limits), start=1):
            where = f"{shown}:task {number}"
            for task in read_tasks([item]):
                if isinstance(task, ReadingError):
                    yield Refusal(where, "bad_task", printable(str(task)))
                else:
                    yield _item(where, task)
    except ArchiveFault as fault:
        reason = f"{fault}; nothing from here on was read"
        yield Refusal(f"{shown}:task {number + 1}", fault.code, printable(reason))


def _item(where: str, task: Task) -> SourceItem | Refusal:
    try:
        check_plain(dict(task.data))
        if not task.html:
            raise ItemError("no_html", "the task holds no HTML; an address alone cannot be read")
        name = item_name(task.name or f"task_{task.id}")
        meta = described({key: task.data[key] for key in _DESCRIBED if key in task.data})
    except JsonError as error:
        return Refusal(where, "bad_value", str(error))
    except ItemError as error:
        return refused(where, error)
    except ValueError as error:
        return Refusal(where, "bad_meta", str(error))
    record, faults = None, _left_out(where, task)
    chosen = _chosen(task)
    if chosen is not None:
        html, fault = _gold(where, task, chosen)
        record = {"id": name, "html": html} if html else None
        faults += [fault] if fault else []
    return SourceItem(
        where,
        name,
        task.html,
        record=record,
        benchmark=BENCHMARK,
        meta=meta,
        faults=tuple(faults),
    )


def _standing(task: Task) -> list[TaskAnnotation]:
    return [one for one in task.annotations if not one.is_cancelled]


def _chosen(task: Task) -> TaskAnnotation | None:
    """The ground truth, or the only annotation."""
    standing = _standing(task)
    gold = [one for one in standing if one.is_gold]
    if len(gold) == 1:
        return gold[0]
    return standing[0] if len(standing) == 1 else None


def _left_out(where: str, task: Task) -> list[Refusal]:
    standing = _standing(task)
    skipped = len(task.annotations) - len(standing)
    faults = []
    if skipped:
        reason = f"{skipped} skipped by their annotators; nothing was taken from them"
        faults.append(Refusal(f"{where} skipped", "skipped", reason))
    if len(standing) > 1:
        if _chosen(task) is None:
            reason = f"{len(standing)} annotations and no one ground truth; none was kept as gold"
        else:
            reason = f"{len(standing) - 1} annotations beside the ground truth were left out"
        faults.append(Refusal(f"{where} annotations", "several_annotations", reason))
    return faults


def _gold(where: str, task: Task, chosen: TaskAnnotation) -> tuple[str, Refusal | None]:
    """The page with the annotation's spans as tags; empty, and why, if one of them has no place."""
    try:
        canonical = canonicalise(task.html)
        source = SourcePage(task.html)
        placement = place_regions(Page(canonical.html), chosen.regions, KNOWN_LABELS, source)
        spans = [Span(span.start, span.end, span.label) for span in placement.spans]
        html = write_tags(canonical.html, spans)
    except RefusedHtml:
        # The import refuses the page itself, with the same reason.
        return "", None
    except (TagError, ValueError) as error:
        return "", Refusal(f"{where} gold", "gold_not_placed", printable(str(error)))
    if not placement.unplaced:
        return html, None
    count = len(placement.unplaced)
    notes = "; ".join(str(note) for note in placement.unplaced[:_FAULTS_SHOWN])
    reason = f"{count} of {len(chosen.regions)} results have no place in the page: {notes}"
    return "", Refusal(f"{where} gold", "gold_not_placed", printable(reason))
