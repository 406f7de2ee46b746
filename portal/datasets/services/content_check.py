"""Checking pages for required content, and holding back those that lack some of it."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from portal.datasets.curation.content_rules import CONTENTS, Content, missing_content
from portal.datasets.models import DatasetTask, Document, DocumentContent
from portal.datasets.selectors.document_filters import UNKNOWN, DocumentFilter, every_document
from portal.datasets.selectors.page_content import CONTENT_LABELS

from .dataset_tasks import Steps, TaskReport
from .documents import hold_documents
from .task_options import OptionsError, refuse_others

# Of one reason, held back in one transaction.
_AT_ONCE = 200
_ASK_EVERY = 20


def check_content_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """`required` names of CONTENTS, `hold` and `filter`, as they are kept. Raises OptionsError."""
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
    for name, value in values.items():
        if name not in known or type(value) is not known[name]:
            raise OptionsError(f"filter: {name} is unknown or has the wrong form")
    year = values.get("year", "")
    if year not in {"", UNKNOWN} and not (year.isdecimal() and len(year) == 4):
        raise OptionsError(f"filter: year must be four digits or {UNKNOWN}")
    return values


def check_content(task: DatasetTask, steps: Steps) -> TaskReport | None:
    """Reports the pages that lack content; with the option `hold` they are held back, too.

    Held pages are not looked at, so that a second run goes on where the first stopped.
    """
    required: Sequence[Content] = task.options["required"]
    wanted = DocumentFilter.from_json(task.options.get("filter", {}))
    found = every_document(task.dataset, wanted).filter(
        kind=Document.Kind.PAGE, state=Document.State.ACTIVE
    )
    rows = list(found.values_list("pk", "name"))
    report = TaskReport()
    lacking: dict[str, list[int]] = defaultdict(list)
    for done, (key, name) in enumerate(rows):
        if done % _ASK_EVERY == 0:
            if steps.stop():
                return None
            steps.progress(done, len(rows))
        html = DocumentContent.objects.filter(pk=key).values_list("html", flat=True).first()
        if html is None:
            continue
        missing = missing_content(html, required)
        _report(report, name, missing)
        if missing and task.options["hold"]:
            reason = lacks(missing)
            lacking[reason].append(key)
            if len(lacking[reason]) == _AT_ONCE:
                _hold(task, report, reason, lacking.pop(reason))
    for reason, keys in lacking.items():
        _hold(task, report, reason, keys)
    steps.progress(len(rows), len(rows))
    return report


def lacks(missing: Sequence[Content]) -> str:
    """In words, such as "lacks a footnote and a dated reference"."""
    names = [f"a {CONTENT_LABELS[content]}" for content in missing]
    head = ", ".join(names[:-1])
    return f"lacks {head} and {names[-1]}" if head else f"lacks {names[-1]}"


def _report(report: TaskReport, name: str, missing: Sequence[Content]) -> None:
    report.count("pages checked")
    if not missing:
        report.count("with everything")
        return
    for content in missing:
        report.count(f"without a {CONTENT_LABELS[content]}")
    report.fault(name, "lacks_content", lacks(missing))


def _hold(task: DatasetTask, report: TaskReport, reason: str, keys: list[int]) -> None:
    held = hold_documents(dataset=task.dataset, keys=keys, reason=reason, actor=task.created_by)
    report.count("held back", held)
