"""Masking personal data: a new document takes the place of the one that shows it.

Content never changes, so the masked page is another document. docs/decisions/013-masking.md tells
why its images, its record and its filing's tags under the masks are not taken over.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Sequence

from django.db import transaction

from portal.accounts.models import User
from portal.audit.models import record_event
from portal.datasets.curation.masking import mask, mask_html
from portal.datasets.models import Document, DocumentContent, PiiFinding, XbrlFacts
from portal.datasets.models.documents import NAME_LENGTH

SUFFIX = "-masked"
_MASKED = re.compile(rf"(?<=.){SUFFIX}(-[0-9]+)?$")
_COPIED = (
    "dataset_id",
    "doc_type",
    "company",
    "form_type",
    "fiscal_year",
    "source_url",
    "source",
    "licence",
    "kind",
    "language",
    "source_sha256",
    "text_chars",
)
Decision = PiiFinding.Decision


class MaskingError(Exception):
    """Why a document cannot be masked. The message is for people and names the document."""


@transaction.atomic
def mask_document(
    *, document: Document, findings: Sequence[PiiFinding], reason: str, actor: User | None
) -> Document:
    """Makes the masked copy and holds the document back; returns the copy.

    Findings that are still to be decided go to the copy, kept ones are there, too: their offsets
    stay right. Raises MaskingError, and then nothing is written.
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
        raise MaskingError(f"{original.name} is held back already: {original.held_reason}")
    if Document.objects.hidden().filter(pk=original.pk).exists():
        raise MaskingError(
            f"{original.name} is part of a hidden test set, and its masked copy would show what is"
            " hidden. Hold it back instead, so that the next release does without it."
        )


def _copy(original: Document, findings: Sequence[PiiFinding]) -> Document:
    stretches = [(finding.start, finding.end) for finding in findings]
    content = original.content
    html, text = mask_html(content.html, stretches), mask(content.text, stretches)
    digest = _sha256(html)
    same = original.dataset.documents.filter(html_sha256=digest).first()
    if same is not None:
        raise MaskingError(
            f"{original.name} would be the same as {same.name} once it is masked: hold it back."
        )
    copy = Document.objects.create(
        **{name: getattr(original, name) for name in _COPIED},
        name=_free_name(original),
        metadata={**original.metadata, "masked_from": original.name},
        html_sha256=digest,
        text_sha256=_sha256(text),
    )
    DocumentContent.objects.create(document=copy, html=html, text=text)
    return copy


def _copy_xbrl(original: Document, copy: Document, findings: Sequence[PiiFinding]) -> None:
    """A fact under a mask would tell what is masked; all others stand where they stood."""
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
    kept = others.filter(decision=Decision.KEPT)
    PiiFinding.objects.bulk_create(
        PiiFinding(
            document=copy,
            kind=finding.kind,
            rule=finding.rule,
            start=finding.start,
            end=finding.end,
            decision=finding.decision,
            reason=finding.reason,
            decided_by_id=finding.decided_by_id,
            decided_at=finding.decided_at,
        )
        for finding in kept
    )
    others.filter(decision=Decision.OPEN).update(document=copy)


def _free_name(original: Document) -> str:
    """`NAME-masked`; with a number where a copy was masked again."""
    base = _MASKED.sub("", original.name)[: NAME_LENGTH - len(SUFFIX) - 5].rstrip(". ")
    taken = set(
        original.dataset.documents.filter(name__startswith=base).values_list("name", flat=True)
    )
    names = [f"{base}{SUFFIX}", *(f"{base}{SUFFIX}-{n}" for n in range(2, len(taken) + 3))]
    return next(name for name in names if name not in taken)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
