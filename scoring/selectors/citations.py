"""How to cite a row of a leaderboard: BibTeX."""

import re
from datetime import date
from urllib.parse import quote

from portal.datasets.file_responses import TextFile
from portal.datasets.publishing.citation import escape
from portal.files.tables import LONG_IN_TYPEWRITER, breakable
from scoring.models import Grading, Submission


def submission_bibtex(
    submission: Submission, grading: Grading | None, *, url: str, accessed: date
) -> TextFile:
    """An entry `@misc` with the system, the board, the version, what the result was computed by,
    and where it was read.

    `grading` is the result that the reader is shown, if there is one; `url` is that of the
    submission's page.
    """
    board = submission.phase.board
    title = f"{submission.name} on {board.title}"
    published = f"Leaderboard {board.title}, phase {submission.phase.title}"
    fields = {
        "title": f"{{{escape(title)}}}",
        "author": f"{{{escape(submission.organisation)}}}" if submission.organisation else "",
        "year": str(submission.created_at.year),
        "howpublished": escape(published),
        "version": str(submission.version),
        "note": f"Submission {submission.pk}, version {submission.version}. "
        f"{_graded(grading)}Accessed {accessed.isoformat()}",
        "urldate": accessed.isoformat(),
        "url": quote(url, safe="/:;?&=#%+,.@!~*'()[]_-$"),
    }
    lines = [f"  {key} = {{{value}}}" for key, value in fields.items() if value]
    key = f"{_letters(board.slug)}-{_letters(submission.name)}-{submission.pk}"
    text = f"@misc{{{key},\n" + ",\n".join(lines) + "\n}\n"
    return TextFile(f"{key}.bib", "application/x-bibtex", text)


def _graded(grading: Grading | None) -> str:
    """The release of the gold and the signature: without them a figure cannot be computed again."""
    if grading is None:
        return ""
    release = f"{grading.release.dataset.title} {grading.release.version}"
    signature = breakable(grading.signature, escape, longest=LONG_IN_TYPEWRITER)
    return rf"Gold: {escape(release)}. Signature: \texttt{{{signature}}}. "


def _letters(text: str) -> str:
    """Letters, digits and hyphens, whatever the text has.

    >>> _letters("Qwen3-VL (8B) 😀"), _letters("😀")
    ('qwen3-vl-8b', 'x')
    """
    return re.sub("[^a-z0-9]+", "-", text.lower()).strip("-") or "x"
