"""The document table at 100,000 documents: how long the server needs to answer a page."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.site import BenchSite

DOCUMENTS = 100_000
WANTED = 0.1
# What is asked for, in words and as the address says it.
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
    """The lines of the table; a site of its own is made for it, on SQLite."""
    with tempfile.TemporaryDirectory() as folder:
        site = BenchSite(Path(folder))
        site.manage("prepare", "--no-sample")
        queries = [query for _, query in ASKED]
        seconds: list[float] = site.run(f"document_pages({DOCUMENTS}, {queries!r})")
    yield ""
    yield "## Document table"
    yield ""
    yield f"{DOCUMENTS:,} documents on SQLite; the whole answer of the server for an organiser,"
    yield "without the network. The best of three."
    yield ""
    yield "| asked | ours | wanted | met |"
    yield "|---|---:|---:|---|"
    for (what, _), taken in zip(ASKED, seconds, strict=True):
        met = "yes" if taken <= WANTED else "**no**"
        yield f"| {what} | {taken * 1000:,.1f} ms | ≤ {WANTED * 1000:,.0f} ms | {met} |"
