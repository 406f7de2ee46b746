"""Agreement of four annotators over many documents: every part against the references."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from itertools import combinations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import aggregate_raters
from statsmodels.stats.inter_rater import fleiss_kappa as reference_fleiss

from annotation.agreement import selectors as agreement_module
from annotation.agreement.computing import LabelledDocument, Names, figures_of
from annotation.agreement.selectors import campaign_agreement
from annotation.agreement.shapes import Figure
from annotation.models import Assignment, Campaign, CampaignDocument, FirstSubmission
from portal.accounts.models import User
from portal.facts import Span
from scoring.metrics.agreement import entity_ratings, token_ratings
from scoring.metrics.agreement_counts import document_counts
from tests.conftest import make_user
from tests.counting import LINEAR, growth
from tests.fixture_types import ClientOf
from tests.worlds import shared

from .agreement_campaign import labelled_campaign

pytestmark = pytest.mark.django_db

CLOSE = 1e-12
LABELS = ("Number", "Date")


@pytest.fixture
@shared
def four(ann: User, ben: User, cleo: User) -> list[User]:
    return [ann, ben, cleo, make_user("Dora")]


@pytest.fixture
@shared
def campaign(four: list[User], lead: User) -> Campaign:
    """Eight documents submitted by all four, and one that is not."""
    return labelled_campaign(four, lead=lead, documents=9, submitted=8)


def codes_of(campaign: Campaign, level: str, names: Sequence[str] = ()) -> np.ndarray:
    """The answers of the four annotators on every item, computed independently of the page."""
    parts = []
    for row in CampaignDocument.objects.filter(campaign=campaign).order_by("document__name"):
        works = FirstSubmission.objects.filter(assignment__campaign_document=row)
        spans = [
            [Span(start, end, label) for start, end, label, *_ in work.spans]
            for work in works.order_by("assignment__annotator_id")
        ]
        if len(spans) == 4 and (not names or row.document.name in names):
            text = row.document.content.text
            is_entity = level == "entity"
            ratings = (
                entity_ratings(spans, LABELS) if is_entity else token_ratings(text, spans, LABELS)
            )
            parts.append(ratings.codes)
    return np.concatenate(parts)


def fleiss(codes: np.ndarray) -> float:
    return float(reference_fleiss(aggregate_raters(codes)[0]))


@pytest.mark.parametrize("level", ["entity", "token"])
def test_matrix_equals_the_references(campaign: Campaign, level: str) -> None:
    agreement = campaign_agreement(campaign)
    codes = codes_of(campaign, level)
    (found,) = [item for item in agreement.levels if item.level == level]
    for a, b in combinations(range(4), 2):
        cell = found.matrix[a].cells[b]
        assert cell is not None
        assert cell.value == pytest.approx(cohen_kappa_score(codes[:, a], codes[:, b]), abs=CLOSE)
        assert (cell.n, cell.documents) == (len(codes), 8)
    (overall,) = found.overall.fleiss
    assert overall.annotators == 4
    assert overall.figure.value == pytest.approx(fleiss(codes), abs=CLOSE)


def test_parts_equal_the_references(campaign: Campaign) -> None:
    agreement = campaign_agreement(campaign)
    codes = codes_of(campaign, "entity")
    for code, part in enumerate(agreement.labels, 1):
        expected = fleiss((codes == code).astype(int))
        assert part.entity.fleiss[0].figure.value == pytest.approx(expected, abs=CLOSE)
    rows = CampaignDocument.objects.filter(campaign=campaign).order_by("document__name")[:8]
    types = {row.document.name: row.document.get_doc_type_display() for row in rows}
    assert {part.name for part in agreement.doc_types} == set(types.values())
    for part in agreement.doc_types:
        names = [name for name, doc_type in types.items() if doc_type == part.name]
        expected = fleiss(codes_of(campaign, "entity", names))
        assert part.entity.fleiss[0].figure.value == pytest.approx(expected, abs=CLOSE)
        assert part.documents == len(names)
    for part in agreement.documents:
        expected = fleiss(codes_of(campaign, "token", [part.name]))
        assert part.token.fleiss[0].figure.value == pytest.approx(expected, abs=CLOSE)


def test_annotator_has_the_mean_kappa_with_the_others(campaign: Campaign) -> None:
    codes = codes_of(campaign, "entity")
    for person in campaign_agreement(campaign).people:
        own = person.number - 1
        kappas = [cohen_kappa_score(codes[:, own], codes[:, n]) for n in range(4) if n != own]
        assert person.entity.value == pytest.approx(np.mean(kappas), abs=CLOSE)
        assert person.entity.n == 3 * len(codes)


def test_every_figure_has_an_interval_around_it(campaign: Campaign) -> None:
    agreement = campaign_agreement(campaign)
    assert agreement.overall is not None
    overall = agreement.overall
    figures: list[Figure | None] = [
        cell for row in agreement.levels[0].matrix for cell in row.cells
    ]
    figures += [overall.entity.alpha, overall.token.alpha, overall.spans.exact]
    figures += [overall.entity.fleiss[0].figure, *(one.entity for one in agreement.people)]
    for figure in figures:
        if figure is not None:
            assert figure.value is not None
            assert figure.low is not None
            assert figure.high is not None
            assert -1 <= figure.low <= figure.value <= figure.high <= 1
            assert figure.low < figure.high
    # One document cannot be resampled.
    assert agreement.documents[0].entity.alpha.low is None


def test_trend_goes_by_weeks_where_there_are_some(campaign: Campaign) -> None:
    trend = campaign_agreement(campaign).trend
    # One document every three days, starting on a Monday.
    assert trend.by == "week"
    assert [(point.part.name, point.part.documents) for point in trend.points] == [
        ("2026-03-02", 3),
        ("2026-03-09", 2),
        ("2026-03-16", 2),
        ("2026-03-23", 1),
    ]
    assert [point.first.day for point in trend.points] == [2, 11, 17, 23]


def test_trend_goes_by_batches_of_documents_otherwise(four: list[User]) -> None:
    campaign = labelled_campaign(four, documents=7, overlap=2, days=0)
    trend = campaign_agreement(campaign).trend
    assert trend.by == "batch"
    assert [(point.part.name, point.part.documents) for point in trend.points] == [
        ("1–2", 2),
        ("3–4", 2),
        ("5–7", 3),
    ]


def test_least_agreement_comes_first(campaign: Campaign) -> None:
    observed = [part.entity.alpha.observed for part in campaign_agreement(campaign).documents]
    assert len(observed) == 8
    assert observed == sorted(one for one in observed if one is not None)


def test_documents_by_two_and_by_four_have_an_overall_figure_each(
    four: list[User], ann: User, ben: User
) -> None:
    campaign = labelled_campaign(four, documents=4)
    row = CampaignDocument.objects.filter(campaign=campaign).order_by("document__name")[0]
    row.assignments.exclude(annotator__in=[ann, ben]).update(state="withdrawn", submitted_at=None)
    overall = campaign_agreement(campaign).overall
    assert overall is not None
    assert [one.annotators for one in overall.entity.fleiss] == [2, 4]
    assert [one.figure.documents for one in overall.entity.fleiss] == [1, 3]
    assert overall.entity.alpha.documents == 4


def labelled(campaign: Campaign, monkeypatch: pytest.MonkeyPatch) -> list[LabelledDocument]:
    """The input of the computation for the campaign."""
    taken: list[LabelledDocument] = []

    def take(documents: list[LabelledDocument], names: Names, *, seed: str) -> object:
        taken.extend(documents)
        return figures_of(documents, names, seed=seed)

    monkeypatch.setattr("annotation.agreement.computing.figures_of", take)
    campaign_agreement(campaign)
    assert len(taken) == 8
    return taken


def test_order_of_documents_and_annotators_changes_no_figure(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = labelled(campaign, monkeypatch)
    names = Names(("Ann", "Ben", "Cleo", "Dora"), LABELS)
    expected = figures_of(documents, names, seed="s")

    @settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.permutations(documents))
    def same(shuffled: list[LabelledDocument]) -> None:
        assert figures_of(shuffled, names, seed="s") == expected

    same()


def test_order_in_which_annotators_joined_changes_no_overall_figure(
    campaign: Campaign, four: list[User]
) -> None:
    before = campaign_agreement(campaign)
    # Ann's and Dora's work is swapped, so the columns swap places.
    works = {user: list(user.assignments.values_list("pk", flat=True)) for user in four}
    parking = make_user("Parked")
    for own, other in ((four[0], parking), (four[3], four[0]), (parking, four[3])):
        moved = works[four[0] if own == parking else own]
        Assignment.objects.filter(pk__in=moved).update(annotator=other)
    after = campaign_agreement(campaign)
    assert (after.overall, after.labels, after.doc_types) == (
        before.overall,
        before.labels,
        before.doc_types,
    )
    assert after.documents == before.documents
    assert after.texts == before.texts
    assert after.levels[0].matrix[0].cells[1] == before.levels[0].matrix[3].cells[1]
    assert after.levels[0].confusion == before.levels[0].confusion


def test_unsettled_documents_change_no_figure(campaign: Campaign, four: list[User]) -> None:
    before = campaign_agreement(campaign)
    row = CampaignDocument.objects.get(campaign=campaign, document__name="page-009")
    for work in row.assignments.all()[:3]:
        FirstSubmission.objects.create(
            assignment=work, spans=[[0, 5, "Date", "", ""]], submitted_at="2026-05-01T10:00Z"
        )
    assert campaign_agreement(campaign) == before
    # Even after the annotation stage, it counts only once the fourth has submitted.
    CampaignDocument.objects.filter(pk=row.pk).update(stage="adjudication")
    assert replace(campaign_agreement(campaign), waiting=1) == before


def test_links_lead_to_the_case_at_the_text(
    campaign: Campaign, lead: User, organiser: User, client_of: ClientOf
) -> None:
    page = client_of(lead).get("/campaigns/spring-round/agreement/").context
    text, url = page["texts"][0]
    case_pk = int(url.rstrip("/").rpartition("/")[2])
    document = CampaignDocument.objects.get(cases=case_pk)
    assert document.document.name == text.document
    case = document.cases.get(pk=case_pk)
    assert case.start <= text.start < text.end <= case.end
    assert all(url for _, url in page["worst"])
    assert client_of(lead).get(url).status_code == 200
    # Organisers cannot open the adjudication pages, so there are no links.
    page = client_of(organiser).get("/campaigns/spring-round/agreement/").context
    assert not any(url for _, url in [*page["worst"], *page["texts"]])


def test_more_documents_cost_no_more_than_their_share() -> None:
    spans = [[Span(0, 4, "Number")], [Span(0, 4, "Date"), Span(5, 9, "Number")]]
    made = [
        LabelledDocument(
            name=f"{number:03}",
            doc_type="other",
            completed=date(2026, 3, 2),
            annotators=(0, 1),
            counts=document_counts("word word word", spans, LABELS),
        )
        for number in range(160)
    ]
    names = Names(("Ann", "Ben"), LABELS)
    assert growth(lambda size: figures_of(made[:size], names, seed="s"), 80) <= LINEAR


def test_page_is_computed_once(
    campaign: Campaign, lead: User, client_of: ClientOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = client_of(lead)
    assert client.get("/campaigns/spring-round/agreement/").status_code == 200
    monkeypatch.setattr(agreement_module, "_computed", lambda *_: pytest.fail("computed anew"))
    for address in ("agreement/", "agreement/export/?form=latex", "agreement/export/?form=trend"):
        assert client.get(f"/campaigns/spring-round/{address}").status_code == 200
