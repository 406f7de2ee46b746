"""Looking for personal data in the pages of a dataset, and deciding on what was found."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from django.db import transaction
from django.utils import timezone

from portal.accounts.models import User
from portal.audit.models import record_event
from portal.datasets.curation.pii import PiiMatch, find_pii
from portal.datasets.models import Dataset, DatasetTask, Document, DocumentContent, PiiFinding
from portal.facts import text_borders

from .dataset_tasks import Steps, TaskReport
from .masking import MaskingError, mask_document
from .task_options import refuse_others

Decision = PiiFinding.Decision

# A decision reads and writes all documents concerned in one transaction.
MOST_AT_ONCE = 500
_ASK_EVERY = 20

__all__ = ["MaskingError", "check_scan", "decide_findings", "scan_personal_data", "store_findings"]


def check_scan(options: Mapping[str, Any]) -> dict[str, Any]:
    """A scan has no options. Raises OptionsError."""
    refuse_others(options, set())
    return {}


def scan_personal_data(task: DatasetTask, steps: Steps) -> TaskReport | None:
    """Scans every active page. Decisions stay; what a rule finds no more and nobody decided goes.

    A second run finds the rows of the first and changes nothing.
    """
    report = TaskReport()
    pages = task.dataset.documents.filter(kind=Document.Kind.PAGE)
    held = pages.filter(state=Document.State.HELD).count()
    keys = list(
        pages.filter(state=Document.State.ACTIVE).order_by("pk").values_list("pk", flat=True)
    )
    for done, key in enumerate(keys):
        if done % _ASK_EVERY == 0:
            if steps.stop():
                return None
            steps.progress(done, len(keys))
        content = DocumentContent.objects.filter(pk=key).first()
        if content is None:
            continue
        matches = find_pii(content.text, text_borders(content.html))
        report.count("new findings", store_findings(document=key, matches=matches))
        report.count("pages looked through")
        for match in matches:
            report.count(PiiFinding.Kind(match.kind).label)
    if held:
        report.count("held back, not looked through", held)
    steps.progress(len(keys), len(keys))
    return report


@transaction.atomic
def store_findings(*, document: int, matches: Iterable[PiiMatch]) -> int:
    """Brings the rows of a document in line with what was found; returns how many are new."""
    wanted: dict[tuple[str, int], PiiMatch] = {
        (match.kind, match.start): match for match in matches
    }
    stored = PiiFinding.objects.select_for_update().filter(document=document)
    gone = []
    for finding in stored:
        match = wanted.pop((finding.kind, finding.start), None)
        if match is None and finding.decision == Decision.OPEN:
            gone.append(finding.pk)
        elif match is not None and (finding.end, finding.rule) != (match.end, match.rule):
            finding.end, finding.rule = match.end, match.rule
            finding.save(update_fields=["end", "rule"])
    if gone:
        PiiFinding.objects.filter(pk__in=gone).delete()
    PiiFinding.objects.bulk_create(
        PiiFinding(
            document_id=document,
            kind=match.kind,
            rule=match.rule,
            start=match.start,
            end=match.end,
        )
        for match in wanted.values()
    )
    return len(wanted)


@transaction.atomic
def decide_findings(
    *, dataset: Dataset, keys: Iterable[int], decision: str, reason: str, actor: User
) -> list[PiiFinding]:
    """Keeps or masks findings of the dataset; returns those that were decided.

    What is masked stays so and is passed over. Masking replaces the document, see `mask_document`;
    it raises MaskingError, and then nothing at all is decided.
    """
    findings = list(
        PiiFinding.objects.select_for_update(of=("self",))
        .filter(document__dataset=dataset, pk__in=list(keys))
        .exclude(decision=Decision.MASKED)
        .select_related("document__dataset")
        .order_by("document__name", "start")
    )
    if decision == Decision.MASKED:
        _mask(findings, reason, actor)
    now = timezone.now()
    for finding in findings:
        finding.decision, finding.reason = Decision(decision), reason
        finding.decided_by, finding.decided_at = actor, now
    PiiFinding.objects.bulk_update(findings, ["decision", "reason", "decided_by", "decided_at"])
    if findings:
        record_event(
            verb="decide_personal_data",
            subject=dataset,
            actor=actor,
            decision=decision,
            reason=reason,
            findings=[finding.pk for finding in findings],
        )
    return findings


def _mask(findings: Iterable[PiiFinding], reason: str, actor: User) -> None:
    by_document: dict[int, list[PiiFinding]] = defaultdict(list)
    for finding in findings:
        by_document[finding.document_id].append(finding)
    for chosen in by_document.values():
        mask_document(document=chosen[0].document, findings=chosen, reason=reason, actor=actor)
