"""Which documents belong together: the pages of one filing, or all documents of one company."""

import re
from collections.abc import Mapping
from typing import Any

FILING, COMPANY, NOTHING = "filing", "company", "none"
GROUPINGS = (FILING, COMPANY, NOTHING)
# Fields of the metadata that name the source document of a page; the first that is there counts.
FILING_FIELDS = ("filing", "source_filing", "accession_number", "source_document")
# `acme-10k_p012`, `acme 10-k, page 3`: a page of what stands before it.
_PAGE = re.compile(r"(.+?)[ _.,-]+(?:p|pg|page)[ _.-]?\d+", re.IGNORECASE)


def filing_of(name: str, metadata: Mapping[str, Any], source_url: str = "") -> str:
    """What names the filing that a document is a page of; a document alone is its own.

    What the metadata say comes first, then the name without its page, then the address.

    >>> filing_of("acme_10k_p012", {}), filing_of("acme_10k_p013", {"filing": "acme.htm"})
    ('name acme_10k', 'filing acme.htm')
    >>> filing_of("letter", {}), filing_of("exhibit", {}, "https://sec.gov/a.htm")
    ('document letter', 'address https://sec.gov/a.htm')
    """
    for field in FILING_FIELDS:
        value = metadata.get(field)
        if isinstance(value, str | int) and str(value).strip():
            return f"filing {str(value).strip()}"
    if match := _PAGE.fullmatch(name):
        return f"name {match[1]}"
    return f"address {source_url}" if source_url else f"document {name}"


def group_of(
    grouping: str,
    name: str,
    *,
    metadata: Mapping[str, Any],
    company: str = "",
    source_url: str = "",
) -> str:
    """What names the group of a document. Without a company it is grouped by its filing.

    >>> group_of("company", "a_p1", metadata={}, company="Acme Inc.")
    'company acme inc.'
    >>> group_of("none", "a_p1", metadata={})
    'document a_p1'
    """
    if grouping == NOTHING:
        return f"document {name}"
    if grouping == COMPANY and (plain := " ".join(company.casefold().split())):
        return f"company {plain}"
    return filing_of(name, metadata, source_url)
