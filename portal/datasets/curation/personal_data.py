"""Scan pages for personal data, list findings with their context, decide on them, and mask them.

Content never changes, so a masked page is a new document that replaces the original.
docs/decisions/013-masking.md explains why images, records and masked XBRL facts are not copied.
"""

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Greatest, Substr
from django.utils import timezone

from portal.accounts.models import User
from portal.audit.models import record_event
from portal.datasets.dataset_tasks import Steps, TaskReport, refuse_others
from portal.datasets.documents.services import COPIED
from portal.datasets.models import (
    Dataset,
    DatasetTask,
    Document,
    DocumentContent,
    PiiFinding,
    ReleaseItem,
    XbrlFacts,
)
from portal.datasets.models.documents import NAME_LENGTH
from portal.facts import text_borders

from .pii import PiiMatch, find_pii, mask, mask_html

SUFFIX = "-masked"
_MASKED = re.compile(rf"(?<=.){SUFFIX}(-[0-9]+)?$")
Decision = PiiFinding.Decision


class MaskingError(Exception):
    """A document cannot be masked. The message names the document."""


@transaction.atomic
def mask_document(
    *, document: Document, findings: Sequence[PiiFinding], reason: str, actor: User | None
) -> Document:
    """Create a masked copy, hold the document back, and return the copy.

    Open findings move to the copy, and kept ones are copied; their offsets stay valid. Raises
    MaskingError without changes.
    """
    original = Document.objects.select_for_update().get(pk=document.pk)
    _check(original)
    copy = _copy(original, findings)
    _copy_xbrl(original, copy, findings)
    _hand_over(original, copy, findings)
    original.state = Document.State.HELD
    original.held_reason = f"masked as {copy.name}"
    original.save(update_fields=["state", "held_reason"])
    kinds = dict(Counter(finding.kind for finding in findings))
    for subject, other in ((original, copy), (copy, original)):
        record_event(
            verb="mask_document" if subject is original else "create_masked_document",
            subject=subject,
            actor=actor,
            other=other.name,
            kinds=kinds,
            reason=reason,
        )
    return copy


def _check(original: Document) -> None:
    if original.state == Document.State.HELD:
        raise MaskingError(f"{original.name} is already held back: {original.held_reason}")
    if Document.objects.hidden().filter(pk=original.pk).exists():
        raise MaskingError(
            f"{original.name} is part of a hidden test set, and a masked copy would reveal it."
            " Hold it back instead, so that the next release does not contain it."
        )


def _copy(original: Document, findings: Sequence[PiiFinding]) -> Document:
    stretches = [(finding.start, finding.end) for finding in findings]
    content = original.content
    html, text = mask_html(content.html, stretches), mask(content.text, stretches)
    digest = _sha256(html)
    same = original.dataset.documents.filter(html_sha256=digest).first()
    if same is not None:
        raise MaskingError(
            f"The masked copy of {original.name} would equal {same.name}. Hold it back instead."
        )
    copy = Document.objects.create(
        **{name: getattr(original, name) for name in COPIED},
        dataset=original.dataset,
        name=_free_name(original),
        metadata={**original.metadata, "masked_from": original.name},
        html_sha256=digest,
        text_sha256=_sha256(text),
    )
    DocumentContent.objects.create(document=copy, html=html, text=text)
    return copy


def _copy_xbrl(original: Document, copy: Document, findings: Sequence[PiiFinding]) -> None:
    """Copy the XBRL facts that no mask covers; a covered one would reveal the masked text."""
    tagged = XbrlFacts.objects.filter(document=original).first()
    if tagged is None:
        return
    facts = [
        fact
        for fact in tagged.facts
        if not any(fact[0] < finding.end and finding.start < fact[1] for finding in findings)
    ]
    XbrlFacts.objects.create(document=copy, facts=facts)


def _hand_over(original: Document, copy: Document, findings: Sequence[PiiFinding]) -> None:
    masked = [finding.pk for finding in findings]
    others = original.pii_findings.exclude(pk__in=masked).exclude(decision=Decision.MASKED)
    kept = list(others.filter(decision=Decision.KEPT))
    for finding in kept:
        finding.pk, finding.document = None, copy
    PiiFinding.objects.bulk_create(kept)
    others.filter(decision=Decision.OPEN).update(document=copy)


def _free_name(original: Document) -> str:
    """Return `NAME-masked`, with a number if that name is taken."""
    base = _MASKED.sub("", original.name)[: NAME_LENGTH - len(SUFFIX) - 5].rstrip(". ")
    used = set(
        original.dataset.documents.filter(name__startswith=base).values_list("name", flat=True)
    )
    names = [f"{base}{SUFFIX}", *(f"{base}{SUFFIX}-{n}" for n in range(2, len(used) + 3))]
    return next(name for name in names if name not in used)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


# One transaction reads and writes all affected documents.
MOST_AT_ONCE = 500


def check_scan(options: Mapping[str, Any]) -> dict[str, Any]:
    """Check that there are no options. Raises OptionsError."""
    refuse_others(options, set())
    return {}


def scan_personal_data(task: DatasetTask, steps: Steps) -> TaskReport:
    """Scan every active page. A second run changes nothing.

    Decided findings are kept. Open findings that no rule reports any more are deleted.
    """
    report = TaskReport()
    pages = task.dataset.documents.filter(kind=Document.Kind.PAGE)
    held = pages.filter(state=Document.State.HELD).count()
    keys = list(
        pages.filter(state=Document.State.ACTIVE).order_by("pk").values_list("pk", flat=True)
    )
    for key in steps.over(keys):
        content = DocumentContent.objects.filter(pk=key).first()
        if content is None:
            continue
        matches = find_pii(content.text, text_borders(content.html))
        report.count("new findings", store_findings(document=key, matches=matches))
        report.count("documents scanned")
        for match in matches:
            report.count(PiiFinding.Kind(match.kind).label)
    if held:
        report.count("documents held back, not scanned", held)
    return report


@transaction.atomic
def store_findings(*, document: int, matches: Iterable[PiiMatch]) -> int:
    """Update the stored findings of a document and return the number of new ones."""
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
    """Keep or mask findings of the dataset, and return those that were decided.

    Masked findings are skipped. Masking replaces the document, see `mask_document`. Raises
    MaskingError without changes.
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


# Characters that are shown on each side of a finding.
CONTEXT = 70


@dataclass(frozen=True)
class FindingRow:
    """A finding with its text, the text around it, and the releases of its document."""

    finding: PiiFinding
    before: str
    found: str
    after: str
    releases: list[str]

    @property
    def is_cut(self) -> bool:
        """Whether the text continues after the shown part."""
        return len(self.after) == CONTEXT

    @property
    def document(self) -> Document:
        return self.finding.document


def find_findings(dataset: Dataset, *, kind: str = "", decision: str = "") -> QuerySet[PiiFinding]:
    """Return findings by document and position."""
    findings = PiiFinding.objects.filter(document__dataset=dataset)
    if kind:
        findings = findings.filter(kind=kind)
    if decision:
        findings = findings.filter(decision=decision)
    return findings.select_related("decided_by").order_by("document__name", "start", "id")


def finding_rows(dataset: Dataset, findings: Iterable[PiiFinding]) -> list[FindingRow]:
    """Return the rows of findings of one dataset, with three queries.

    The database cuts out the context, so that no whole text is loaded.
    """
    listed = list(findings)
    documents = {
        document.pk: document
        for document in dataset.documents.filter(
            pk__in={finding.document_id for finding in listed}
        ).defer("metadata")
    }
    contexts = _contexts([finding.pk for finding in listed])
    releases = _releases(list(documents))
    rows = []
    for finding in listed:
        finding.document = documents[finding.document_id]
        finding.document.dataset = dataset
        context = contexts.get(finding.pk, "")
        before = min(finding.start, CONTEXT)
        length = finding.end - finding.start
        rows.append(
            FindingRow(
                finding=finding,
                before=context[:before],
                found=context[before : before + length],
                after=context[before + length : before + length + CONTEXT],
                releases=releases.get(finding.document_id, []),
            )
        )
    return rows


def _contexts(keys: list[int]) -> dict[int, str]:
    start = Greatest(F("start") - CONTEXT, 0) + 1
    length = F("end") - F("start") + 2 * CONTEXT
    rows = PiiFinding.objects.filter(pk__in=keys).order_by()
    cut = Substr("document__content__text", start, length)
    return dict(rows.annotate(context=cut).values_list("pk", "context"))


def _releases(keys: list[int]) -> dict[int, list[str]]:
    versions: dict[int, list[str]] = {}
    items = ReleaseItem.objects.filter(document__in=keys).order_by("release_id")
    for key, version in items.values_list("document", "release__version"):
        if key is not None:
            versions.setdefault(key, []).append(version)
    return versions
