"""How to cite a board, its benchmark, its release and its entries, and badges of entries."""

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

from django.conf import settings
from django.http import Http404
from django.urls import reverse
from django.utils import timezone

from portal.datasets.models import Release
from portal.datasets.releases.exports import published_release
from portal.datasets.releases.publishing.croissant import bibtex, escape
from portal.datasets.responses import TextFile
from portal.files.tables import LONG_IN_TYPEWRITER, breakable
from scoring.access import Viewer, may_open_release
from scoring.benchmarks import benchmark_bibtex
from scoring.charts.look import short_names
from scoring.models import Board, Grading, Phase, Submission

from .charts import BoardCharts
from .files import (
    PRINTED_ROWS,
    TEXT,
    Export,
    leaderboard_latex,
    leaderboard_markdown,
    markdown_text,
)
from .pictures import ChartRequest
from .rows import Row, best_first
from .selectors import Leaderboard, StampedBoard, Tab, leaderboard


@dataclass(frozen=True)
class Citation:
    """A BibTeX entry. `key` names it on the page and in the API."""

    key: str
    title: str
    bibtex: str


def citations(
    user: Viewer, table: Leaderboard, entry: Row | None, *, root: str, accessed: date
) -> list[Citation]:
    """Return how to cite the paper, the release, the board and, if one is chosen, an entry. `root`
    is the URL of the site. Parts that do not exist or that the user may not open are left out."""
    board, phase = table.board, table.phase
    cited = [Citation("paper", "Benchmark paper", benchmark_bibtex(board.benchmark))]
    if phase and may_open_release(user, phase.release):
        cited.append(Citation("release", "Dataset release", _release_bibtex(phase.release, root)))
    cited.append(Citation("board", "This leaderboard", _board_bibtex(board, phase, root, accessed)))
    if entry:
        cited.append(Citation("entry", entry.entry.name, _entry_bibtex(entry, root, accessed)))
    return [citation for citation in cited if citation.bibtex]


def _release_bibtex(release: Release, root: str) -> str:
    row = published_release(release, frozenset(), page=root + release.get_absolute_url())
    # BibTeX needs an author to sort by.
    authors = row.citation.authors or (f"The authors of {row.title}",)
    return bibtex(replace(row, citation=replace(row.citation, authors=authors)))


def _entry_bibtex(row: Row, root: str, accessed: date) -> str:
    """One query."""
    related = Grading.objects.select_related("release__dataset", "submission__phase__board")
    assert row.entry.grading_id is not None
    grading = related.get(pk=row.entry.grading_id)
    url = root + grading.submission.get_absolute_url()
    return submission_bibtex(grading.submission, grading, url=url, accessed=accessed).content


def _board_bibtex(board: Board, phase: Phase | None, root: str, accessed: date) -> str:
    """An `@misc` entry with the phase, gold, signature, URL and access date."""
    published = f"{settings.SITE_NAME} leaderboard" + (f", {phase.name}" if phase else "")
    named = f"{_key_part(phase.slug)}-leaderboard" if phase else "leaderboard"
    return misc_bibtex(
        # No name of a submission has a dot in its key.
        f"{_key_part(board.slug)}.{named}-{accessed.year}",
        {
            "title": f"{{{escape(board.title)}}}",
            "author": f"{{{settings.SITE_NAME}}}",
            "year": str(accessed.year),
            "howpublished": escape(published),
            "note": f"{_gold(phase.release, _signature(phase)) if phase else ''}"
            f"Accessed {accessed.isoformat()}",
            "urldate": accessed.isoformat(),
            "url": _url(root + board.get_absolute_url()),
        },
    )


def _signature(phase: Phase) -> str:
    spec = phase.board.spec
    return spec.signature(spec.check_options(phase.options))


def submission_bibtex(
    submission: Submission, grading: Grading | None, *, url: str, accessed: date
) -> TextFile:
    """An `@misc` entry with the system, board, version, gold, signature, URL and access date.

    `grading` is the result shown to the reader, if any; `url` is that of the submission's page.
    """
    board = submission.phase.board
    gold = _gold(grading.release, grading.signature) if grading else ""
    fields = {
        "title": f"{{{escape(f'{submission.name} on {board.title}')}}}",
        "author": f"{{{escape(submission.organisation)}}}" if submission.organisation else "",
        # Without an author, BibTeX sorts by it.
        "key": "" if submission.organisation else escape(submission.name),
        "year": str(submission.created_at.year),
        "howpublished": escape(f"Leaderboard {board.title}, {submission.phase.name}"),
        "version": str(submission.version),
        "note": f"Submission {submission.pk}, version {submission.version}. "
        f"{gold}Accessed {accessed.isoformat()}",
        "urldate": accessed.isoformat(),
        "url": _url(url),
    }
    key = f"{_key_part(board.slug)}-{_key_part(submission.name)}-{submission.pk}"
    return TextFile(f"{key}.bib", "application/x-bibtex", misc_bibtex(key, fields))


def misc_bibtex(key: str, fields: Mapping[str, str]) -> str:
    """Return an `@misc` entry without the empty fields."""
    lines = [f"  {name} = {{{value}}}" for name, value in fields.items() if value]
    return f"@misc{{{key},\n" + ",\n".join(lines) + "\n}\n"


def _gold(release: Release, signature: str) -> str:
    """The release of the gold and the signature, which are needed to reproduce the figures."""
    named = escape(f"{release.dataset.title} {release.version}")
    shown = breakable(signature, escape, longest=LONG_IN_TYPEWRITER)
    return rf"Gold: {named}. Signature: \texttt{{{shown}}}. "


def _url(url: str) -> str:
    """URLs are written unescaped, except for characters that would end the braces."""
    return quote(url, safe="/:;?&=#%+,.@!~*'()[]_-$")


def _key_part(text: str) -> str:
    """The text in lower case, reduced to a-z, 0-9, hyphens and underscores, so that slugs remain
    different.

    >>> _key_part("Qwen3-VL (8B) 😀"), _key_part("😀"), _key_part("a_b")
    ('qwen3-vl-8b', 'x', 'a_b')
    """
    return re.sub("[^a-z0-9_]+", "-", text.lower()).strip("-") or "x"


def cited_rows(table: Leaderboard) -> list[Row]:
    """Return the rows that can be cited on their own, best first: those graded here."""
    rows = (row for section in table.sections for row in section.rows if not row.is_disqualified)
    return best_first((row for row in rows if row.submission_id), table.columns)


# The width of a character of a badge, and the gap at each side of its texts.
_LETTER, _GAP = 6.1, 8
_LONGEST_TITLE = 40


@dataclass(frozen=True)
class Badge:
    """The rank of an entry among the ranked rows of its section, as a picture of two boxes."""

    board: Board
    name: str
    rank: int | None
    of: int
    is_shared: bool = False
    """Whether other rows have the same rank."""

    @property
    def label(self) -> str:
        if not self.rank:
            return "not ranked"
        return f"{'shared ' if self.is_shared else ''}rank {self.rank} of {self.of}"

    @property
    def text(self) -> str:
        return f"{self.name}: {self.label} on {self.board.title}"

    @property
    def title(self) -> str:
        return short_names([self.board.title], _LONGEST_TITLE)[0]

    @property
    def title_length(self) -> int:
        return round(len(self.title) * _LETTER)

    @property
    def label_length(self) -> int:
        return round(len(self.label) * _LETTER)

    @property
    def left(self) -> int:
        """Where the second box begins."""
        return self.title_length + 2 * _GAP

    @property
    def label_at(self) -> int:
        return self.left + _GAP

    @property
    def width(self) -> int:
        return self.left + self.label_length + 2 * _GAP

    @property
    def corner(self) -> int:
        """Where the round corners of the second box begin."""
        return self.width - 4


def badge(submission: Submission) -> Badge:
    """Return the badge of a published submission. Raises Http404 for one that is disqualified."""
    table = leaderboard(submission.phase.board, submission.phase)
    for row in cited_rows(table):
        if row.submission_id == submission.pk:
            return _badge(table, row)
    raise Http404("This submission has no rank.")


def _badge(table: Leaderboard, row: Row) -> Badge:
    """Count all ranked rows that the row is compared with."""
    rank = next(column for column in table.columns if column.decides).key
    [section] = [section for section in table.sections if row in section.rows]
    ranks = [each.ranks[rank] for each in section.rows if each.ranks[rank] is not None]
    is_shared = ranks.count(row.ranks[rank]) > 1
    return Badge(table.board, row.entry.name, row.ranks[rank], len(ranks), is_shared)


# The parameters that name the submission to cite, and the source of the charts' rows.
SUBMISSION, CHARTS = "submission", "charts"


@dataclass(frozen=True)
class CitePage:
    """The formats of a table and the citations of its board. `root` is the URL of the site."""

    table: Leaderboard
    latex: str
    markdown: str
    citations: Sequence[Citation]
    entries: Sequence[Row]
    """The top rows that can be cited, and the one that is cited."""
    entry_count: int
    entry: Row | None
    badge: Badge | None
    root: str
    query: str
    """The query string of the table's files."""

    @property
    def board_url(self) -> str:
        return self.root + self.table.board.get_absolute_url()

    def _file(self, name: str) -> str:
        path = reverse(f"scoring:board-{name}", args=[self.table.board.slug])
        return path + (f"?{self.query}" if self.query else "")

    @property
    def latex_url(self) -> str:
        return self._file("latex")

    @property
    def markdown_url(self) -> str:
        return self._file("markdown")

    @property
    def csv_url(self) -> str:
        return self._file("csv")

    @property
    def bibtex_url(self) -> str:
        own = urlencode({SUBMISSION: self._submission}) if self.entry else ""
        path = self._file("bibtex")
        return path + (("&" if self.query else "?") + own if own else "")

    @property
    def embed_html(self) -> str:
        """The element that shows the table on another site."""
        url, title = map(html.escape, (self.embed_url, self.table.board.title))
        return f'<iframe src="{url}" title="{title}" width="100%" height="480"></iframe>'

    @property
    def embed_url(self) -> str:
        """The table that the public sees, without a part that only organisers choose."""
        query = urlencode([pair for pair in parse_qsl(self.query) if pair[0] != "part"])
        path = reverse("scoring:board-embed", args=[self.table.board.slug])
        return self.root + path + (f"?{query}" if query else "")

    @property
    def entry_url(self) -> str:
        return self.root + reverse("scoring:submission", args=[self._submission])

    @property
    def badge_url(self) -> str:
        return self.root + reverse("scoring:submission-badge", args=[self._submission, "svg"])

    @property
    def badge_markdown(self) -> str:
        assert self.badge is not None
        return f"[![{markdown_text(self.badge.text)}]({self.badge_url})]({self.entry_url})"

    @property
    def badge_html(self) -> str:
        assert self.badge is not None
        entry, picture, text = map(html.escape, (self.entry_url, self.badge_url, self.badge.text))
        return f'<a href="{entry}"><img src="{picture}" alt="{text}"></a>'

    @property
    def _submission(self) -> int | None:
        return self.entry.submission_id if self.entry else None


def cited_entry(entries: Iterable[Row], asked: Mapping[str, str]) -> Row | None:
    """Return the entry whose submission is asked for."""
    wanted = asked.get(SUBMISSION, "")
    return next((row for row in entries if str(row.submission_id) == wanted), None)


def cite_page(
    user: Viewer,
    table: Leaderboard,
    export: Export,
    asked: Mapping[str, str],
    *,
    root: str,
) -> CitePage:
    """Return the page. `asked` is the query: `submission` is the key of an entry of the table, and
    the rest selects the table. At most one query, and one more for an entry."""
    entries = cited_rows(table)
    entry = cited_entry(entries, asked)
    today = timezone.now().date()
    return CitePage(
        table=table,
        latex=leaderboard_latex(table, export),
        markdown=leaderboard_markdown(table, export),
        citations=citations(user, table, entry, root=root, accessed=today),
        entries=_offered(entries, entry),
        entry_count=len(entries),
        entry=entry,
        badge=_badge(table, entry) if entry else None,
        root=root,
        query=export_query(asked, export),
    )


def _offered(entries: list[Row], entry: Row | None) -> list[Row]:
    offered = entries[:PRINTED_ROWS]
    return offered if entry is None or entry in offered else [*offered, entry]


def export_query(asked: Mapping[str, str], export: Export) -> str:
    """Return the query string of a file of the table."""
    own = {"width", "rows", "intervals", "columns", SUBMISSION, CHARTS}
    query: dict[str, Any] = {
        name: value for name, value in asked.items() if name not in own and value
    }
    if export.columns:
        query["columns"] = export.columns
    if export.rows:
        query["rows"] = export.rows
    if export.intervals:
        query["intervals"] = 1
    if export.width != TEXT:
        query["width"] = export.width
    return urlencode(query, doseq=True)


def cited_charts(
    user: Viewer, stamped: StampedBoard, table: Leaderboard, origin: str
) -> BoardCharts:
    """Return the charts of the table's phase: of all rows, regardless of filters."""
    phase = table.phase.slug if table.phase else ""
    asked = {"phase": phase, "rows": origin, "part": table.part}
    return ChartRequest.of(user, stamped, asked).charts()


def chart_tabs(page: CitePage, charts: BoardCharts) -> list[Tab]:
    """Return the sources of the charts' rows, with links that keep the table."""
    start = f"{page.query}&" if page.query else ""
    return [
        Tab(title, start + urlencode({CHARTS: key}), key == charts.origin)
        for key, title in charts.titles.items()
    ]


# Rows of an embedded table, if its URL does not say how many.
_EMBEDDED_ROWS = 10


def embedded_table(table: Leaderboard, export: Export) -> dict[str, Any]:
    """The context of a page with the best rows of the first section of a table."""
    rank = next(column for column in table.columns if column.decides)
    shown = replace(export, rows=export.rows or _EMBEDDED_ROWS).of(table)
    figures = [at for at, column in enumerate(shown.columns) if not column.is_rank]
    section = shown.sections[0] if shown.sections else None
    return {
        "table": table,
        "section": section,
        "columns": [shown.columns[at] for at in figures],
        "rows": [
            (row.ranks[rank.key], row, [row.cells[at] for at in figures])
            for row in (section.rows if section else ())
        ],
        "total": len(table.sections[0].rows) if table.sections else 0,
    }
