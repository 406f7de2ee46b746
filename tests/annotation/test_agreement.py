"""Agreement of a campaign: figures against hand-made tables and reference implementations."""

import csv
import io
from collections.abc import Callable

import pytest
from django.test import Client
from rest_framework.test import APIClient
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import aggregate_raters
from statsmodels.stats.inter_rater import fleiss_kappa as reference_fleiss

from annotation.models import Campaign
from annotation.selectors.agreement import Agreement, Figure, campaign_agreement
from annotation.services.adjudicating import decide_case
from portal.accounts.models import User

from .factories import document_of, make_campaign, submit, work_of

pytestmark = pytest.mark.django_db

ApiOf = Callable[[User | None], APIClient]
ClientOf = Callable[[User | None], Client]

# The disputed document at entity level, one column per annotator; items in text order:
# 1,200 · (310) · 310 · March 31, 2025 · 1,200 in the table.
ANN = ["Number", "Number", "O", "Date", "O"]
BEN = ["Number", "O", "Number", "Number", "Number"]


def level(agreement: Agreement, name: str) -> tuple[Figure | None, Figure]:
    """The figures of the only pair, and the overall one."""
    (found,) = [item for item in agreement.levels if item.level == name]
    return found.matrix[0].cells[1], found.overall[0].figure


def test_entity_level_equals_the_reference(disputed: Campaign) -> None:
    pair, overall = level(campaign_agreement(disputed), "entity")
    assert pair is not None
    assert pair.kappa == pytest.approx(cohen_kappa_score(ANN, BEN), abs=1e-12)
    table, _ = aggregate_raters(list(zip(ANN, BEN, strict=True)))
    assert overall.kappa == pytest.approx(reference_fleiss(table), abs=1e-12)
    assert (pair.items, pair.documents, overall.items) == (5, 1, 5)
    assert pair.observed == pytest.approx(1 / 5)


def test_token_level_counts_every_token(disputed: Campaign) -> None:
    # Net revenue was 1,200 and the loss ( 310 ) as of March 31 , 2025 . Total 1,200 Page 1
    ann = list("OOONOOONNNOODDDDOOOOO")
    ben = list("OOONOOOONOOONNNNOONOO")
    pair, _ = level(campaign_agreement(disputed), "token")
    assert pair is not None
    assert pair.items == len(ann)
    assert pair.kappa == pytest.approx(cohen_kappa_score(ann, ben), abs=1e-12)


def test_labels_are_compared_one_against_the_rest(disputed: Campaign) -> None:
    number, date = campaign_agreement(disputed).labels
    assert (number.name, date.name) == ("Number", "Date")
    table, _ = aggregate_raters([(a == "Date", b == "Date") for a, b in zip(ANN, BEN, strict=True)])
    assert date.entity.kappa == pytest.approx(reference_fleiss(table), abs=1e-12)
    assert number.entity.items == date.entity.items == 5


def test_matrix_is_symmetric_with_an_empty_diagonal(disputed: Campaign) -> None:
    agreement = campaign_agreement(disputed)
    assert agreement.annotators == ("Ann", "Ben")
    for item in agreement.levels:
        cells = [row.cells for row in item.matrix]
        assert cells[0][0] is None
        assert cells[1][1] is None
        assert cells[0][1] == cells[1][0]


def test_documents_not_submitted_by_all_do_not_count(disputed: Campaign, ann: User) -> None:
    before = campaign_agreement(disputed)
    submit(work_of(ann, disputed, 2), ("Date", "1,200"), ("Date", "(310)"))
    after = campaign_agreement(disputed)
    assert after == before
    assert (len(after.documents), after.waiting) == (1, 1)


def test_adjudication_changes_no_figure(disputed: Campaign, lead: User) -> None:
    before = campaign_agreement(disputed)
    for case in document_of(disputed).cases.all():
        decide_case(case=case, decision_spans=[], reason="", actor=lead)
    assert campaign_agreement(disputed) == before


def test_undefined_kappa_is_none_and_shown_as_such(
    campaign: Campaign, ann: User, ben: User, lead: User, client_of: ClientOf
) -> None:
    for user in (ann, ben):
        submit(work_of(user, campaign), ("Number", "1,200"))
    agreement = campaign_agreement(campaign)
    pair, overall = level(agreement, "entity")
    assert pair is not None
    assert (pair.kappa, pair.observed, pair.items) == (None, 1.0, 1)
    assert overall.kappa is None
    html = client_of(lead).get("/campaigns/spring-round/agreement/").content.decode()
    assert "n/a" in html


def test_two_who_marked_nothing_give_no_items(campaign: Campaign, ann: User, ben: User) -> None:
    submit(work_of(ann, campaign))
    submit(work_of(ben, campaign))
    pair, overall = level(campaign_agreement(campaign), "entity")
    assert pair == overall == Figure(None, None, 0, 1)


def test_three_annotators_two_per_document(ann: User, ben: User, cleo: User) -> None:
    campaign = make_campaign([ann, ben, cleo], documents=3)
    for user in (ann, ben, cleo):
        for assignment in user.assignments.all():
            submit(assignment, ("Number", "1,200"), ("Date", "March 31, 2025"))
    agreement = campaign_agreement(campaign)
    for item in agreement.levels:
        pairs = [row.cells[other] for row in item.matrix for other in range(row.number)]
        figures = [cell for cell in pairs if cell is not None]
        assert [figure.kappa for figure in figures] == [1.0, 1.0, 1.0]
        assert [figure.documents for figure in figures] == [1, 1, 1]
        assert item.overall[0].annotators == 2
        assert item.overall[0].figure.documents == 3


def test_single_annotator_has_nobody_to_compare_with(
    ann: User, lead: User, client_of: ClientOf
) -> None:
    campaign = make_campaign([ann], overlap=1, lead=lead)
    submit(work_of(ann, campaign), ("Number", "1,200"))
    agreement = campaign_agreement(campaign)
    assert (agreement.documents, agreement.single) == ((), 1)
    html = client_of(lead).get("/campaigns/spring-round/agreement/").content.decode()
    assert "Nobody to compare" in html


def test_nothing_submitted_shows_what_the_page_is_for(
    campaign: Campaign, lead: User, client_of: ClientOf
) -> None:
    html = client_of(lead).get("/campaigns/spring-round/agreement/").content.decode()
    assert "No figures yet" in html


def test_page_shows_the_figures_with_n(disputed: Campaign, lead: User, client_of: ClientOf) -> None:
    html = client_of(lead).get("/campaigns/spring-round/agreement/").content.decode()
    assert f"{cohen_kappa_score(ANN, BEN):.4f}" in html
    assert "n = 5" in html
    assert "n = 21" in html
    assert "(Fleiss' κ)" in html


def test_csv_holds_every_figure_once(disputed: Campaign, lead: User, client_of: ClientOf) -> None:
    response = client_of(lead).get("/campaigns/spring-round/agreement/csv/")
    assert response["Content-Type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(response.content.decode())))
    assert {(row["level"], row["scope"], row["subject"]) for row in rows} == {
        (level_name, scope, subject)
        for level_name in ("entity", "token")
        for scope, subject in [
            ("pair", "Ann"),
            ("overall", ""),
            ("label", "Number"),
            ("label", "Date"),
            ("document", "page-001"),
        ]
    }
    (pair,) = [row for row in rows if row["scope"] == "pair" and row["level"] == "entity"]
    assert float(pair["kappa"]) == pytest.approx(cohen_kappa_score(ANN, BEN))
    assert (pair["other"], pair["items"], pair["documents"]) == ("Ben", "5", "1")


def test_csv_defuses_names_a_spreadsheet_would_run(
    disputed: Campaign, ann: User, lead: User, client_of: ClientOf
) -> None:
    ann.name = "=HYPERLINK(1)"
    ann.save()
    text = client_of(lead).get("/campaigns/spring-round/agreement/csv/").content.decode()
    assert "'=HYPERLINK(1)" in text
    assert ",=HYPERLINK" not in text


def test_api_gives_the_same_figures(disputed: Campaign, lead: User, api_of: ApiOf) -> None:
    body = api_of(lead).get("/api/v1/campaigns/spring-round/agreement/").json()
    entity = next(item for item in body["levels"] if item["level"] == "entity")
    assert entity["matrix"][0]["cells"][0] is None
    assert entity["matrix"][0]["cells"][1]["kappa"] == pytest.approx(cohen_kappa_score(ANN, BEN))
    assert body["waiting"] == 1
    assert [part["name"] for part in body["labels"]] == ["Number", "Date"]
