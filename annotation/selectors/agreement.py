"""How well the annotators of a campaign agree, from their labels as first submitted.

Only documents that everybody has submitted count: before that a figure would tell about labels that
must not be seen. A first submission never changes, so that the figures are frozen with it and can
be kept.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from django.core.cache import cache
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from annotation.models import Assignment, Campaign, CampaignDocument, FirstSubmission
from portal.accounts.models import User, display_name
from portal.datasets.models import DocumentContent, DocumentType
from portal.facts import Span as TextSpan

from .agreement_shapes import Agreement, SubmittedWork

if TYPE_CHECKING:
    from .agreement_groups import LabelledDocument
    from .agreement_texts import TextCollector

# Changes with anything that changes a figure or a shape, so that nothing older is shown.
_VERSION = "2"
# The same for every campaign, so that one that was brought in elsewhere has the same intervals.
_SEED = "agreement"
_KEPT_SECONDS = 7 * 24 * 3600

# The works of one document, in the order of their annotators.
Team = list[SubmittedWork]


def campaign_agreement(campaign: Campaign) -> Agreement:
    """All figures on agreement; computed once for the submissions that count, then remembered."""
    works = submitted_works(campaign)
    key = _cache_key(campaign, works)
    agreement: Agreement | None = cache.get(key)
    if agreement is None:
        agreement = _computed(campaign, works)
        cache.set(key, agreement, _KEPT_SECONDS)
    waiting = CampaignDocument.objects.filter(campaign=campaign).in_work()
    waiting = waiting.exclude(stage__in=CampaignDocument.SETTLED)
    return replace(agreement, waiting=waiting.count())


def counted_submissions(campaign: Campaign) -> QuerySet[FirstSubmission]:
    """The only labels looked into: first submissions on documents that everybody has submitted.

    Work that was withdrawn does not count, nor do qualification rounds.
    """
    standing = Assignment.objects.standing().filter(campaign_document=OuterRef("pk"))
    unsubmitted = standing.filter(first_submission__isnull=True)
    documents = CampaignDocument.objects.filter(campaign=campaign).settled()
    return FirstSubmission.objects.filter(
        assignment__in=Assignment.objects.standing(),
        assignment__campaign_document__in=documents.exclude(Exists(unsubmitted)),
    )


def submitted_works(campaign: Campaign) -> list[SubmittedWork]:
    """Who labelled what, by document and annotator, without the labels."""
    rows = counted_submissions(campaign).order_by(
        "assignment__campaign_document__document__name", "assignment__annotator_id"
    )
    return [
        SubmittedWork(pk, document, name, doc_type, annotator, _name(user, email), submitted_at)
        for pk, document, name, doc_type, annotator, user, email, submitted_at in rows.values_list(
            "pk",
            "assignment__campaign_document__document",
            "assignment__campaign_document__document__name",
            "assignment__campaign_document__document__doc_type",
            "assignment__annotator",
            "assignment__annotator__name",
            "assignment__annotator__email",
            "submitted_at",
        )
    ]


def _name(name: str, email: str) -> str:
    return display_name(User(name=name, email=email))


def _cache_key(campaign: Campaign, works: Sequence[SubmittedWork]) -> str:
    """Another one whenever a figure or a name could differ."""
    digest = hashlib.sha256(repr((_VERSION, campaign.labels, works)).encode())
    return f"agreement:{campaign.pk}:{digest.hexdigest()}"


def _computed(campaign: Campaign, works: Sequence[SubmittedWork]) -> Agreement:
    # Here and not above: they import numerical libraries, without which the site starts sooner.
    from .agreement_figures import Names, figures_of
    from .agreement_texts import TextCollector

    teams: defaultdict[int, Team] = defaultdict(list)
    for work in works:
        teams[work.document].append(work)
    people = {work.annotator: work.name for work in works}
    texts = TextCollector()
    documents = list(_labelled(campaign, teams, sorted(people), texts))
    annotators = tuple(people[user] for user in sorted(people))
    found = figures_of(documents, Names(annotators, tuple(campaign.labels)), seed=_SEED)
    return replace(
        found,
        texts=texts.most_confused(campaign.labels),
        single=len(teams) - len(documents),
    )


def _labelled(
    campaign: Campaign,
    teams: Mapping[int, Team],
    people: Sequence[int],
    texts: "TextCollector",
) -> Iterator["LabelledDocument"]:
    """The documents that at least two people labelled, by name; few texts in memory at a time."""
    from scoring.metrics.agreement_counts import document_counts

    from .agreement_groups import LabelledDocument

    marks = _marks(campaign)
    place = {user: n for n, user in enumerate(people)}
    shared = [document for document, team in teams.items() if len(team) > 1]
    contents = DocumentContent.objects.filter(document__in=shared).order_by("document__name")
    for document, text in contents.values_list("document", "text").iterator(chunk_size=50):
        team = teams[document]
        annotations = [marks[work.assignment] for work in team]
        counts = document_counts(text, annotations, campaign.labels)
        texts.add(team[0].document_name, text, counts)
        completed = max(work.submitted_at for work in team)
        yield LabelledDocument(
            name=team[0].document_name,
            doc_type=str(DocumentType(team[0].doc_type).label),
            completed=timezone.localtime(completed).date(),
            annotators=tuple(place[work.annotator] for work in team),
            counts=counts,
        )


def _marks(campaign: Campaign) -> dict[int, list[TextSpan]]:
    """The spans of each first submission, by assignment."""
    rows = counted_submissions(campaign).values_list("pk", "spans").iterator(chunk_size=200)
    return {
        pk: [TextSpan(start, end, label) for start, end, label, *_ in spans] for pk, spans in rows
    }
