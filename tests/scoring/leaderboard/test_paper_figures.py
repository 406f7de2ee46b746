"""Figures 5a, 5c and 5d of FCMBench from its tables 3 and 4, and A7 and A8 in kind."""

from datetime import date

import pytest
from django.contrib.auth.models import AnonymousUser

from portal.accounts.models import User
from scoring.benchmarks import Chart
from scoring.charts.shapes import Bars, Scatter
from scoring.charts.specs import specification
from scoring.leaderboard.charts import BoardChart, board_charts
from scoring.leaderboard.rows import token_annotations
from scoring.leaderboard.services import load_reported
from scoring.leaderboard.shaping import ChartSource, chart_shape
from scoring.models import Board, Entry
from tests.scoring.factories import make_entry

pytestmark = pytest.mark.django_db


@pytest.fixture
def credit(db: None) -> Board:
    board = Board.objects.create(
        slug="credit", title="Credit", benchmark="fcmbench", state=Board.State.OPEN
    )
    load_reported(board=board)
    return board


def chart_of(board: Board, key: str) -> BoardChart:
    return board_charts(AnonymousUser(), board, [], origin="reported").chart(key)


def test_the_distribution_of_scores_is_that_of_figure_5a(credit: Board) -> None:
    """28 systems; the paper says 44.8 ± 10.3, and that they span about 25 to 65."""
    chart = chart_of(credit, "spread")
    assert chart.description.endswith("Mean and standard deviation: 44.8 ± 10.3.")
    assert isinstance(chart.shape, Bars)
    # By hand from table 4: 24.54 and 65.16 are the ends.
    assert [(round(100 * bar.low), bar.number) for bar in chart.shape.bars] == [
        (20, 1), (25, 1), (30, 3), (35, 4), (40, 7), (45, 3), (50, 5), (55, 1), (60, 2), (65, 1),
    ]  # fmt: skip
    assert specification(chart.shape)["layer"]


def test_release_dates_have_the_best_score_so_far(credit: Board) -> None:
    shape = chart_of(credit, "released").shape
    assert isinstance(shape, Scatter)
    # By hand from tables 3 and 4.
    assert [(day, round(100 * score, 2)) for day, score in shape.line] == [
        (date(2025, 1, 1), 38.28),
        (date(2025, 4, 1), 38.44),
        (date(2025, 7, 1), 48.88),
        (date(2025, 10, 1), 52.03),
        (date(2025, 11, 1), 65.16),
        (date(2026, 2, 1), 65.16),
    ]


def test_dense_models_and_mixtures_by_all_and_by_active_parameters(credit: Board) -> None:
    found = {}
    for key in ("scaling", "active"):
        shape = chart_of(credit, key).shape
        assert isinstance(shape, Scatter)
        found[key] = {point.name: (point.x, point.group) for point in shape.points}
    whole, active = found["scaling"], found["active"]
    kimi, small = "Kimi-K2.5", "Qwen3-VL-8B-Instruct"
    assert (whole[kimi], active[kimi]) == (
        (1e12, "Mixture of experts"),
        (32e9, "Mixture of experts"),
    )
    assert whole[small] == active[small] == (8e9, "Dense")
    # The paper does not say how the pipeline's second model works, so it has no active size.
    assert whole["DeepSeek(OCR+V3.2)"] == (674e9, "Not stated")
    assert whole.keys() - active.keys() == {"DeepSeek(OCR+V3.2)"}
    assert "GPT 5.2" not in whole


def test_reasoning_modes_against_tokens(board: Board, researcher: User) -> None:
    for name, mode, tokens in [
        ("A", "off", 300),
        ("B", "on", 900),
        ("C", "", 600),
        ("D", "on", None),
    ]:
        entry = make_entry(board, researcher, name=name, ffa=0.5)
        Entry.objects.filter(pk=entry.pk).update(reasoning=mode, output_tokens=tokens)
    [column] = [each for each in board.spec.columns if each.key == "ffa"]
    entries = list(Entry.objects.order_by("name").annotate(**token_annotations()))
    source = ChartSource(entries, {}, {"ffa": column}, {})
    shape = chart_shape(Chart("reasoning", "reasoning", "", "", ("ffa",)), source)
    assert isinstance(shape, Scatter)
    # Three items each.
    assert [(each.name, each.x, each.group) for each in shape.points] == [
        ("A", 100, "Off"),
        ("B", 300, "On"),
    ]
    assert chart_shape(Chart("spread", "spread", "", "", ("ffa",)), source) is None


def test_fine_tuned_systems_are_a_group_of_their_own() -> None:
    board = Board.objects.create(
        slug="receipts", title="Receipts", benchmark="receiptbench", state=Board.State.OPEN
    )
    entries = load_reported(board=board)
    tuned = {entry.name for entry in entries if entry.category == "fine_tuned"}
    assert "Qwen3-VL-8B (SFT+GRPO)" in tuned
    assert all("SFT" in name or "GRPO" in name for name in tuned)
    others = {entry.name for entry in entries} - tuned
    assert not any("SFT" in name or "GRPO" in name for name in others)


def test_systems_of_a_part_of_the_tracks_are_in_the_table_without_a_rank() -> None:
    board = Board.objects.create(
        slug="reading", title="Reading", benchmark="ccocr", state=Board.State.OPEN
    )
    load_reported(board=board)
    source = "CC-OCR, Tables 2, 3, 4, 5 and 8"
    rows = {entry.name: entry.scores for entry in board.entries.filter(provenance=source)}
    assert len(rows) == 9
    assert rows["KOSMOS2.5"] == pytest.approx(
        {"multi_scene": 0.4755, "multi_lan": 0.3623, "repetition": 0.1064}
    )
    assert "overall" not in rows["GOT"]
