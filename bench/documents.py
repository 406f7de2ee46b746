"""The document table at 100,000 documents: how long the server needs to answer a page."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.services import database, missing_postgresql
from bench.site import BenchSite

DOCUMENTS = 100_000
WANTED = 0.1
# Descriptions and query strings of the requests.
ASKED = (
    ("first page", ""),
    ("last page", "page=2000"),
    ("sorted by year, middle", "sort=-year&page=1000"),
    ("sorted by size, last", "sort=size&page=2000"),
    ("of a type", "type=tax_form&page=100"),
    ("of a year", "year=2010&sort=size"),
    ("of a source, with 25 facts or more", "source=source-1.example&min_facts=25"),
    ("search, 1,000 found", "q=company+77"),
    ("search, all found", "q=company&page=150"),
    ("search, nothing found", "q=zzz"),
)


def documents_table() -> Iterator[str]:
    """The lines of the tables; for each database a site of its own is made."""
    yield f"{DOCUMENTS:,} documents; the whole answer of the server without the network, best of"
    yield "three. The public reader has not signed in, and a release hides every second document."
    yield from _table("SQLite")
    if missing := missing_postgresql():
        yield ""
        yield f"Not measured on PostgreSQL: {missing}."
        return
    with database() as url:
        yield from _table("PostgreSQL", DATABASE_URL=url)


def _table(title: str, **settings: str) -> Iterator[str]:
    queries = [query for _, query in ASKED]
    with tempfile.TemporaryDirectory() as folder:
        site = BenchSite(Path(folder), **settings)
        site.manage("prepare", "--no-sample")
        seconds = site.run(f"document_pages({DOCUMENTS}, {queries!r})")
    yield ""
    yield f"| asked, on {title} | organiser | public | wanted | met |"
    yield "|---|---:|---:|---:|---|"
    for (what, _), *taken in zip(ASKED, seconds["organiser"], seconds["public"], strict=True):
        met = "yes" if max(taken) <= WANTED else "**no**"
        figures = " | ".join(f"{one * 1000:,.1f} ms" for one in taken)
        yield f"| {what} | {figures} | ≤ {WANTED * 1000:,.0f} ms | {met} |"
