"""Citing a board and its entries; the table as Markdown and on other sites; badges."""

import re
from datetime import date
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from lxml import etree

from portal.accounts.models import User
from scoring.benchmarks import BENCHMARKS, benchmark_bibtex
from scoring.leaderboard.citing import submission_bibtex
from scoring.leaderboard.files import Export, leaderboard_markdown
from scoring.leaderboard.selectors import leaderboard
from scoring.leaderboard.services import bump_board, load_reported
from scoring.models import Board, Category, Entry, Phase, Submission
from tests.fixture_types import ApiOf, ClientOf
from tests.latex import bibtex_complaints
from tests.scoring.factories import first_phase, make_entry, make_submission
from tests.worlds import shared

pytestmark = pytest.mark.django_db

PAGE = "/boards/board/cite/"
HOSTILE = 'R&D | "<b>{8B}</b>" 50% _x_'


@pytest.fixture
@shared
def rows(board: Board, researcher: User) -> Board:
    for name, ffa in (("A", 0.9), (HOSTILE, 0.8), ("C", 0.7)):
        make_entry(board, researcher, name=name, ffa=ffa, edit_distance=1 - ffa)
    Entry.objects.filter(name="A").update(intervals={"ffa": [0.8512, 0.9366]})
    Submission.objects.update(publication=Submission.Publication.PUBLIC)
    return board


def submission_of(name: str) -> int:
    grading = Entry.objects.get(name=name).grading
    assert grading is not None
    return grading.submission_id


def snippets(client: Client, url: str) -> dict[str, str]:
    """The texts to copy of the page, by key."""
    text = client.get(url).content.decode()
    found = re.findall(r'<code id="([a-z-]+)-text">(.*?)</code>', text, flags=re.DOTALL)
    return {key: unescape(value) for key, value in found}


def test_the_page_cites_paper_release_board_and_entry(client_of: ClientOf, rows: Board) -> None:
    client = client_of(None)
    found = snippets(client, PAGE)
    assert set(found) == {"paper", "release", "board", "latex", "markdown", "embed-html"}
    assert found["paper"].startswith("@misc{he2025fincriticaled,")
    release = first_phase(rows).release
    assert f"url = {{http://testserver{release.get_absolute_url()}}}" in found["release"]
    assert f"Gold: {release.dataset.title} {release.version}. Signature: " in found["board"]
    assert "url = {http://testserver/boards/board/}" in found["board"]
    pk = submission_of("A")
    chosen = snippets(client, f"{PAGE}?submission={pk}")
    assert f"url = {{http://testserver/submissions/{pk}/}}" in chosen["entry"]
    file = client.get(f"/boards/board/citation.bib?submission={pk}")
    assert file["Content-Disposition"] == 'attachment; filename="board.bib"'
    keys = ("paper", "release", "board", "entry")
    assert file.content.decode() == "\n".join(chosen[key] for key in keys)
    # A submission that is not in the table is not cited.
    assert "entry" not in snippets(client, f"{PAGE}?submission=999999")


def test_a_private_release_is_not_cited(client_of: ClientOf, rows: Board, organiser: User) -> None:
    release = first_phase(rows).release
    release.dataset.visibility = "private"
    release.dataset.save()
    assert "release" not in snippets(client_of(None), PAGE)
    assert "release" in snippets(client_of(organiser), PAGE)


def test_phases_and_boards_that_are_not_the_same_have_keys_of_their_own(
    client_of: ClientOf, rows: Board, organiser: User
) -> None:
    named, first = make_submission(rows, organiser, name="Leaderboard"), first_phase(rows)
    Phase.objects.create(board=rows, slug="dev", title="Dev", release=first.release)
    for slug in ("a_b", "a-b", "board-dev"):
        Board.objects.create(slug=slug, title=slug, benchmark="fincriticaled", state="open")
    client = client_of(organiser)
    pages = ["board/cite/?phase=test", "board/cite/?phase=dev"]
    pages += [f"{slug}/cite/" for slug in ("a_b", "a-b", "board-dev")]
    found = [snippets(client, f"/boards/{page}")["board"] for page in pages]
    keys = {text.splitlines()[0] for text in found}
    assert len(keys) == len(pages)
    # A submission can have any name.
    cited = submission_bibtex(named, None, url="https://x.org/", accessed=date(2026, 1, 1))
    assert "." not in cited.content.splitlines()[0]


@pytest.mark.tex
def test_citations_are_printed_without_complaints(
    client_of: ClientOf, rows: Board, tmp_path: Path
) -> None:
    file = client_of(None).get(f"/boards/board/citation.bib?submission={submission_of(HOSTILE)}")
    assert file.content.decode().count("@misc{") == 4
    assert bibtex_complaints(file.content.decode(), tmp_path) == []


@pytest.mark.tex
def test_papers_are_cited_without_complaints(tmp_path: Path) -> None:
    papers = [paper for key in BENCHMARKS if (paper := benchmark_bibtex(key))]
    assert len(papers) == 4, "one benchmark has no paper"
    assert bibtex_complaints("\n".join(papers), tmp_path) == []


@pytest.mark.tex
def test_complaints_about_citations_are_found(tmp_path: Path) -> None:
    assert bibtex_complaints("@misc{a, title = {A_B}}", tmp_path)
    assert bibtex_complaints("@article{a, title = {A}}", tmp_path)
    assert bibtex_complaints("@misc{a, title = {A}", tmp_path)


def test_choices_change_the_formats_and_their_links(client_of: ClientOf, rows: Board) -> None:
    client = client_of(None)
    query = "sort=-ffa&columns=ffa&columns=rank_ffa&rows=1&intervals=1&width=column"
    page = client.get(f"{PAGE}?{query}").content.decode()
    found = snippets(client, f"{PAGE}?{query}")
    for key, suffix in (("latex", "tex"), ("markdown", "md")):
        url = f"/boards/board/leaderboard.{suffix}?{query}"
        assert f'"{url.replace("&", "&amp;")}"' in page
        assert client.get(url).content.decode() == found[key]
    assert "90.00" in found["latex"]
    assert "80.00" not in found["latex"]
    csv = client.get(f"/boards/board/leaderboard.csv?{query}").getvalue().decode().splitlines()
    assert len(csv) == 2
    assert csv[0].endswith(",ffa,rank_ffa,ffa_low,ffa_high")
    # The parameters that select the table are kept when the choices change.
    assert '<input type="hidden" name="sort" value="-ffa">' in page


@pytest.mark.parametrize(
    ("query", "field"),
    [("columns=nothing", "columns"), ("rows=0", "rows"), ("width=wide", "width")],
)
def test_wrong_choices_are_refused_with_their_field(
    client_of: ClientOf, api_of: ApiOf, rows: Board, query: str, field: str
) -> None:
    client = client_of(None)
    for path in ("leaderboard.tex", "leaderboard.md", "leaderboard.csv", "embed/"):
        answer = client.get(f"/boards/board/{path}?{query}")
        assert answer.status_code == 400
        assert answer.content.decode().startswith(f"{field}: ")
    assert client.get(f"{PAGE}?{query}").status_code == 400
    refused = api_of(None).get(f"/api/v1/boards/board/cite/?{query}")
    assert (refused.status_code, list(refused.json())) == (400, [field])


def test_the_table_as_markdown(rows: Board) -> None:
    table = leaderboard(rows, first_phase(rows))
    text = leaderboard_markdown(table, Export(("edit_distance", "ffa", "rank_ffa"), None, True))
    title, source, *lines = text.split("\n\n")
    assert title == "**Board board**"
    assert source.startswith(r"Test phase. Signature: fincriticaled\|v")
    [lines] = [part.splitlines() for part in lines]
    assert lines == [
        "| Model | Size | E | FFA | Fact-level: Rank |",
        "| :-- | :-- | --: | --: | --: |",
        "| A | – | **10.00** | **90.00** (85.1–93.7) | **1** |",
        r'| R\&D \| "\<b\>{8B}\</b\>" 50% \_x\_ | – | 20.00 | 80.00 | 2 |',
        "| C | – | 30.00 | 70.00 | 3 |",
    ]


def test_rows_of_the_markdown_table_are_by_rank(board: Board, researcher: User) -> None:
    """The page groups them by category, with headings."""
    for name, ffa in {"Third": 0.1, "First": 0.9, "Second": 0.5}.items():
        make_entry(board, researcher, name=name, ffa=ffa)
    Entry.objects.exclude(name="First").update(category=Category.OCR_MODEL)

    def names(sort: str = "", **choices: Any) -> list[str]:
        table = leaderboard(board, first_phase(board), sort)
        lines = leaderboard_markdown(table, Export(**choices)).splitlines()
        return [line.split()[1] for line in lines if line.startswith("|")][2:]

    assert names() == names(columns=("edit_distance",)) == ["First", "Second", "Third"]
    assert names("-name") == ["Third", "Second", "First"]


def test_a_board_without_rows_can_be_cited(client_of: ClientOf, board: Board) -> None:
    found = snippets(client_of(None), PAGE)
    assert "There are no results yet." in found["markdown"]
    assert (
        "There are no results yet" in client_of(None).get("/boards/board/embed/").content.decode()
    )


def test_the_api_has_what_the_page_has(client_of: ClientOf, api_of: ApiOf, rows: Board) -> None:
    query = f"?submission={submission_of('A')}&columns=ffa&rows=2"
    answer = api_of(None).get(f"/api/v1/boards/board/cite/{query}").json()
    found = snippets(client_of(None), f"{PAGE}{query}")
    assert {each["key"]: each["bibtex"] for each in answer["citations"]} == {
        key: found[key] for key in ("paper", "release", "board", "entry")
    }
    for key, name in (("latex", "latex"), ("markdown", "markdown"), ("embed-html", "embed_html")):
        assert answer[name] == found[key]
    text = "A: rank 1 of 3 on Board board"
    assert answer["badge"] == {"text": text, "rank": 1, "of": 3, "is_shared": False}


@pytest.mark.parametrize("count", [2, 20])
def test_queries_do_not_grow_with_the_rows(
    client_of: ClientOf,
    board: Board,
    researcher: User,
    count: int,
    django_assert_max_num_queries: Any,
) -> None:
    for number in range(count):
        make_entry(board, researcher, name=f"S{number}")
    client, pk = client_of(None), submission_of("S0")
    for path, queries in ((f"{PAGE}?submission={pk}", 5), ("/boards/board/embed/", 2)):
        with django_assert_max_num_queries(queries):
            assert client.get(path).status_code == 200


# --- badges --------------------------------------------------------------------------------------


def test_a_badge_says_the_rank_of_the_board(client_of: ClientOf, rows: Board) -> None:
    Entry.objects.filter(name="C").update(verdict="disqualified", verdict_reason="Copied.")
    client, pk = client_of(None), submission_of(HOSTILE)
    text = f"{HOSTILE}: rank 2 of 2 on Board board"
    assert client.get(f"/submissions/{pk}/badge.txt").content.decode() == f"{text}\n"
    answer = client.get(f"/submissions/{pk}/badge.svg")
    assert answer["Content-Type"] == "image/svg+xml"
    root = etree.fromstring(answer.content)
    assert root.attrib["aria-label"] == text
    texts = [each.text for each in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts == ["Board board", "rank 2 of 2"]
    table = leaderboard(rows, first_phase(rows))
    [section] = table.sections
    [row] = [row for row in section.rows if row.entry.name == HOSTILE]
    assert row.ranks["rank_ffa"] == 2
    assert client.get(f"/submissions/{submission_of('C')}/badge.svg").status_code == 404
    assert client.get(f"/submissions/{pk}/badge.png").status_code == 404


def test_a_badge_says_that_others_share_the_rank(
    client_of: ClientOf, board: Board, researcher: User
) -> None:
    for name, ffa in {"A": 0.9, "B": 0.9, "C": 0.8}.items():
        make_entry(board, researcher, name=name, ffa=ffa)
    Submission.objects.update(publication=Submission.Publication.PUBLIC)
    client = client_of(None)
    texts = {
        name: client.get(f"/submissions/{submission_of(name)}/badge.txt").content.decode().strip()
        for name in "AC"
    }
    assert texts == {
        "A": "A: shared rank 1 of 3 on Board board",
        "C": "C: rank 3 of 3 on Board board",
    }


def test_a_badge_is_cached_until_the_board_changes(client_of: ClientOf, rows: Board) -> None:
    client, url = client_of(None), f"/submissions/{submission_of('A')}/badge.svg"
    answer = client.get(url)
    assert answer["Cache-Control"] == "public, max-age=300"
    known = {"if-none-match": answer["ETag"]}
    assert client.get(url, headers=known).status_code == 304
    bump_board(rows.pk)
    assert client.get(url, headers=known).status_code == 200


def test_a_badge_shows_everyone_what_the_public_sees(
    client_of: ClientOf, rows: Board, organiser: User
) -> None:
    url = f"/submissions/{submission_of('A')}/badge.svg"
    Board.objects.update(state=Board.State.DRAFT)
    for user in (None, organiser):
        assert client_of(user).get(url).status_code == 404
        assert client_of(user).get("/boards/board/embed/").status_code == 404


# --- embedded tables -----------------------------------------------------------------------------


def test_other_sites_may_frame_the_table_and_nothing_else(
    client_of: ClientOf, rows: Board, organiser: User
) -> None:
    answer = client_of(organiser).get("/boards/board/embed/?rows=2")
    assert "X-Frame-Options" not in answer
    assert answer["Content-Security-Policy"].endswith("; frame-ancestors *")
    assert "Set-Cookie" not in answer
    text = answer.content.decode()
    assert "2 of 3 rows" in text
    # A page that can be framed must have nothing that a click could do.
    assert not re.search("<(form|button|script|input)", text)
    names = re.findall(r'<th scope="row"><a [^>]*>(.*?)</a>', text)
    assert [unescape(name) for name in names] == ["A", HOSTILE]
    for path in ("/boards/board/", PAGE, f"/submissions/{submission_of('A')}/"):
        page = client_of(None).get(path)
        assert page.status_code == 200
        assert page["X-Frame-Options"] == "DENY"
        assert "frame-ancestors 'none'" in page["Content-Security-Policy"]


def test_an_embedded_table_has_an_etag(client_of: ClientOf, rows: Board) -> None:
    client = client_of(None)
    answer = client.get("/boards/board/embed/?rows=2")
    known = {"if-none-match": answer["ETag"]}
    assert client.get("/boards/board/embed/?rows=2", headers=known).status_code == 304
    assert client.get("/boards/board/embed/?rows=1", headers=known).status_code == 200


def test_a_board_with_reported_rows_only_embeds_them(client_of: ClientOf, board: Board) -> None:
    load_reported(board=board)
    text = client_of(None).get("/boards/board/embed/?rows=1").content.decode()
    assert "FinCriticalED paper (v1), Table 4" in text
    assert "GPT-5" in text


def test_the_page_of_a_published_submission_links_to_its_citation(
    client_of: ClientOf, rows: Board
) -> None:
    pk = submission_of("A")
    page = client_of(None).get(f"/submissions/{pk}/").content.decode()
    assert f'href="{PAGE}?phase=test&amp;submission={pk}"' in page


# --- charts --------------------------------------------------------------------------------------

CITED_FORMS = ["svg", "pdf", "png", "vl", "csv"]
CHART_FILE = re.compile(r'href="(/boards/board/charts/([a-z-]+)\.([a-z]+)\?([^"]*))"')


def chart_files(client: Client, url: str) -> dict[str, list[tuple[str, str]]]:
    """The files of each listed chart: their URLs and formats."""
    found: dict[str, list[tuple[str, str]]] = {}
    for href, key, form, _ in CHART_FILE.findall(client.get(url).content.decode()):
        found.setdefault(key, []).append((unescape(href), form))
    return found


def test_every_drawn_chart_is_listed_with_its_files(
    client_of: ClientOf, api_of: ApiOf, rows: Board
) -> None:
    client = client_of(None)
    files = chart_files(client, PAGE)
    charts = api_of(None).get("/api/v1/boards/board/charts/").json()
    assert list(files) == [each["key"] for each in charts if not each["too_little"]]
    assert all([form for _, form in each] == CITED_FORMS for each in files.values())
    for url, form in next(iter(files.values())):
        if form in {"vl", "csv"}:
            assert client.get(url).status_code == 200


def test_charts_of_the_chosen_rows_are_listed(
    client_of: ClientOf, rows: Board, organiser: User
) -> None:
    load_reported(board=rows, actor=organiser)
    client = client_of(None)
    [(url, _), *_] = next(iter(chart_files(client, f"{PAGE}?rows=1&charts=reported").values()))
    assert "rows=reported" in url
    page = client.get(f"{PAGE}?rows=1&charts=reported").content.decode()
    tab = '<a href="?rows=1&amp;charts=reported#charts" aria-current="true">'
    assert tab in page
    # The number of table rows is another choice.
    assert '<a href="?rows=1&amp;charts=graded#charts">' in page
    [(url, _), *_] = next(iter(chart_files(client, f"{PAGE}?view=detail").values()))
    assert "rows=graded" in url


@pytest.mark.parametrize(
    ("query", "fault"),
    [
        ("colour=red", "Unknown parameter “colour”. Known parameters: "),
        ("view=nope", "view: Unknown value."),
        ("sort=nope", "sort: Unknown value."),
        ("phase=nope", "phase: Unknown value."),
    ],
)
def test_an_embedded_table_refuses_what_it_does_not_know(
    client_of: ClientOf, rows: Board, query: str, fault: str
) -> None:
    answer = client_of(None).get(f"/boards/board/embed/?{query}")
    assert (answer.status_code, fault in answer.content.decode()) == (400, True)
    cited = client_of(None).get(f"/api/v1/boards/board/cite/?{query}")
    assert (cited.status_code, list(cited.json())) == (400, [query.partition("=")[0]])


def test_an_embedded_table_has_the_rows_of_its_filters(client_of: ClientOf, rows: Board) -> None:
    whole = client_of(None).get("/boards/board/embed/").content.decode()
    some = client_of(None).get("/boards/board/embed/?q=A").content.decode()
    assert ["8B" in text for text in (whole, some)] == [True, False]


def test_badges_have_no_parameters(client_of: ClientOf, rows: Board) -> None:
    answer = client_of(None).get(f"/submissions/{submission_of('A')}/badge.svg?style=flat")
    assert answer.status_code == 400
    assert "Unknown parameter “style”. There are no parameters." in answer.content.decode()
