"""Raw SEC filings: one or several files, HTML with or without inline XBRL, or plain text.

A filing becomes one item per page, named FILE_p001, FILE_p002 and so on. Form, document type,
company and year are guessed once per filing. Users see the reason of a guess and can change it.
"""

import re
import tomllib
from collections import Counter
from dataclasses import dataclass
from functools import cache
from html import unescape
from importlib.resources import files
from pathlib import PurePosixPath
from typing import Any

from portal.datasets.models.documents import NAME_LENGTH, DocumentType
from portal.facts import RefusedHtml, decode_html
from portal.facts.canonical import MAX_CHARS
from portal.facts.cleaning import ixbrl_prefixes
from portal.facts.file_reading import open_envelope
from portal.facts.markup import Kind, tokens
from portal.facts.xbrl import XbrlResources, read_resources
from portal.files.archives import ArchiveFault, ArchiveLimits

from .filing_pages import FilingPage, split_pages
from .items import (
    FIRST_YEAR,
    LAST_YEAR,
    DocumentMeta,
    SourceItem,
    SourceItems,
    name_from_path,
    refused,
)
from .opening import Refusal, Source, SourceFiles, open_source, printable

# Guesses use the beginning of a filing: this many characters of text and of source.
_HEAD = 6_000
_SOURCE = 400_000
_COMPANY_LENGTH = 200

_ENVELOPE_TYPE = re.compile(r"<DOCUMENT>\s*<TYPE>\s*([^\n<]{1,60})", re.IGNORECASE)
_ENVELOPE_COMPANY = re.compile(r"COMPANY CONFORMED NAME:[ \t]*([^\n]{1,200})")
_ENVELOPE_PERIOD = re.compile(r"CONFORMED PERIOD OF REPORT:[ \t]*(\d{4})")
_FORM = re.compile(r"\b(FORM|SCHEDULE)\s+([0-9A-Z][0-9A-Z-]{0,8}(?:/A)?)(?![\w-])")
_RULE = re.compile(r"Rule\s+424\s?\((b)\)\s?\((\d)\)", re.IGNORECASE)
_IN_NAME = re.compile(
    r"(?<![a-z0-9])(10-?k|10-?q|20-?f|40-?f|8-?k|6-?k|424b\d|def-?14a|485[ab]pos|s-?[1348]|f-?[134])"
    r"(?![a-z0-9])"
)
_COMPANY = re.compile(
    r"([^\n]{2,200}?)\s*\n[\s_–—=-]*\(\s*exact\s+name\s+of\s+(?:the\s+)?registrant", re.IGNORECASE
)
_YEAR = re.compile(
    r"(?:fiscal\s+year|quarterly\s+period|quarter|period|year)\s+ended:?\s+[^\n]{0,40}?\b"
    r"((?:19|20)\d\d)\b",
    re.IGNORECASE,
)
_ANY_YEAR = re.compile(r"(?<!\d)((?:19|20)\d\d)(?!\d)")


@dataclass(frozen=True)
class Guess:
    """A guessed value and its reason as text; empty if unknown."""

    value: str = ""
    reason: str = ""


@dataclass(frozen=True)
class FilingGuess:
    """The guesses about a filing. `doc_type` is always a DocumentType."""

    form_type: Guess
    doc_type: Guess
    company: Guess
    fiscal_year: Guess

    def reasons(self) -> dict[str, str]:
        """The reasons of the known values, by field."""
        guesses: dict[str, Guess] = vars(self)
        return {field: guess.reason for field, guess in guesses.items() if guess.reason}


def guess_filing(source: str, content: str, path: str, resources: XbrlResources) -> FilingGuess:
    """Guesses from the `source` with its envelope, the `content` inside, the file's `path` and its
    inline XBRL.
    """
    head = _head(content)
    form = _guess_form(source, head, path, resources)
    return FilingGuess(
        form,
        _guess_type(form, head),
        _guess_company(source, head, resources),
        _guess_year(source, head, resources),
    )


def type_of_form(form: str) -> str:
    """The document type of a form type; empty if unknown.

    >>> type_of_form("10-K/A"), type_of_form("8-K EX-99.1"), type_of_form("poem")
    ('financial_statement', 'supplemental_report', '')
    """
    rules = _rules()["forms"]
    return next((kind for pattern, kind in rules if pattern.fullmatch(form.strip())), "")


@cache
def _rules() -> dict[str, list[tuple[re.Pattern[str], str]]]:
    table = tomllib.loads(files(__package__).joinpath("filing_types.toml").read_text("utf-8"))
    return {
        key: [
            (re.compile(rule["pattern"], re.IGNORECASE), DocumentType(rule["type"]).value)
            for rule in rules
        ]
        for key, rules in table.items()
    }


def _guess_form(source: str, head: str, path: str, resources: XbrlResources) -> Guess:
    if match := _ENVELOPE_TYPE.search(source, 0, _SOURCE):
        return Guess(match[1].strip(), "the <TYPE> of its EDGAR envelope")
    if form := resources.entity.get("DocumentType"):
        return Guess(form[:60], "dei:DocumentType of its inline XBRL")
    if match := _RULE.search(head):
        return Guess(f"424B{match[2]}", f"“{' '.join(match[0].split())}” at its beginning")
    for match in _FORM.finditer(head):
        form = match[2] if match[1] == "FORM" else f"SC {match[2]}"
        if type_of_form(form):
            return Guess(form, f"“{' '.join(match[0].split())}” at its beginning")
    if match := _IN_NAME.search(PurePosixPath(path).stem.lower()):
        return Guess(match[1].upper(), f"“{match[1]}” in the file's name")
    return Guess()


def _guess_type(form: Guess, head: str) -> Guess:
    if form.value and (kind := type_of_form(form.value)):
        return Guess(kind, f"form {form.value}: {form.reason}")
    for pattern, kind in _rules()["headings"]:
        if match := pattern.search(head):
            return Guess(kind, f"“{' '.join(match[0].split())[:80]}” at its beginning")
    return Guess(DocumentType.OTHER.value)


def _guess_company(source: str, head: str, resources: XbrlResources) -> Guess:
    if name := resources.entity.get("EntityRegistrantName"):
        return Guess(name[:_COMPANY_LENGTH], "dei:EntityRegistrantName of its inline XBRL")
    if match := _ENVELOPE_COMPANY.search(source, 0, _SOURCE):
        return Guess(match[1].strip(), "the header of its EDGAR envelope")
    if match := _COMPANY.search(head):
        name = " ".join(match[1].split())
        return Guess(name, "the line above “exact name of registrant”")
    return Guess()


def _guess_year(source: str, head: str, resources: XbrlResources) -> Guess:
    year = resources.entity.get("DocumentFiscalYearFocus", "")
    if _ANY_YEAR.fullmatch(year) and FIRST_YEAR <= int(year) <= LAST_YEAR:
        return Guess(year, "dei:DocumentFiscalYearFocus of its inline XBRL")
    if match := _YEAR.search(head):
        return Guess(match[1], f"“{' '.join(match[0].split())}” at its beginning")
    if match := _ANY_YEAR.search(resources.entity.get("DocumentPeriodEndDate", "")):
        return Guess(match[1], "dei:DocumentPeriodEndDate of its inline XBRL")
    if match := _ENVELOPE_PERIOD.search(source, 0, _SOURCE):
        return Guess(match[1], "the period in the header of its EDGAR envelope")
    return Guess()


def _head(content: str) -> str:
    """The first visible text, one line per piece, with runs of white space collapsed."""
    headers = {f"{prefix}:header" for prefix in ixbrl_prefixes(content[:_SOURCE])}
    pieces: list[str] = []
    length = hidden = 0
    for token in tokens(content):
        if token.name in headers:
            hidden += 1 if token.kind is Kind.START else -1
        elif token.kind is Kind.TEXT and hidden <= 0:
            text = unescape(content[token.start : min(token.end, token.start + _HEAD)])
            lines = text.split("\n")
            pieces += [words for line in lines if (words := " ".join(line.split()))]
            length += token.end - token.start
        if length > _HEAD:
            break
    return "\n".join(pieces)[:_HEAD]


FILING_SUFFIXES = (".htm", ".html", ".xhtml", ".txt")
# Room for `_p` and the number of the page.
_NAME_LENGTH = NAME_LENGTH - 8


def read_filings(source: Source, name: str, limits: ArchiveLimits) -> SourceItems:
    """The pages of all filings of a source, sorted by file name; one filing in memory at a time.

    Refuses unreadable filings. Raises ArchiveFault if the source is unusable.
    """
    with open_source(source, name, limits) as files:
        filings = files.needed("no_filing", ", ".join(FILING_SUFFIXES), *FILING_SUFFIXES)
        stems = Counter(name_from_path(path) for path in filings)
        for path in filings:
            plain = name_from_path(path)
            # Add the folders to the name if several files have the same name.
            unique = plain if stems[plain] == 1 else name_from_path(path.replace("/", "_"))
            yield from _read_filing(files, path, unique[:_NAME_LENGTH].rstrip(". "))


def _read_filing(files: SourceFiles, path: str, name: str) -> SourceItems:
    shown = printable(path)
    try:
        html = decode_html(files.read(path))
        if len(html) > MAX_CHARS:
            raise RefusedHtml(f"more than {MAX_CHARS:,} characters", "too_large")
        envelope = open_envelope(html)
    except (ArchiveFault, RefusedHtml) as fault:
        yield refused(shown, fault)
        return
    resources = read_resources(envelope.content)
    guess = guess_filing(html, envelope.content, path, resources)
    notes = tuple(Refusal(f"{shown}:envelope", "left_out", note) for note in envelope.notes)
    has_xbrl = bool(resources.contexts or resources.units or resources.entity)
    for page in split_pages(envelope.content):
        yield SourceItem(
            f"{shown}:page {page.number}",
            f"{name}_p{page.number:03d}",
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
