"""The headline view: what is measured, who leads and how certainly, and the common axis."""

import re
from typing import Any

import pytest
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from portal.accounts.models import User
from scoring.benchmarks import BENCHMARKS, Benchmark
from scoring.leaderboard.columns import board_columns, explanations
from scoring.leaderboard.headline import Axis, axis_of, lead_of
from scoring.leaderboard.selectors import leaderboard
from scoring.leaderboard.services import bump_board, load_reported
from scoring.models import Board, Entry, Replicate, Submission
from tests.fixture_types import ClientOf
from tests.scoring.factories import first_phase, make_board, make_entry
from tests.scoring.ranked import published

pytestmark = pytest.mark.django_db

PAGE = "/boards/board/"
FFA = next(
    column for column in board_columns(BENCHMARKS["fincriticaled"].columns) if column.key == "ffa"
)


def test_columns_with_the_same_definition_share_a_line_of_the_legend() -> None:
    spec = BENCHMARKS["fcmbench"]
    (view,) = (each for each in spec.views_for(spec.check_options({})) if each.key == "conditions")
    lines = explanations([each for each in board_columns(view.columns) if not each.is_rank])
    normal, conditions = (label.split(", ") for label, _, _ in lines)
    assert normal == ["Normal Captures"]
    assert (conditions[0], len(conditions)) == ("Off-axis Viewpoints", 10)


def lead(board: Board) -> tuple[str, str] | None:
    phase = first_phase(board)
    sections = leaderboard(board, phase).unfiltered
    found = lead_of(sections[0], phase) if sections else None
    if found is None:
        return None
    return " and ".join(filter(None, [found.name, found.equal])), found.words


def text_of(client: Client, url: str = PAGE) -> str:
    return " ".join(client.get(url).content.decode().split())


# --- who leads ----------------------------------------------------------------------------------


def test_a_lead_that_no_test_confirms_is_not_certain(board: Board, researcher: User) -> None:
    # Draws lie within a hundredth of these: see tests/scoring/ranked.py.
    published(board, researcher, A=0.900, B=0.895, C=0.894, D=0.5)
    name, words = lead(board) or ("", "")
    assert name == "A"
    found = re.fullmatch(
        r"shares rank 1 with 2 others. Its lead over B is not significant \(p = (0\.\d{3})\).",
        words,
    )
    assert found
    assert float(found[1]) >= 0.05


def test_a_lead_that_the_test_confirms_is_certain(
    board: Board, researcher: User, client_of: ClientOf
) -> None:
    published(board, researcher, A=0.9, B=0.5, C=0.4)
    # 2 (1 + 0) / (1 + 1,000), the smallest p-value of 1,000 draws.
    assert lead(board) == ("A", "leads. Its lead over B is significant (p = 0.002).")
    words = "<strong>A</strong> leads. Its lead over B is significant (p = 0.002)."
    assert words in text_of(client_of(None))
    assert words in text_of(client_of(None), f"{PAGE}?q=B")


def test_a_lead_is_certain_exactly_if_no_row_shares_the_first_rank(
    board: Board, researcher: User
) -> None:
    for means, is_certain in (((0.9, 0.85), True), ((0.9, 0.899), False)):
        Entry.objects.all().delete()
        published(board, researcher, **dict(zip("AB", means, strict=True)))
        [section] = leaderboard(board, first_phase(board)).unfiltered
        shared = [row for row in section.rows if row.ranks["rank_ffa"] == 1]
        assert (len(shared) == 1) is is_certain
        assert ("is significant" in (lead(board) or ("", ""))[1]) is is_certain


def test_one_row_and_none(board: Board, researcher: User, client_of: ClientOf) -> None:
    assert lead(board) is None
    assert 'class="lead"' not in text_of(client_of(None))
    make_entry(board, researcher, name="A")
    assert lead(board) == ("A", "is the only ranked model.")
    out = make_entry(board, researcher, name="Best", ffa=0.99)
    Entry.objects.filter(pk=out.pk).update(
        verdict=Submission.Verdict.DISQUALIFIED, verdict_reason="Copied."
    )
    assert lead(board) == ("A", "is the only ranked model.")


def test_the_same_score_leads_together(board: Board, researcher: User) -> None:
    make_entry(board, researcher, name="B", ffa=0.5)
    make_entry(board, researcher, name="A", ffa=0.5)
    assert lead(board) == ("A and B", "share the top score.")


def test_untested_leads_name_the_reason(researcher: User) -> None:
    board = make_board()
    first = make_entry(board, researcher, name="A", ffa=0.9)
    make_entry(board, researcher, name="B", ffa=0.8)
    alone = "has the top score. "
    assert lead(board) == ("A", f"{alone}The significance test has not finished yet.")
    assert first.grading is not None
    Replicate.objects.create(grading=first.grading, figure="ffa", key="k", value=0.9, values=b"")
    words = "The lead cannot be tested, because part of a score depends on a single document."
    assert lead(board) == ("A", alone + words)
    board.phases.update(score_decimals=1)
    words = "Scores are rounded to protect the hidden gold, so significance is not tested."
    assert lead(board) == ("A", alone + words)


# --- what is measured ---------------------------------------------------------------------------


def test_the_page_says_in_words_what_is_measured(client_of: ClientOf, board: Board) -> None:
    facts = first_phase(board).release.fact_count
    words = f"FFA: share of the {facts} financial facts reproduced exactly and in the right place."
    assert words in text_of(client_of(None))
    assert words in text_of(client_of(None), f"{PAGE}benchmark/")
    board.phases.update(options={"matcher": "substring"})
    assert f"{facts} financial facts reproduced exactly." in text_of(client_of(None))


@pytest.mark.parametrize("spec", BENCHMARKS.values(), ids=BENCHMARKS)
def test_every_benchmark_has_a_headline_of_its_own_figures(spec: Benchmark) -> None:
    options = spec.default_options
    headline = spec.headline_for(options)
    assert headline is not None
    figures = {column.key for column in spec.columns_for(options)}
    assert 2 <= len(headline.supporting) <= 4
    assert headline.supporting.keys() <= figures
    assert "{count} " in headline.measures
    # The page has views of its own under these names.
    assert not {view.key for view in spec.views_for(options)} & {"headline", "scores", "robustness"}


# --- the table ----------------------------------------------------------------------------------


def test_rows_are_in_the_order_of_their_ranks(
    board: Board, researcher: User, client_of: ClientOf
) -> None:
    published(board, researcher, B=0.890, D=0.5, C=0.880, A=0.900)
    page = client_of(None).get(PAGE).content.decode()
    rows = re.findall(r'class="rank">.*?(\d+)</td>\s*<th scope="row">\s*<a [^>]*>(\w)<', page)
    assert rows == [("1", "A"), ("1", "B"), ("2", "C"), ("4", "D")]


def test_a_board_keeps_hidden_groups_hidden(
    board: Board, researcher: User, client_of: ClientOf
) -> None:
    make_entry(board, researcher, general=0.4321)
    assert "43.21" in text_of(client_of(None))
    board.column_groups = ["Fact-level"]
    board.save()
    page = text_of(client_of(None))
    assert "43.21" not in page
    assert ">Numbers</th>" in page
    assert ">Text</th>" not in page


def test_reported_rows_are_one_switch_away_and_apart(
    board: Board, researcher: User, client_of: ClientOf
) -> None:
    load_reported(board=board)
    client = client_of(None)
    # Nothing else can be shown.
    assert "GPT-5" in text_of(client)
    make_entry(board, researcher, name="Newcomer")
    bump_board(board.pk)
    page = text_of(client)
    assert "GPT-5" not in page
    assert "Results from papers (7)" in page
    graded, reported = text_of(client, f"{PAGE}?others=on").split("<h2>Results from papers</h2>")
    assert ("Newcomer" in graded, "Newcomer" in reported) == (True, False)
    assert ("GPT-5" in graded, "GPT-5" in reported) == (False, True)


def test_scores_and_intervals_have_places_on_one_axis(
    board: Board, researcher: User, client_of: ClientOf
) -> None:
    for name, ffa in {"A": 0.75, "B": 0.5}.items():
        entry = make_entry(board, researcher, name=name, ffa=ffa)
        Entry.objects.filter(pk=entry.pk).update(intervals={"ffa": [ffa - 0.25, ffa + 0.25]})
    bump_board(board.pk)
    page = client_of(None).get(PAGE).content.decode()
    # From 20% to 100%, because the ends of the intervals are 25% and 100%.
    assert re.findall(r'<circle cx="([\d.]+)%"', page) == ["68.75", "37.50"]
    assert re.findall(r'<line x1="([\d.]+)%" x2="([\d.]+)%"', page) == [
        ("37.50", "100.00"),
        ("6.25", "68.75"),
    ]


def test_an_axis_that_does_not_start_at_zero_says_so(
    board: Board, researcher: User, client_of: ClientOf
) -> None:
    make_entry(board, researcher, name="A", ffa=0.9655)
    make_entry(board, researcher, name="B", ffa=0.577)
    assert "<small>Axis starts at 50%</small>" in text_of(client_of(None))
    make_entry(board, researcher, name="C", ffa=0.032)
    assert "Axis starts at" not in text_of(client_of(None))


@given(st.lists(st.floats(0, 1), max_size=30))
def test_every_value_is_on_the_axis(values: list[float]) -> None:
    axis = axis_of(values, FFA)
    places = [float(axis.place(value).removesuffix("%")) for value in values]
    assert all(-0.01 <= place <= 100.01 for place in places)
    assert axis.high <= 1.0001
    assert axis.low > -0.0001
    assert 2 <= len(axis.ticks) <= 7
    assert len({tick.text for tick in axis.ticks}) == len(axis.ticks)
    assert (axis.ticks[0].place, axis.ticks[-1].place) == ("0.00%", "100.00%")


@pytest.mark.parametrize(
    ("values", "ends", "ticks"),
    [
        ([0.032, 0.932], (0.0, 1.0), ["0%", "50%", "100%"]),
        ([0.577, 0.9655], (0.5, 1.0), ["50%", "60%", "70%", "80%", "90%", "100%"]),
        ([1.0], (0.98, 1.0), ["98%", "100%"]),
        ([0.0, 0.0], (0.0, 0.02), ["0%", "2%"]),
        ([], (0.0, 1.0), ["0%", "50%", "100%"]),
    ],
)
def test_axes_by_hand(values: list[float], ends: tuple[float, float], ticks: list[str]) -> None:
    axis = axis_of(values, FFA)
    assert (axis.low, axis.high) == pytest.approx(ends)
    assert [tick.text for tick in axis.ticks] == ticks


def test_ccocr_shows_all_of_its_tracks() -> None:
    spec = BENCHMARKS["ccocr"]
    headline = spec.headline_for(spec.default_options)
    tracks = {each.key for each in spec.columns if each.group == "Tracks"} - {"overall"}
    assert headline is not None
    assert headline.supporting.keys() == tracks


def test_an_axis_places_values_evenly() -> None:
    axis = Axis(0.5, 1.0)
    assert [axis.place(value) for value in (0.5, 0.625, 1.0)] == ["0.00%", "25.00%", "100.00%"]


def test_views_and_filters_stay_on_every_link(
    board: Board, researcher: User, client_of: ClientOf
) -> None:
    make_entry(board, researcher, name="A")
    page: Any = text_of(client_of(None), f"{PAGE}?weights=open&others=on")
    for view in ("scores", "document_types"):
        assert f'href="?weights=open&amp;others=on&amp;view={view}"' in page
    assert 'href="?weights=open&amp;others=on" aria-current="true">Overview' in page
