"""The table of the first version on boards that count five fact types."""

import pytest

from scoring.benchmarks.fincriticaled import FINCRITICALED
from scoring.benchmarks.items import Observation, replicated, resampled_documents

V2 = FINCRITICALED.check_options({"labels": "v2"})
GOLD = (
    "<p>In <Temporal>2020</Temporal> <ReportingEntity>Acme Ltd</ReportingEntity> earned"
    " <Number>1,200</Number> and lost <Number>350</Number> million"
    " <MonetaryUnit>dollars</MonetaryUnit>.</p>"
)
# The number 350 is wrong, and so is the name: two of three numbers and dates are correct.
PREDICTION = "<p>In 2020 Acne Ltd earned 1,200 and lost 390 million dollars.</p>"


def test_numbers_and_dates_alone_are_counted() -> None:
    result = FINCRITICALED.score_item(
        {"id": "page", "html": GOLD}, {"id": "page", "html": PREDICTION}, V2
    )
    scores = FINCRITICALED.aggregate([result], V2).scores
    assert scores["first_ffa"] == pytest.approx(2 / 3)
    assert scores["ffa"] == pytest.approx(3 / 5)
    assert (scores["n_ffa"], scores["t_ffa"]) == (1 / 2, 1)


def test_numbers_and_dates_have_replicates() -> None:
    """Two of three are correct on the read page, none of three on the missing one."""
    gold, read = {"id": "page", "html": GOLD}, {"id": "page", "html": PREDICTION}
    rows = [
        Observation("one", FINCRITICALED.score_item(gold, read, V2)),
        Observation("two", FINCRITICALED.score_item(gold, None, V2)),
    ]
    weights = resampled_documents(rows, FINCRITICALED.stratum, seed="release")
    found = replicated(
        rows,
        lambda result: FINCRITICALED.contributions(result, V2),
        FINCRITICALED.combined,
        weights,
    )["first_ffa"]
    assert found.value == pytest.approx(2 / 6)
    # Twice the first page, once each, twice the second.
    assert sorted(set(found.values.round(9))) == [0, round(2 / 6, 9), round(2 / 3, 9)]


def test_its_rows_are_those_of_the_first_version() -> None:
    _, view = FINCRITICALED.views_for(V2)
    assert view.key == "first_version"
    assert [column.label for column in view.columns if column.headline] == [
        "R1", "RL", "E", "N-FFA", "T-FFA", "FFA",
    ]  # fmt: skip
    assert {row.protocol for row in view.reported} == {"v1"}
    assert len(view.reported) == 7
    keys = {column.key for column in view.columns}
    assert all(row.scores.keys() <= keys for row in view.reported)
    [row] = [row for row in view.reported if row.name == "DeepSeek-OCR"]
    assert row.scores["first_ffa"] == pytest.approx(0.7715)


@pytest.mark.parametrize("labels", ["v1", "Number", "Number,MonetaryUnit", "Number,Temporal"])
def test_other_boards_have_no_such_table(labels: str) -> None:
    options = FINCRITICALED.check_options({"labels": labels})
    assert [view.key for view in FINCRITICALED.views_for(options)] == ["document_types"]
    assert "first_ffa" not in FINCRITICALED.aggregate([], options).scores
