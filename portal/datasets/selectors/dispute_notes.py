"""What the notes of a release say of the disputes it settles."""

from collections.abc import Sequence

from django.db.models import QuerySet

from portal.datasets.models import Dataset, Dispute, Document
from portal.datasets.publishing.change_notes import code

# So many are told of one by one.
MOST_TOLD = 200
LONGEST_CLAIM = 500
_HEADING = "### Disputes settled"


def unsettled_disputes(dataset: Dataset) -> QuerySet[Dispute]:
    """Accepted ones of the dataset's releases that no later release has told of, oldest first."""
    accepted = Dispute.objects.filter(
        item__release__dataset=dataset, state=Dispute.State.ACCEPTED, settled_in=None
    )
    related = accepted.select_related("item__release")
    return related.defer("item__gold", "item__facts").order_by("pk")


def dispute_notes(disputes: Sequence[Dispute]) -> str:
    """What the notes of a release say of them, in Markdown; empty for none.

    Notes are read by everybody: where the gold is hidden, they say that and no more.
    """
    if not disputes:
        return ""
    documents = [dispute.item.document_id for dispute in disputes if dispute.item.document_id]
    hidden = Document.objects.filter(pk__in=documents).hidden()
    closed = set(hidden.values_list("pk", flat=True))
    lines = [_line(dispute, closed) for dispute in disputes[:MOST_TOLD]]
    if len(disputes) > MOST_TOLD:
        lines.append(f"- and {len(disputes) - MOST_TOLD:,} more")
    return "\n".join([_HEADING, "", *lines]) + "\n"


def dispute_mark(dispute: Dispute) -> str:
    """By which notes are known to tell of it."""
    return f"Dispute {dispute.pk}:"


def _line(dispute: Dispute, closed: set[int]) -> str:
    item = dispute.item
    start = f"- {dispute_mark(dispute)} {code(item.name, longest=len(item.name))}"
    if not item.release.opens(item.split) or item.document_id in closed:
        return f"{start}, the gold is hidden"
    what = "as a whole" if dispute.fact is None else f"fact {dispute.fact}"
    return f"{start}, {what}: {code(dispute.claim, longest=LONGEST_CLAIM)}"
