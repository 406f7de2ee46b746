"""Agreement of a campaign: figures against hand-made tables and reference implementations."""

import pytest
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import aggregate_raters
from statsmodels.stats.inter_rater import fleiss_kappa as reference_fleiss

from annotation.adjudication.services import decide_case
from annotation.agreement import selectors as agreement_module
from annotation.agreement.selectors import campaign_agreement
from annotation.agreement.shapes import Agreement, Figure
from annotation.models import Assignment, Campaign
from portal.accounts.models import User
from tests.annotation.factories import document_of, make_campaign, save, submit, work_of
from tests.fixture_types import ApiOf, ClientOf

pytestmark = pytest.mark.django_db


# The disputed document at entity level, one column per annotator; items in text order:
# 1,200 · (310) · 310 · March 31, 2025 · 1,200 in the table.
ANN = ["Number", "Number", "O", "Date", "O"]
BEN = ["Number", "O", "Number", "Number", "Number"]
# Net revenue was 1,200 and the loss ( 310 ) as of March 31 , 2025 . Total 1,200 Page 1
ANN_TOKENS = list("OOONOOONNNOODDDDOOOOO")
BEN_TOKENS = list("OOONOOOONOOONNNNOONOO")
# Maximum difference from scikit-learn and statsmodels.
CLOSE = 1e-12


def level(agreement: Agreement, name: str) -> tuple[Figure | None, Figure]:
    """The figures of the only pair, and the overall figures."""
    (found,) = [item for item in agreement.levels if item.level == name]
    return found.matrix[0].cells[1], found.overall.fleiss[0].figure


def fleiss(first: list[str], second: list[str]) -> float:
    table, _ = aggregate_raters(list(zip(first, second, strict=True)))
    return float(reference_fleiss(table))


def test_entity_level_equals_the_reference(disputed: Campaign) -> None:
    pair, overall = level(campaign_agreement(disputed), "entity")
    assert pair is not None
    assert pair.value == pytest.approx(cohen_kappa_score(ANN, BEN), abs=CLOSE)
    assert overall.value == pytest.approx(fleiss(ANN, BEN), abs=CLOSE)
    assert (pair.n, pair.documents, overall.n) == (5, 1, 5)
    assert pair.observed == pytest.approx(1 / 5)


def test_token_level_counts_every_token(disputed: Campaign) -> None:
    pair, overall = level(campaign_agreement(disputed), "token")
    assert pair is not None
    assert pair.n == len(ANN_TOKENS)
    assert pair.value == pytest.approx(cohen_kappa_score(ANN_TOKENS, BEN_TOKENS), abs=CLOSE)
    assert overall.value == pytest.approx(fleiss(ANN_TOKENS, BEN_TOKENS), abs=CLOSE)


def test_labels_are_compared_one_against_the_rest(disputed: Campaign) -> None:
    number, date = campaign_agreement(disputed).labels
    assert (number.name, date.name) == ("Number", "Date")
    binary = [[str(answer == "Date") for answer in answers] for answers in (ANN, BEN)]
    overall = date.entity.fleiss[0].figure
    assert overall.value == pytest.approx(fleiss(*binary), abs=CLOSE)
    assert number.entity.alpha.n == date.entity.alpha.n == 5
    # Only Ann marked the date.
    assert (date.spans.exact.value, date.spans.exact.n) == (0.0, 1)


def test_finding_is_told_apart_from_naming(disputed: Campaign) -> None:
    agreement = campaign_agreement(disputed)
    assert agreement.detection is not None
    assert agreement.labelling is not None
    found = [["O" if answer == "O" else "X" for answer in one] for one in (ANN_TOKENS, BEN_TOKENS)]
    detection = agreement.detection.token.fleiss[0].figure
    assert detection.value == pytest.approx(fleiss(*found), abs=CLOSE)
    # Regardless of labels, 1,200 and the date are equal spans, and (310) overlaps 310.
    spans = agreement.detection.spans
    assert (spans.exact.value, spans.overlap.value) == (4 / 7, 6 / 7)
    # The labels of the two spans that both marked: Number Number and Date Number.
    (pair,) = agreement.pairs
    expected = cohen_kappa_score(["Number", "Date"], ["Number", "Number"])
    assert pair.labelling.value == pytest.approx(expected, abs=CLOSE)
    assert (pair.labelling.n, agreement.labelling.entity.n) == (2, 2)
    assert pair.detection.value == pytest.approx(cohen_kappa_score(*found), abs=CLOSE)


def test_span_f1_counts_spans_with_the_same_label(disputed: Campaign) -> None:
    overall = campaign_agreement(disputed).overall
    assert overall is not None
    # 1,200 exactly, (310) and 310 by overlap, of 3 and 4 spans.
    assert (overall.spans.exact.value, overall.spans.overlap.value) == (2 / 7, 4 / 7)
    assert overall.spans.exact.n == 7


def test_confusion_has_not_marked_as_an_answer(disputed: Campaign) -> None:
    confusion = campaign_agreement(disputed).levels[0].confusion
    assert confusion.answers == ("Number", "Date", "no label")
    assert confusion.rows == ((1, 1, 3), (1, 0, 0), (3, 0, 0))


def test_confused_texts_say_what_was_answered(disputed: Campaign) -> None:
    texts = campaign_agreement(disputed).texts
    assert [(text.text, text.disputed, text.items) for text in texts] == [
        ("(310)", 1, 1),
        ("310", 1, 1),
        ("March 31, 2025", 1, 1),
        ("1,200", 1, 2),
    ]
    answers = [(answer.answer, answer.count) for answer in texts[-1].answers]
    assert answers == [("Number", 1), ("no label", 1)]
    assert (texts[-1].document, texts[0].document) == ("page-001", "page-001")


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
        decide_case(case=case, choice="neither", reason="No fact.", actor=lead)
    assert campaign_agreement(disputed) == before


def test_labels_changed_after_the_first_submission_change_no_figure(
    disputed: Campaign, ann: User
) -> None:
    before = campaign_agreement(disputed)
    work = work_of(ann, disputed)
    work.spans.all().delete()
    assert campaign_agreement(disputed) == before


def test_undefined_kappa_is_none_and_shown_as_such(
    campaign: Campaign, ann: User, ben: User, lead: User, client_of: ClientOf
) -> None:
    for user in (ann, ben):
        submit(work_of(user, campaign), ("Number", "1,200"))
    agreement = campaign_agreement(campaign)
    pair, overall = level(agreement, "entity")
    assert pair is not None
    assert (pair.value, pair.observed, pair.n) == (None, 1.0, 1)
    assert overall.value is None
    html = client_of(lead).get("/campaigns/spring-round/agreement/").content.decode()
    assert "n/a" in html


def test_two_who_marked_nothing_give_no_items(
    campaign: Campaign, ann: User, ben: User, lead: User, client_of: ClientOf
) -> None:
    submit(work_of(ann, campaign))
    submit(work_of(ben, campaign))
    pair, overall = level(campaign_agreement(campaign), "entity")
    assert pair == overall == Figure(None, None, None, None, 0, 1)
    html = client_of(lead).get("/campaigns/spring-round/agreement/").content.decode()
    assert "The annotators agree on every span." in html


def test_three_annotators_two_per_document(ann: User, ben: User, cleo: User) -> None:
    campaign = make_campaign([ann, ben, cleo], documents=3)
    for user in (ann, ben, cleo):
        for assignment in user.assignments.all():
            submit(assignment, ("Number", "1,200"), ("Date", "March 31, 2025"))
    agreement = campaign_agreement(campaign)
    for item in agreement.levels:
        pairs = [row.cells[other] for row in item.matrix for other in range(row.number)]
        figures = [cell for cell in pairs if cell is not None]
        assert [figure.value for figure in figures] == [1.0, 1.0, 1.0]
        assert [figure.documents for figure in figures] == [1, 1, 1]
        assert item.overall.fleiss[0].annotators == 2
        assert item.overall.fleiss[0].figure.documents == 3


def test_withdrawn_work_does_not_count(ann: User, ben: User, cleo: User) -> None:
    campaign = make_campaign([ann, ben, cleo], overlap=3)
    for user in (ann, ben, cleo):
        submit(work_of(user, campaign), ("Number" if user == cleo else "Date", "1,200"))
    assert campaign_agreement(campaign).annotators == ("Ann", "Ben", "Cleo")
    Assignment.objects.filter(annotator=cleo).update(state="withdrawn", submitted_at=None)
    agreement = campaign_agreement(campaign)
    assert agreement.annotators == ("Ann", "Ben")
    assert agreement.documents[0].entity.alpha.observed == 1.0


def test_qualification_does_not_count(disputed: Campaign) -> None:
    assert campaign_agreement(disputed).overall is not None
    disputed.documents.update(purpose="qualification")
    agreement = campaign_agreement(disputed)
    assert (agreement.overall, agreement.waiting) == (None, 0)


def test_document_with_work_to_do_does_not_count_whatever_its_stage(
    disputed: Campaign, cleo: User
) -> None:
    Assignment.objects.create(campaign_document=document_of(disputed), annotator=cleo)
    assert campaign_agreement(disputed).overall is None


def test_single_annotator_has_nobody_to_compare_with(
    ann: User, lead: User, client_of: ClientOf
) -> None:
    campaign = make_campaign([ann], overlap=1, lead=lead)
    submit(work_of(ann, campaign), ("Number", "1,200"))
    agreement = campaign_agreement(campaign)
    assert (agreement.documents, agreement.single) == ((), 1)
    html = client_of(lead).get("/campaigns/spring-round/agreement/").content.decode()
    assert "Only one annotator per document" in html


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


def test_figures_are_remembered_until_somebody_submits(
    disputed: Campaign, ann: User, ben: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = campaign_agreement(disputed)
    monkeypatch.setattr(
        agreement_module, "_computed", lambda campaign, works: pytest.fail("computed anew")
    )
    save(work_of(ann, disputed, 2), ("Number", "1,200"))
    assert campaign_agreement(disputed) == first
    submit(work_of(ann, disputed, 2))
    assert campaign_agreement(disputed) == first
    monkeypatch.undo()
    submit(work_of(ben, disputed, 2), ("Number", "1,200"))
    assert campaign_agreement(disputed).levels[0].overall.fleiss[0].figure.n == 6


def test_name_that_changed_is_shown(disputed: Campaign, ann: User) -> None:
    campaign_agreement(disputed)
    ann.name = "Anna"
    ann.save()
    assert campaign_agreement(disputed).annotators == ("Anna", "Ben")


def test_api_gives_the_same_figures(disputed: Campaign, lead: User, api_of: ApiOf) -> None:
    body = api_of(lead).get("/api/v1/campaigns/spring-round/agreement/").json()
    entity = next(item for item in body["levels"] if item["level"] == "entity")
    assert entity["matrix"][0]["cells"][0] is None
    assert entity["matrix"][0]["cells"][1]["value"] == pytest.approx(cohen_kappa_score(ANN, BEN))
    assert body["waiting"] == 1
    assert [part["name"] for part in body["labels"]] == ["Number", "Date"]
