"""Raw filings of the SEC: one file or several, HTML with or without inline XBRL, or plain text.

A filing becomes one item per page, called FILE_p001, FILE_p002 and so on. What it seems to be is
guessed once for all of its pages.
"""

from collections import Counter
from pathlib import PurePosixPath
from typing import Any

from portal.datasets.models.documents import NAME_LENGTH
from portal.facts import RefusedHtml, decode_html
from portal.facts.canonical import MAX_CHARS
from portal.facts.file_reading import open_envelope
from portal.facts.xbrl import read_resources
from portal.files.archives import ArchiveFault, ArchiveLimits

from .filing_pages import FilingPage, split_pages
from .filing_types import FilingGuess, guess_filing
from .items import SourceItem, SourceItems, name_from_path
from .layout import Refusal, printable
from .meta import DocumentMeta
from .opening import Source, SourceFiles, open_source

FILING_SUFFIXES = (".htm", ".html", ".xhtml", ".txt")
# Room for `_p` and the number of the page.
_NAME_LENGTH = NAME_LENGTH - 8


def read_filings(source: Source, name: str, limits: ArchiveLimits) -> SourceItems:
    """The pages of all filings of a source, in the order of the files' names. One that cannot be
    read is refused by name, and the rest goes on. Raises ArchiveFault when the source as a whole is
    unusable.

    One filing is in memory at a time.
    """
    with open_source(source, name, limits) as files:
        filings = files.named(*FILING_SUFFIXES)
        if not filings:
            raise ArchiveFault("no_filing", f"there is no {', '.join(FILING_SUFFIXES)} in it")
        stems = Counter(name_from_path(path) for path in filings)
        for path in filings:
            plain = name_from_path(path)
            # Files of the same name in several folders are told apart by these.
            called = plain if stems[plain] == 1 else name_from_path(path.replace("/", "_"))
            yield from _read_filing(files, path, called[:_NAME_LENGTH].rstrip(". "))


def _read_filing(files: SourceFiles, path: str, called: str) -> SourceItems:
    shown = printable(path)
    try:
        html = decode_html(files.read(path))
        if len(html) > MAX_CHARS:
            raise RefusedHtml(f"more than {MAX_CHARS:,} characters", "too_large")
        envelope = open_envelope(html)
    except ArchiveFault as fault:
        yield Refusal(shown, fault.code, str(fault))
        return
    except RefusedHtml as fault:
        yield Refusal(shown, fault.code, fault.reason)
        return
    resources = read_resources(envelope.content)
    guess = guess_filing(html, envelope.content, path, resources)
    notes = tuple(Refusal(f"{shown}:envelope", "left_out", note) for note in envelope.notes)
    has_xbrl = bool(resources.contexts or resources.units or resources.entity)
    for page in split_pages(envelope.content):
        yield SourceItem(
            f"{shown}:page {page.number}",
            f"{called}_p{page.number:03d}",
            page.html,
            meta=_meta(shown, page, guess),
            faults=notes if page.number == 1 else (),
            xbrl=resources if has_xbrl else None,
        )


def _meta(shown: str, page: FilingPage, guess: FilingGuess) -> DocumentMeta:
    metadata: dict[str, Any] = {
        "filing": PurePosixPath(shown).name,
        "page": page.number,
        "guessed": guess.reasons(),
    }
    if page.is_cut:
        metadata["cut"] = "for its length"
    year = guess.fiscal_year.value
    return DocumentMeta(
        doc_type=guess.doc_type.value,
        company=guess.company.value,
        form_type=guess.form_type.value,
        fiscal_year=int(year) if year else None,
        metadata=metadata,
    )
