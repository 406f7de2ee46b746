"""The figures of the agreement page, files and API, from first submissions.

Only documents that all annotators have submitted count, because a figure could reveal labels that
are still blind. First submissions never change, so the figures can be cached.
"""

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from django.core.cache import cache
from django.db.models import Exists, OuterRef, QuerySet
from django.urls import reverse
from django.utils import timezone

from annotation.models import Assignment, Campaign, CampaignDocument, Case, FirstSubmission
from portal.accounts.models import User, display_name
from portal.datasets.models import DocumentContent, DocumentType
from portal.facts import Span as TextSpan

from . import shapes

if TYPE_CHECKING:
    from .computing import LabelledDocument, TextCollector


# Change this whenever a figure or a shape changes, so that cached results expire.
_VERSION = "2"
# The same for every campaign, so that an imported campaign has the same intervals.
_SEED = "agreement"
_KEPT_SECONDS = 7 * 24 * 3600

# The works of one document, in the order of their annotators.
Team = list[shapes.SubmittedWork]


def campaign_agreement(campaign: Campaign) -> shapes.Agreement:
    """All figures on agreement, cached per set of submissions that count."""
    works = submitted_works(campaign)
    key = _cache_key(campaign, works)
    agreement: shapes.Agreement | None = cache.get(key)
    if agreement is None:
        agreement = _computed(campaign, works)
        cache.set(key, agreement, _KEPT_SECONDS)
    waiting = CampaignDocument.objects.filter(campaign=campaign).in_work()
    waiting = waiting.exclude(stage__in=CampaignDocument.SETTLED)
    return replace(agreement, waiting=waiting.count())


def counted_submissions(campaign: Campaign) -> QuerySet[FirstSubmission]:
    """First submissions on documents that all annotators have submitted.

    Withdrawn assignments and qualification rounds do not count.
    """
    active = Assignment.objects.active().filter(campaign_document=OuterRef("pk"))
    unsubmitted = active.filter(first_submission__isnull=True)
    documents = CampaignDocument.objects.filter(campaign=campaign).settled()
    return FirstSubmission.objects.filter(
        assignment__in=Assignment.objects.active(),
        assignment__campaign_document__in=documents.exclude(Exists(unsubmitted)),
    )


def submitted_works(campaign: Campaign) -> list[shapes.SubmittedWork]:
    """The submissions that count, by document and annotator, without their labels."""
    rows = counted_submissions(campaign).order_by(
        "assignment__campaign_document__document__name", "assignment__annotator_id"
    )
    return [
        shapes.SubmittedWork(
            pk, document, name, doc_type, annotator, _name(user, email), submitted_at
        )
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


def _cache_key(campaign: Campaign, works: Sequence[shapes.SubmittedWork]) -> str:
    """A key that changes whenever a figure or a name could differ."""
    digest = hashlib.sha256(repr((_VERSION, campaign.labels, works)).encode())
    return f"agreement:{campaign.pk}:{digest.hexdigest()}"


def _computed(campaign: Campaign, works: Sequence[shapes.SubmittedWork]) -> shapes.Agreement:
    # Imported here because they load numerical libraries, which would slow down the start.
    from .computing import Names, TextCollector, figures_of

    teams: defaultdict[int, Team] = defaultdict(list)
    for work in works:
        teams[work.document].append(work)
    people = {work.annotator: work.name for work in works}
    texts = TextCollector()
    documents = list(_labelled(campaign, teams, sorted(people), texts))
    annotators = tuple(people[user] for user in sorted(people))
    found = figures_of(documents, Names(annotators, tuple(campaign.labels)), seed=_SEED)
    return replace(
        found, texts=texts.most_confused(campaign.labels), single=len(teams) - len(documents)
    )


def _labelled(
    campaign: Campaign, teams: Mapping[int, Team], people: Sequence[int], texts: "TextCollector"
) -> Iterator["LabelledDocument"]:
    """The documents with at least two annotators, by name. Streams their texts."""
    from scoring.metrics.agreement_counts import document_counts

    from .computing import LabelledDocument

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


# The CSV file has all of them.
SHOWN_DOCUMENTS = 12
SHOWN_TEXTS = 15


def most_disputed(
    campaign: Campaign, agreement: shapes.Agreement, *, may_see_cases: bool
) -> tuple[list[tuple[shapes.Part, str]], list[tuple[shapes.ConfusedText, str]]]:
    """The worst documents and the disputed texts, each with the URL of a case or an empty one."""
    worst = agreement.documents[:SHOWN_DOCUMENTS]
    texts = agreement.texts[:SHOWN_TEXTS]
    names = {part.name for part in worst} | {text.document for text in texts}
    places = _case_places(campaign, names if may_see_cases else ())
    return (
        [(part, _first(places[part.name])) for part in worst],
        [(text, _at(places[text.document], text)) for text in texts],
    )


# The range and the URL of a case.
Place = tuple[int, int, str]


def _case_places(campaign: Campaign, names: Collection[str]) -> defaultdict[str, list[Place]]:
    """The cases of documents, by name and in the order of the text."""
    cases = Case.objects.filter(
        campaign_document__campaign=campaign, campaign_document__document__name__in=names
    ).order_by("campaign_document", "start")
    places: defaultdict[str, list[Place]] = defaultdict(list)
    for name, start, end, pk in cases.values_list(
        "campaign_document__document__name", "start", "end", "pk"
    ):
        places[name].append((start, end, reverse("annotation:case", args=[campaign.slug, pk])))
    return places


def _first(places: Sequence[Place]) -> str:
    return places[0][2] if places else ""


def _at(places: Sequence[Place], text: shapes.ConfusedText) -> str:
    """The URL of the case at the text, otherwise of the document's first case."""
    here = (url for start, end, url in places if start < text.end and text.start < end)
    return next(here, _first(places))
