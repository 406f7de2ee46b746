"""The charts of a board: their rows are the leaderboard's, and each is drawn once."""

import csv
import gzip
import io
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.core.cache import cache
from django.utils import timezone

from portal.accounts.models import User
from portal.jobs.models import Job
from scoring.benchmarks import BENCHMARKS, common_charts, deciding_column, get_benchmark
from scoring.boards.services import edit_board
from scoring.charts.drawing import DrawingError, library_version
from scoring.charts.look import WIDE, size_of
from scoring.charts.shapes import Grid, Scatter, Slopes, Table
from scoring.charts.specs import specification
from scoring.leaderboard import pictures as drawings
from scoring.leaderboard.charts import BoardCharts, board_charts
from scoring.leaderboard.pictures import DRAWING_KIND, queue_undrawn
from scoring.leaderboard.services import bump_board, load_reported
from scoring.leaderboard.shaping import MOST_POINTS
from scoring.models import Board, Entry, Grading, Submission
from scoring.models.boards import phase_windows
from scoring.submissions.services import judge_submission
from tests.fixture_types import ApiOf, ClientOf
from tests.scoring.factories import fill_board, make_entry
from tests.worlds import shared

pytestmark = pytest.mark.django_db

PAGE = "/boards/board/charts/"
API = "/api/v1/boards/board/charts/"
SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="400" height="300" viewBox="0 0 400 300"></svg>'
)


@pytest.fixture(autouse=True)
def no_cache() -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Record the width of every chart that is drawn; draw empty pictures."""
    widths: list[int] = []

    def draw(spec: dict[str, Any]) -> str:
        widths.append(size_of(spec).width)
        return SVG

    monkeypatch.setattr(drawings, "draw_svg", draw)
    monkeypatch.setattr(drawings, "make_library", lambda: "export {};")
    return widths


@pytest.fixture
@shared
def rows(board: Board, researcher: User) -> Board:
    """A is first by text, B by facts; C was disqualified, D has no facts."""
    for name, general, ffa in [("A", 0.9, 0.5), ("B", 0.8, 0.75), ("C", 0.99, 0.99)]:
        make_entry(board, researcher, name=name, general=general, ffa=ffa, n_ffa=ffa, t_ffa=general)
    make_entry(board, researcher, name="D", general=0.7, ffa=None, n_ffa=None)
    Entry.objects.filter(name="C").update(verdict="disqualified", verdict_reason="Copied.")
    return board


def charts_of(board: Board, user: Any = None, **asked: str) -> BoardCharts:
    return board_charts(user or AnonymousUser(), board, phase_windows(board), **asked)


def table_of(board: Board, key: str, **asked: str) -> Table:
    table = charts_of(board, **asked).chart(key).table
    assert table is not None
    return table


def scatter(board: Board, key: str) -> Scatter:
    shape = charts_of(board).chart(key).shape
    assert isinstance(shape, Scatter)
    return shape


def test_text_against_facts(rows: Board) -> None:
    shape = scatter(rows, "text-and-facts")
    assert (shape.x.title, shape.y.title) == ("General mean (%)", "FFA (%)")
    # Best first, as on the leaderboard.
    assert table_of(rows, "text-and-facts").lines == (
        ("B", 0.8, 0.75, "Other models"),
        ("A", 0.9, 0.5, "Other models"),
    )


def test_ranks_turn_round(rows: Board) -> None:
    shape = charts_of(rows).chart("ranks").shape
    assert isinstance(shape, Slopes)
    assert shape.slopes == (("B", 2, 1), ("A", 1, 2))


def test_ties_share_a_rank(board: Board, researcher: User) -> None:
    for name, general, ffa in [("A", 0.9, 0.5), ("B", 0.9, 0.5), ("C", 0.8, 0.4)]:
        make_entry(board, researcher, name=name, general=general, ffa=ffa)
    assert table_of(board, "ranks").lines == (("A", 1, 1), ("B", 1, 1), ("C", 3, 3))


def test_errors_are_cells_of_all_rows_that_have_them(board: Board, researcher: User) -> None:
    make_entry(board, researcher, name="A", err_missing=0.25, err_sign=0.0)
    make_entry(board, researcher, name="B")
    shape = charts_of(board).chart("errors").shape
    assert isinstance(shape, Grid)
    assert shape.columns[:2] == ("Missing", "Sign")
    assert [(row.name, row.values[:3]) for row in shape.rows] == [("A", (0.25, 0.0, None))]


def test_bars_mark_the_best_of_every_metric(board: Board, researcher: User) -> None:
    make_entry(board, researcher, name="A", ffa=0.9, edit_distance=0.3)
    make_entry(board, researcher, name="B", ffa=0.8, edit_distance=0.2)
    Entry.objects.filter(name="A").update(intervals={"ffa": [0.85, 0.95]})
    shape = charts_of(board).chart("metrics").shape
    assert isinstance(shape, Grid)
    assert shape.columns == ("R1", "RL", "E ↓", "N-FFA", "T-FFA", "FFA")
    assert (shape.best[2], shape.best[5]) == (0.2, 0.9)
    assert [row.ends[5] for row in shape.rows] == [(0.85, 0.95), None]
    assert {row.group for row in shape.rows} == {"Other models"}


def test_points_have_their_intervals(board: Board, researcher: User) -> None:
    for name in ("A", "B"):
        make_entry(board, researcher, name=name, general=0.8, ffa=0.9)
    Entry.objects.filter(name="A").update(intervals={"ffa": [0.85, 0.95], "general": [0.7, 0.9]})
    points = {point.name: point for point in scatter(board, "text-and-facts").points}
    assert (points["A"].x_ends, points["A"].y_ends) == ((0.7, 0.9), (0.85, 0.95))
    assert (points["B"].x_ends, points["B"].y_ends) == (None, None)


def test_document_types_are_those_of_the_best_row(board: Board, researcher: User) -> None:
    best = make_entry(board, researcher, name="Best", ffa=0.9)
    make_entry(board, researcher, name="Other", ffa=0.1)
    subsets = {
        "Number": {"facts": 4, "ffa": 0.5},
        "Tax form": {"pages": 2, "n_ffa": 0.75, "t_ffa": None},
    }
    Grading.objects.filter(entry=best).update(subsets=subsets)
    chart = charts_of(board).chart("documents-and-facts")
    assert chart.description.endswith("for the best model, Best.")
    assert chart.table is not None
    assert chart.table.heads == ("Part", "N-FFA", "T-FFA")
    assert chart.table.lines == (("Tax form", 0.75, None),)


def test_model_card_values_against_the_score(board: Board, researcher: User) -> None:
    for name, size, tokens, cost, ffa in [
        ("Small", "7B", 300, "1.50", 0.5),
        ("Wasteful", "3B + 27B-A3B", 900, "9", 0.4),
        ("Large", "72B", 1200, "0", 0.9),
        ("Silent", "", None, None, 0.95),
    ]:
        entry = make_entry(board, researcher, name=name, ffa=ffa)
        Entry.objects.filter(pk=entry.pk).update(
            size=size, output_tokens=tokens, cost=None if cost is None else Decimal(cost)
        )
    sizes, tokens_chart, cost_chart = (scatter(board, key) for key in ("size", "tokens", "cost"))
    assert {(point.name, point.x) for point in sizes.points} == {
        ("Small", 7e9),
        ("Wasteful", 30e9),
        ("Large", 72e9),
    }
    # Wasteful is larger than Small, but not better.
    assert list(sizes.line) == [(7e9, 0.5), (72e9, 0.9)]
    # Three items each: a card states the tokens of all of them.
    assert list(tokens_chart.line) == [(100, 0.5), (400, 0.9)]
    # The best system costs nothing, so no other is on the front.
    assert list(cost_chart.line) == [(0.0, 0.9)]


def test_lines_state_tokens_where_the_card_does_not(
    board: Board, researcher: User, client_of: ClientOf
) -> None:
    for name, card, counts in [
        ("Lines", None, {"output_tokens": 90, "with_output_tokens": 2}),
        ("Both", 300, {"output_tokens": 90, "with_output_tokens": 2}),
        ("Neither", None, {}),
    ]:
        entry = make_entry(board, researcher, name=name)
        Entry.objects.filter(pk=entry.pk).update(output_tokens=card)
        Grading.objects.filter(entry=entry).update(counts=counts)
    assert {(point.name, point.x) for point in scatter(board, "tokens").points} == {
        ("Lines", 45.0),
        ("Both", 100.0),
    }
    assert (
        charts_of(board)
        .chart("tokens")
        .description.endswith("Token counts come from the submission file for Lines.")
    )
    path = "/api/v1/boards/board/leaderboard/"
    [section] = client_of(None).get(path).json()["sections"]
    wanted = {"Lines": (45.0, "lines"), "Both": (100.0, "card"), "Neither": (None, None)}
    keys = ("output_tokens_per_item", "output_tokens_from")
    assert {row["name"]: tuple(row[key] for key in keys) for row in section["rows"]} == wanted
    text = client_of(None).get(f"{path}?format=csv").getvalue().decode()
    rows = csv.DictReader(io.StringIO(text))
    assert {row["name"]: tuple(row[key] for key in keys) for row in rows} == {
        "Lines": ("45", "lines"),
        "Both": ("100", "card"),
        "Neither": ("", ""),
    }


def test_release_dates_and_the_history_of_the_best(board: Board, researcher: User) -> None:
    for day, name, ffa, kind in [
        (1, "A", 0.5, "dense"),
        (2, "B", 0.4, ""),
        (3, "C", 0.6, "mixture"),
    ]:
        entry = make_entry(board, researcher, name=name, ffa=ffa)
        Entry.objects.filter(pk=entry.pk).update(
            released_on=date(2025, day, 1),
            architecture=kind,
            published_at=datetime(2026, 3, day, 12, tzinfo=UTC),
        )
    assert set(table_of(board, "released").lines) == {
        ("A", date(2025, 1, 1), 0.5, "Dense"),
        ("B", date(2025, 2, 1), 0.4, "Not stated"),
        ("C", date(2025, 3, 1), 0.6, "Mixture of experts"),
    }
    history = scatter(board, "history")
    assert history.line == ((date(2026, 3, 1), 0.5), (date(2026, 3, 3), 0.6))


def test_rows_of_different_origins_never_share_a_chart(rows: Board) -> None:
    load_reported(board=rows)
    shown = charts_of(rows)
    assert [tab.title for tab in shown.origins] == [
        "Graded by Factboard",
        "FinCriticalED paper (v1), Table 4",
    ]
    graded = {line[0] for line in table_of(rows, "text-and-facts").lines}
    reported = {line[0] for line in table_of(rows, "text-and-facts", origin="reported").lines}
    assert graded == {"A", "B"}
    assert "MinerU2.5" in reported
    assert not graded & reported
    assert charts_of(rows, origin="no such").origin == "graded"


def test_a_hidden_group_of_columns_has_no_chart(rows: Board, organiser: User) -> None:
    edit_board(board=rows, changes={"column_groups": ["Fact-level"]}, actor=organiser)
    rows.refresh_from_db()
    keys = [chart.key for chart in charts_of(rows).charts]
    assert "numbers-and-dates" in keys
    assert "text-and-facts" not in keys
    assert "ranks" not in keys


@pytest.mark.parametrize("key", list(BENCHMARKS))
def test_charts_of_every_benchmark_name_figures_that_it_has(key: str) -> None:
    spec = get_benchmark(key)
    deciding = deciding_column(spec.columns).key
    charts = [*spec.charts, *common_charts(deciding)]
    assert len({chart.key for chart in charts}) == len(charts)
    options = spec.check_options({"labels": "v2"} if key == "fincriticaled" else {})
    known = {*spec.figures_for(options), *spec.figures_for(spec.check_options({}))}
    for chart in charts:
        assert set(chart.figures) <= known, chart.key


@pytest.mark.parametrize("count", [2, 30])
def test_queries_do_not_grow_with_the_rows(
    board: Board, researcher: User, count: int, django_assert_num_queries: Any
) -> None:
    for number in range(count):
        make_entry(board, researcher, name=f"S{number}")
    windows = phase_windows(board)
    with django_assert_num_queries(2):
        shown = board_charts(AnonymousUser(), board, windows)
        assert all(chart.table for chart in shown.drawable)


def test_charts_of_many_rows_show_the_top_and_the_line_and_say_so(
    board: Board, researcher: User, client_of: ClientOf
) -> None:
    """The last row is the smallest model, so that it is on the Pareto front."""
    fill_board(board, researcher, 3 * MOST_POINTS)
    for place, entry in enumerate(Entry.objects.order_by("id")):
        entry.size = "1B" if place == 3 * MOST_POINTS - 1 else "9B" if place else "2B"
        entry.save(update_fields=["size"])
    shape = scatter(board, "size")
    assert shape.total == 3 * MOST_POINTS
    assert [point.name for point in shape.points] == [
        *(f"Reader {number}" for number in range(MOST_POINTS)),
        f"Reader {3 * MOST_POINTS - 1}",
    ]
    assert [x for x, _ in shape.line] == [1e9, 2e9]
    assert (
        "Only the top 100 of 300 models and those on the line are shown."
        in charts_of(board).chart("size").description
    )
    # Files and tables have the rows of the picture.
    assert len(cells(client_of(None).get(f"{PAGE}size.csv"))) == 1 + MOST_POINTS + 1
    page = client_of(None).get(PAGE).content
    assert page.count(b'<th scope="row">Reader 150</th>') == 0


def test_a_line_with_too_many_corners_keeps_the_best(board: Board, researcher: User) -> None:
    fill_board(board, researcher, MOST_POINTS + 20)
    for place, entry in enumerate(Entry.objects.order_by("id")):
        # A smaller model for each worse score: every row is on the front.
        entry.size = f"{900 - place}B"
        entry.save(update_fields=["size"])
    shape = scatter(board, "size")
    assert len(shape.line) == MOST_POINTS
    assert max(y for _, y in shape.line) == shape.points[0].y
    assert len(shape.points) == MOST_POINTS


# --- what is hidden ------------------------------------------------------------------------------


def cells(answer: Any) -> list[list[str]]:
    return list(csv.reader(io.StringIO(answer.content.decode())))


def test_rounded_scores_are_rounded_and_parts_hidden(
    client_of: ClientOf, board: Board, researcher: User, drawn: list[int]
) -> None:
    """Entries have the scores that are shown; the parts of their gradings are hidden."""
    board.phases.update(score_decimals=0)
    for name in ("A", "B"):
        entry = make_entry(board, researcher, name=name, ffa=0.123456)
        Entry.objects.filter(pk=entry.pk).update(scores=entry.scores | {"ffa": 0.12})
        Grading.objects.filter(entry=entry).update(subsets={"Tax form": {"n_ffa": 0.777777}})
    client = client_of(None)
    paths = [PAGE, API, *(f"{PAGE}{key}.csv" for key in ("text-and-facts", "documents-and-facts"))]
    for path in paths:
        text = client.get(path).content.decode()
        assert "0.123456" not in text
        assert "77.7" not in text
        assert "0.777777" not in text
    assert cells(client.get(f"{PAGE}text-and-facts.csv"))[1][2] == "0.12"
    assert client.get(f"{PAGE}documents-and-facts.svg").status_code == 404


def test_a_phase_in_parts_draws_only_the_part_shown(
    client_of: ClientOf, board: Board, researcher: User, organiser: User, drawn: list[int]
) -> None:
    board.phases.update(public_share=50)
    for name in ("A", "B"):
        entry = make_entry(board, researcher, name=name)
        parts = {
            part: entry.scores | {"ffa": value}
            for part, value in {"public": 0.25, "private": 0.5, "all": 0.375}.items()
        }
        Entry.objects.filter(pk=entry.pk).update(parts=parts)
        Grading.objects.filter(entry=entry).update(subsets={"Tax form": {"n_ffa": 0.5}})

    def score_of(user: User | None, part: str = "") -> str:
        return cells(client_of(user).get(f"{PAGE}text-and-facts.csv?part={part}"))[1][2]

    assert [score_of(None), score_of(researcher, "public")] == ["0.25"] * 2
    for user, part in ((None, "private"), (researcher, "all"), (organiser, "nope")):
        refused = client_of(user).get(f"{PAGE}text-and-facts.csv?part={part}")
        assert (refused.status_code, refused.content[:5]) == (400, b"part:")
    assert [score_of(organiser), score_of(organiser, "private"), score_of(organiser, "all")] == [
        "0.25",
        "0.5",
        "0.375",
    ]
    answer = client_of(None).get(f"{API}documents-and-facts/").json()
    assert answer["rows"] == []
    assert answer["description"] == "FFA by document type and fact type."
    assert answer["told"] == answer["description"]
    # The phase closes, and the private part counts.
    board.phases.update(closes_at=timezone.now() - timedelta(hours=1))
    assert score_of(None) == "0.5"


@pytest.mark.parametrize("name", ["phase", "rows"])
def test_files_and_api_refuse_a_choice_that_the_board_does_not_have(
    client_of: ClientOf, api_of: ApiOf, rows: Board, drawn: list[int], name: str
) -> None:
    file = client_of(None).get(f"{PAGE}text-and-facts.csv?{name}=nope")
    assert file.status_code == 400
    assert file.content.decode().startswith(f"{name}: Unknown value. Known values: ")
    for path in (API, f"{API}text-and-facts/"):
        answer = api_of(None).get(f"{path}?{name}=nope")
        assert (answer.status_code, list(answer.json())) == (400, [name])
    assert client_of(None).get(f"{PAGE}?{name}=nope").status_code == 200


def test_disqualified_rows_are_in_no_chart(
    client_of: ClientOf, api_of: ApiOf, rows: Board, drawn: list[int]
) -> None:
    for chart in api_of(None).get(API).json():
        assert "C" not in {row[0] for row in chart["rows"]}
    assert ">C<" not in client_of(None).get(PAGE).content.decode()


# --- pictures ------------------------------------------------------------------------------------


def test_a_job_draws_the_pictures_once_for_all_readers(
    client_of: ClientOf, rows: Board, drawn: list[int], run_jobs: Callable[[], int]
) -> None:
    client = client_of(None)
    for _ in range(3):
        page = client.get(PAGE).content.decode()
        assert "The chart is being drawn." in page
        assert '<td class="num">75.00</td>' in page
        waiting = client.get(f"{PAGE}ranks.svg")
        assert (waiting.status_code, waiting["Refresh"]) == (503, "3")
        assert "no-store" in waiting["Cache-Control"]
        assert "ETag" not in waiting
    assert not drawn
    assert Job.objects.filter(kind=DRAWING_KIND).count() == 1
    run_jobs()
    assert drawn
    count = len(drawn)
    page = client.get(PAGE).content.decode()
    assert "being drawn" not in page
    width, height = size_of(specification(scatter(rows, "text-and-facts")))
    picture = page.split('src="/boards/board/charts/text-and-facts.svg')[1].split(">")[0]
    assert f'width="{width}"' in picture
    assert f'height="{height}"' in picture
    assert client.get(f"{PAGE}ranks.svg").status_code == 200
    assert client.get(f"{PAGE}ranks.svg?size=narrow").status_code == 200
    run_jobs()
    assert len(drawn) == count
    assert Job.objects.filter(kind=DRAWING_KIND).count() == 1


def test_other_files_have_jobs_of_their_own(
    client_of: ClientOf,
    rows: Board,
    drawn: list[int],
    run_jobs: Callable[[], int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[str] = []

    def draw_file(_: Any, form: str) -> bytes:
        made.append(form)
        return b"file"

    monkeypatch.setattr(drawings, "draw_file", draw_file)
    client = client_of(None)
    assert [client.get(f"{PAGE}ranks.pdf").status_code for _ in range(2)] == [503, 503]
    run_jobs()
    assert (made, drawn) == (["pdf"], [])
    answer = client.get(f"{PAGE}ranks.pdf")
    assert (answer.status_code, answer.content) == (200, b"file")
    assert answer["Content-Disposition"] == 'attachment; filename="board-test-ranks.pdf"'


def test_without_a_worker_the_requested_picture_is_drawn(
    client_of: ClientOf, rows: Board, drawn: list[int], run_jobs: Callable[[], int]
) -> None:
    client = client_of(None)
    client.get(PAGE)
    Job.objects.update(created_at=timezone.now() - timedelta(minutes=1))
    assert "being drawn" not in client.get(PAGE).content.decode()
    assert client.get(f"{PAGE}ranks.svg").status_code == 200
    assert drawn == [WIDE.width]
    assert client.get(f"{PAGE}ranks.svg").status_code == 200
    assert drawn == [WIDE.width]


def test_charts_of_many_rows_are_made_by_the_job(
    client_of: ClientOf,
    api_of: ApiOf,
    rows: Board,
    drawn: list[int],
    run_jobs: Callable[[], int],
    monkeypatch: pytest.MonkeyPatch,
    django_assert_max_num_queries: Any,
) -> None:
    monkeypatch.setattr(drawings, "MOST_ROWS_AT_ONCE", 2)
    client = client_of(None)
    with monkeypatch.context() as without_rows:
        without_rows.setattr(drawings, "kept_leaderboard", None)
        page = client.get(PAGE)
        assert "The charts are being drawn." in page.content.decode()
        assert client.get(f"{PAGE}ranks.csv").status_code == 503
        refused = api_of(None).get(API)
        assert (refused.status_code, refused["Retry-After"]) == (503, "3")
    run_jobs()
    with monkeypatch.context() as without_rows:
        without_rows.setattr(drawings, "kept_leaderboard", None)
        assert "being drawn" not in client.get(PAGE).content.decode()
        assert cells(client.get(f"{PAGE}ranks.csv"))[1] == ["B", "2", "1"]
        assert api_of(None).get(API).status_code == 200
    assert Job.objects.filter(kind=DRAWING_KIND).count() == 1


def test_what_organisers_see_is_drawn_for_them_alone(
    client_of: ClientOf,
    rows: Board,
    organiser: User,
    drawn: list[int],
    run_jobs: Callable[[], int],
) -> None:
    Board.objects.update(state=Board.State.DRAFT)
    client_of(organiser).get(PAGE)
    run_jobs()
    assert drawn
    assert client_of(organiser).get(f"{PAGE}ranks.svg").status_code == 200
    assert client_of(None).get(f"{PAGE}ranks.svg").status_code == 404
    # A job of an account that is no longer an organiser draws nothing.
    job = Job.objects.get(kind=DRAWING_KIND)
    User.objects.filter(pk=organiser.pk).update(is_organiser=False)
    drawings.draw_requested(job.payload)


def test_pictures_are_drawn_once_for_what_the_board_says(
    client_of: ClientOf,
    rows: Board,
    organiser: User,
    drawn: list[int],
    run_jobs: Callable[[], int],
) -> None:
    client = client_of(None)

    def picture() -> int:
        cache.delete_many(list_of_marks())
        client.get(PAGE)
        run_jobs()
        return client.get(f"{PAGE}ranks.svg").status_code

    assert picture() == 200
    count = len(drawn)
    # As long as the charts' data are equal, the pictures are reused.
    bump_board(rows.pk)
    assert picture() == 200
    assert len(drawn) == count
    Entry.objects.filter(name="B").update(name="New")
    bump_board(rows.pk)
    assert picture() == 200
    assert len(drawn) > count
    entry = Entry.objects.get(name="A")
    assert entry.grading is not None
    judge_submission(
        submission=entry.grading.submission,
        verdict=Submission.Verdict.DISQUALIFIED,
        reason="Copied.",
        actor=organiser,
    )
    assert picture() == 404


def list_of_marks() -> list[str]:
    """The cache keys that keep a second job from being queued at the same moment."""
    groups = Job.objects.filter(kind=DRAWING_KIND).values_list("group", flat=True)
    return [f"queued:{group}" for group in groups]


def test_charts_are_drawn_before_the_first_request(
    client_of: ClientOf,
    rows: Board,
    drawn: list[int],
    run_jobs: Callable[[], int],
) -> None:
    load_reported(board=rows, actor=None)
    assert queue_undrawn() == 1
    assert queue_undrawn() == 0, "it is queued already"
    run_jobs()
    assert Job.objects.get(kind=DRAWING_KIND).state == Job.State.DONE
    origins = [tab.query for tab in charts_of(rows).origins]
    assert len(origins) > 1
    count = len(drawn)
    assert count
    for query in origins:
        for path in ("", "text-and-facts.svg", "text-and-facts.svg"):
            assert client_of(None).get(f"{PAGE}{path}?{query}").status_code == 200
    client_of(None).get(f"/charts/vega-{library_version()}.js")
    assert len(drawn) == count, "no request waited for a picture"
    bump_board(rows.pk)
    assert queue_undrawn() == 1


def test_charts_of_a_draft_are_not_drawn_ahead(rows: Board, drawn: list[int]) -> None:
    Board.objects.update(state=Board.State.DRAFT)
    assert queue_undrawn() == 0


def test_a_picture_has_an_etag_and_a_policy_of_its_own(
    client_of: ClientOf, rows: Board, drawn: list[int], run_jobs: Callable[[], int]
) -> None:
    client = client_of(None)
    client.get(PAGE)
    run_jobs()
    answer = client.get(f"{PAGE}ranks.svg")
    assert answer["Content-Type"] == "image/svg+xml"
    assert answer["Content-Security-Policy"].startswith("default-src 'none'")
    assert answer["Content-Disposition"] == 'inline; filename="board-test-ranks.svg"'
    known = {"if-none-match": answer["ETag"]}
    assert client.get(f"{PAGE}ranks.svg", headers=known).status_code == 304
    bump_board(rows.pk)
    assert client.get(f"{PAGE}ranks.svg", headers=known).status_code == 200


def test_without_pictures_the_page_has_its_tables(
    client_of: ClientOf,
    api_of: ApiOf,
    rows: Board,
    drawn: list[int],
    run_jobs: Callable[[], int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(*_: Any) -> str:
        raise DrawingError

    monkeypatch.setattr(drawings, "draw_svg", broken)
    client_of(None).get(PAGE)
    Job.objects.update(max_attempts=1)
    run_jobs()
    assert Job.objects.get(kind=DRAWING_KIND).state == Job.State.FAILED
    text = client_of(None).get(PAGE).content.decode()
    assert '<td class="num">75.00</td>' in text
    assert "The values are in the table below." in text
    picture = client_of(None).get(f"{PAGE}ranks.svg")
    assert (picture.status_code, picture["Retry-After"]) == (503, "10")
    refused = api_of(None).get(f"{API}ranks/?format=svg")
    assert (refused.status_code, refused["Content-Type"]) == (503, "application/json")
    assert Job.objects.filter(kind=DRAWING_KIND).count() == 1, "not again at once"


def test_real_pictures_by_page_and_api(
    client_of: ClientOf,
    api_of: ApiOf,
    rows: Board,
    run_jobs: Callable[[], int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(drawings, "make_library", lambda: "export {};")
    Entry.objects.filter(name="A").update(name="<script>alert(1)</script> 😀")
    bump_board(rows.pk)
    for name in ("ranks.svg", "ranks.png", "ranks.pdf"):
        client_of(None).get(f"{PAGE}{name}")
    run_jobs()
    svg = client_of(None).get(f"{PAGE}ranks.svg").content
    assert b"&lt;script&gt;" in svg
    assert b"<script" not in svg
    assert api_of(None).get(f"{API}ranks/?format=svg").content == svg
    png = client_of(None).get(f"{PAGE}ranks.png")
    assert png["Content-Type"] == "image/png"
    assert png.content.startswith(b"\x89PNG")
    assert api_of(None).get(f"{API}ranks/?format=png").content == png.content
    pdf = client_of(None).get(f"{PAGE}ranks.pdf")
    assert pdf["Content-Type"] == "application/pdf"
    assert pdf["Content-Disposition"] == 'attachment; filename="board-test-ranks.pdf"'
    assert pdf.content.startswith(b"%PDF")
    assert api_of(None).get(f"{API}ranks/?format=pdf").content == pdf.content


def test_a_chart_as_vega_lite_says_what_its_table_says(
    client_of: ClientOf, api_of: ApiOf, rows: Board
) -> None:
    answer = client_of(None).get(f"{PAGE}text-and-facts.vl")
    assert answer["Content-Type"] == "application/vnd.vegalite.v6+json"
    assert 'filename="board-test-text-and-facts.vl.json"' in answer["Content-Disposition"]
    points = answer.json()["layer"][0]["data"]["values"]
    assert [(each["whole"], each["x"], each["y"]) for each in points] == [
        ("B", 80, 75),
        ("A", 90, 50),
    ]
    assert api_of(None).get(f"{API}text-and-facts/?format=vl").content == answer.content
    narrow = client_of(None).get(f"{PAGE}text-and-facts.vl?size=narrow").json()
    assert narrow["width"] < answer.json()["width"]
    # As little to draw as for a picture.
    assert client_of(None).get(f"{PAGE}errors.vl").status_code == 404


def test_the_library_is_made_once_and_kept_for_good(
    client_of: ClientOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    modules = iter(["export {};"])
    monkeypatch.setattr(drawings, "make_library", lambda: next(modules))
    client, address = client_of(None), f"/charts/vega-{library_version()}.js"
    packed = client.get(address, headers={"accept-encoding": "gzip, br"})
    assert gzip.decompress(packed.content) == b"export {};"
    assert (packed["Content-Encoding"], packed["Vary"]) == ("gzip", "Accept-Encoding")
    assert "immutable" in packed["Cache-Control"]
    assert client.get(address).content == b"export {};"
    assert client.get("/charts/vega-0.js").status_code == 404


def test_a_library_that_cannot_be_made_is_asked_for_again(
    client_of: ClientOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> str:
        raise DrawingError

    monkeypatch.setattr(drawings, "make_library", broken)
    answer = client_of(None).get(f"/charts/vega-{library_version()}.js")
    assert (answer.status_code, answer["Retry-After"]) == (503, "10")


def test_a_chart_as_csv_is_safe_for_spreadsheets(client_of: ClientOf, rows: Board) -> None:
    Entry.objects.filter(name="B").update(name="=1+1")
    answer = client_of(None).get(f"{PAGE}ranks.csv")
    assert cells(answer) == [
        ["Model", "by General mean", "by FFA"],
        ["'=1+1", "2", "1"],
        ["A", "1", "2"],
    ]


def test_a_missing_chart_says_how_a_submitter_gets_it(client_of: ClientOf, board: Board) -> None:
    text = client_of(None).get(PAGE).content.decode()
    assert "There are no results yet." in text
    assert "Not available yet" in text
    assert "Needs at least two models whose model cards state the cost of the run." in text


@pytest.mark.parametrize(
    "path",
    [
        f"{PAGE}nothing.svg",
        f"{PAGE}ranks.gif",
        f"{PAGE}ranks.svg?size=huge",
        f"{API}nothing/",
        f"{API}ranks/?format=gif",
    ],
)
def test_unknown_charts_are_404(client_of: ClientOf, rows: Board, path: str) -> None:
    assert client_of(None).get(path).status_code == 404


def test_the_board_links_to_its_charts(client_of: ClientOf, board: Board) -> None:
    text = client_of(None).get("/boards/board/").content.decode()
    assert f'href="{PAGE}"' in text
    # The chart has its place even without rows.
    assert 'id="history-heading"' in client_of(None).get(PAGE).content.decode()
