"""Tables as LaTeX and submissions as BibTeX."""

import re
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from portal.accounts.models import User
from scoring.benchmarks import BENCHMARKS
from scoring.leaderboard.citing import submission_bibtex
from scoring.leaderboard.columns import board_views
from scoring.leaderboard.files import COLUMN, TEXT, Export, leaderboard_latex
from scoring.leaderboard.selectors import leaderboard
from scoring.leaderboard.services import load_reported
from scoring.models import Board, Entry, Grading, Submission
from tests.fixture_types import ClientOf
from tests.latex import complaints
from tests.scoring.factories import first_phase, latest_grading, make_entry, make_submission

pytestmark = pytest.mark.django_db


def latex(board: Board, **choices: Any) -> list[str]:
    table = leaderboard(board, first_phase(board))
    return leaderboard_latex(table, Export(**choices)).splitlines()


def line_of(lines: list[str], name: str) -> list[str]:
    [line] = [line for line in lines if line.startswith(name)]
    return [cell.strip() for cell in line.removesuffix(r"\\").split("&")]


def test_the_best_is_bold_and_the_second_underlined(board: Board, researcher: User) -> None:
    for name, ffa, distance in [("A", 0.9, 0.2), ("B", 0.8, 0.1), ("C", 0.8, 0.3), ("D", 0.7, 0.1)]:
        make_entry(board, researcher, name=name, ffa=ffa, edit_distance=distance)
    make_entry(board, researcher, name="Cheat", ffa=1.0)
    make_entry(board, researcher, name="Part", ffa=0.85, general=None)
    Entry.objects.filter(name="Cheat").update(verdict="disqualified", verdict_reason="Copied.")
    lines = latex(board)
    heads = line_of(lines, "Model")
    ffa, rank, distance = (
        len(heads) - 2,
        len(heads) - 1,
        heads.index(r"E $\downarrow$"),
    )
    # Where there is no room for the arrow, it is below.
    assert heads[ffa:] == [r"\shortstack[r]{FFA\\$\uparrow$}", "Rank"]

    def shown(name: str) -> list[str]:
        cells = line_of(lines, f"{name} ")
        return [cells[ffa], cells[rank], cells[distance]]

    assert shown("A") == [r"\textbf{90.00}", r"\textbf{1}", r"\underline{20.00}"]
    assert shown("B") == [r"\underline{80.00}", "2", r"\textbf{10.00}"]
    assert shown("C") == [r"\underline{80.00}", "2", "30.00"]
    assert shown("D") == ["70.00", "4", r"\textbf{10.00}"]
    # Without a complete score it does not take part, whatever its figures are.
    assert shown("Part") == ["85.00", "--", "10.00"]
    assert "% Disqualified rows left out: 1." in lines
    assert not [line for line in lines if "Cheat" in line]


def test_requested_intervals_are_below_the_figures(
    client_of: ClientOf, board: Board, researcher: User
) -> None:
    make_entry(board, researcher, name="A", ffa=0.9)
    Entry.objects.update(intervals={"ffa": [0.8512, 0.9366]})
    [plain, detailed] = [latex(board, intervals=asked) for asked in (False, True)]
    assert line_of(plain, "A ")[-2] == r"\textbf{90.00}"
    assert line_of(detailed, "A ") == line_of(plain, "A ")
    below = detailed[detailed.index(next(line for line in detailed if line.startswith("A "))) + 1]
    # A figure without an interval has nothing below it.
    assert (
        below == r" & " * (len(line_of(detailed, "A ")) - 2) + r"\scriptsize 85.1--93.7 &  \\[2pt]"
    )
    [caption] = [line for line in detailed if line.startswith(r"\caption")]
    assert caption.endswith(r" Below each score: its 95\,\% interval over documents.}")
    assert not [line for line in plain if "Below" in line]
    page = client_of(None).get("/boards/board/?sort=-ffa").content.decode()
    address = "/boards/board/leaderboard.tex?view=scores&amp;sort=-ffa&amp;intervals=1"
    assert f'"{address}"' in page
    answer = client_of(None).get(address.replace("&amp;", "&"))
    assert "85.1--93.7" in answer.content.decode()


@pytest.mark.tex
def test_graded_rows_fit_the_page(board: Board, researcher: User, tmp_path: Path) -> None:
    for name in ("A", "Simulated_reader/of-the-longest@name.that-a-card takes " + "W" * 60):
        make_entry(board, researcher, name=name)
    ends = {"r1": [0.85, 1], "rl": [0.1, 1], "edit_distance": [0.1, 0.2], "general": [0, 1]}
    signature = "|".join(["labels:MonetaryUnit,ReportingEntity"] * 20)
    Entry.objects.update(
        intervals=ends | {key: [0.9512, 1] for key in ("ffa", "n_ffa", "t_ffa")},
        size="3B + 235B-A22B",
        signature=signature,
    )
    Board.objects.update(title="Title" * 20)
    phase = first_phase(board)
    phase.title = "Phase " * 10
    table = leaderboard(board, phase)
    for intervals in (False, True):
        assert complaints(leaderboard_latex(table, Export(intervals=intervals)), tmp_path) == []
        narrow = leaderboard_latex(table, Export(intervals=intervals, width=COLUMN))
        assert complaints(narrow, tmp_path, options="twocolumn") == []
        few = Export(("ffa", "rank_ffa"), 1, intervals, COLUMN)
        assert complaints(leaderboard_latex(table, few), tmp_path, options="twocolumn") == []


@pytest.mark.tex
@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_reported_rows_fit_the_page_in_every_view(benchmark: str, tmp_path: Path) -> None:
    board = Board.objects.create(slug=benchmark, title="Reported", benchmark=benchmark)
    load_reported(board=board)
    views = ["", *(view.key for view in board_views(board, None))]
    for width, options in ((TEXT, ""), (COLUMN, "twocolumn")):
        export = Export(width=width)
        texts = [leaderboard_latex(leaderboard(board, None, view=view), export) for view in views]
        assert complaints("\n\\clearpage\n".join(texts), tmp_path, options=options) == []


@pytest.mark.tex
def test_a_citation_fits_the_page(graded: Submission, tmp_path: Path) -> None:
    grading = latest_grading(graded)
    grading.signature = "|".join(["labels:MonetaryUnit,ReportingEntity"] * 20)
    accessed = date(2026, 11, 22)
    file = submission_bibtex(graded, grading, url="https://x.org/7/", accessed=accessed)
    note = re.search(r"  note = \{(.*)\},\n", file.content)
    assert note
    # As printed by the style `plain`.
    item = rf"\bibitem{{x}} Reader. \newblock {note[1]}."
    text = rf"\begin{{thebibliography}}{{1}}{item}\end{{thebibliography}}"
    assert complaints(text, tmp_path) == []


def test_groups_have_rules_over_their_columns(board: Board, researcher: User) -> None:
    make_entry(board, researcher, name="A")
    lines = latex(board)
    [begin] = [line for line in lines if line.startswith(r"\begin{tabular}")]
    assert begin == r"\begin{tabular}{@{}>{\raggedright\arraybackslash}p{29pt}lrrrrrrrr@{}}"
    assert (
        r" &  & \multicolumn{4}{c}{General (\%)} & \multicolumn{4}{c}{Fact-level (\%)} \\" in lines
    )
    assert r"\cmidrule(lr){3-6} \cmidrule(lr){7-10}" in lines
    assert lines.count(r"\begin{table}") == lines.count(r"\end{table}") == 1


def test_type_is_small_where_the_table_fits_in_one_block(board: Board, researcher: User) -> None:
    make_entry(board, researcher, name="Reader of the wholly long name, large")
    assert r"\footnotesize" in latex(board, width=COLUMN)
    lines = latex(board, columns=("ffa", "rank_ffa"))
    assert r"\small" in lines
    assert r"\footnotesize" not in lines
    heads = [cell.strip(" \\") for cell in next(x for x in lines if "Model" in x).split("&")]
    assert heads == ["Model", "Size", r"FFA $\uparrow$", "Rank"]


def test_one_column_has_no_sizes(board: Board, researcher: User) -> None:
    make_entry(board, researcher, name="A")
    lines = latex(board, columns=("ffa",), width=COLUMN)
    assert line_of(lines, "Model") == ["Model", r"FFA $\uparrow$"]
    assert line_of(lines, "A ") == ["A", r"\textbf{65.00}"]


def test_the_best_rows_keep_the_ranks_of_the_whole_table(board: Board, researcher: User) -> None:
    for name, ffa in (("A", 0.7), ("B", 0.9), ("C", 0.8)):
        make_entry(board, researcher, name=name, ffa=ffa)
    Entry.objects.filter(name="B").update(verdict="disqualified", verdict_reason="Copied.")
    lines = latex(board, rows=1)
    assert "% The top 1 rows of each table." in lines
    assert line_of(lines, "C ")[-1] == r"\textbf{1}"
    assert not [line for line in lines if line.startswith(("A ", "B "))]


def test_names_cannot_break_out(board: Board, researcher: User) -> None:
    make_entry(board, researcher, name="\\in{x} & 50% $a_1$ #~^\n<next>")
    line = next(line for line in latex(board) if "in\\{x" in line)
    assert line.startswith(
        r"\textbackslash{}in\{x\} \& 50\% \$a\_1\$ \#\textasciitilde{}\textasciicircum{} "
        r"\textless{}next\textgreater{} &"
    )


def test_a_board_without_rows_is_a_comment(client_of: ClientOf, board: Board) -> None:
    answer = client_of(None).get("/boards/board/leaderboard.tex")
    assert answer["Content-Disposition"] == 'attachment; filename="board-test.tex"'
    assert answer.content.decode().splitlines()[-1] == "% There are no results yet."


def test_the_board_links_to_the_table_as_latex(
    client_of: ClientOf, board: Board, researcher: User
) -> None:
    make_entry(board, researcher)
    client = client_of(None)
    assert "/boards/board/leaderboard.tex" in client.get("/boards/board/").content.decode()
    assert r"\toprule" in client.get("/boards/board/leaderboard.tex?sort=-ffa").content.decode()


def test_a_submission_as_bibtex(board: Board, researcher: User) -> None:
    phase = first_phase(board)
    found = Submission.objects.create(
        phase=phase, owner=researcher, name="R&D {8B}", organisation="Lab, Inc. and Sons", version=2
    )
    grading = Grading(release=phase.release, signature="fincriticaled|v2|labels:Number,Date|a_b:1")
    url, accessed = "https://x.org/submissions/7/", date(2026, 11, 22)
    file = submission_bibtex(found, grading, url=url, accessed=accessed)
    key = f"board-r-d-8b-{found.pk}"
    assert file.name == f"{key}.bib"
    assert file.content == (
        f"@misc{{{key},\n"
        "  title = {{R\\&D \\textbraceleft{}8B\\textbraceright{} on Board board}},\n"
        "  author = {{Lab, Inc. and Sons}},\n"
        f"  year = {{{found.created_at.year}}},\n"
        "  howpublished = {Leaderboard Board board, Test phase},\n"
        "  version = {2},\n"
        f"  note = {{Submission {found.pk}, version 2. Gold: {phase.release.dataset.title} 1.0.0. "
        "Signature: \\texttt{fincriticaled|\\allowbreak{}v2|\\allowbreak{}labels:\\allowbreak{}"
        "Number,\\allowbreak{}Date|\\allowbreak{}a\\_\\allowbreak{}b:\\allowbreak{}1}. "
        "Accessed 2026-11-22},\n"
        "  urldate = {2026-11-22},\n"
        "  url = {https://x.org/submissions/7/}\n"
        "}\n"
    )


def test_the_page_of_a_submission_links_to_its_citation(
    client_of: ClientOf, graded: Submission, researcher: User
) -> None:
    client, address = client_of(researcher), f"/submissions/{graded.pk}/citation.bib"
    assert address in client.get(f"/submissions/{graded.pk}/").content.decode()
    text = client.get(address).content.decode()
    assert f"url = {{http://testserver/submissions/{graded.pk}/}}" in text
    grading = latest_grading(graded)
    release = f"Gold: {grading.release.dataset.title} {grading.release.version}. Signature: "
    assert release in text
    assert grading.signature.split("|")[0] in text


def test_a_submission_without_a_result_cites_none(
    client_of: ClientOf, board: Board, researcher: User
) -> None:
    waiting = make_submission(board, researcher)
    text = client_of(researcher).get(f"/submissions/{waiting.pk}/citation.bib").content.decode()
    assert "Signature" not in text
    assert "note = {Submission" in text
