"""How well the annotators of a campaign agree, from their labels as first submitted.

Only documents that everybody has submitted count: before that a figure would tell about labels that
must not be seen. Submitted labels never change (adjudication writes gold, not spans), so these
figures are frozen with them.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from django.db.models import QuerySet
from numpy.typing import NDArray

from annotation.models import Assignment, Campaign, CampaignDocument, Span
from portal.accounts.models import User, display_name
from portal.datasets.models import DocumentContent
from portal.facts import Span as TextSpan
from scoring.metrics.agreement import (
    Kappa,
    Ratings,
    cohen_kappa,
    entity_ratings,
    fleiss_kappa,
    token_ratings,
)

Stage = CampaignDocument.Stage
Level = Literal["entity", "token"]
LEVELS: tuple[Level, ...] = ("entity", "token")


@dataclass(frozen=True)
class Figure:
    """A κ with what it was computed from; `kappa` is None where it is undefined."""

    kappa: float | None
    observed: float | None
    items: int
    documents: int


@dataclass(frozen=True)
class Overall:
    """Fleiss' κ over the documents that `annotators` people labelled each."""

    annotators: int
    figure: Figure


@dataclass(frozen=True)
class MatrixRow:
    """One annotator against the others; None on the diagonal and for pairs that never met."""

    number: int
    name: str
    cells: tuple[Figure | None, ...]


@dataclass(frozen=True)
class LevelAgreement:
    """Pairwise κ as a matrix and Fleiss' κ beneath it, at one level."""

    level: Level
    matrix: tuple[MatrixRow, ...]
    overall: tuple[Overall, ...]


@dataclass(frozen=True)
class Part:
    """Fleiss' κ of a part of the work, a label or a document, at both levels."""

    name: str
    annotators: int
    entity: Figure
    token: Figure


@dataclass(frozen=True)
class Agreement:
    """Agreement over the documents that at least two people labelled and everybody has submitted.

    `waiting` documents are not submitted by everybody, `single` ones were labelled by one person;
    neither counts.
    """

    annotators: tuple[str, ...]
    levels: tuple[LevelAgreement, ...]
    labels: tuple[Part, ...]
    documents: tuple[Part, ...]
    waiting: int
    single: int


@dataclass(frozen=True)
class _Labelled:
    """A settled document: its annotators, as places in the list of all, and their ratings."""

    name: str
    annotators: tuple[int, ...]
    ratings: dict[Level, Ratings]


def campaign_agreement(campaign: Campaign) -> Agreement:
    """κ of every pair, of all, per label and per document, at entity and token level."""
    waiting = CampaignDocument.objects.filter(campaign=campaign, stage=Stage.ANNOTATION).count()
    people = _people(campaign)
    teams = _teams(campaign)
    labelled = list(_labelled(campaign, teams, list(people)))
    names = list(people.values())
    return Agreement(
        annotators=tuple(names),
        levels=tuple(
            LevelAgreement(level, _matrix(level, labelled, names), _overall(level, labelled))
            for level in LEVELS
        ),
        labels=tuple(part for label in campaign.labels for part in _of_label(label, labelled)),
        documents=tuple(_of_document(item) for item in labelled),
        waiting=waiting,
        single=len(teams) - len(labelled),
    )


def _settled(campaign: Campaign) -> QuerySet[Assignment]:
    """Assignments of the documents that everybody has submitted: the only ones looked into."""
    return Assignment.objects.filter(campaign_document__campaign=campaign).exclude(
        campaign_document__stage=Stage.ANNOTATION
    )


def _people(campaign: Campaign) -> dict[int, str]:
    """Shown names by primary key, in the order of their accounts."""
    users = User.objects.filter(pk__in=_settled(campaign).values("annotator")).order_by("pk")
    return {user.pk: display_name(user) for user in users}


def _teams(campaign: Campaign) -> dict[int, dict[int, int]]:
    """For each document, who labelled it in which assignment: {document: {user: assignment}}."""
    teams: dict[int, dict[int, int]] = defaultdict(dict)
    rows = _settled(campaign).order_by("annotator")
    for document, user, assignment in rows.values_list(
        "campaign_document__document", "annotator", "pk"
    ):
        teams[document][user] = assignment
    return teams


def _marks(campaign: Campaign) -> dict[int, list[TextSpan]]:
    """The submitted spans of each assignment."""
    marks: dict[int, list[TextSpan]] = defaultdict(list)
    spans = Span.objects.filter(assignment__in=_settled(campaign)).order_by("start")
    for assignment, start, end, label in spans.values_list("assignment", "start", "end", "label"):
        marks[assignment].append(TextSpan(start, end, label))
    return marks


def _labelled(
    campaign: Campaign, teams: dict[int, dict[int, int]], people: list[int]
) -> Iterator[_Labelled]:
    """The documents that at least two people labelled, by name; one text in memory at a time."""
    marks = _marks(campaign)
    place = {user: n for n, user in enumerate(people)}
    contents = DocumentContent.objects.filter(
        document__in=_settled(campaign).values("campaign_document__document")
    ).order_by("document__name")
    for document, name, text in contents.values_list("document", "document__name", "text").iterator(
        chunk_size=50
    ):
        team = teams[document]
        if len(team) < 2:
            continue
        annotations = [marks[assignment] for assignment in team.values()]
        yield _Labelled(
            name=name,
            annotators=tuple(place[user] for user in team),
            ratings={
                "entity": entity_ratings(annotations, campaign.labels),
                "token": token_ratings(text, annotations, campaign.labels),
            },
        )


def _of_label(label: str, labelled: Sequence[_Labelled]) -> Iterator[Part]:
    """One label against the rest, for each number of annotators per document that occurs."""
    entity, token = (_overall(level, labelled, label) for level in LEVELS)
    for at_entity, at_token in zip(entity, token, strict=True):
        yield Part(label, at_entity.annotators, at_entity.figure, at_token.figure)


def _of_document(item: _Labelled) -> Part:
    entity, token = (_figure(fleiss_kappa(item.ratings[level].codes), 1) for level in LEVELS)
    return Part(item.name, len(item.annotators), entity, token)


def _matrix(
    level: Level, labelled: Sequence[_Labelled], names: Sequence[str]
) -> tuple[MatrixRow, ...]:
    met: dict[tuple[int, int], list[NDArray[np.int16]]] = defaultdict(list)
    for item in labelled:
        codes = item.ratings[level].codes
        for (a, first), (b, second) in combinations(enumerate(item.annotators), 2):
            met[first, second].append(codes[:, [a, b]])
    figures = {pair: _cohen(parts) for pair, parts in met.items()}
    places = range(len(names))
    return tuple(
        MatrixRow(
            number=a + 1,
            name=names[a],
            cells=tuple(figures.get((min(a, b), max(a, b))) for b in places),
        )
        for a in places
    )


def _cohen(parts: Sequence[NDArray[np.int16]]) -> Figure:
    codes = np.concatenate(parts)
    return _figure(cohen_kappa(codes[:, 0], codes[:, 1]), len(parts))


def _overall(level: Level, labelled: Sequence[_Labelled], label: str = "") -> tuple[Overall, ...]:
    """Fleiss' κ for each number of annotators per document that occurs; of one label if given."""
    by_size: dict[int, list[NDArray[np.int16]]] = defaultdict(list)
    for item in labelled:
        ratings = item.ratings[level]
        codes = ratings.only(label).codes if label else ratings.codes
        by_size[ratings.annotators].append(codes)
    return tuple(
        Overall(size, _figure(fleiss_kappa(np.concatenate(parts)), len(parts)))
        for size, parts in sorted(by_size.items())
    )


def _figure(kappa: Kappa, documents: int) -> Figure:
    return Figure(kappa.value, kappa.observed, kappa.n, documents)
