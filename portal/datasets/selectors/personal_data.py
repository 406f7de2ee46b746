"""What was found that may be personal data, with the text around it. For organisers alone."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from django.core.paginator import Page, Paginator
from django.db.models import Count, F, QuerySet
from django.db.models.functions import Greatest, Substr

from portal.datasets.models import Dataset, DatasetTask, Document, PiiFinding, ReleaseItem

PER_PAGE = 50
# Characters shown on either side.
CONTEXT = 70


@dataclass(frozen=True)
class FindingRow:
    """A finding with its text and what stands before and after it; the releases it is part of."""

    finding: PiiFinding
    before: str
    found: str
    after: str
    releases: list[str]

    @property
    def is_cut(self) -> bool:
        """Whether the text goes on after what is shown."""
        return len(self.after) == CONTEXT

    @property
    def document(self) -> Document:
        return self.finding.document


@dataclass(frozen=True)
class FindingsPage:
    """`counts` by decision, of all findings; `documents` have one that is still open."""

    page: Page[PiiFinding]
    rows: list[FindingRow]
    counts: dict[str, int]
    documents: int
    last_scan: DatasetTask | None


def find_findings(dataset: Dataset, *, kind: str = "", decision: str = "") -> QuerySet[PiiFinding]:
    """By document and place."""
    findings = PiiFinding.objects.filter(document__dataset=dataset)
    if kind:
        findings = findings.filter(kind=kind)
    if decision:
        findings = findings.filter(decision=decision)
    return findings.select_related("decided_by").order_by("document__name", "start", "id")


def findings_page(
    dataset: Dataset, *, kind: str = "", decision: str = "", page: str = "1"
) -> FindingsPage:
    found = find_findings(dataset, kind=kind, decision=decision)
    shown: Page[PiiFinding] = Paginator(found, PER_PAGE).get_page(page)
    every = find_findings(dataset, kind=kind).order_by()
    counts = Counter(dict(every.values_list("decision").annotate(Count("id"))))
    still = find_findings(dataset, decision=PiiFinding.Decision.OPEN).order_by()
    return FindingsPage(
        page=shown,
        rows=finding_rows(dataset, shown),
        counts={value: counts[value] for value in PiiFinding.Decision.values},
        documents=still.values("document").distinct().count(),
        last_scan=last_task(dataset, DatasetTask.Kind.PII),
    )


def finding_rows(dataset: Dataset, findings: Iterable[PiiFinding]) -> list[FindingRow]:
    """Rows of findings of one dataset: three queries, however many they are.

    The database cuts the context out, so that no whole text is read.
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


def last_task(dataset: Dataset, kind: DatasetTask.Kind) -> DatasetTask | None:
    task = dataset.tasks.filter(kind=kind).defer("report").first()
    if task is not None:
        task.dataset = dataset
    return task


def _contexts(keys: list[int]) -> dict[int, str]:
    start = Greatest(F("start") - CONTEXT, 0) + 1
    length = F("end") - F("start") + 2 * CONTEXT
    rows = PiiFinding.objects.filter(pk__in=keys).order_by()
    cut = Substr("document__content__text", start, length)
    return dict(rows.annotate(context=cut).values_list("pk", "context"))


def _releases(keys: list[int]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    items = ReleaseItem.objects.filter(document__in=keys).order_by("release_id")
    for key, version in items.values_list("document", "release__version"):
        if key is not None:
            found.setdefault(key, []).append(version)
    return found
